/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_run_internal.h - for import_run.c and import_nest.c only: the run in the making.
 */
#ifndef FORMATS_IMPORT_RUN_INTERNAL_H
#define FORMATS_IMPORT_RUN_INTERNAL_H

#include "formats/base/format.h"
#include "formats/base/import_run.h"
#include "formats/base/path_text.h"
#include "timeline/base/external_sort.h"
#include "timeline/base/key_ids.h"
#include "timeline/base/run_create.h"

struct sorted_record {
	struct import_record r;
	uint64_t serial; /* order of the input */
};
_Static_assert(sizeof(struct sorted_record) <= EXTERNAL_SORT_ENTRY_MAX, "the sort's entries");

/* A launch, or an operation that it launched; by process and link. */
struct joined_record {
	struct import_record r;
	uint64_t serial;
	uint32_t process, context; /* context: of a launch */
	bool is_operation;
};

/* What is known of a stream once its records are read. */
struct stream_place {
	uint32_t id; /* in the store */
	uint32_t
		same; /* the place of the stream that it is a part of: its own, or of a thread of the owner */
	uint64_t first_ns, last_ns;
	bool is_known;
};

struct open_call {
	struct import_record r;
	uint32_t context;
};

struct import_run {
	struct run_create create;
	struct store_writer *writer;
	struct external_sort *records, *joined;
	uint64_t records_count;
	struct key_ids process_keys, stream_keys, paths;
	uint32_t *contexts; /* [path] */
	size_t context_room;
	struct path_text path_text;
	struct import_process *processes;
	struct import_stream *streams;
	size_t process_room, stream_room;
	uint32_t owner, text_module;
	int32_t rank;
	uint64_t first_ns, last_ns; /* of all records */
	uint64_t wall_ns;	    /* of their time 0; 0: not known */
	uint32_t text_next;
	uint64_t text_bytes, attributes_left, ends_alone;
	bool is_begun;
	/* -- import_nest.c -- */
	struct stream_place *places;
	struct open_call *open; /* calls of the stream, outermost first */
	size_t open_count, open_room;
};

uint32_t import_text(struct import_run *run, const char *bytes, size_t size);
int import_record_compare(const void *left, const void *right);
/* All records into the store, which is left open. */
int import_nest(struct import_run *run, struct error *error);

#endif
