/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_read.h - reads what a picture needs, within the time that a user waits: the cursor's row first; the
 * next picture continues. A key may stop a read at any point (progress_keys.h).
 *
 * The session says what happens to a stopped read: is_resumable, it keeps its data and continues;
 * is_restartable, it drops its data and starts again.
 */
#ifndef TUI_SESSION_READ_H
#define TUI_SESSION_READ_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct session;

/* Looks where the window's time divides, if the depth is automatic and the window another. */
int session_choose_depth(struct session *session, unsigned limit_ms, struct error *error);
/* Reads the rows on the screen into the frame, which must be laid. Stops after about `limit_ms` (0: never)
 * and sets is_unread; damaged rows are left out, with a message. Negative: nothing could be read, `error`
 * says why. */
int session_read_screen(struct session *session, unsigned limit_ms, struct error *error);

/* Optional data (minimap, sums of groups, plot, who waits were for) is incomplete; session_refine() reads on
 * for about `limit_ms` (0: to the end). Errors become the message. */
bool session_is_refining(const struct session *session);
void session_refine(struct session *session, unsigned limit_ms);

#endif
