/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - the state of one user looking at one run, shared by models, views and actions. A session knows
 * no terminal: keys come in as codes, pictures go out as a grid, so that a replay from a string gives the
 * same pictures. app/app.h opens, draws and closes sessions.
 */
#ifndef TUI_SESSION_H
#define TUI_SESSION_H

#include "timeline/select/select.h"
#include "timeline/sum/dividing.h"
#include "tui/screen/colours.h"
#include "tui/screen/grid.h"
#include "tui/screen/label.h"
#include "tui/screen/layout.h"
#include "tui/screen/ruler.h"
#include "tui/session/prompt.h"
#include "tui/session/view.h"
#include "tui/session/view_state.h"
#include "tui/timeline/frame.h"
#include "tui/timeline/minimap.h"

#define SESSION_TEXT 512
#define SESSION_LIVE_NS 10000000000u /* a live run opens on its last ten seconds */
#define SESSION_LIVE_MS 500	     /* and is read again twice a second */
#define SESSION_MESSAGE 4096
#define SESSION_MARKS 26
#define SESSION_TYPED 16
#define SESSION_USAGE 40

/* Requests to open_runs_settle(). */
enum session_want { SESSION_WANTS_NOTHING, SESSION_WANTS_RUN, SESSION_WANTS_COMPARISON, SESSION_WANTS_CLOSE };

/* What the statistics are grouped and sorted by, and their line with the cursor. */
struct session_stats {
	int by;	  /* enum stats_by */
	int sort; /* 0 time, 1 records, 2 name */
	uint32_t line, first;
};

/* How the terminal shows things. */
struct session_looks {
	int colours;	  /* a palette's tier; mono marks blocks by letters */
	int theme;	  /* enum palette_theme */
	int most_colours; /* the user's choice: 0 what the terminal has, -1 none */
	unsigned live_ms; /* interval of reading a live run; 0: SESSION_LIVE_MS */
	bool is_ascii;	  /* nothing above 0x7f */
	bool must_ascii;  /* whatever the user chooses: the locale, or --ascii */
	bool wants_ascii; /* the user's choice */
	bool is_single;	  /* cells are never made wider */
	bool has_mouse;
	bool is_fill;	/* '=' and '#' in blocks in colour too */
	bool has_cross; /* the cursor's column is marked in all rows */
	bool has_dots;	/* lanes are drawn as dots of braille */
	bool has_loops; /* between the frames of the call stack */
	bool no_sites;	/* nor from where each frame is called */
};

/* Where the cursor jumped from; a stream, for rows may move. */
struct session_place {
	uint32_t stream;
	uint64_t begin_ns, end_ns, cursor_ns;
};
#define SESSION_TRAIL 32

/* Lines of each row (session_heights.c). */
struct session_heights {
	uint8_t *lines; /* by row; NULL: each has one */
	uint32_t count; /* rows */
	uint32_t used;	/* lines of all rows */
	uint64_t version;
	unsigned dividing;
	int room;
};

struct advice_page;
struct alike_page;
struct blame_page;
struct code_page;
struct critical_list;
struct flame_page;
struct lanes;
struct compare;
struct open_runs;
struct profile_page;
struct runs_page;
struct source;
struct wait_whom;

