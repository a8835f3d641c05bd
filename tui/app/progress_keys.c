/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress_keys.c - draws the progress line and queues keys that arrive during a read. Keys that leave the
 * view or the window stop the read at once. While rows are read (is_resumable) any key stops the read, which
 * continues afterwards. While a table is read (is_restartable) cursor moves are done at once and any other
 * key restarts the read. A key's own search runs to its end.
 */
#include "tui/app/progress_keys.h"

#include <stdio.h>
#include <string.h>

#include "timeline/base/progress.h"
#include "tui/app/actions.h"
#include "tui/app/app.h"
#include "tui/screen/screen.h"
#include "tui/session/deadline.h"
#include "tui/views/views.h"

#define PROGRESS_MS 1000      /* shows the progress line after so long, */
#define PROGRESS_AGAIN_MS 200 /* and updates it so often */
#define PROGRESS_PATIENCE_MS 50
#define PROGRESS_PATIENCE_MOST_MS 60000 /* limit of doubling */
#define PROGRESS_KEY_NS 30000000	/* interval of reading keys */
#define PROGRESS_BAR 20
#define PROGRESS_KEYS 64 /* further keys are dropped */

static uint32_t early[PROGRESS_KEYS];
static struct mouse_event early_mouse[PROGRESS_KEYS]; /* its event, where the key is KEYS_MOUSE */
static struct mouse_event mouse;		      /* event of the key returned last */
static size_t early_count;
static bool is_typing;		       /* the next key is text for a prompt */
static uint64_t next_ms;	       /* to show how far it is */
static uint64_t begin_ms, patience_ms; /* of the picture; until it is shown as far as it is */

static void keep(uint32_t key)
{
	early_mouse[early_count] = screen_mouse();
	early[early_count++] = key;
}

static void show(struct session *session, const char *what, uint64_t done, uint64_t all)
{
	int filled = all ? (int)((double)(done < all ? done : all) / (double)all * PROGRESS_BAR) : 0;
	char bar[PROGRESS_BAR + 1];

	for (int i = 0; i < PROGRESS_BAR; i++)
		bar[i] = i < filled ? '=' : ':';
	bar[PROGRESS_BAR] = '\0';
	snprintf(session->reading, sizeof(session->reading), "%.32s  [%s]  %d %%   Esc stops here%s", what,
		bar, filled * 100 / PROGRESS_BAR,
		session->is_resumable || session->is_restartable ? "   keys work" : "");
	screen_status(session->reading);
}

/* The keys after it are text. */
static bool opens_prompt(uint32_t key)
{
	enum keys_action action = keys_action_of(key);

	return action == KEYS_DO_COMMAND || action == KEYS_DO_FIND || action == KEYS_DO_GOTO ||
	       action == KEYS_DO_FILTER || action == KEYS_DO_MARK || action == KEYS_DO_GO_MARK;
}

bool progress_keys_is_over(uint32_t key)
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

/* Text for a prompt, and whatever does more than move the cursor, may change what a table is made of: it
 * begins anew behind the key. In the table itself moves wait for its lines. */
static bool ends(const struct session *session, uint32_t key, bool is_text)
{
	enum keys_action action = keys_action_of(key);

	if (!is_text && progress_keys_is_over(key))
		return true;
	if (!session->is_restartable)
		return false;
	if (is_text || key == KEYS_MOUSE || key == KEYS_RESIZE)
		return true;
	return action != KEYS_DO_NOTHING && (!actions_is_move(action) || session->focus == &view_timeline);
}

/* A key that came during another read of the same picture leaves this one, too. */
static bool leaves_early(const struct session *session)
{
	bool is_text = session->prompt != PROMPT_NONE;

	for (size_t i = 0; i < early_count; i++) {
		if (ends(session, early[i], is_text))
			return true;
		is_text = is_text || opens_prompt(early[i]);
	}
	return false;
}

