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

/* Call before each key that is done and each picture that is drawn. `is_new`: false if the picture continues
 * an interrupted read. */
void progress_keys_begin(struct session *session, bool is_new);
/* True: the key leaves the view or the window, so it stops a read. */
bool progress_keys_is_over(uint32_t key);
/* screen_key(), but queued keys come first. */
uint32_t progress_keys_next(int timeout_ms);
/* The mouse event, after progress_keys_next() returned KEYS_MOUSE. */
struct mouse_event progress_keys_mouse(void);
/* screen_has_key(), or a queued key. */
bool progress_keys_has_key(void);

#endif
