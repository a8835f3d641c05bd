/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_role.h - what a process is called by its command line and the name that it gave itself:
 * "cc1plus foo.cc", "python3 train.py", "postgres: writer". Pure functions from texts to texts.
 */
#ifndef TIMELINE_PROGRAM_ROLE_H
#define TIMELINE_PROGRAM_ROLE_H

#include "store/base/arena.h"

#define PROGRAM_ROLE_BYTES 128

/* Program and role of a command line, whose words are divided by blanks: the program's base name, and the
 * file or the word that tells what it works on; "": there is none. Both PROGRAM_ROLE_BYTES. */
void program_role_of(const char *command, char *program, char *role);

/* "cc1plus foo.cc"; what the process gave itself tells more: its title ("postgres: checkpointer"), else the
 * name of its main thread ("nginx: worker"). Without a command, title and name (""), "process". In `arena`;
 * NULL: no memory. */
const char *program_role_name(const char *command, const char *title, const char *name, struct arena *arena);

#endif
