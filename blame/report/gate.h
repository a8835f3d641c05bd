/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - assertions about a run, for nightly tests: a file of lines, one each.
 *
 *   # what must hold
 *   gpu_busy > 60%
 *   p99(step) < 200 ms
 *   share('main;io;*') < 10%
 *   share(mpi) <= 25%
 *
 *   figure   share(CLASS) share('GLOB')           per cent of the threads' lives
 *            p50 p90 p95 p99 max mean min count (MARK)   of the marks of that name (a glob)
 *            wall threads queues lost kernels copies ...  the page's figures; efficiencies in per cent
 *   sign     < <= > >= == !=
 *   limit    a number, with % or ns us ms s as its figure has
 */
#ifndef BLAME_GATE_H
#define BLAME_GATE_H

#include "blame/report/run_report.h"

enum gate_unit { GATE_NUMBER, GATE_PERCENT, GATE_TIME };

struct gate {
	const char *text; /* the line, without blanks around it */
	unsigned line;
	const char *name, *argument; /* of the figure; argument NULL: none */
	bool is_glob;		     /* the argument was quoted */
	char sign[3];
	double limit; /* ns of a time */
	/* -- judged -- */
	double value;
	enum gate_unit unit;
	bool holds;
};

struct gates {
	const char *path;
	struct gate *list;
	size_t count;
};

/* Reads the file, - is stdin. ERROR_USAGE: which line is wrong and why; ERROR_USAGE if it cannot be read. In
 * `arena`. */
int gates_read(struct gates *gates, const char *path, struct arena *arena, struct error *error);
/* Fills each gate's value. ERROR_USAGE: an unknown figure; ERROR_EMPTY: a figure that this run has not. */
int gates_judge(struct gates *gates, struct run *run, const struct select *select,
	const struct run_report *report, struct arena *arena, struct error *error);
/* ERROR_GATE with the first line that does not hold; 0: all hold. */
int gates_verdict(const struct gates *gates, struct error *error);
/* "41.2 %", "1.2 s" */
#define GATE_TEXT 48
void gate_value_text(char text[GATE_TEXT], enum gate_unit unit, double value);

#endif
