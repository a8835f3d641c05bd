/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_io.c - see inject_io.h. A wrapper looks at the program's memory before the call alone, but for the
 * line that fgets has just read: afterwards another thread may have closed the stream.
 */
#include "record/agent/inject/inject_io.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "record/agent/mpi/mpi_calls.h"
#include "record/agent/sample/tally.h"
#include "record/agent/wrap/io.h"
#include "record/agent/wrap/passage.h"

/* struct _IO_FILE is part of glibc's ABI. */
static int stream_number(long stream)
{
	return ((const FILE *)stream)->_fileno;
}

static long text_bytes(long text)
{
	return text ? (long)strlen((const char *)text) : 0;
}

static void end(const struct passage *passage, enum inject_io_index index, int fd,
	enum tally_metric direction, long bytes)
{
	char attributes[IO_ATTRIBUTES_BYTES];
	struct wait_call call = {.operation = STORE_OP_IO,
		.bytes = bytes > 0 ? (uint64_t)bytes : 0,
		.attributes = attributes,
		.tally = bytes > 0 ? direction : TALLY_NONE};

	io_attributes_write(attributes, inject_io[index].name, fd);
	passage_end(passage, inject_io[index].real, &call);
}

#define CALL(name, n, fd, direction, moved)                                              \
	static long call_##name(P##n)                                                    \
	{                                                                                \
		struct passage passage;                                                  \
		long result;                                                             \
		int number;                                                              \
                                                                                         \
		passage_begin(&passage);                                                 \
		if (!passage.begin_ns)                                                   \
			return ((long (*)(P##n))inject_io[INJECT_IO_##name].real)(A##n); \
		number = fd;                                                             \
		result = ((long (*)(P##n))inject_io[INJECT_IO_##name].real)(A##n);       \
		end(&passage, INJECT_IO_##name, number, TALLY_IO_##direction, moved);    \
		return result;                                                           \
	}
INJECT_IO_CALLS(CALL)

struct inject_io inject_io[INJECT_IO_COUNT] = {
#define ENTRY(name, ...) {#name, (void *)(uintptr_t)call_##name, NULL},
	INJECT_IO_CALLS(ENTRY)
#undef ENTRY
};
