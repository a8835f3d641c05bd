/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_unwind.h - call paths of `perf record --call-graph dwarf`: a sample has the registers of the
 * interrupted thread and a copy of its stack, and the agent's unwinder (record/agent/unwind) walks that copy
 * by the unwind tables of the files that were mapped. What is read of files is bounded, and copied: a file
 * may shrink meanwhile.
 */
#ifndef FORMATS_PERF_UNWIND_H
#define FORMATS_PERF_UNWIND_H

#include "formats/perf/perf_file.h"
#include "formats/perf/perf_maps.h"

struct perf_unwind;

struct perf_unwind_frame {
	uint64_t address; /* of a caller: in its call */
};

/* NULL: no memory. The maps outlive it, and have all been told. */
struct perf_unwind *perf_unwind_new(struct perf_maps *maps);
void perf_unwind_free(struct perf_unwind *unwind);

/* The user's frames of a sample with a stack, innermost first, valid until the next call; how many. 0: the
 * sample has none that this machine can walk. *is_partial: the outermost callers are missing, since the copy
 * ends before them or code has no tables. */
size_t perf_unwind_walk(struct perf_unwind *unwind, const struct perf_sample *sample,
	const struct perf_unwind_frame **frames, bool *is_partial);

#endif
