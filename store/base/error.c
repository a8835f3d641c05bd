/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - the message of a failed function: any function sets it, only a main prints it.
 */
#include "store/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>

#include "store/base/utf8.h"

#undef error_set
#undef error_memory
#undef error_unwritten

int error_set(struct error *error, enum error_code code, const char *format, ...)
{
	va_list args;

	if (!error)
		return -(int)code;
	error->code = code;
	va_start(args, format);
	vsnprintf(error->text, sizeof error->text, format, args);
	va_end(args);
	store_utf8_clean(error->text);
	return -(int)code;
}

int error_memory(struct error *error)
{
	return error_set(error, ERROR_IO, "out of memory; close other programs or raise the limit");
}

int error_unwritten(struct error *error)
{
	return error_set(error, ERROR_IO,
		"the answer could not be written in full (disk full, or pipe closed); make room, or write "
		"elsewhere");
}

const char *error_place(int reason)
{
	switch (reason) {
	case ENOSPC:
	case EDQUOT:
		return "; make room, or choose another place with -o";
	case ENOENT:
		return "; make its directory first, or choose another place with -o";
	case ENOTDIR:
		return "; a file is where a directory should be: choose another place with -o";
	case ENAMETOOLONG:
		return "; choose a shorter name with -o";
	case ENOMEM:
		return "; raise `ulimit -v`, or close other programs";
	case EMFILE:
	case ENFILE:
		return "; raise `ulimit -n`";
	case EFBIG:
		return "; raise `ulimit -f`, or choose another place with -o";
	default:
		return "; choose a place that can be written with -o";
	}
}

const char *error_growth(int reason)
{
	struct rlimit limit;
	const char *io = "; the disk is full or fails: make room, what was committed before is safe";

	switch (reason) {
	case ENOSPC:
		return "; the disk is full: make room, what was committed before is safe";
	case EIO: /* LMDB's word for a write that was cut short, too */
		if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
			io = "; raise `ulimit -f`, or make room: what was committed before is safe";
		return io;
	case EFBIG:
		return "; raise `ulimit -f`: what was committed before is safe";
	case EDQUOT:
		return "; make room on the disk, what was committed before is safe";
	case ENOMEM:
		return error_place(reason);
	case ENOLCK:
	case ENOTSUP:
		return "; put the run on a local disk";
	default:
		return "";
	}
}

int error_report(const struct error *error, const char *program)
{
	fprintf(stderr, "%s: %s\n", program, error->text);
	return error->code;
}
