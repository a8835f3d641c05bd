/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_read.h - reading for a picture within the time that a user waits: the cursor's row first, what does
 * not fit is left for the next picture. It may be stopped by a key at any place (progress_keys.h).
 *
 * What was read is kept where reading can go on (is_resumable), and thrown away where it is a table that
 * is made as a whole (is_restartable); the session says which of the two it is in at this moment.
 */
#ifndef TUI_SESSION_READ_H
#define TUI_SESSION_READ_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct session;

/* Reads the rows on the screen into the frame, which must be laid, and chooses the depth where it is
 * automatic. Stops after about `limit_ms` (0: never) and sets is_unread; damaged rows are left out, with a
 * message. Negative: nothing could be read, `error` says why. */
int session_read_screen(struct session *session, unsigned limit_ms, struct error *error);

/* Something is left to read that the picture can do without; refine reads on for about `limit_ms` (0: to the
 * end). Its errors become the message. */
bool session_is_refining(const struct session *session);
void session_refine(struct session *session, unsigned limit_ms);

#endif
