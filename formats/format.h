/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - other tools' files, one file of code per format behind one operations table. A new format
 * is a new file and a line of the table in format.c.
 */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include <stdio.h>

#include "timeline/select/select.h"

struct format {
	const char *name;
	const char *about; /* what it is or who reads it, behind its name in --help */
	/* Writes the selection to `out`; 1: there is nothing to write, 0: done. NULL: cannot be exported. */
	int (*put)(struct run *run, const struct select *select, FILE *out, struct error *error);
	/* Makes the run `path` of what `in` holds, or nothing at all; `name` is what errors call the input.
	 * ERROR_USAGE: the run exists; ERROR_RUN: the input is damaged. NULL: cannot be imported. */
	int (*take)(FILE *in, const char *name, const char *path, struct error *error);
	const char *refused; /* options of the selector that say nothing to `put` ("op min"); NULL: none */
	bool takes_state_metrics; /* `put` knows derived metrics (timeline/sum/state_metrics.h) */
};

extern const struct format format_tsv, format_folded, format_chrome;

enum format_way { FORMAT_PUTS, FORMAT_TAKES, FORMAT_PUTS_STATE_METRICS };

#define FORMAT_TEXT_MAX 256u

/* NULL: none of that name goes that way. */
const struct format *format_find(const char *name, enum format_way way);
/* All that go that way, cut at the end when there are too many: "tsv, folded or chrome". */
void format_names(char out[FORMAT_TEXT_MAX], enum format_way way);
/* The same for --help, with what each is about: "tsv (rows, as hpct-slice), ...". */
void format_help(char out[FORMAT_TEXT_MAX], enum format_way way);

#endif
