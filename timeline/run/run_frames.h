/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_frames.h - for run_scopes.c only: frames of contexts and the functions they expand to.
 */
#ifndef TIMELINE_RUN_FRAMES_H
#define TIMELINE_RUN_FRAMES_H

#include "timeline/run/run_internal.h"

/* A (module, offset) in call paths, and the functions that it expands to. */
struct run_frame {
	uint32_t part;	 /* SHARED, or the store that owns these text ids */
	uint32_t module; /* of the run, or of the store; INTERN_TABLE_NONE: reserved */
	uint64_t offset;
	uint32_t line, lines; /* in frame_lines, outermost first */
	bool is_resolved;     /* final: no better name will come */
	bool is_known;
	bool begins_above; /* the first line is a position in the function above, unless that is another */
};

/* A function in a frame's inline chain, and the position in it. */
struct run_frame_line {
	const char *file;
	uint32_t line;
	uint32_t function;
	uint32_t loop; /* innermost around that position */
	enum run_scope_kind kind;
};

/* The frame of a store's context; NULL: no memory. */
struct run_frame *run_frame_get(struct run *run, unsigned part, const struct store_context *context);
/* A construct of OpenMP, by where it is called: `<omp region solve.c:120>`, at this place in a function;
 * below another construct it has none. */
struct run_frame *run_frame_construct(
	struct run *run, uint64_t frame, const struct run_context *at, const struct run_function *function);

#endif
