/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.h - attributes of perf events of newer kernels, which the C library's headers may lack. For
 * switches.c, counter.c and the sources.
 */
#ifndef RECORD_AGENT_PERF_H
#define RECORD_AGENT_PERF_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of struct perf_event_attr, starting at `disabled`, and names that older headers lack. */
#define PERF_INHERIT_THREAD (UINT64_C(1) << 35)
#define PERF_REMOVE_ON_EXEC (UINT64_C(1) << 36)
#define PERF_SIGTRAP (UINT64_C(1) << 37)
#define PERF_COUNTS_LOST (UINT64_C(1) << 4) /* in read_format, Linux 6.0 */
#define PERF_FLAGS_WORD \
	((offsetof(struct perf_event_attr, read_format) + sizeof(uint64_t)) / sizeof(uint64_t))
#define PERF_SIG_DATA_WORD 15
#define PERF_ATTR_WORDS 16 /* PERF_ATTR_SIZE_VER7, Linux 5.13 */

union perf_attributes {
	struct perf_event_attr attr;
	uint64_t words[PERF_ATTR_WORDS > sizeof(struct perf_event_attr) / 8
			       ? PERF_ATTR_WORDS
			       : sizeof(struct perf_event_attr) / 8];
};

/* siginfo of a SIGTRAP from a perf event. */
#define PERF_TRAP_CODE 6 /* TRAP_PERF */
struct perf_trap {
	int32_t number, error, code, _pad;
	uint64_t address;
	uint64_t data; /* sig_data of the event */
	uint32_t type;
	uint32_t flags;
};

#endif
