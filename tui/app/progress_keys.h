/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress_keys.h - progress of work that takes longer than a second, and how a key or Ctrl-C stops it.
 * Readers report through timeline/base/progress.h; keys typed meanwhile are queued. Only for the view in a
 * terminal, not for --print.
 */
#ifndef TUI_PROGRESS_KEYS_H
#define TUI_PROGRESS_KEYS_H

#include "tui/app/mouse.h"
#include "tui/session/session.h"

/* Work of the session begins, or goes on where it was put off: before each key that is done and each picture
 * that is drawn. */
void progress_keys_begin(struct session *session, bool is_new);
/* A read is not wanted any more once this key was pressed: it leaves the view or the window. */
bool progress_keys_is_over(uint32_t key);
/* screen_key(), but keys typed during a long read come first. */
uint32_t progress_keys_next(int timeout_ms);
/* What was done, after KEYS_MOUSE from it. */
struct mouse_event progress_keys_mouse(void);
/* screen_has_key(), or one that came during a long read. */
bool progress_keys_has_key(void);

#endif
