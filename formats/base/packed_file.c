/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_file.c - a stdio stream over a descriptor: bytes as they lie there, or what zlib or libzstd makes of
 * them. The first bytes tell which; of what the stream gives first a head is kept where somebody looks at it
 * before.
 *
 *   fd -> packed (as it lies there) -> inflate | ZSTD | copy -> head (64 KiB, if asked for) -> stream
 */
#include "formats/base/packed_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define AT_ONCE ((size_t)256 << 10)
#define HEAD_BYTES ((size_t)64 << 10)
#define MAGIC_BYTES 4u

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

struct packed_file {
	int fd;
	enum packing packing;
	bool is_seekable;    /* a file, not a pipe */
	bool is_inside;	     /* of a member or frame, whose end is to come */
	const char *trouble; /* of the unpacking; NULL: none */
	FILE *stream;
	z_stream gzip;
	ZSTD_DStream *zstd;
	uint8_t *packed, *head;
	size_t at, size; /* of `packed` */
	uint64_t read;	 /* bytes of the file so far */
	size_t head_size;
	uint64_t given; /* bytes of the stream so far */
};

/* Fills `packed` where all of it is used. 0: no more; negative: errno. */
static ssize_t fill(struct packed_file *file)
{
	ssize_t got;

	if (file->at < file->size)
		return (ssize_t)(file->size - file->at);
	do
		got = read(file->fd, file->packed, AT_ONCE);
	while (got < 0 && errno == EINTR);
	file->at = 0;
	file->size = got > 0 ? (size_t)got : 0;
	file->read += file->size;
	return got;
}

static ssize_t copy(struct packed_file *file, uint8_t *to, size_t size)
{
	ssize_t there = fill(file);

	if (there <= 0)
		return there;
	size = size < (size_t)there ? size : (size_t)there;
	memcpy(to, file->packed + file->at, size);
	file->at += size;
	return (ssize_t)size;
}

/* What was unpacked before is given first. */
static ssize_t spoilt(struct packed_file *file, const char *trouble, size_t before)
{
	file->trouble = trouble;
	errno = EIO;
	return before ? (ssize_t)before : -1;
}

/* Members may follow each other; zeros or other bytes behind the last one are padding. */
static bool gzip_goes_on(struct packed_file *file)
{
	if (file->is_inside)
		return true;
	if (file->packed[file->at] != 0x1f)
		return false;
	file->is_inside = inflateReset(&file->gzip) == Z_OK;
	return file->is_inside;
}

static ssize_t inflate_some(struct packed_file *file, uint8_t *to, size_t size)
{
	z_stream *z = &file->gzip;
	ssize_t there;
	int code;

	z->next_out = to;
	z->avail_out = (unsigned)(size < AT_ONCE ? size : AT_ONCE);
	while (z->next_out == to) {
		there = fill(file);
		if (there < 0)
			return -1;
		if (there == 0)
			return file->is_inside ? spoilt(file, "unexpected end of file", 0) : 0;
		if (!gzip_goes_on(file))
			return 0;
		z->next_in = file->packed + file->at;
		z->avail_in = (unsigned)there;
		code = inflate(z, Z_NO_FLUSH);
		file->at = file->size - z->avail_in;
		if (code == Z_STREAM_END)
			file->is_inside = false;
		else if (code != Z_OK && code != Z_BUF_ERROR)
			return spoilt(file, z->msg ? z->msg : "invalid data", (size_t)(z->next_out - to));
	}
	return z->next_out - to;
}

static ssize_t zstd_some(struct packed_file *file, uint8_t *to, size_t size)
{
	ZSTD_outBuffer out = {to, size, 0};

	while (out.pos == 0) {
		ssize_t there = fill(file);
		ZSTD_inBuffer in;
		size_t left;

		if (there < 0)
			return -1;
		if (there == 0)
			return file->is_inside ? spoilt(file, "unexpected end of file", 0) : 0;
		in = (ZSTD_inBuffer){file->packed + file->at, (size_t)there, 0};
		left = ZSTD_decompressStream(file->zstd, &out, &in);
		file->at += in.pos;
		if (ZSTD_isError(left))
			return spoilt(file, ZSTD_getErrorName(left), out.pos);
		file->is_inside = left != 0;
	}
	return (ssize_t)out.pos;
}

static ssize_t unpack(struct packed_file *file, uint8_t *to, size_t size)
{
	if (file->trouble)
		return spoilt(file, file->trouble, 0);
	switch (file->packing) {
	case PACKING_GZIP:
		return inflate_some(file, to, size);
	case PACKING_ZSTD:
		return zstd_some(file, to, size);
	default:
		return copy(file, to, size);
	}
}

static ssize_t read_some(void *own, char *bytes, size_t size)
{
	struct packed_file *file = own;
	ssize_t got;

	if (file->given < file->head_size) {
		got = (ssize_t)(file->head_size - file->given);
		got = (size_t)got < size ? got : (ssize_t)size;
		memcpy(bytes, file->head + file->given, (size_t)got);
	} else {
		got = unpack(file, (uint8_t *)bytes, size);
	}
	file->given += got > 0 ? (uint64_t)got : 0;
	return got;
}

