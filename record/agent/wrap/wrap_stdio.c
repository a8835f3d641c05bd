/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_stdio.c - stdio calls that read and write files. A call that a stream's buffer can satisfy is no wait
 * and does not read the clock, except with -e IO, which counts all bytes. libc's reads and writes below them
 * do not pass wrap_wait.c.
 */
#include <string.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/wrap/io.h"

/* struct _IO_FILE is part of glibc's ABI; programs inline putc_unlocked by it. */
static size_t readable(const FILE *stream)
{
	return stream->_IO_read_end > stream->_IO_read_ptr
		       ? (size_t)(stream->_IO_read_end - stream->_IO_read_ptr)
		       : 0;
}

static size_t writable(const FILE *stream)
{
	return stream->_IO_write_end > stream->_IO_write_ptr
		       ? (size_t)(stream->_IO_write_end - stream->_IO_write_ptr)
		       : 0;
}

static bool has(size_t there, size_t size, size_t count)
{
	size_t bytes;

	return !__builtin_mul_overflow(size, count, &bytes) && bytes <= there;
}

/* Another thread's ungetc could swap the buffer: reads it under the stream's lock. */
static bool has_line(FILE *stream, int end, size_t most)
{
	bool is_there;
	size_t there;

	if (ftrylockfile(stream))
		return false;
	there = readable(stream);
	is_there = there && (most <= there || memchr(stream->_IO_read_ptr, end, there));
	funlockfile(stream);
	return is_there;
}

WRAPPER size_t fread(void *to, size_t size, size_t count, FILE *from)
{
	if (!io_is_on() && has(readable(from), size, count))
		return REAL(fread)(to, size, count, from);
	return IO(fread, (to, size, count, from), from->_fileno, READ, result_ * size);
}

WRAPPER size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *from)
{
	if (!io_is_on() && has(readable(from), size, count))
		return REAL(__fread_chk)(to, room, size, count, from);
	return IO(__fread_chk, (to, room, size, count, from), from->_fileno, READ, result_ * size);
}

WRAPPER size_t fwrite(const void *from, size_t size, size_t count, FILE *to)
{
	if (!io_is_on() && has(writable(to), size, count))
		return REAL(fwrite)(from, size, count, to);
	return IO(fwrite, (from, size, count, to), to->_fileno, WRITTEN, result_ * size);
}

WRAPPER char *fgets(char *to, int bytes, FILE *from)
{
	if (!io_is_on() && bytes > 0 && has_line(from, '\n', (size_t)bytes - 1))
		return REAL(fgets)(to, bytes, from);
	return IO(fgets, (to, bytes, from), from->_fileno, READ, result_ ? strlen(result_) : 0);
}

WRAPPER char *__fgets_chk(char *to, size_t room, int bytes, FILE *from)
{
	if (!io_is_on() && bytes > 0 && has_line(from, '\n', (size_t)bytes - 1))
		return REAL(__fgets_chk)(to, room, bytes, from);
	return IO(__fgets_chk, (to, room, bytes, from), from->_fileno, READ, result_ ? strlen(result_) : 0);
}

WRAPPER ssize_t getline(char **line, size_t *room, FILE *from)
{
	if (!io_is_on() && has_line(from, '\n', SIZE_MAX))
		return REAL(getline)(line, room, from);
	return IO(getline, (line, room, from), from->_fileno, READ, result_);
}

WRAPPER ssize_t getdelim(char **line, size_t *room, int end, FILE *from)
{
	if (!io_is_on() && has_line(from, end, SIZE_MAX))
		return REAL(getdelim)(line, room, end, from);
	return IO(getdelim, (line, room, end, from), from->_fileno, READ, result_);
}

/* <stdio.h> turns getline into this in optimized programs. */
WRAPPER ssize_t __getdelim(char **line, size_t *room, int end, FILE *from)
{
	if (!io_is_on() && has_line(from, end, SIZE_MAX))
		return REAL(__getdelim)(line, room, end, from);
	return IO(__getdelim, (line, room, end, from), from->_fileno, READ, result_);
}

WRAPPER int fflush(FILE *stream)
{
	return WAIT(fflush, (stream));
}
