/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regular_file.h - opens a file that a recorded program has named, if it is a regular one. Such a path may
 * lead to anything: opening a pipe wakes its writer, opening a device may start or rewind it. Neither is
 * opened.
 */
#ifndef STORE_REGULAR_FILE_H
#define STORE_REGULAR_FILE_H

#include <sys/stat.h>

/* For reading. flags: 0, or O_NOFOLLOW: a symbolic link at its end is no regular file. Never waits for a
 * writer or a lease. *status is the file's. -1: there is none, it may not be read (errno), or it is not a
 * regular one (errno: EINVAL). Any thread. */
int regular_file_open(const char *path, int flags, struct stat *status);

#endif
