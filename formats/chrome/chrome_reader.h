/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_reader.h - reads a Chrome Trace Event file (JSON), as a stream: an array of events, or an object
 * that has one as "traceEvents". Knows only the file format; chrome_import.c maps events to records.
 */
#ifndef FORMATS_CHROME_READER_H
#define FORMATS_CHROME_READER_H

#include <stdio.h>

#include "store/base/bytes.h"
#include "store/base/error.h"

struct chrome_text {
	const char *text; /* not NUL-terminated; "" where it is missing */
	size_t size;
};

struct chrome_arg {
	struct chrome_text key, value; /* of an array the items, joined by ':' */
	bool is_number;
};

/* An event, valid during the call that gives it. */
struct chrome_event {
	char phase;	/* '\0': missing */
	bool has_time;	/* ts is there, and not before 0 */
	bool has_flaw;	/* ts or dur is no number that a run can hold */
	uint64_t ts_ns; /* with the file's base */
	uint64_t dur_ns;
	struct chrome_text name, category, pid, tid, id, scope;
	const struct chrome_arg *args;
	size_t arg_count;
	size_t cut_count; /* texts of which only the beginning is here, arguments that are not: too many */
};

struct chrome_reader_ops {
	int (*event)(void *own, const struct chrome_event *event, struct error *error);
	/* "distributedInfo": {"rank": N} */
	void (*rank)(void *own, int32_t rank);
	void (*progress)(void *own); /* between blocks */
	void *own;
};

/* How it ended, where it is no error: the file is whole, or cut short or damaged behind `events` whole
 * events. */
struct chrome_reader_end {
	bool is_damaged;
	uint64_t events, bytes; /* bytes: up to the damage */
	char why[256];
};

/* Calls `ops` for all that is whole. A negative code is one of `ops`, of reading or of memory. */
int chrome_read(FILE *in, const char *name, const struct chrome_reader_ops *ops,
	struct chrome_reader_end *end, struct error *error);

#endif
