/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filesystem.h - on what kind of file system a file lies, and whether LMDB can work there: it writes a file
 * that others have mapped, and keeps a table of readers in memory that processes share through another.
 */
#ifndef STORE_FILESYSTEM_H
#define STORE_FILESYSTEM_H

#include <stdbool.h>

/* Name of the file system below the path or descriptor, "" when it is none that we know; *is_remote: other
 * machines may write it, or a program serves it. NULL: it cannot be told (errno). */
const char *store_filesystem(const char *path, bool *is_remote);
const char *store_filesystem_of(int fd, bool *is_remote);

/* Tries in a directory what LMDB relies on, between two processes: what one writes the other sees in its map,
 * what one changes in its map the other sees in its own, and record locks hold. Forks; leaves nothing there.
 */
bool store_filesystem_is_coherent(const char *directory);

#endif
