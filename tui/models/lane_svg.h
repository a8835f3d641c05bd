/* SPDX-License-Identifier: Apache-2.0 */
/* lane_svg.h - figures over time as one SVG drawing: below each other, with a band from least to most and a
 * line of means. */
#ifndef TUI_LANE_SVG_H
#define TUI_LANE_SVG_H

#include <stdio.h>

#include "timeline/sum/figure.h"
#include "tui/screen/lane.h"

struct lane_svg {
	const char *name, *unit;
	char owner[FIGURE_OWNER_MAX];
	const struct figure_column *columns;
	struct lane_scale scale;
};

/* `begin_ns`, `end_ns`: what the first column begins and the last one ends with, for the axis. Whether it all
 * got into `out` tells ferror(). */
void lane_svg_print(const struct lane_svg *lanes, uint32_t lane_count, uint32_t columns, uint64_t begin_ns,
	uint64_t end_ns, FILE *out);

#endif
