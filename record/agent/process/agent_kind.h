/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_kind.h - whether this agent is the one that measures this process. The agent comes in two
 * shapes made of the same objects: a library that is preloaded, and an archive that hpct-link
 * links into static programs (real_static.c, and wrap_start.c with HPCT_STATIC).
 */
#ifndef RECORD_AGENT_AGENT_KIND_H
#define RECORD_AGENT_AGENT_KIND_H

#include <stdbool.h>

/* False: it was linked into a program that turned out dynamic, where the library does it. Sets *argv and
 * *envp where constructors do not get them. */
bool agent_kind_is_wanted(char ***argv, char ***envp);

#endif
