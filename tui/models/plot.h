/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.h - one metric of one scope of the profile, per stream (S4 10.6.1): in stream order, sorted, or as a
 * histogram. Values are exact: each stream's own profile of the same window. They are computed a few at a
 * time, so that keys work and Esc stops the plot.
 */
#ifndef TUI_PLOT_H
#define TUI_PLOT_H

#include "tui/models/profile_page.h"

enum plot_kind { PLOT_STREAMS, PLOT_SORTED, PLOT_HISTOGRAM, PLOT_KINDS };

struct plot {
	enum plot_kind kind;
	struct profile_key key;		   /* of the profile that it belongs to */
	uint64_t scope;			   /* hash of the row */
	char scope_name[4 * OUTLINE_NAME]; /* as shown */
	char column[OUTLINE_NAME];
	bool is_time;		/* its values are ns */
	bool has_formulas;	/* the page's derived metrics are in the outline */
	struct outline outline; /* of one stream at a time */
	struct arena arena;
	uint32_t *streams;
	double *values; /* NAN: not read yet */
	uint32_t count, done;
	uint32_t *order; /* by value when sorted */
	uint32_t cursor; /* of the order */
	bool is_stopped;
};

/* Opens the plot of the cursor's scope and the sort column, or shows the next kind of an open one; after the
 * last kind it closes. */
void plot_next(struct session *session, struct profile_page *page);
void plot_free(struct plot *plot);
/* Values are missing, and the user has not stopped it. */
bool plot_is_reading(const struct plot *plot);
/* Reads on for about `limit_ms` (0: to the end). */
void plot_read(struct session *session, struct profile_page *page, unsigned limit_ms);
#endif
