/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_config.c - libFuzzer: a user's files of the view, settings, keys, colours and filters
 * (tui/models/config.h), any bytes in the one that the first byte names. The picture is drawn with them;
 * settings that are kept are the same when they are read again.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/small_run.h"
#include "tui/app/app.h"
#include "tui/models/config.h"
#include "tui/models/settings.h"
#include "tui/screen/keys.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SETTINGS_MAX 32u

static const char *const names[] = {"settings", "keys", "colours", "filters"};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[64];

	(void)argc, (void)argv;
	if (small_run_make("cpu", 2, 50))
		return 1;
	snprintf(path, sizeof path, "%s/hpct", directory);
	return mkdir(path, 0700);
}

static struct session *session_new(void)
{
	const struct session_looks looks = {.colours = 256, .has_mouse = true};
	struct session *session;
	struct error error;

	if (session_open(&session, run, NULL, looks, &error)) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	config_read(session);
	return session;
}

static void values_get(struct session *session, char values[SETTINGS_MAX][SETTINGS_VALUE])
{
	if (settings_count() > SETTINGS_MAX)
		abort();
	memset(values, 0, SETTINGS_MAX * SETTINGS_VALUE);
	for (size_t i = 0; i < settings_count(); i++)
		settings_get(session, i, values[i]);
}

static void draw(struct session *session)
{
	struct error error;
	struct grid grid;

	if (grid_init(&grid, 20, 60, false))
		abort();
	session_draw(session, &grid, 0, &error);
	grid_fini(&grid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char before[SETTINGS_MAX][SETTINGS_VALUE], after[SETTINGS_MAX][SETTINGS_VALUE], path[80];
	struct session *session;
	FILE *file;

	if (!size)
		return 0;
	snprintf(path, sizeof path, "%s/hpct/%s", directory, names[data[0] % 4]);
	file = fopen(path, "wb");
	if (!file || fwrite(data + 1, 1, size - 1, file) != size - 1 || fclose(file))
		abort();
	session = session_new();
	draw(session);
	values_get(session, before);
	config_keep_settings(session);
	session_close(session);
	session = session_new();
	values_get(session, after);
	session_close(session);
	if (memcmp(before, after, sizeof before) != 0)
		abort();
	unlink(path);
	snprintf(path, sizeof path, "%s/hpct/settings", directory);
	unlink(path);
	return 0;
}
