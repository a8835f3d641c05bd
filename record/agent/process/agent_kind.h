/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_kind.h - which agent measures this process. The agent comes in two forms made from the same objects:
 * a preloaded library, and an archive that hpct-link links into static programs (real_static.c, and
 * wrap_start.c with HPCT_STATIC).
 */
#ifndef RECORD_AGENT_AGENT_KIND_H
#define RECORD_AGENT_AGENT_KIND_H

#include <stdbool.h>

/* False: linked into a program that is dynamic after all, where the library measures. Sets *argv and *envp
 * where constructors do not get them. */
bool agent_kind_is_wanted(char ***argv, char ***envp);

#endif
