/* SPDX-License-Identifier: Apache-2.0 */
/* printed.c - see printed.h. */
#include "record/printed.h"

#include <stdio.h>

int printed(const char *program, int code, int failed)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	fprintf(stderr, "%s: the answer could not be written in full (disk full, or pipe closed)\n", program);
	return failed;
}
