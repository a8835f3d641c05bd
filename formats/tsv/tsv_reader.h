/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv_reader.h - reads lines of a TSV file as fields by column: finds columns by name in the header, in any
 * order; a missing column reads as empty, an unknown one is ignored.
 */
#ifndef FORMATS_TSV_READER_H
#define FORMATS_TSV_READER_H

#include <stdio.h>

#include "store/base/bytes.h"
#include "store/base/error.h"

enum tsv_column {
	TSV_STREAM,
	TSV_TRACK,
	TSV_BEGIN,
	TSV_END,
	TSV_PATH,
	TSV_OP,
	TSV_BYTES,
	TSV_WEIGHT,
	TSV_METRIC,
	TSV_VALUE,
	TSV_ATTRIBUTES,
	TSV_COLUMN_COUNT
};

struct tsv_field {
	const char *text; /* not NUL-terminated, escaped */
	size_t size;
};

struct tsv_reader {
	FILE *in;
	const char *name; /* of the input, for errors */
	uint64_t line;
	struct tsv_field fields[TSV_COLUMN_COUNT]; /* of the last line read, valid until the next */
	/* -- internal -- */
	struct store_bytes buffer;
	size_t at;
	uint8_t *columns; /* [position in the header], TSV_COLUMN_COUNT: unknown */
	size_t column_count;
	bool is_at_end;
};

/* Reads the header. ERROR_RUN: no stream or begin_ns column, or not text. */
int tsv_reader_begin(struct tsv_reader *reader, FILE *in, const char *name, struct error *error);
void tsv_reader_fini(struct tsv_reader *reader);
/* The next line that is not empty: 1; 0: no more; negative: error. */
int tsv_reader_next(struct tsv_reader *reader, struct error *error);

/* ERROR_RUN: "FILE line 7, column weight: 'abc' WHAT". */
int tsv_reader_bad(
	const struct tsv_reader *reader, enum tsv_column column, const char *what, struct error *error);
/* The field as a whole number; `otherwise` if empty. */
int tsv_reader_number(const struct tsv_reader *reader, enum tsv_column column, uint64_t otherwise,
	uint64_t *number, struct error *error);

#endif
