/* SPDX-License-Identifier: Apache-2.0 */
/* stdout_check.h - did what a main of this room printed arrive? */
#ifndef RECORD_STDOUT_CHECK_H
#define RECORD_STDOUT_CHECK_H

/* `code` when all of stdout was written, else one sentence on stderr and `failed`. For mains, at their end.
 */
int stdout_check(const char *program, int code, int failed);

#endif
