/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minimap.h - the whole run on one line: how busy its GPUs are in each column, or its threads if it has no
 * GPU. Read in small steps, so that keys and the first picture do not wait.
 *
 * A column shows the mean over the devices. Overlapping queues of one device count once as far as sums can
 * tell: a device is never busier than the column is long. Of very many devices or threads an even sample is
 * read.
 */
#ifndef TUI_MINIMAP_H
#define TUI_MINIMAP_H

#include "timeline/tile/tile.h"
#include "tui/timeline/rows.h"

#define MINIMAP_UNITS_MAX 128u /* devices or threads that are read */

/* One column of the run; times are sums over the devices or threads. */
struct minimap_column {
	uint64_t busy_ns, there_ns;
	uint64_t known_ns, blind_ns; /* blind: unmonitored */
	bool has_lost;
	bool is_read; /* at least one device is in the sums */
};

struct minimap {
	struct run *run;
	uint64_t begin_ns, end_ns; /* of the run when it was laid */
	uint32_t width, stream_count;
	struct tile_columns edges;
	struct minimap_column *columns; /* sums of the units read */
	struct minimap_column *unit;	/* the one that is being read */
	uint32_t *nodes;		/* of the units chosen */
	uint32_t node_count;
	bool is_gpu;	/* units are devices, else threads */
	bool is_wide;	/* threads are read in wide tiles */
	bool is_about;	/* sums are of an even choice of the units, or of longer times than columns */
	bool is_summed; /* the sums of all streams are to be tried first */
	/* where reading goes on: unit, node below it, column */
	uint32_t at_unit, at_node, at_column;
	bool is_done;
};

/* Lays the run on `width` columns; keeps what was read when nothing has changed. */
int minimap_lay(struct minimap *minimap, struct run *run, const struct rows *rows, uint32_t width,
	struct error *error);
/* Reads on, at most about `limit_ms` (0: to the end). */
int minimap_read(struct minimap *minimap, struct tiles *tiles, const struct rows *rows, unsigned limit_ms,
	struct error *error);
void minimap_fini(struct minimap *minimap);
/* Forces a new reading: the run was renewed. */
void minimap_forget(struct minimap *minimap);

uint64_t minimap_column_ns(const struct minimap *minimap, uint32_t column);
uint32_t minimap_column_at(const struct minimap *minimap, uint64_t time_ns); /* clamped */

#endif
