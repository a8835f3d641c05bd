/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - says on standard error, if that is a terminal, how far a program is that works for longer than
 * a second: one line, drawn anew five times a second, wiped before anything else is printed and when Ctrl-C
 * ends the program. For programs that read and print; the view has the screen to itself and watches
 * instead. One thread.
 *
 *   hpct-blame: reading, 43 % of the window (Ctrl-C stops)
 */
#ifndef TIMELINE_PROGRESS_H
#define TIMELINE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/base/error.h"

/* `program` must last. From here on SIGINT and SIGTERM wipe the line before they do what they do. */
void progress_begin(const char *program, int fd, uint64_t after_ns);
/* In place of the line: asked when more than `after_ns` have gone by, and so often from then on, but at least
 * five times a second; false: stop. From then on all reading fails until the next watch, or until it is said
 * that reading goes on. NULL: nobody watches. */
typedef bool progress_watcher(void *own, const char *what, uint64_t done, uint64_t all);
void progress_watch(progress_watcher *watcher, void *own, uint64_t after_ns);
void progress_go_on(void);
/* The watcher said stop, and nobody that reading goes on. */
bool progress_is_stopped(void);
/* Some more is done: `done` of `all`. Cheap enough for every few thousand records; nothing without a begin
 * or a watch. False: the watcher wants no more; the reader returns progress_refuse(). */
bool progress_at(const char *what, uint64_t done, uint64_t all);
int progress_refuse(struct error *error);
/* Wipes the line, for good. */
void progress_end(void);

#endif
