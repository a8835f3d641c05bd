/* SPDX-License-Identifier: Apache-2.0 */
/* stdout_check.h - checks at the end of a main that its output was written. */
#ifndef RECORD_STDOUT_CHECK_H
#define RECORD_STDOUT_CHECK_H

/* Returns `code` if all of stdout was written; else prints an error to stderr and returns `failed`. */
int stdout_check(const char *program, int code, int failed);

#endif
