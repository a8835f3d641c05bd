/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.h - calls that move bytes, with `-e IO`: in addition to waits (wait.h) each is a span, however short,
 * and its bytes are tallied by call path. Without `-e IO` a call costs one more branch.
 */
#ifndef RECORD_AGENT_IO_H
#define RECORD_AGENT_IO_H

#include "record/agent/sample/tally.h"
#include "record/agent/wrap/cause.h"

static inline bool io_is_on(void)
{
	return __builtin_expect(process.settings.io, 0);
}

#define IO_ATTRIBUTES_BYTES 64u

/* "call=pread64,fd=12" for libc's function `name`; a negative fd is left out. */
void io_attributes_write(char to[IO_ATTRIBUTES_BYTES], const char *name, int fd);

/* Call at the end of call `name`, the real `function`; `bytes` < 1: none were moved. `caller`: a code
 * address in the caller; the agent's own calls are ignored. Keeps errno. */
void io_end(const struct wait *wait, const void *function, const char *name, int fd,
	enum tally_metric direction, ssize_t bytes, void *caller);

#define IO_END_READ(wait, function, name, fd, moved) ((void)(moved), cause_end_read(wait, function, name, fd))
#define IO_END_WRITTEN(wait, function, name, fd, moved) cause_end_write(wait, function, name, fd, (moved) > 0)

/* WAIT for a call that has moved `moved` bytes, an expression of its result `result_`. */
#define IO(name, arguments, fd, direction, moved)                                                    \
	__extension__({                                                                              \
		struct wait wait_;                                                                   \
		__typeof__(real.name arguments) result_;                                             \
		const void *function_;                                                               \
                                                                                                     \
		wait_begin(&wait_);                                                                  \
		result_ = REAL(name) arguments;                                                      \
		function_ = (const void *)(uintptr_t)real.name;                                      \
		if (io_is_on())                                                                      \
			io_end(&wait_, function_, #name, fd, TALLY_IO_##direction, (ssize_t)(moved), \
				__builtin_return_address(0));                                        \
		else                                                                                 \
			IO_END_##direction(&wait_, function_, #name, fd, (ssize_t)(moved));          \
		result_;                                                                             \
	})

#endif
