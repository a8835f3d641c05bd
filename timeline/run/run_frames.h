/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_frames.h - for run_scopes.c alone: frames of contexts and what they stand for.
 */
#ifndef TIMELINE_RUN_FRAMES_H
#define TIMELINE_RUN_FRAMES_H

#include "timeline/run/run_internal.h"

/* A (module, offset) that paths go through, and the functions that it stands for. */
struct run_frame {
	uint32_t part;	 /* SHARED, or the store whose text ids these are */
	uint32_t module; /* of the run; of the store when it is one store's; INTERN_TABLE_NONE: reserved */
	uint64_t offset;
	uint32_t line, lines; /* in frame_lines, outermost first */
	bool is_resolved;     /* nothing better will come */
	bool is_known;
};

/* A function on the way to the place of a frame, and the place in it. */
struct run_frame_line {
	const char *file;
	uint32_t line;
	uint32_t function;
	uint32_t loop; /* innermost around that place */
	enum run_scope_kind kind;
};

/* The frame of a store's context; NULL when memory is out. */
struct run_frame *run_frame_get(struct run *run, unsigned part, const struct store_context *context);

#endif
