/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigbus.h - files that are mapped and cut short meanwhile, or whose disk fails: reading there is a signal
 * (SIGBUS) and no error that could be given back. A reader ends then as after any failed read, with a
 * sentence and a code, and not by the signal.
 *
 *   hpct-stats: '/runs/a.hpct/node-1.mdb' was cut short while it was read, or its disk fails; ...
 */
#ifndef TIMELINE_SIGBUS_H
#define TIMELINE_SIGBUS_H

#include <stdbool.h>

struct sigaction;

/* From here on; `program`, which must last, begins the sentence. Children that are forked end without one,
 * and their parent with it. What else has taken the signal (a sanitizer) keeps it. */
void sigbus_watch(const char *program);
/* Is that how SIGBUS is taken? For who takes all signals of crashes and hands them on. */
bool sigbus_is_ours(const struct sigaction *action);

#endif
