/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - other tools' file formats: one source file per format, with a table of operations. A new format
 * is a new file and a line in the table in format.c.
 */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include <stdio.h>

#include "timeline/select/select.h"

struct format {
	const char *name;
	const char *about; /* what it is or which tool reads it, shown after its name in --help */
	/* Writes the selection to `out`; 1: no record was there to write, 0: done. NULL: cannot be exported.
	 */
	int (*put)(struct run *run, const struct select *select, FILE *out, struct error *error);
	/* Makes the run `path` from `in`, or nothing; `name` is the input's name in errors. ERROR_USAGE: the
	 * run exists; ERROR_RUN: the input is damaged. NULL: cannot be imported. */
	int (*take)(FILE *in, const char *name, const char *path, struct error *error);
	const char *refused;	  /* selector options without effect on `put` ("op min"); NULL: none */
	bool takes_state_metrics; /* `put` supports derived metrics (timeline/sum/state_metrics.h) */
};

extern const struct format format_tsv, format_folded, format_chrome;

enum format_way { FORMAT_PUTS, FORMAT_TAKES, FORMAT_PUTS_STATE_METRICS };

#define FORMAT_TEXT_MAX 256u

/* NULL: no such format in that direction. */
const struct format *format_find(const char *name, enum format_way way);
/* All formats in that direction, cut if too long: "tsv, folded or chrome". */
void format_names(char out[FORMAT_TEXT_MAX], enum format_way way);
/* The same for --help, with descriptions: "tsv (rows, as hpct-slice), ...". */
void format_help(char out[FORMAT_TEXT_MAX], enum format_way way);

#endif
