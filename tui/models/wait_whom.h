/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_whom.h - who a wait was for (blame/wait/wait_end.h), in words, and a list of what was found for the
 * waits on the screen: each costs scans, so that they are looked up one by one behind the picture.
 */
#ifndef TUI_WAIT_WHOM_H
#define TUI_WAIT_WHOM_H

#include "blame/wait/wait_end.h"
#include "tui/session/session.h"

/* Of a wait whose end is known (WAIT_END_HOLDER or later): "refresher 1 held the lock", "... for 78 ms" where
 * that is not all of the wait; the name in so many cells, without its process where that is the waiter's. */
void wait_whom_put(struct session *session, char *out, size_t size_bytes, uint32_t waiter,
	const struct wait_end *end, int cells);
/* "deadlock: audit 2 waits for transfer 1, transfer 1 for audit 2"; false: the stream's last wait is in no
 * such circle. */
bool wait_whom_put_circle(struct session *session, char *out, size_t size_bytes, uint32_t stream);
/* A thread that waits for ever without a lock, as for the end of another, may be kept by a deadlock of its
 * process. */
bool wait_whom_put_circle_near(struct session *session, char *out, size_t size_bytes, uint32_t stream);

/* ---- what was found ---- */

struct wait_whom;

void wait_whom_free(struct wait_whom *whom);
/* Of the wait of a stream in [begin, begin + length): NULL: not looked up yet; "": no record tells, or the
 * run has so many records that only Enter asks. Valid until the next call of these two. */
const char *wait_whom_text(struct session *session, uint32_t stream, uint64_t begin_ns, uint64_t length_ns);
/* Looks it up. False: a key interrupted that. */
bool wait_whom_find(struct session *session, uint32_t stream, uint64_t begin_ns, uint64_t length_ns);

#endif
