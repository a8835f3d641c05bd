/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formula_file.h - formulas that are kept by name, for --metric NAME: in the run's file `formulas`, then in
 * the user's, hpct/formulas in XDG_CONFIG_HOME or ~/.config, then those that every reader has.
 *
 *   # what waits, in per cent of all
 *   waste = 100 * $BLOCKED:excl / @REALTIME:incl
 *   # how much longer the program took than without hpct: undilated_gpu and undilated_time stand on it
 *   dilation = 1.8
 */
#ifndef TIMELINE_FORMULA_FILE_H
#define TIMELINE_FORMULA_FILE_H

#include "timeline/run/run.h"

/* The line "NAME = FORMULA" of that name, as --metric takes it; the caller frees it. NULL: there is none. */
char *formula_file_find(const struct run *run, const char *name);

#endif
