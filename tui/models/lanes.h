/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - figures over time below the rows: which the user chose, and their columns for the window on the
 * screen. A figure of processes or devices is that of the cursor's row, one of the host that of its host.
 */
#ifndef TUI_LANES_H
#define TUI_LANES_H

#include "timeline/sum/figure_users.h"
#include "tui/screen/lane.h"
#include "tui/session/session.h"

#define LANES_MOST 8u
#define LANES_LINES 4u /* of one, at most */

struct lanes_lane {
	char name[FIGURE_NAME_MAX];
	uint32_t lines;
	bool has_condition; /* cells that meet it stand out */
	bool has_scale;	    /* the user chose it */
	struct lane_scale chosen;
	struct figure_condition condition;
	/* For the cursor's row; what was read for the key below is kept. */
	bool is_there;
	struct figure figure;
	const char *unit;
	struct figure_column *columns, *halves; /* halves: two to a column, for dots; NULL: not wanted */
	uint32_t count;
	struct lane_scale scale;
	uint64_t begin_ns, end_ns, until_ns; /* window, and the run's end, that the columns are of */
};

struct lanes {
	struct lanes_lane lane[LANES_MOST];
	uint32_t count;
	bool is_spare;	/* nobody asked for them: they have the lines that no row uses */
	int spare_rows; /* with is_spare: the lines that they take */
	bool is_shared;
	struct figure *figures; /* of the run, as of `until_ns` */
	uint32_t figure_count;
	uint64_t until_ns;
	struct figure_users users;
	struct arena arena;
};

/* `:lane NAME[<30] [LINES]`: adds a lane, or changes it; `NAME off` takes it away, `off` all; nothing: the
 * usual ones, or none where there are some. */
void lanes_set(struct session *session, const char *value);
/* `:mark NAME<30`: a bound in that lane, which is added if it is not there; `NAME off` takes it away. */
void lanes_set_mark(struct session *session, const char *value);
/* `:scale own|shared`, `NAME 0..100`, `NAME auto`. */
void lanes_set_scale(struct session *session, const char *value);
void lanes_free(struct lanes *lanes);
/* Of a run that has nothing but figures over time: shows some, if none were chosen. */
void lanes_suggest(struct session *session);
/* Of any other run that has figures: the usual ones in the lines that no row uses. */
void lanes_suggest_spare(struct session *session);
/* Fits those into `free` lines; true: they take other lines than before. */
bool lanes_fit(struct session *session, int free);
bool lanes_are_spare(const struct session *session);
/* True if that is all that the run has. */
bool lanes_are_all(const struct run *run);
/* Lines that all lanes take; 0: none. */
int lanes_rows(const struct session *session);
/* What the lanes that were read say at the cursor, as many as have room: "gpu_busy 97 % (3 %..100 %)"; "" if
 * there are none. */
void lanes_status(const struct session *session, char *out, size_t size_bytes, int cells);
/* Reads the columns of the frame on the screen; ERROR_RUN: damage. */
int lanes_read(struct session *session, struct error *error);

#endif
