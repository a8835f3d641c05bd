/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_streams.h - the expression of --streams.
 *
 *   EXPR    EXPR | EXPR    EXPR & EXPR    ! EXPR    ( EXPR )    TERM      & binds tighter than |
 *   TERM    FIELD=VALUES   FIELD!=VALUES  or a pattern for the stream's identity
 *   FIELD   kind host rank pid generation thread tid device context queue name stream
 *   VALUES  one or more, joined by ',': a pattern with * and ?; for numbers N, N-M, N- or '-' (has none)
 *
 * A value with spaces or one of | & ! ( ) , must be in double quotes. A field that a stream lacks (a queue's
 * thread) matches only '-'. device takes a name pattern as well. Case matters.
 */
#ifndef TIMELINE_SELECT_STREAMS_H
#define TIMELINE_SELECT_STREAMS_H

#include "timeline/run/run.h"

struct select_streams;

/* The caller frees it. ERROR_USAGE: where it is wrong; ERROR_IO: no memory; then NULL. */
int select_streams_parse(struct select_streams **streams, const char *text, struct error *error);
void select_streams_free(struct select_streams *streams);
bool select_streams_match(const struct select_streams *streams, const struct run_stream *stream);

#endif
