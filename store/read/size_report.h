/* SPDX-License-Identifier: Apache-2.0 */
/*
 * size_report.h - the size of each named database's keys and values, the payload. The rest of the file is
 * LMDB's page overhead.
 */
#ifndef STORE_SIZE_REPORT_H
#define STORE_SIZE_REPORT_H

#include <stdint.h>

#include "store/base/error.h"

#define STORE_SIZE_COUNT 11u /* named databases */

struct store_reader;

struct store_size {
	const char *name; /* static */
	uint64_t values;
	uint64_t bytes; /* of keys and values */
};

/* Adds the sizes in the reader's snapshot to `sizes`, one for each named database. Walks over every key. */
int store_reader_sizes(
	const struct store_reader *reader, struct store_size sizes[STORE_SIZE_COUNT], struct error *error);

#endif
