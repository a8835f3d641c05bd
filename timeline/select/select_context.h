/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_context.h - the pattern of --context, matched against a context's whole path as printed in tables.
 *
 *   main;solve      only that path
 *   main;*;solve*   '*' matches any bytes, also ';': any number of frames. A frame that is only '*' may
 *                   also be missing: this matches main;solve, and main;a;b;solve_all;c
 *   main;*          main and all below it
 *   ?               one byte. Everything else, also backslashes and brackets, matches itself.
 *
 *   main;*;@loop;*@inline@cost>1%       frames with conditions, and loops and lines: select_frame.h
 */
#ifndef TIMELINE_SELECT_CONTEXT_H
#define TIMELINE_SELECT_CONTEXT_H

#include "timeline/select/select_cost.h"

#define SELECT_CONTEXT_BYTES 4000u /* longest pattern */

struct select_context;

/* The caller frees it. ERROR_USAGE: too long; ERROR_IO: no memory; then the pattern is NULL. */
int select_context_new(struct select_context **pattern, const char *text, struct error *error);
void select_context_free(struct select_context *pattern);
/* Another run: forgets cached results for the last run's scopes, and the costs. */
void select_context_bind(struct select_context *pattern, const struct run *run);
/* Whether the pattern asks for costs; then those of the bound run must be given before matching. They stay
 * the caller's, and must outlive it. */
bool select_context_needs_cost(const struct select_context *pattern);
void select_context_set_cost(struct select_context *pattern, const struct select_cost *cost);
/* Reads the names of scopes not matched before. Without memory: true. */
bool select_context_match(struct select_context *pattern, uint32_t context);

#endif
