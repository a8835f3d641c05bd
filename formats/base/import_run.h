/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_run.h - makes a run of another tool's records, which come in any order: calls that nest by time get
 * their call paths, operations of GPU queues the path of their launch. All goes through external sorts, so
 * that memory does not grow with the input; it grows with the number of distinct names and paths.
 *
 *   import_record() -> | sort: stream, time | -nest-> calls ------------------------------> store
 *                                            \-> | sort: process, link | -join-> operations -> store
 *
 * Processes and streams are numbered from 0 by first use; what is known of them may be completed until the
 * end. One thread.
 */
#ifndef FORMATS_IMPORT_RUN_H
#define FORMATS_IMPORT_RUN_H

#include "store/base/bytes.h"
#include "store/base/error.h"
#include "store/write/writer.h"

struct import_run;

#define IMPORT_NONE UINT32_MAX
/* A process that becomes known later, import_run_owner(). */
#define IMPORT_OWNER (UINT32_MAX - 1)

struct import_process {
	uint32_t pid;  /* set if the key is a number; else given at the end */
	int32_t rank;  /* -1: none */
	uint32_t name; /* text id: command; 0: none */
	uint32_t host; /* text id; 0: none */
	uint32_t generation;
	bool is_named; /* all of it is known: import_stream_named() */
};

struct import_stream {
	struct store_stream
		s;	    /* kind, device, context, queue; name, device_name, tid: the importer's to set */
	uint32_t process;   /* or IMPORT_OWNER */
	uint64_t key;	    /* of the thread */
	bool is_owners;	    /* the process was IMPORT_OWNER */
	bool is_numbered;   /* its thread's number is known: s.thread */
	bool has_switches;  /* all waits are told */
	uint32_t metric;    /* text id: of the time source; 0: none */
	uint64_t period_ns; /* of its samples; 0: not known */
};

enum import_shape {
	IMPORT_BEGIN,  /* a call begins, IMPORT_END ends it */
	IMPORT_END,    /* the last call of the stream that is open ends; with an `op` one may be missing */
	IMPORT_CALL,   /* a whole call or operation; inside others of its thread it is their callee */
	IMPORT_APART,  /* a whole span that others neither hold nor are held by */
	IMPORT_PLACED, /* likewise; `name` is a context */
	IMPORT_SAMPLE, /* `name` is a context, `op` a metric, `bytes` the weight */
	IMPORT_VALUE   /* `name` is a context, `op` a metric, `bytes` the value or a double's bits */
};

struct import_record {
	uint64_t begin_ns, end_ns; /* end: of whole calls and spans */
	uint64_t bytes;
	uint64_t link;	     /* shared by a launch and its operations, within a process; 0: none */
	uint32_t stream, op; /* op: of the store */
	uint32_t name;	     /* text id; unused where `op` of a GPU queue is a copy and the like */
	uint32_t attributes; /* text id */
	bool is_source;	     /* IMPORT_SAMPLE: the metric is the stream's time source */
	enum import_shape shape;
};

/* Begins the run `path` (ERROR_USAGE: it exists). `from` is the format's name, for the run's facts. */
int import_run_begin(struct import_run **run, const char *path, const char *from, struct error *error);
/* Sorts, nests, joins, and commits. Adds what could not be held to `left_out`. The run is freed. */
int import_run_end(struct import_run *run, struct store_bytes *left_out, struct error *error);
/* Nothing remains. `run` may be NULL. */
void import_run_abort(struct import_run *run);

/* For ids of modules, metrics, operations and contexts. */
struct store_writer *import_run_writer(struct import_run *run);
/* Text id of a name; of "<more names than fit>" once texts fill a gibibyte. */
uint32_t import_name(struct import_run *run, const char *bytes, size_t size);
/* The same for attributes, which are left out then. */
uint32_t import_attributes(struct import_run *run, const struct store_bytes *attributes);
/* Appends "KEY=VALUE" in the store's spelling. */
void import_attribute_put(
	struct store_bytes *attributes, const char *key, size_t key_size, const char *value, size_t size);
/* The digits of a number, without a NUL; how many. */
#define IMPORT_DECIMAL_MAX 20u
size_t import_decimal(char text[IMPORT_DECIMAL_MAX], uint64_t value);
/* The same for a number. */
void import_attribute_number(struct store_bytes *attributes, const char *key, uint64_t value);
/* The frame of that name below `parent` (0: the root). */
uint32_t import_frame(struct import_run *run, uint32_t parent, uint32_t name);

/* The context of a path in hpct's spelling; 0: it is empty, or is none. */
uint32_t import_path(struct import_run *run, const char *text, size_t size);

/* Numbers; IMPORT_NONE: no memory. A key is any text; digits alone are the pid or tid itself. */
uint32_t import_process(struct import_run *run, const char *key, size_t size);
uint32_t import_thread(struct import_run *run, uint32_t process, const char *key, size_t size);
uint32_t import_queue(
	struct import_run *run, uint32_t process, uint32_t device, uint32_t context, uint32_t queue);
/* The stream that hpct's text of an identity names, with its process, as hpct's own exports tell it;
 * IMPORT_NONE and *is_text false: the text is none. */
uint32_t import_stream_named(struct import_run *run, const char *text, size_t size, bool *is_text);
/* A thread of IMPORT_OWNER, for spans that do not nest: they become those of its first thread. */
uint32_t import_stream_count(const struct import_run *run);
/* Valid until the next number. */
struct import_process *import_process_at(struct import_run *run, uint32_t process);
struct import_stream *import_stream_at(struct import_run *run, uint32_t stream);
/* Which process IMPORT_OWNER is: the first that is told counts; none told: process 0. */
void import_run_owner(struct import_run *run, uint32_t process);
/* The rank of all processes that have none. */
void import_run_rank(struct import_run *run, int32_t rank);

/* Their time 0 on the wall clock, for records that do not count from 1970. */
void import_run_wall(struct import_run *run, uint64_t wall_ns);

int import_record(struct import_run *run, const struct import_record *record, struct error *error);

#endif
