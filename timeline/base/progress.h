/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - shows progress on standard error, if that is a terminal, when a program works for longer than
 * a second: one line, redrawn five times a second, erased before other output and when Ctrl-C ends the
 * program. For programs that read and print; hpct-view owns the screen and sets a watcher instead. One
 * thread.
 *
 *   hpct-blame: reading, 43 % of the window (Ctrl-C stops)
 */
#ifndef TIMELINE_PROGRESS_H
#define TIMELINE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/base/error.h"

/* `program` must stay valid. From here on SIGINT and SIGTERM erase the line before they take effect. */
void progress_begin(const char *program, int fd, uint64_t after_ns);
/* Replaces the line by a callback: called after `after_ns`, and then at that interval, but at least five
 * times a second; false: stop. All reading then fails until the next watch, or until progress is resumed.
 * NULL: no watcher. */
typedef bool progress_watcher(void *own, const char *what, uint64_t done, uint64_t all);
void progress_watch(progress_watcher *watcher, void *own, uint64_t after_ns);
void progress_go_on(void);
/* True after the watcher has stopped reading, until progress is resumed. */
bool progress_is_stopped(void);
/* Reports `done` of `all`. Cheap enough for every few thousand records; does nothing without a begin or a
 * watch. False: the watcher stops; the reader returns progress_refuse(). */
bool progress_at(const char *what, uint64_t done, uint64_t all);
int progress_refuse(struct error *error);
/* Erases the line for good. */
void progress_end(void);

#endif
