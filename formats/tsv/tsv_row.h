/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv_row.h - for tsv_import.c and tsv_row.c only: the import's tables, and conversion of the current line
 * to a record.
 */
#ifndef FORMATS_TSV_ROW_H
#define FORMATS_TSV_ROW_H

#include "formats/tsv/tsv_reader.h"
#include "store/write/writer.h"
#include "timeline/base/key_ids.h"

/* The `monitored` row that a fact came from. */
struct import_told {
	bool is_known;
	uint64_t begin_ns, end_ns;
	struct store_hash attributes; /* of their text */
};

struct import_stream {
	struct store_stream s; /* host, name, device_name: text ids of the writer */
	uint32_t id;	       /* in the store */
	uint64_t opened;       /* spans that are open */
	bool has_source;       /* a `monitored` row names a metric */
	bool is_open;	       /* a `monitored` row has no end */
	bool is_known;	       /* begin_ns and end_ns are set */
	struct import_told name, device_name, tid;
};

/* A metric that is the time source of a stream. */
struct source_key {
	struct store_hash metric;
	uint64_t stream;
};

struct import {
	struct tsv_reader reader;
	struct store_writer *writer;
	struct key_ids texts;	   /* hash of a stream's text -> text_streams */
	uint32_t *text_streams;	   /* [text] its stream: two texts may name the same one */
	struct key_ids identities; /* struct identity -> streams */
	struct import_stream *streams;
	struct import_told command;
	struct key_ids sources; /* struct source_key */
	struct key_ids paths;	/* hash of a path -> contexts */
	struct import_path {
		uint32_t context;
		bool is_partial;
	} * contexts;
	uint32_t text_module;
	struct store_bytes text; /* scratch: a field, unescaped */
};

/* Unescapes the field into import->text. */
int tsv_row_text(struct import *import, enum tsv_column column, struct error *error);
bool tsv_row_is(const struct import *import, enum tsv_column column, const char *text);
bool tsv_row_is_empty(const struct import *import, enum tsv_column column);
int tsv_row_track(const struct import *import, enum store_track *track, struct error *error);
int tsv_row_path(struct import *import, struct import_path *path, struct error *error);
/* Fills the record except its context. */
int tsv_row_record(struct import *import, const struct import_stream *stream, enum store_track track,
	struct store_record *record, struct error *error);

/* Enlarges an array indexed by key_ids for a new number: doubles at powers of two. */
bool tsv_row_reserve(void *array, uint32_t number, size_t size);

#endif
