/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filesystem.h - the kind of file system under a path, and whether LMDB works there: LMDB writes a file that
 * other processes have mapped, and shares its reader table through a mapped lock file.
 */
#ifndef STORE_FILESYSTEM_H
#define STORE_FILESYSTEM_H

#include <stdbool.h>

/* Name of the file system under the path or descriptor, "" for an unknown one. *is_remote: other machines or
 * a FUSE server may write it. NULL: the check failed (errno). */
const char *store_filesystem(const char *path, bool *is_remote);
const char *store_filesystem_of(int fd, bool *is_remote);

/* Tests a directory with a forked process for what LMDB relies on: file writes appear in the other's map,
 * changes in one map appear in the other, record locks hold. Leaves no files. */
bool store_filesystem_is_coherent(const char *directory);

#endif
