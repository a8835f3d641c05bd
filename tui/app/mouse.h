/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mouse.h - what a mouse does, in screen rows and columns: a click is the cursor, a double click Enter, a
 * drag a range, the wheel moves rows, on the ruler it zooms, on the minimap it pans.
 */
#ifndef TUI_MOUSE_H
#define TUI_MOUSE_H

#include "tui/screen/screen.h"

struct session;
void mouse_event(struct session *session, const struct mouse_event *event);

#endif
