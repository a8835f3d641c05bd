/* SPDX-License-Identifier: Apache-2.0 */
/* gzip_file.c - a stdio stream whose bytes zlib gives, which passes on what is not packed. */
#include "formats/gzip_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define AT_ONCE (256u << 10)

struct gzip_file {
	gzFile packed;
	FILE *stream;
	bool is_seekable;    /* a file, not a pipe */
	const char *trouble; /* zlib's; NULL: none */
};

static ssize_t read_some(void *own, char *bytes, size_t size)
{
	struct gzip_file *file = own;
	int got = gzread(file->packed, bytes, size < AT_ONCE ? (unsigned)size : AT_ONCE), code = Z_OK;
	const char *text = gzerror(file->packed, &code);

	/* Of a file that is cut short the end is told behind the bytes that there are. */
	if (code == Z_DATA_ERROR || code == Z_BUF_ERROR)
		file->trouble = strstr(text, ": ") ? strstr(text, ": ") + 2 : text; /* "<fd:3>: ..." */
	if (got < 0 || file->trouble)
		errno = code == Z_ERRNO && errno ? errno : EIO;
	return file->trouble ? -1 : got;
}

/* zlib finds its way in what it has not read yet, of a pipe too: rewinding that would fail later. */
static int seek_to(void *own, off64_t *offset, int whence)
{
	struct gzip_file *file = own;
	off64_t at;

	if (!file->is_seekable || whence == SEEK_END) {
		errno = ESPIPE;
		return -1;
	}
	at = gzseek(file->packed, (z_off_t)*offset, whence);
	if (at < 0)
		return -1;
	*offset = at;
	return 0;
}

struct gzip_file *gzip_file_open(int fd, FILE **stream)
{
	struct gzip_file *file = calloc(1, sizeof *file);
	const cookie_io_functions_t functions = {.read = read_some, .seek = seek_to};

	if (!file) {
		close(fd);
		return NULL;
	}
	file->is_seekable = lseek(fd, 0, SEEK_CUR) >= 0;
	file->packed = gzdopen(fd, "rb");
	if (!file->packed)
		close(fd);
	else
		gzbuffer(file->packed, AT_ONCE);
	file->stream = file->packed ? fopencookie(file, "r", functions) : NULL;
	if (!file->stream) {
		if (file->packed)
			gzclose(file->packed);
		free(file);
		return NULL;
	}
	*stream = file->stream;
	return file;
}

int gzip_file_close(struct gzip_file *file, const char *name, struct error *error)
{
	int code = 0;

	if (!file)
		return 0;
	if (file->trouble)
		code = error_set(error, ERROR_RUN,
			"%s is packed by gzip, and damaged or cut short: %s; copy it again", name,
			file->trouble);
	fclose(file->stream);
	gzclose(file->packed);
	free(file);
	return code;
}
