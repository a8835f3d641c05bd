/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_cache.h - files of the user's cache, $XDG_CACHE_HOME/hpct or ~/.cache/hpct. Any number of programs
 * may read and replace one at once: a file is always complete, and the last writer wins. Readers must check
 * the content before they use it; deleting the cache costs only time.
 */
#ifndef STORE_USER_CACHE_H
#define STORE_USER_CACHE_H

#include "store/base/bytes.h"

/* The cache directory; malloc'ed. NULL: no variable names one, or the home directory does not exist. */
char *store_user_cache_directory(void);
/* Creates the directories above `path` with mode 0700, as far as possible. */
void store_user_cache_make(char *path);
/* Opens a regular file owned by this user, of 1 to `most` bytes, for reading; the caller closes it. -1:
 * none. */
int store_user_cache_open(const char *path, size_t most, size_t *size);
/* All bytes of a regular file owned by this user, at most `most`; malloc'ed. NULL: none. */
uint8_t *store_user_cache_read(const char *path, size_t most, size_t *size);
/* Replaces the file, mode 0600; if that fails the old file stays. Deletes temporary files of killed writers.
 */
void store_user_cache_replace(const char *path, const struct store_bytes *bytes);

#endif
