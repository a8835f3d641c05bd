/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_io.h - the calls that move bytes, as an agent that came later wraps them: by all arguments as
 * machine words, which are passed on untouched. They are those of record/agent/wrap/wrap_wait.c and
 * wrap_stdio.c.
 */
#ifndef RECORD_AGENT_INJECT_IO_H
#define RECORD_AGENT_INJECT_IO_H

/* X(name, arguments, descriptor, direction, bytes that were moved, by the arguments a0... and `result`). */
#define INJECT_IO_CALLS(X)                                             \
	X(read, 3, (int)a0, READ, result)                              \
	X(__read_chk, 4, (int)a0, READ, result)                        \
	X(readv, 3, (int)a0, READ, result)                             \
	X(pread, 4, (int)a0, READ, result)                             \
	X(pread64, 4, (int)a0, READ, result)                           \
	X(__pread_chk, 5, (int)a0, READ, result)                       \
	X(__pread64_chk, 5, (int)a0, READ, result)                     \
	X(preadv, 4, (int)a0, READ, result)                            \
	X(write, 3, (int)a0, WRITTEN, result)                          \
	X(writev, 3, (int)a0, WRITTEN, result)                         \
	X(pwrite, 4, (int)a0, WRITTEN, result)                         \
	X(pwrite64, 4, (int)a0, WRITTEN, result)                       \
	X(pwritev, 4, (int)a0, WRITTEN, result)                        \
	X(recv, 4, (int)a0, READ, result)                              \
	X(__recv_chk, 5, (int)a0, READ, result)                        \
	X(recvfrom, 6, (int)a0, READ, result)                          \
	X(__recvfrom_chk, 7, (int)a0, READ, result)                    \
	X(recvmsg, 3, (int)a0, READ, result)                           \
	X(send, 4, (int)a0, WRITTEN, result)                           \
	X(sendto, 6, (int)a0, WRITTEN, result)                         \
	X(sendmsg, 3, (int)a0, WRITTEN, result)                        \
	X(fread, 4, stream_number(a3), READ, result *a1)               \
	X(__fread_chk, 5, stream_number(a4), READ, result *a2)         \
	X(fwrite, 4, stream_number(a3), WRITTEN, result *a1)           \
	X(fgets, 3, stream_number(a2), READ, text_bytes(result))       \
	X(__fgets_chk, 4, stream_number(a3), READ, text_bytes(result)) \
	X(getline, 3, stream_number(a2), READ, result)                 \
	X(getdelim, 4, stream_number(a3), READ, result)                \
	X(__getdelim, 4, stream_number(a3), READ, result)

enum inject_io_index {
#define INDEX(name, ...) INJECT_IO_##name,
	INJECT_IO_CALLS(INDEX)
#undef INDEX
		INJECT_IO_COUNT
};

struct inject_io {
	const char *name;
	void *wrapper;
	void *real; /* set before anything leads to the wrapper */
};

extern struct inject_io inject_io[INJECT_IO_COUNT];

#endif
