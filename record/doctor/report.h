/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - hpct-doctor --report: what a maintainer needs to understand a bug, as one text. Versions,
 * system, limits, perf's settings, GPU drivers, every row of hpct-doctor, a recording made for it, and the
 * facts and losses of one run.
 */
#ifndef RECORD_REPORT_H
#define RECORD_REPORT_H

#include <stdbool.h>

#include "store/base/bytes.h"
#include "store/base/error.h"

struct report_options {
	const char *run; /* NULL: the newest here */
	bool is_full;	 /* keeps paths, and names of hosts and users */
};

/* Appends the text, which ends with a newline. Starts hpct's programs, and records one. Returns 0 or
 * ERROR_IO. */
int report_write(const struct report_options *options, struct store_bytes *text, struct error *error);

#endif
