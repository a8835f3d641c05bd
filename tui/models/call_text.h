/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_text.h - the call of MPI or NCCL at the cursor, as its library told it: "AllReduce 41, rank
 * 1 of 2, 4.0 MiB, nccl:98066c5c7eb7905a".
 */
#ifndef TUI_CALL_TEXT_H
#define TUI_CALL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct session;

/* Of the cursor's stream; reads the spans of that moment where its path ends in such a call. False: there is
 * none. */
bool call_text_at_cursor(struct session *session, char *out, size_t size_bytes);

#endif
