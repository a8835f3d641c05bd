/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - the one table from keys to actions. The help screen and the line of keys at the bottom are made
 * from it, so they cannot disagree with what the keys do.
 *
 * A key is a Unicode character, a control character, or one of enum keys_code above all characters.
 */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum keys_code {
	KEYS_TAB = 9,
	KEYS_ENTER = 13,
	KEYS_ESC = 27,
	KEYS_BACKSPACE = 127,
	KEYS_LEFT = 0x110000,
	KEYS_RIGHT,
	KEYS_UP,
	KEYS_DOWN,
	KEYS_HOME,
	KEYS_END,
	KEYS_PAGE_UP,
	KEYS_PAGE_DOWN,
	KEYS_DELETE,
	KEYS_MOUSE,  /* something was done with the mouse */
	KEYS_RESIZE, /* the terminal has another size now */
	KEYS_NONE    /* nothing was pressed */
};

enum keys_action {
	KEYS_DO_NOTHING,
	KEYS_DO_LEFT,
	KEYS_DO_RIGHT,
	KEYS_DO_UP,
	KEYS_DO_DOWN,
	KEYS_DO_LEFT_TEN,
	KEYS_DO_RIGHT_TEN,
	KEYS_DO_GROUP_UP,
	KEYS_DO_GROUP_DOWN,
	KEYS_DO_SCROLL_UP,
	KEYS_DO_SCROLL_DOWN,
	KEYS_DO_PAN_LEFT,
	KEYS_DO_PAN_RIGHT,
	KEYS_DO_PAGE_LEFT,
	KEYS_DO_PAGE_RIGHT,
	KEYS_DO_ZOOM_IN,
	KEYS_DO_ZOOM_OUT,
	KEYS_DO_ZOOM_IN_BIT,
	KEYS_DO_ZOOM_OUT_BIT,
	KEYS_DO_WINDOW_BEGIN,
	KEYS_DO_WINDOW_END,
	KEYS_DO_GOTO,
	KEYS_DO_WHOLE_RUN,
	KEYS_DO_FIT,
	KEYS_DO_RANGE,
	KEYS_DO_ZOOM_RANGE,
	KEYS_DO_SPAN_BACK,
	KEYS_DO_SPAN_NEXT,
	KEYS_DO_GAP_BACK,
	KEYS_DO_GAP_NEXT,
	KEYS_DO_GAP_LARGER,
	KEYS_DO_GAP_SMALLER,
	KEYS_DO_JUMPS,
	KEYS_DO_ADVICE,
	KEYS_DO_BLIND_BACK,
	KEYS_DO_BLIND_NEXT,
	KEYS_DO_FIND,
	KEYS_DO_FIND_NEXT,
	KEYS_DO_FIND_BACK,
	KEYS_DO_ENTER,
	KEYS_DO_BACK,
	KEYS_DO_STATISTICS,
	KEYS_DO_BLAME,
	KEYS_DO_SUMMARY,
	KEYS_DO_DEPTH,
	KEYS_DO_GAPS,
	KEYS_DO_PROFILE,
	KEYS_DO_SOURCE,
	KEYS_DO_INFO,
	KEYS_DO_COMPARE,
	KEYS_DO_FULL,
	KEYS_DO_TIMELINE,
	KEYS_DO_STACK,
	KEYS_DO_NEXT_PANE,
	KEYS_DO_DEEPER,
	KEYS_DO_HIGHER,
	KEYS_DO_AUTO,
	KEYS_DO_MORE_LINES,
	KEYS_DO_FEWER_LINES,
	KEYS_DO_FOLD,
	KEYS_DO_FOLD_ALL,
	KEYS_DO_MORE_STREAMS,
	KEYS_DO_FEWER_STREAMS,
	KEYS_DO_HIDE,
	KEYS_DO_SHOW_ALL,
	KEYS_DO_PIN,
	KEYS_DO_LIGHT,
	KEYS_DO_FILTER,
	KEYS_DO_GROUP_BY,
	KEYS_DO_IDLE_OF,
	KEYS_DO_HOT_PATH,
	KEYS_DO_COLUMNS,
	KEYS_DO_PLOT,
	KEYS_DO_COPY,
	KEYS_DO_SORT_LEFT,
	KEYS_DO_SORT_RIGHT,
	KEYS_DO_ORDER,
	KEYS_DO_ZERO,
	KEYS_DO_UNDO,
	KEYS_DO_REDO,
	KEYS_DO_MARK,
	KEYS_DO_GO_MARK,
	KEYS_DO_COMMAND,
	KEYS_DO_COMMAND_LINE,
	KEYS_DO_FOLLOW,
	KEYS_DO_RUNS,
	KEYS_DO_HELP,
	KEYS_DO_REDRAW,
	KEYS_DO_CANCEL,
	KEYS_DO_QUIT,
	KEYS_ACTION_COUNT
};

struct keys_binding {
	uint32_t key; /* 0 ends the list */
	enum keys_action action;
};

#define KEYS_NAME_BYTES 16

enum keys_section { KEYS_MOVE, KEYS_GO, KEYS_LOOK, KEYS_KEEP, KEYS_SECTION_COUNT };

/* One line of the help screen and what it binds. */
struct keys_line {
	enum keys_section section;
	const char *keys; /* as people write them */
	const char *help;
	struct keys_binding bindings[12];
};

const struct keys_line *keys_lines(size_t *count);
const char *keys_section_name(enum keys_section section);
enum keys_action keys_action_of(uint32_t key);
/* `key` does from now on what `as` did in the table. False: no room, or `as` does nothing. */
bool keys_rebind(uint32_t key, uint32_t as);

/* What the user bound, in that order; valid until the next keys_rebind. */
const struct keys_binding *keys_bound(size_t *count);
/* A key as keys_parse() reads it: "<C-d>", "x". KEYS_NAME_BYTES. */
void keys_name(uint32_t key, char *out);
/* What the action is for, as the line of the help that has it says. */
const char *keys_help(enum keys_action action);

/* The line of keys at the bottom, cut to `cells`: help and quit go last. `out` has `size_bytes`. */
void keys_hint(char *out, size_t size_bytes, int cells);

/* Takes the next key of a --keys string: a character, or a name in angles (<Enter> <Tab> <Esc> <Space> <BS>
 * <Del> <Left> <Right> <Up> <Down> <Home> <End> <PageUp> <PageDown> <lt> <C-x>). Returns the bytes taken, 0
 * at the end. */
size_t keys_parse(const char *text, uint32_t *key);

#endif
