/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long_read.c - the line of progress, and the keys that came early.
 */
#include "tui/long_read.h"

#include <stdio.h>
#include <string.h>

#include "timeline/progress.h"
#include "tui/screen.h"

#define LONG_READ_NS 1000000000ull
#define LONG_READ_BAR 20
#define LONG_READ_KEYS 64 /* more are dropped: nobody types so far ahead */

static uint32_t early[LONG_READ_KEYS];
static size_t early_count;

static void show(const char *what, uint64_t done, uint64_t all)
{
	int filled = all ? (int)((double)(done < all ? done : all) / (double)all * LONG_READ_BAR) : 0;
	char text[128], bar[LONG_READ_BAR + 1];

	for (int i = 0; i < LONG_READ_BAR; i++)
		bar[i] = i < filled ? '=' : ':';
	bar[LONG_READ_BAR] = '\0';
	snprintf(text, sizeof(text), "%.32s  [%s]  %d %%   Esc stops here", what, bar,
		filled * 100 / LONG_READ_BAR);
	screen_status(text);
}

/* False: Esc, or a signal that ends the program. */
static bool go_on(void *own, const char *what, uint64_t done, uint64_t all)
{
	uint32_t key;

	(void)own;
	show(what, done, all);
	while ((key = screen_key(0)) != KEYS_NONE) {
		if (key == KEYS_ESC || key == SCREEN_SIGNAL)
			return false;
		if (key != KEYS_MOUSE && early_count < LONG_READ_KEYS)
			early[early_count++] = key;
	}
	return true;
}

void long_read_begin(void)
{
	progress_watch(go_on, NULL, LONG_READ_NS);
}

uint32_t long_read_key(int timeout_ms)
{
	uint32_t key;

	if (!early_count)
		return screen_key(timeout_ms);
	key = early[0];
	memmove(early, early + 1, --early_count * sizeof(*early));
	return key;
}
