/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_import.h - stacks with weights but without times as a run: one thread, in which the stacks stand one
 * behind the other, each for as many ns as its weight. Profiles of such a run are the file's; its order is
 * that of the file.
 */
#ifndef FORMATS_STACK_IMPORT_H
#define FORMATS_STACK_IMPORT_H

#include "formats/base/import_run.h"

struct stack_import {
	struct import_run *run;
	uint32_t stream, metric;
	uint64_t now_ns;
};

/* The thread and the metric whose weights make the time. IMPORT_NONE memory: false. */
bool stack_import_begin(
	struct stack_import *stacks, struct import_run *run, const char *metric, const char *unit);
/* A stack by its context, and its weight. Then, at the same time, weights of other metrics. ERROR_RUN: they
 * sum up to more than a run's time. */
int stack_import_add(struct stack_import *stacks, uint32_t context, uint64_t weight, struct error *error);
int stack_import_also(
	struct stack_import *stacks, uint32_t metric, uint32_t context, uint64_t weight, struct error *error);
/* Marks the end of the time. */
int stack_import_end(struct stack_import *stacks, struct error *error);

#endif
