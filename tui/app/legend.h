/* SPDX-License-Identifier: Apache-2.0 */
/*
 * legend.h - the lines below a picture for papers and issues: what its axes are, which colour is which
 * function, what the glyphs mean. On the screen `?` says that.
 */
#ifndef TUI_LEGEND_H
#define TUI_LEGEND_H

#include "tui/screen/grid.h"

struct session;

/* The screen with its legend below: a grid of the caller's, for grid_fini(). -1: memory is out. */
int legend_add(struct grid *with, struct session *session, const struct grid *screen);

#endif