struct session {
	struct run *run;
	struct tiles *tiles;
	struct rows rows;
	struct frame frame;
	struct minimap minimap;
	struct profile_page *profile; /* NULL: not asked for yet */
	struct blame_page *blame;
	struct critical_list *critical; /* NULL: not asked for yet */
	struct wait_whom *whom;
	struct advice_page *advice;
	struct code_page *code;
	struct alike_page *alike;
	struct lanes *lanes;	  /* figures over time below the rows; NULL: none */
	struct flame_page *flame; /* NULL: not computed yet */
	struct compare *compare;  /* a second run; NULL: none */
	/* Its limits on this run's clock, while the screen shows both (compare_take_limits()). 0, 0: none */
	struct view_state_limits second;
	struct open_runs *open; /* the list that holds it; NULL: none */
	struct runs_page *runs; /* NULL: not asked for yet */
	enum session_want want;
	char wanted[SESSION_TEXT]; /* path of the run that it is about */
	char *info;		   /* text of the info view, NULL: not made yet */
	uint32_t info_top;
	struct colours colours;
	struct source *source; /* the same */
	struct view_state state;
	struct history *history;
	struct layout layout;
	struct session_looks looks;
	const struct view *home; /* the timeline: has the focus when no other view has it */
	const struct view *pane; /* below the timeline */
	const struct view *full; /* has the screen for itself; NULL: none */
	const struct view *before_help,
		*help_of; /* what had the screen, and what the focus, when it was opened */
	const struct view *focus;
	bool has_stack; /* the call stack at the right, where there is room */
	struct session_stats stats;
	const uint32_t *only; /* streams in place of those on the screen (compare.h); NULL: none */
	uint32_t only_count;
	struct session_place trail[SESSION_TRAIL]; /* of jumps, the last one at the end */
	unsigned trail_count;
	uint32_t jump; /* line of view_jumps */
	uint32_t lit;  /* function lit up, UINT32_MAX: none */
	struct ruler_zero zero;
	int zero_kind;		       /* 0 run begin, 1 mark, 2 wall clock */
	uint64_t marks[SESSION_MARKS]; /* 'a'..'z'; UINT64_MAX: not set */
	enum prompt prompt;
	char input[SESSION_TEXT]; /* of the prompt, and its length in bytes */
	size_t input_bytes;
	char typed[SESSION_TYPED][SESSION_TEXT]; /* commands, the last one first */
	int typed_at;				 /* the one that stands in the prompt, -1: none of them */
	char find[SESSION_TEXT];		 /* last pattern */
	char filter[SESSION_TEXT];		 /* stream expression; "": none */
	char message[SESSION_MESSAGE]; /* takes the status line until the next key; a long one more lines */
	int cells_wide;		       /* screen columns of a cell: 1, 2 or 4 (the run budget) */
	const struct view *drawn_full, *drawn_pane;
	struct view_state drawn;  /* state for which cells_wide was chosen */
	struct dividing dividing; /* which frames divide the window's time: depth auto */
	unsigned dividing_changes;
	struct session_heights heights;
	uint64_t auto_span_ns; /* length of the window for which depth auto was chosen */
	uint64_t gap_ns;       /* length of the gap that { and } stand on, 0: none */
	bool is_live;
	bool has_ended;		   /* it was live when the session began */
	uint32_t step_columns;	   /* of a row that are read at once: session_read.c */
	bool is_unread;		   /* rows on the screen are not read yet: draw again */
	bool is_resumable;	   /* a read that is stopped now continues later */
	bool is_restartable;	   /* ... starts again: the read of a table */
	bool has_moved;		   /* a key was done during such a read: the picture is old */
	char reading[96];	   /* how far a long one is, for the status line; "": not long yet */
	char damage[SESSION_TEXT]; /* what could not be read because of damage, and was left out; "": nothing
				    */
	bool is_put_off;	   /* a key stopped the read: set by progress_keys.c */
	bool has_groups_left;	   /* sums of groups on the screen are incomplete */
	bool has_whom_left;	   /* who waits in the list were for is not looked up yet */
	bool has_lost_left;	   /* losses of streams beyond the screen are not read yet */
	bool is_redraw;		   /* the terminal must be cleared */
	bool is_done;
	int help_top, help_line; /* the line that was found, 0: none */
	size_t setting;		 /* the one with the cursor (settings.h) */
	/* The help's lines about commands (commands_line()): false behind the last one. SESSION_USAGE. */
	bool (*list_commands)(size_t at, char *usage, const char **help);
};

