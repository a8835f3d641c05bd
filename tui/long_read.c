/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long_read.c - the line of progress, and the keys that came early. A key that leaves what is read for, or
 * shows another window, ends the read at once and is done then; the others wait for its end.
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
static bool is_typing; /* the next key is text for a prompt */

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

/* What is typed behind it is text. */
static bool opens_prompt(uint32_t key)
{
	enum keys_action action = keys_action_of(key);

	return action == KEYS_DO_COMMAND || action == KEYS_DO_FIND || action == KEYS_DO_GOTO ||
	       action == KEYS_DO_FILTER || action == KEYS_DO_MARK || action == KEYS_DO_GO_MARK;
}

bool long_read_is_over(uint32_t key)
{
	if (key == SCREEN_SIGNAL)
		return true;
	switch (keys_action_of(key)) {
	case KEYS_DO_CANCEL:
	case KEYS_DO_QUIT:
	case KEYS_DO_TIMELINE:
	case KEYS_DO_UNDO:
	case KEYS_DO_PAN_LEFT:
	case KEYS_DO_PAN_RIGHT:
	case KEYS_DO_PAGE_LEFT:
	case KEYS_DO_PAGE_RIGHT:
	case KEYS_DO_ZOOM_IN:
	case KEYS_DO_ZOOM_OUT:
	case KEYS_DO_ZOOM_IN_BIT:
	case KEYS_DO_ZOOM_OUT_BIT:
	case KEYS_DO_WHOLE_RUN:
		return true;
	default:
		return false;
	}
}

/* False: what is read is not wanted any more, or a signal ends the program. Esc says no more than that; the
 * other keys are done then. */
static bool go_on(void *own, const char *what, uint64_t done, uint64_t all)
{
	uint32_t key;
	bool is_over = false;

	(void)own;
	show(what, done, all);
	while ((key = screen_key(0)) != KEYS_NONE && key != SCREEN_SIGNAL) {
		is_over = is_over || key == KEYS_ESC || (!is_typing && long_read_is_over(key));
		is_typing = is_typing || opens_prompt(key);
		if (key != KEYS_MOUSE && key != KEYS_ESC && early_count < LONG_READ_KEYS)
			early[early_count++] = key;
	}
	return !is_over && key != SCREEN_SIGNAL;
}

void long_read_begin(bool has_prompt)
{
	is_typing = has_prompt;
	for (size_t i = 0; i < early_count; i++)
		is_typing = is_typing || opens_prompt(early[i]);
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
