/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_file.h - a file that is read as it is, or unpacked while it is read where gzip or zstd packed it:
 * whoever reads it need not know which.
 */
#ifndef FORMATS_PACKED_FILE_H
#define FORMATS_PACKED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "store/base/error.h"

struct packed_file;

/* Takes over the descriptor; the stream lives until packed_file_close(), and can be rewound unless it is of a
 * pipe. NULL: errno says why. */
struct packed_file *packed_file_open(int fd, FILE **stream);
/* The first unpacked bytes (up to 64 KiB), once, before anything is read from the stream; valid until the
 * close. Of a pipe it waits until there are so many, or no more. */
const uint8_t *packed_file_head(struct packed_file *file, size_t *size);
/* The descriptor of a file that is not packed, and no pipe; else -1. It stays the file's. */
int packed_file_fd(const struct packed_file *file);
/* Did unpacking find damage, or an end that comes too early? */
bool packed_file_is_damaged(const struct packed_file *file);
/* How much of the file, as it lies there, has been read; `all` 0: not known (a pipe). */
void packed_file_progress(const struct packed_file *file, uint64_t *done, uint64_t *all);
/* ERROR_RUN where what was unpacked is damaged or cut short: reading it failed then. `name` is what errors
 * call the input. `file` may be NULL. */
int packed_file_close(struct packed_file *file, const char *name, struct error *error);

#endif
