/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_cache.h - files of the user's own cache, $XDG_CACHE_HOME/hpct or ~/.cache/hpct. Any number of programs
 * may read and replace one at once: each is whole at any time, and the last one wins. What is in them must be
 * looked at before it is believed; deleting all of it costs time only.
 */
#ifndef STORE_USER_CACHE_H
#define STORE_USER_CACHE_H

#include "store/base/bytes.h"

/* Where it lies; malloc'ed, NULL: nobody says, or it would be below a home that is not there. */
char *store_user_cache_directory(void);
/* Makes the directories above `path`, for the user alone, as far as that is possible. */
void store_user_cache_make(char *path);
/* A regular file of our own of 1 to `most` bytes, open to be read: the caller's; -1: there is none. */
int store_user_cache_open(const char *path, size_t most, size_t *size);
/* All bytes of a regular file of our own, `most` at most; malloc'ed, NULL: there is none. */
uint8_t *store_user_cache_read(const char *path, size_t most, size_t *size);
/* The file is this, for the user alone to read; what cannot be written stays as it was. What writers who were
 * killed left beside it goes. */
void store_user_cache_replace(const char *path, const struct store_bytes *bytes);

#endif
