/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigbus.h - handles SIGBUS, which a read from a mapped file raises when the file has been truncated or its
 * disk fails. A reader then ends with an error message and exit code, like after any failed read.
 *
 *   hpct-stats: '/runs/a.hpct/node-1.mdb' was cut short while it was read, or its disk fails; ...
 */
#ifndef TIMELINE_SIGBUS_H
#define TIMELINE_SIGBUS_H

#include <stdbool.h>

struct sigaction;

/* Installs the handler; `program` (must stay valid) begins the message. Forked children end silently, and
 * their parent prints it. A handler already installed (a sanitizer's) stays. */
void sigbus_watch(const char *program);
/* True when the action is this handler: for code that replaces all crash handlers and chains to them. */
bool sigbus_is_ours(const struct sigaction *action);

#endif
