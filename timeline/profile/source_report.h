/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_report.h - hpct-profile --source: the lines of a source file as rows, with their text if the file
 * is found.
 */
#ifndef TIMELINE_SOURCE_REPORT_H
#define TIMELINE_SOURCE_REPORT_H

#include "timeline/profile/source_file.h"
#include "timeline/report/report.h"
#include "timeline/select/select.h"

struct source_ask {
	const char *path;
	uint32_t line;		  /* 0: the whole file */
	struct source_file *file; /* with its maps */
	bool is_whole;		  /* lines without cost too */
};

/* FILE or FILE:LINE; its path in the arena. */
int source_ask_parse(struct source_ask *ask, const char *text, struct arena *arena, struct error *error);
/* Prints to stdout; to stderr, which file was not found and the places searched. */
int source_report(struct run *run, const struct select *select, const struct source_ask *ask,
	enum report_format format, struct arena *arena, struct error *error);

#endif
