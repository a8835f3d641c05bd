/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping_query.h - asks the kernel for one mapping of another process, without reading the list of all,
 * which takes milliseconds where there are 10,000. Linux 6.11.
 */
#ifndef RECORD_MAPPING_QUERY_H
#define RECORD_MAPPING_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "record/modules/mapped_files.h"

struct mapping_query {
	uint64_t begin, end;
	struct mapped_identity identity; /* of its file, less the generation; inode 0: none */
	bool is_closed;			 /* nobody may use it */
	bool is_executable;
	bool is_first_stack; /* the main thread's */
};

/* `maps`: a descriptor of /proc/PID/maps. 0: `found` is the mapping at that address; or an errno: ENOENT
 * where nothing is mapped there, ENOTTY where the kernel does not answer. */
int mapping_query(int maps, uint64_t address, struct mapping_query *found);

#endif
