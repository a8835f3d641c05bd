/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c - see format.h.
 */
#include "formats/base/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "timeline/base/progress.h"

void format_left_out(struct store_bytes *list, uint64_t count, const char *what)
{
	char number[32];

	if (!count)
		return;
	if (list->size)
		store_bytes_put(list, "; ", 2);
	snprintf(number, sizeof number, "%" PRIu64 " ", count);
	store_bytes_put(list, number, strlen(number));
	store_bytes_put(list, what, strlen(what));
}

void format_input_progress(const struct format_input *input)
{
	uint64_t done, all;

	if (!input->file)
		return;
	packed_file_progress(input->file, &done, &all);
	if (all)
		progress_at("reading", done, all);
}

/* Of a packed file that is damaged what was whole is there: a copy of that. */
static int copy_into(
	FILE *in, const struct packed_file *file, const char *name, FILE *copy, struct error *error)
{
	char block[65536];
	size_t size;
	int code;

	while ((size = fread(block, 1, sizeof block, in)) > 0 && fwrite(block, 1, size, copy) == size)
		;
	code = errno;
	if (ferror(in) && file && packed_file_is_damaged(file) && ftello(copy) > 0)
		clearerr(in);
	if (!ferror(in) && !ferror(copy)) {
		if (fflush(copy) == 0)
			return 0;
		code = errno;
	}
	return error_set(error, ERROR_IO, "%s cannot be kept in a temporary file: %s%s", name, strerror(code),
		code == EFBIG ? "; raise `ulimit -f`" : "");
}

/* For reading and writing, its path PATH_MAX bytes. */
static int new_file(const char *name, FILE **made, char *path, struct error *error)
{
	const char *directory = getenv("TMPDIR");
	int fd, code;

	snprintf(path, PATH_MAX, "%s/hpct-XXXXXX", directory && *directory ? directory : "/var/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	*made = fd < 0 ? NULL : fdopen(fd, "w+");
	if (*made)
		return 0;
	code = errno;
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return error_set(error, ERROR_IO, "no temporary file for %s: %s; set TMPDIR to a directory with room",
		name, strerror(code));
}

int format_scratch_file(const char *name, FILE **made, struct error *error)
{
	char path[PATH_MAX];
	int code = new_file(name, made, path, error);

	if (code == 0)
		unlink(path);
	return code;
}

/* A copy without a name, from its beginning on. */
static int copy_of(
	FILE *in, const struct packed_file *file, const char *name, FILE **copy, struct error *error)
{
	int code = format_scratch_file(name, copy, error);

	if (code < 0)
		return code;
	code = copy_into(in, file, name, *copy, error);
	if (code == 0) {
		rewind(*copy);
		return 0;
	}
	fclose(*copy);
	*copy = NULL;
	return code;
}

int format_rereadable(FILE **in, const char *name, struct error *error)
{
	return fseeko(*in, 0, SEEK_SET) == 0 ? 0 : copy_of(*in, NULL, name, in, error);
}

int format_plain_file(const struct format_input *input, FILE **file, struct error *error)
{
	char path[64];
	int code, fd;

	*file = NULL;
	if (input->fd < 0)
		return copy_of(input->in, input->file, input->name, file, error);
	/* Opened anew: with a position of its own. */
	snprintf(path, sizeof path, "/proc/self/fd/%d", input->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	*file = fd < 0 ? NULL : fdopen(fd, "r");
	if (*file)
		return 0;
	code = error_set(error, ERROR_RUN, "cannot read %s: %s", input->name, strerror(errno));
	if (fd >= 0)
		close(fd);
	return code;
}

int format_named_file(const struct format_input *input, char *path, struct error *error)
{
	FILE *copy;
	int code;

	if (input->fd >= 0) {
		snprintf(path, PATH_MAX, "/proc/self/fd/%d", input->fd);
		return 0;
	}
	code = new_file(input->name, &copy, path, error);
	if (code < 0)
		return code;
	code = copy_into(input->in, input->file, input->name, copy, error);
	fclose(copy);
	if (code < 0)
		unlink(path);
	return code;
}
