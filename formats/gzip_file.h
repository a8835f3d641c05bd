/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip_file.h - a file that is read as it is, or unpacked while it is read where it is gzip's: whoever reads
 * it need not know which.
 */
#ifndef FORMATS_GZIP_FILE_H
#define FORMATS_GZIP_FILE_H

#include <stdio.h>

#include "store/base/error.h"

struct gzip_file;

/* Takes over the descriptor; the stream lives until gzip_file_close(), and can be rewound unless it is of a
 * pipe. NULL: errno says why. */
struct gzip_file *gzip_file_open(int fd, FILE **stream);
/* ERROR_RUN where what was unpacked is damaged or cut short: reading it failed then. `name` is what errors
 * call the input. `file` may be NULL. */
int gzip_file_close(struct gzip_file *file, const char *name, struct error *error);

#endif