/* The timeline alone, of what has been read. */
static void show_cursor(struct session *session)
{
	static struct grid grid;
	const struct layout *layout = &session->layout;
	struct grid_area area = {layout->ruler, 0,
		layout->timeline.row + layout->timeline.rows - layout->ruler, layout->timeline.columns};

	if (grid.rows != layout->rows || grid.columns != layout->columns ||
		grid.is_ascii != session->looks.is_ascii) {
		grid_fini(&grid);
		if (grid_init(&grid, layout->rows, layout->columns, session->looks.is_ascii))
			return;
	}
	grid_clear(&grid);
	view_timeline_ruler(session, &grid);
	view_timeline.draw(session, &grid, layout->timeline);
	screen_show_area(&grid, area);
}

/* The cursor goes where the user wants it while a table below is read on. */
static bool move_cursor(struct session *session, uint32_t key)
{
	if (!session->is_restartable || early_count || is_typing ||
		!actions_is_move_here(session, keys_action_of(key)))
		return false;
	session_key(session, key);
	session->has_moved = true;
	show_cursor(session);
	return true;
}

/* Keys that are there, as far as there is room for them. */
struct heard {
	bool is_over, has_esc, has_key, is_signal;
};

static struct heard hear(struct session *session)
{
	struct heard heard = {.is_over = leaves_early(session)};
	uint32_t key;

	while ((key = screen_key(0)) != KEYS_NONE) {
		heard.is_signal = key == SCREEN_SIGNAL;
		if (heard.is_signal)
			break;
		if (key == KEYS_ESC && !is_typing) {
			heard.has_esc = true;
			continue;
		}
		if (move_cursor(session, key))
			continue;
		heard.is_over = heard.is_over || ends(session, key, is_typing);
		is_typing = is_typing || opens_prompt(key);
		if (early_count < PROGRESS_KEYS)
			keep(key), heard.has_key = true;
	}
	return heard;
}

/* Callback of progress_watch(). False stops the read: a key or a signal came. Esc only stops; other keys are
 * queued and done afterwards. */
static bool go_on(void *own, const char *what, uint64_t done, uint64_t all)
{
	struct session *session = own;
	uint64_t now_ms = deadline_now_ms();
	struct heard heard;

	if (now_ms >= next_ms) {
		show(session, what, done, all);
		next_ms = now_ms + PROGRESS_AGAIN_MS;
	}
	heard = hear(session);
	if (heard.is_signal)
		return false;
	/* a cell that takes longer than the patience is read in the end: there is more of it each time */
	session->is_put_off =
		!heard.has_esc &&
		((session->is_restartable && heard.is_over) ||
			(session->is_resumable && (heard.has_key || now_ms >= begin_ms + patience_ms)));
	return !heard.is_over && !heard.has_esc && !session->is_put_off;
}

void progress_keys_begin(struct session *session, bool is_new)
{
	begin_ms = deadline_now_ms();
	if (is_new) {
		next_ms = begin_ms + PROGRESS_MS;
		patience_ms = PROGRESS_PATIENCE_MS;
		session->reading[0] = '\0';
	} else if (patience_ms < PROGRESS_PATIENCE_MOST_MS) {
		patience_ms *= 2;
	}
	is_typing = session->prompt != PROMPT_NONE;
	for (size_t i = 0; i < early_count; i++)
		is_typing = is_typing || opens_prompt(early[i]);
	session->is_put_off = false;
	progress_watch(go_on, session, PROGRESS_KEY_NS);
}

bool progress_keys_has_key(void)
{
	return early_count > 0 || screen_has_key();
}

uint32_t progress_keys_next(int timeout_ms)
{
	uint32_t key;

	if (!early_count) {
		key = screen_key(timeout_ms);
		mouse = screen_mouse();
		return key;
	}
	key = early[0];
	mouse = early_mouse[0];
	early_count--;
	memmove(early, early + 1, early_count * sizeof(*early));
	memmove(early_mouse, early_mouse + 1, early_count * sizeof(*early_mouse));
	return key;
}

struct mouse_event progress_keys_mouse(void)
{
	return mouse;
}
