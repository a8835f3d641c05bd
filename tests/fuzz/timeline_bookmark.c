/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_bookmark.c - libFuzzer: bookmarks are a text file that anybody may have written: what is taken
 * from it has its times in order, and another bookmark can be kept beside them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/small_run.h"
#include "timeline/select/bookmark.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char file[80];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (small_run_make("cpu", 1, 10))
		return 1;
	snprintf(file, sizeof file, "%s/" BOOKMARK_FILE, small_run_path);
	return 0;
}

static bool look(void)
{
	const struct mark *marks;
	struct arena arena = {0};
	struct error error;
	size_t count;
	bool is_read = !bookmark_list(run, &arena, &marks, &count, &error);

	for (size_t i = 0; is_read && i < count; i++)
		if (marks[i].end_ns < marks[i].begin_ns || (i && marks[i].begin_ns < marks[i - 1].begin_ns))
			abort();
	arena_fini(&arena);
	return is_read;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *out = fopen(file, "wb");
	struct error error;
	bool is_read;

	if (!out || fwrite(data, 1, size, out) != size || fclose(out))
		abort();
	is_read = look();
	if (!bookmark_save(run, "one", 1, 2, &error) && is_read && !look())
		abort();
	return 0;
}
