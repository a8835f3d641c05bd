/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_file.h - reads the file of perf record (perf.data), as it lies on disk or came through a pipe: events,
 * build ids, and records one after the other. Knows only the file format (tools/perf/Documentation/
 * perf.data-file-format.txt of Linux); perf_import.c maps records to those of a run.
 */
#ifndef FORMATS_PERF_FILE_H
#define FORMATS_PERF_FILE_H

#include <linux/perf_event.h>
#include <stdio.h>

#include "store/base/bytes.h"
#include "store/base/error.h"

#define PERF_EVENTS_MAX 64

struct perf_event {
	struct perf_event_attr attr; /* fields that the file does not have are 0 */
	char name[64];		     /* "cycles", without its modifiers */
	uint64_t *ids;
	size_t id_count;
};

struct perf_build_id {
	char *path; /* of the file, or [kernel.kallsyms] */
	uint8_t bytes[20], size;
};

/* A record: the header, then what is behind it. */
struct perf_record {
	struct perf_event_header header;
	const uint8_t *body;
	size_t size; /* of the body */
};

struct perf_file {
	FILE *in;
	const char *name;
	struct perf_event events[PERF_EVENTS_MAX];
	size_t event_count;
	struct perf_build_id *build_ids;
	size_t build_id_count;
	char *host, *machine;	/* "x86_64"; NULL: not told */
	bool is_cut;		/* the last record is not whole, or perf did not end the file */
	uint64_t damaged_count; /* compressed blocks of records (-z) that could not be unpacked */
	uint64_t record_count;	/* so far */
	/* -- internal -- */
	bool is_pipe;
	uint64_t data_at, data_end; /* 0: up to the file's end */
	uint64_t at;
	struct perf_unpack *unpack; /* once there is a compressed block */
	uint8_t buffer[65536];
};

/* `in` can be sought in, and stays the caller's. ERROR_RUN: no file of perf, or one that hpct does not read.
 */
int perf_file_open(struct perf_file **file, FILE *in, const char *name, struct error *error);
void perf_file_close(struct perf_file *file);
/* From the first record on, again. */
int perf_file_rewind(struct perf_file *file, struct error *error);
/* The next record, unpacked where perf compressed it, valid until the call after it: 1; 0: no more. */
int perf_file_next(struct perf_file *file, struct perf_record *record, struct error *error);

/* pid, tid and time of a record that is no sample: they stand at its end. False: it tells none. */
struct perf_trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
};
bool perf_trailer_read(
	const struct perf_file *file, const struct perf_record *record, struct perf_trailer *trailer);

/* What is read of a sample. */
struct perf_sample {
	const struct perf_event *event;
	uint64_t time_ns, period, ip;
	uint32_t pid, tid;
	const uint8_t *chain; /* chain_count unsigned 64-bit numbers, unaligned; NULL: none */
	uint64_t chain_count;
	/* For unwinding (--call-graph dwarf): the thread's registers, in the order of the bits of
	 * attr.sample_regs_user, and a copy of its stack from the stack pointer up. */
	const uint8_t *registers, *stack; /* NULL: none */
	size_t stack_size;
	uint64_t registers_abi; /* PERF_SAMPLE_REGS_ABI_64: 64 bits */
	bool has_stack;		/* asked for */
};
/* False: it is damaged. */
bool perf_sample_read(
	const struct perf_file *file, const struct perf_record *record, struct perf_sample *sample);

#endif
