/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_context.h - the pattern of --context, matched against a context's whole path as tables print it.
 *
 *   main;solve      that path alone
 *   main;*;solve*   '*' stands for any bytes, ';' included: any number of frames. A frame that is '*' alone
 *                   may also be missing: this matches main;solve, and main;a;b;solve_all;c
 *   main;*          main and all below it
 *   ?               one byte. Everything else, backslashes and brackets too, stands for itself.
 */
#ifndef TIMELINE_SELECT_CONTEXT_H
#define TIMELINE_SELECT_CONTEXT_H

#include "timeline/run/run.h"

#define SELECT_CONTEXT_BYTES 4000u /* longest pattern */

struct select_context;

/* The caller's to free. ERROR_USAGE: too long; ERROR_IO: memory is out; the pattern is NULL then. */
int select_context_new(struct select_context **pattern, const char *text, struct error *error);
void select_context_free(struct select_context *pattern);
/* Another run: what was found out about the scopes of the last one is forgotten. */
void select_context_bind(struct select_context *pattern, const struct run *run);
/* Costs the names of the scopes that were not asked about before. When memory is out: true. */
bool select_context_match(struct select_context *pattern, uint32_t context);

#endif
