/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_command.h - the key Y: shows the command line that prints the numbers on the screen, for scripts and
 * reports.
 */
#ifndef TUI_SHELL_COMMAND_H
#define TUI_SHELL_COMMAND_H

#include "tui/session/session.h"

/* Of the view that has the screen or stands in the pane, as the message. */
void shell_command_show(struct session *session);

#endif
