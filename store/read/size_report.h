/* SPDX-License-Identifier: Apache-2.0 */
/*
 * size_report.h - where the room of a store is: what the keys and values of each named database hold. That is
 * its payload; the rest of the file are LMDB's pages around them.
 */
#ifndef STORE_SIZE_REPORT_H
#define STORE_SIZE_REPORT_H

#include <stdint.h>

#include "store/base/error.h"

#define STORE_SIZE_COUNT 11u /* named databases */

struct store_reader;

struct store_size {
	const char *name; /* for good */
	uint64_t values;
	uint64_t bytes; /* of keys and values */
};

/* Adds those of the reader's moment to `sizes`, one for each named database. Walks over every key. */
int store_reader_sizes(
	const struct store_reader *reader, struct store_size sizes[STORE_SIZE_COUNT], struct error *error);

#endif