/* Back to the first byte behind the head, or to it if that is not given away. */
static bool start_again(struct packed_file *file)
{
	if (file->given <= file->head_size) {
		file->given = 0;
		return true;
	}
	if (!file->is_seekable || lseek(file->fd, 0, SEEK_SET) != 0)
		return false;
	file->at = file->size = file->head_size = 0;
	file->given = file->read = 0;
	file->trouble = NULL;
	file->is_inside = false;
	if (file->packing == PACKING_GZIP)
		inflateReset(&file->gzip);
	else if (file->packing == PACKING_ZSTD)
		ZSTD_initDStream(file->zstd);
	return true;
}

static bool skip_to(struct packed_file *file, uint64_t offset)
{
	char some[4096];

	while (file->given < offset) {
		uint64_t left = offset - file->given;

		if (read_some(file, some, left < sizeof some ? (size_t)left : sizeof some) <= 0)
			return false;
	}
	return true;
}

static int seek_to(void *own, off64_t *offset, int whence)
{
	struct packed_file *file = own;
	off64_t to = *offset + (whence == SEEK_CUR ? (off64_t)file->given : 0);

	if (whence == SEEK_END || to < 0 || !file->is_seekable) {
		errno = ESPIPE;
		return -1;
	}
	if (((uint64_t)to < file->given && !start_again(file)) || !skip_to(file, (uint64_t)to))
		return -1;
	*offset = to;
	return 0;
}

/* As many first bytes as tell the packing: a pipe may give them one by one. */
static bool read_magic(struct packed_file *file)
{
	ssize_t got = 1;

	while (got > 0 && file->size < MAGIC_BYTES) {
		got = read(file->fd, file->packed + file->size, AT_ONCE - file->size);
		file->size += got > 0 ? (size_t)got : 0;
		file->read = file->size;
		got = got < 0 && errno == EINTR ? 1 : got;
	}
	return got >= 0;
}

static bool begin_unpacking(struct packed_file *file)
{
	const uint8_t *at = file->packed;
	size_t there;

	if (!read_magic(file))
		return false;
	there = file->size;
	if (there >= 2 && at[0] == 0x1f && at[1] == 0x8b) {
		file->packing = PACKING_GZIP;
		file->is_inside = true;
		return inflateInit2(&file->gzip, 15 + 16) == Z_OK;
	}
	if (there >= MAGIC_BYTES && memcmp(at, "\x28\xb5\x2f\xfd", 4) == 0) {
		file->packing = PACKING_ZSTD;
		file->zstd = ZSTD_createDStream();
		return file->zstd && !ZSTD_isError(ZSTD_initDStream(file->zstd));
	}
	return true;
}

/* Trouble in the head is met again by whoever reads beyond it. */
static void read_head(struct packed_file *file)
{
	ssize_t got = 1;

	while (got > 0 && file->head_size < HEAD_BYTES) {
		got = unpack(file, file->head + file->head_size, HEAD_BYTES - file->head_size);
		file->head_size += got > 0 ? (size_t)got : 0;
	}
}

static void file_free(struct packed_file *file)
{
	if (file->packing == PACKING_GZIP)
		inflateEnd(&file->gzip);
	ZSTD_freeDStream(file->zstd);
	free(file->packed);
	free(file->head);
	close(file->fd);
	free(file);
}

struct packed_file *packed_file_open(int fd, FILE **stream)
{
	struct packed_file *file = calloc(1, sizeof *file);
	const cookie_io_functions_t functions = {.read = read_some, .seek = seek_to};

	if (!file) {
		close(fd);
		return NULL;
	}
	file->fd = fd;
	file->is_seekable = lseek(fd, 0, SEEK_CUR) >= 0;
	file->packed = malloc(AT_ONCE);
	file->head = malloc(HEAD_BYTES);
	if (file->packed && file->head && begin_unpacking(file))
		file->stream = fopencookie(file, "r", functions);
	if (!file->stream) {
		int code = errno;

		file_free(file);
		errno = code;
		return NULL;
	}
	*stream = file->stream;
	return file;
}

const uint8_t *packed_file_head(struct packed_file *file, size_t *size)
{
	read_head(file);
	*size = file->head_size;
	return file->head;
}

int packed_file_fd(const struct packed_file *file)
{
	return file->is_seekable && file->packing == PACKING_NONE ? file->fd : -1;
}

bool packed_file_is_damaged(const struct packed_file *file)
{
	return file->trouble != NULL;
}

void packed_file_progress(const struct packed_file *file, uint64_t *done, uint64_t *all)
{
	struct stat status;

	*done = file->read;
	*all = file->is_seekable && fstat(file->fd, &status) == 0 && status.st_size > 0
		       ? (uint64_t)status.st_size
		       : 0;
}

int packed_file_close(struct packed_file *file, const char *name, struct error *error)
{
	int code = 0;

	if (!file)
		return 0;
	if (file->trouble)
		code = error_set(error, ERROR_RUN,
			"%s is packed by %s, and damaged or cut short: %s; copy it again", name,
			file->packing == PACKING_ZSTD ? "zstd" : "gzip", file->trouble);
	fclose(file->stream);
	file_free(file);
	return code;
}
