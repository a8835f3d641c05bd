/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - what one of other tools' file formats can do: a table of operations, one folder per format.
 */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include <stdio.h>

#include "formats/base/packed_file.h"
#include "store/base/bytes.h"
#include "timeline/select/select.h"

/* The input of an import. */
struct format_input {
	FILE *in;	  /* unpacked; can be rewound unless it is a pipe */
	const char *name; /* in messages */
	const char *path; /* of the file, for formats that are more than one; NULL: a stream */
	int fd; /* the file itself, where it is one and not packed, for libraries that map it; else -1 */
	/* Phrases on what the input has and a run cannot hold, each with its count, joined by "; ": for one
	 * line that the program prints. Empty: nothing. */
	struct store_bytes left_out;
	struct packed_file *file; /* below `in`; NULL: another stream */
	bool finds_names;	  /* of functions, in the files that the input names */
	bool is_kept;		  /* the input is damaged, and what was whole became a run */
	/* On the wall clock, for formats that are series: values outside are left out, times without a date
	 * count from `begin_ns`. end_ns 0: all are wanted. */
	uint64_t begin_ns, end_ns;
	const char *const *binaries; /* files of GPU code that the samples are of */
	size_t binary_count;
};

/* The output of an export. */
struct format_output {
	FILE *out;		     /* NULL for a directory */
	const char *path;	     /* of a directory, which must not exist; NULL for a file */
	struct store_bytes left_out; /* as that of an input: what a format itself counts */
};

/* A list of phrases: adds "COUNT WHAT", nothing if the count is 0. */
void format_left_out(struct store_bytes *list, uint64_t count, const char *what);

/* The unpacked input as a file by name, PATH_MAX bytes, for libraries that open files: the file itself, or
 * where input->fd is -1 a copy, for the caller to unlink. Of an input that is packed and damaged a copy has
 * what was whole, here and in format_plain_file(). */
int format_named_file(const struct format_input *input, char *path, struct error *error);

/* Shows how much of the file is read. */
void format_input_progress(const struct format_input *input);

/* The input itself where it can be read twice, else a copy of it in a temporary file, for the caller to
 * close. ERROR_IO: no space. */
int format_rereadable(FILE **in, const char *name, struct error *error);
/* A new temporary file without a name, for reading and writing, for the caller to close. `name` is what it
 * is for, in errors. */
int format_scratch_file(const char *name, FILE **made, struct error *error);
/* A stream over a plain file that holds the unpacked input and can be sought in, for the caller to close. */
int format_plain_file(const struct format_input *input, FILE **file, struct error *error);

/* Kinds of data that an export has no place for. */
enum format_lack {
	FORMAT_LACKS_VALUES = 1,
	FORMAT_LACKS_PC = 2,	  /* samples of GPU instructions */
	FORMAT_LACKS_REGIONS = 4, /* ranges and marks, and why threads waited */
	FORMAT_LACKS_RECORDS = 8  /* samples and spans */
};

struct format {
	const char *name;
	const char *about; /* what it is or which tool reads it, shown after its name in --help */
	/* Writes the selection; 1: no record was there to write, 0: done. NULL: cannot be exported. */
	int (*put)(struct run *run, const struct select *select, struct format_output *output,
		struct error *error);
	bool is_directory; /* what `put` makes */
	/* Makes the run `path` from the input. ERROR_USAGE: the run exists; ERROR_RUN: the input is damaged,
	 * and either nothing is at `path`, or what was whole, which the sentence says. NULL: cannot be
	 * imported. */
	int (*take)(struct format_input *input, const char *path, struct error *error);
	/* Of a format that is a directory: its file for `take`, as "*.otf2", or such patterns with spaces
	 * between; NULL: it is a file. */
	const char *anchor;
	/* Does a file that begins with these bytes look like one? NULL: only --from tells. */
	bool (*is)(const uint8_t *head, size_t size);
	const char *refused; /* selector options without effect on `put` ("op min"); NULL: none */
	unsigned lacks;	     /* enum format_lack of `put`: the program says how many of them the run has */
	bool takes_state_metrics; /* `put` supports derived metrics (timeline/sum/state_metrics.h) */
	bool is_binary;		  /* `put` writes what a terminal should not get */
	bool takes_binaries;	  /* `take` makes use of input->binaries */
	bool is_series; /* `take` makes figures over time alone, which may go into a run that is there */
};

extern const struct format format_tsv, format_folded, format_chrome, format_speedscope, format_pprof,
	format_perfetto, format_perf, format_nsys, format_otf2, format_callgrind, format_svg,
	format_svg_chart, format_html, format_firefox, format_hpctoolkit, format_csv, format_prometheus,
	format_gpu_samples;

#endif
