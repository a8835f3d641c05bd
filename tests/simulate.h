/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate.h - writes deterministic runs for tests and benchmarks directly into a store: the same options
 * give the same records, names and times on every machine.
 */
#ifndef TESTS_SIMULATE_H
#define TESTS_SIMULATE_H

#include <stdint.h>

#include "store/base/error.h"

struct simulate_options {
	const char *run;   /* directory to create */
	const char *shape; /* cpu, gpu, mixed, odd, waits */
	uint32_t streams;  /* at least one; some shapes use a few more */
	uint64_t records;  /* total, approximate */
	uint64_t seed;
};

/* Creates the run completely or not at all. ERROR_USAGE: no such shape, or the run exists; ERROR_IO: it
 * cannot be written. */
int simulate_run(const struct simulate_options *options, struct error *error);
/* The shapes by name; NULL after the last. */
const char *simulate_shape_name(unsigned index);

#endif