/* Of the windows: those of the run, or of both runs while the screen shows two. */
struct view_state_limits session_limits(const struct session *session);
void session_say(struct session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Text of views whose rows contain no stream. */
#define SESSION_NO_STREAM "No stream is on the screen: c opens a group, X shows what is hidden."
/* Sends a request to open_runs_settle(); too long a `path` is cut. */
void session_ask(struct session *session, enum session_want want, const char *path);
/* Keeps the state for undo. */
void session_keep(struct session *session);
/* Text of what a cell or share shows: "build_matrix", "blocked (poll)". LABEL_BYTES. */
void session_share_name(const struct session *session, char *out, const struct cell_share *share,
	enum label_place place, int cells);
/* The cursor's column begins before the stream does. */
bool session_is_before(const struct session *session, uint32_t stream);
/* Style of a working state's block or ink. */
enum grid_style session_style(
	const struct session *session, enum extent_state state, uint64_t hash, bool is_ink);
/* The path of a context goes through a function of that name. */
bool session_passes_through(const struct session *session, uint32_t context, const char *name);
/* Gives the screen and the focus back to the timeline. */
void session_go_home(struct session *session);
/* Moves the depth of the cells one step down (by 1) or up (-1). */
void session_step_depth(struct session *session, int by);
/* The number that the depth of the view stands for on the way to this scope. */
uint32_t session_depth_at(const struct session *session, uint32_t scope);
/* "4", "auto", "auto +1": the depth as people say it; and as --depth takes it: "auto+1". SESSION_DEPTH. */
#define SESSION_DEPTH 24
void session_depth_text(const struct session *session, char *out);
void session_depth_option(const struct session *session, char *out);
/* Moves the window by quarters of its length: -4, -1, 1 or 4. */
void session_pan(struct session *session, int quarters);
/* Time of so many columns. */
int64_t session_columns_ns(const struct session *session, int64_t columns);
/* The frame's window as --time takes it, in ns from the run's origin. Its first column may begin before the
 * user's window. */
void session_put_window(char *out, size_t size_bytes, const struct session *session);
/* That window and the filter, bound to the run; for select_free(). */
int session_select(struct select **select, struct session *session, struct error *error);
/* Opens a view below the timeline and gives it the focus; the same once more, or one for which there is no
 * room: the whole screen. */
void session_open_pane(struct session *session, const struct view *view);

/* session_cursor.c: the rows on the screen, and where the cursor is. */
/* Row of the cursor; UINT32_MAX if no row is shown. session_set_row() takes a row past the end as the last.
 */
uint32_t session_row(const struct session *session);
void session_set_row(struct session *session, uint32_t row);
/* Before a jump: session_back() returns to where the cursor is now. */
void session_leave_place(struct session *session);
/* Back to where the last jump began; false: there was none. */
bool session_back(struct session *session);
/* Jumps to a stream's row, which is opened where it is folded away, and to a time. False, and said: the row
 * is hidden or filtered out. */
bool session_go_to(struct session *session, uint32_t stream, uint64_t time_ns);
/* Puts the cursor on the first stream. */
void session_first_row(struct session *session);
/* Puts the cursor where most time is: the longest run of one function's work on the screen. */
void session_seek_work(struct session *session);
/* The cursor to the next stream's row, past groups. */
void session_step_stream(struct session *session, bool is_back);
/* Stream of the cursor's row; false on a group. */
bool session_stream(const struct session *session, uint32_t *stream);
/* Rows on the screen: [*top, *top + count); the last one may be cut. */
uint32_t session_rows_on_screen(const struct session *session, uint32_t *top);

/* session_heights.c: rows have several lines where there is room; below the line of the depth stand those of
 * its callees. */
/* Shares the timeline's lines out; call it when rows, layout or dividing may have changed. */
void session_heights_take(struct session *session);
uint32_t session_row_lines(const struct session *session, uint32_t row);
/* Lines from `top` to that row; the row at so many lines below `top`, UINT32_MAX: none. */
uint32_t session_row_line(const struct session *session, uint32_t top, uint32_t row);
uint32_t session_row_at(const struct session *session, uint32_t top, uint32_t line);
/* The lines of a row that are below its first, of the tallest one. */
uint32_t session_rows_below(const struct session *session);
/* One line more or fewer for the row. */
void session_step_lines(struct session *session, uint32_t row, int by);

/* Streams drawn as cells on the screen, into the caller's array of rows_on_screen (NULL: only counted). */
uint32_t session_streams_on_screen(const struct session *session, uint32_t *streams);
/* Streams as an expression of the selector: "" when they are all of the run's, or none. The caller's to free;
 * NULL: memory is out. */
char *session_expression_of(const struct session *session, const uint32_t *streams, uint32_t count);
/* Of those on the screen. */
char *session_streams_expression(const struct session *session);
/* The cursor's column. */
uint32_t session_column(const struct session *session);
/* Its begin; not before the run's, though tiles may be. */
uint64_t session_cursor_ns(const struct session *session);
/* The cell there, and the line that it is of; false: on a group, or it has not been read. */
bool session_cell(struct session *session, const struct frame_line **line, struct cell *cell);
/* The leaf with most time among those that the cell stands for; 0: none. */
uint32_t session_leaf_context(struct session *session);

/* How much of the streams x time on the screen is known. */
struct session_coverage {
	uint64_t there_ns, known_ns, lost_ns;
	uint64_t busy_ns, waits_ns, preempted_ns; /* work; blocked, in a synchronization or an idle queue */
	uint32_t lost_stream;			  /* UINT32_MAX: none; UINT32_MAX - 1: several */
	bool is_lost_partial; /* streams beyond the screen that lost some are not read yet */
	bool is_damaged;      /* of some streams nothing is known, though there were records */
};
struct session_coverage session_take_coverage(struct session *session);

#endif
