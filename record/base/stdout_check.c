/* SPDX-License-Identifier: Apache-2.0 */
/* stdout_check.c - see stdout_check.h. */
#include "record/base/stdout_check.h"

#include <stdio.h>

#include "store/base/error.h"

int stdout_check(const char *program, int code, int failed)
{
	struct error error;

	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	error_unwritten(&error);
	error_report(&error, program);
	return failed;
}
