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

uint64_t session_now_ms(void); /* of the monotonic clock */

/* Reads the rows on the screen into the frame, which is laid, and chooses the depth where that is automatic.
 * Stops after about `limit_ms` (0: never) and leaves is_unread set; what is damaged is left out and said.
 * Negative: nothing could be read, `error` says why. */
int session_read_screen(struct session *session, unsigned limit_ms, struct error *error);

/* Something is left to read that the picture can do without; refine reads on for about `limit_ms` (0: to the
 * end). Its errors become the message. */
bool session_is_refining(const struct session *session);
void session_refine(struct session *session, unsigned limit_ms);

/* A read failed because a key came: it goes on with the next picture. */
bool session_put_off(struct session *session, int result);
/* What a table is made of could not be read: because a key came, so that it begins anew with the next
 * picture? */
bool session_read_later(struct session *session);

#endif
