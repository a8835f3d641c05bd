/* SPDX-License-Identifier: Apache-2.0 */
/* printed.c - see printed.h. */
#include "record/printed.h"

#include <stdio.h>

#include "store/error.h"

int printed(const char *program, int code, int failed)
{
	struct error error;

	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	error_unwritten(&error);
	error_report(&error, program);
	return failed;
}
