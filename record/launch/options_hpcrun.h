/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options_hpcrun.h - what hpcrun's users give to hpct-record and is written otherwise here, or not needed:
 * options of two letters, settings of hpcrun's own machinery, HPCToolkit's environment variables (S4 5.1.1,
 * A.1, A.2).
 */
#ifndef RECORD_OPTIONS_HPCRUN_H
#define RECORD_OPTIONS_HPCRUN_H

#include <stdbool.h>

/* The long option that a word such as "-mp" stands for; else the word. Static, or `word`. */
char *options_hpcrun_long(char *word);

/* Options that are taken and have no effect, each with one sentence: the values of long_options[] from
 * OPTIONS_HPCRUN on, in this order. */
#define OPTIONS_HPCRUN 256
enum options_hpcrun {
	OPTIONS_HPCRUN_MEMSIZE,
	OPTIONS_HPCRUN_LOW_MEMSIZE,
	OPTIONS_HPCRUN_CONTROL_KNOB,
	OPTIONS_HPCRUN_DYNAMIC_DEBUG,
	OPTIONS_HPCRUN_DEBUG,
	OPTIONS_HPCRUN_DISABLE_AUDITOR,
	OPTIONS_HPCRUN_ENABLE_AUDITOR,
	OPTIONS_HPCRUN_DISABLE_AUDITOR_GOT_REWRITING,
	OPTIONS_HPCRUN_NAMESPACE_SINGLE,
	OPTIONS_HPCRUN_NAMESPACE_MULTIPLE,
	OPTIONS_HPCRUN_COUNT
};

/* Each begins with the option's or variable's name. Static. */
const char *options_hpcrun_sentence(enum options_hpcrun option);

/* The sentence for the next of HPCToolkit's variables that are set and have no effect; `at` begins with 0.
 * NULL: no more. */
const char *options_hpcrun_variable(unsigned *at);

/* "REALTIME@0": a debugger is to trigger the samples (S4 12.7.4). */
bool options_hpcrun_is_controlled(const char *event);
extern const char options_hpcrun_controlled[]; /* its sentence */

#endif
