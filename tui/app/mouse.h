/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mouse.h - mouse events, in screen rows and columns. A click moves the cursor, a double click is Enter, a
 * drag selects a range; the wheel moves rows, zooms on the ruler and pans on the minimap.
 */
#ifndef TUI_MOUSE_H
#define TUI_MOUSE_H

#include "tui/screen/screen.h"

struct session;
void mouse_event(struct session *session, const struct mouse_event *event);

#endif
