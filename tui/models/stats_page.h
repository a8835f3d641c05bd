/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats_page.h - where the time on the screen went: exact sums of the rows drawn as cells, by function, path,
 * module, line, stream or operation. Work comes first, states below it, time outside the streams' life
 * (absent) last. All lines together equal streams x window. Computed for every picture; view_stats.c draws
 * the lines of the streams' life, export.c writes all.
 */
#ifndef TUI_STATS_PAGE_H
#define TUI_STATS_PAGE_H

#include "tui/session/session.h"
#include "tui/timeline/sums.h"

struct stats_page {
	struct sums_line *lines; /* work, states, absent; each in the order of session_stats.sort */
	size_t count;
	size_t lived_count; /* the lines before absent */
	uint64_t lived_ns;  /* their time */
	uint64_t work_ns;   /* that of work */
	uint64_t absent_ns;
	uint32_t streams; /* number of streams in the sums */
};

/* Work, also a wait in a synchronization that a function stands for; else a state. */
bool stats_page_is_work(const struct sums_line *line);

/* False: memory is out; do not call stats_page_fini(). */
bool stats_page_take(struct session *session, struct stats_page *page);
void stats_page_fini(struct stats_page *page);

/* Full key of a line, stored in `scratch` (LABEL_BYTES), the arena or the run; NULL: memory is out. */
const char *stats_page_key(
	struct session *session, const struct sums_line *sum, char *scratch, struct arena *arena);

/* The whole key of the line with the cursor; false: there is none. */
bool stats_page_name(struct session *session, char *out, size_t size_bytes);
/* Moves the timeline's cursor to the cell on the screen with most time of that line. */
void stats_page_go(struct session *session);

#endif
