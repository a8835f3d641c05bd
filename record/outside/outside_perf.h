/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_perf.h - what the samples of a measurement from outside hold, in perf's order, and the processor's
 * registers in it.
 *
 *   | header | event id | pid tid | time | call chain | abi | registers | size | stack ... | used |
 *   | header | ...                       | pid tid | time | event id |     all other records
 *
 * The call chain is what the kernel finds by frame pointers: its own frames, then the program's. Of the
 * latter only Go's are used, where its runtime works on another stack than the one that it was called on:
 * the kernel follows the frame pointer there at once, on some processors.
 */
#ifndef RECORD_OUTSIDE_PERF_H
#define RECORD_OUTSIDE_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>

#include "record/agent/base/arch.h"
#include "record/kernel/kernel_callchains.h"

#define OUTSIDE_SAMPLE_TYPE                                                                    \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | \
		PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

#if defined(__x86_64__)
#define OUTSIDE_CHAINS_SWITCH 1 /* the kernel follows frame pointers to any address, not upwards only */
#else
#define OUTSIDE_CHAINS_SWITCH 0
#endif

/* Number i of the registers taken is arch's outside_register_of[i]; -1: not wanted. */
#if defined(__x86_64__)
#define OUTSIDE_REGISTERS UINT64_C(0xff01ff) /* ax bx cx dx si di bp sp ip r8..r15 */
#define OUTSIDE_REGISTER_COUNT 17u
static const signed char outside_register_of[OUTSIDE_REGISTER_COUNT] = {
	0, 3, 2, 1, 4, 5, ARCH_FP, ARCH_SP, ARCH_PC, 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__aarch64__)
#define OUTSIDE_REGISTERS ((UINT64_C(1) << 33) - 1) /* x0..x30 sp pc */
#define OUTSIDE_REGISTER_COUNT 33u
static const signed char outside_register_of[OUTSIDE_REGISTER_COUNT] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
	12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, ARCH_SP, ARCH_PC};
#endif

struct outside_sample {
	uint64_t event, time_ns;
	uint32_t pid, tid;
	uint64_t kernel[KERNEL_CALLCHAIN_DEPTH_MAX]; /* innermost first */
	uint32_t kernel_count;
	const uint64_t *chain; /* the program's frames by frame pointers, innermost first; in the record */
	uint32_t chain_count;
	struct arch_registers registers; /* known 0: none, as of a thread that is ending, or of 32 bits */
	const char *stack;		 /* from the stack pointer up; in the record */
	size_t stack_bytes;
	bool is_cut; /* the stack goes on behind the copy */
	bool is_32_bit;
};

struct outside_sample_id {
	uint32_t pid, tid;
	uint64_t time_ns, event;
};

/* The call chain: frames, among them marks of whose the next ones are. Returns the place behind it; 0: not
 * whole. */
static inline size_t outside_chain_read(
	struct outside_sample *sample, const char *record, size_t at, size_t bytes)
{
	uint64_t count, address;
	bool is_program = false;

	sample->kernel_count = sample->chain_count = 0;
	sample->chain = NULL;
	if (bytes < at + 8)
		return 0;
	memcpy(&count, record + at, 8);
	at += 8;
	if (count > (bytes - at) / 8)
		return 0;
	for (uint64_t i = 0; i < count; i++, at += 8) {
		memcpy(&address, record + at, 8);
		if (address >= (uint64_t)PERF_CONTEXT_MAX) {
			is_program = address == (uint64_t)PERF_CONTEXT_USER;
			sample->chain = (const void *)(record + at + 8);
			sample->chain_count = 0;
		} else if (is_program) {
			sample->chain_count++;
		} else if (sample->kernel_count < KERNEL_CALLCHAIN_DEPTH_MAX) {
			sample->kernel[sample->kernel_count++] = address;
		}
	}
	return at;
}

/* Reads a PERF_RECORD_SAMPLE of `bytes`, header included. False: it is not whole. */
static inline bool outside_sample_read(struct outside_sample *sample, const char *record, size_t bytes)
{
	uint64_t abi, wanted, used, value;
	size_t at = sizeof(struct perf_event_header);

	if (bytes < at + 48)
		return false;
	memcpy(&sample->event, record + at, 8);
	memcpy(&sample->pid, record + at + 8, 4);
	memcpy(&sample->tid, record + at + 12, 4);
	memcpy(&sample->time_ns, record + at + 16, 8);
	at = outside_chain_read(sample, record, at + 24, bytes);
	if (!at || bytes < at + 16)
		return false;
	memcpy(&abi, record + at, 8);
	at += 8;
	sample->registers.known = 0;
	sample->is_32_bit = abi == PERF_SAMPLE_REGS_ABI_32;
	if (abi && bytes < at + 8 * OUTSIDE_REGISTER_COUNT + 8)
		return false;
	for (unsigned i = 0; abi && i < OUTSIDE_REGISTER_COUNT; i++, at += 8) {
		memcpy(&value, record + at, 8);
		sample->registers.value[outside_register_of[i]] = value;
	}
	if (abi == PERF_SAMPLE_REGS_ABI_64)
		sample->registers.known = ARCH_ALL_KNOWN;
	memcpy(&wanted, record + at, 8);
	at += 8;
	sample->stack = record + at;
	sample->stack_bytes = 0;
	sample->is_cut = false;
	if (!wanted)
		return true;
	if (bytes < at + 8 || wanted > bytes - at - 8)
		return false;
	memcpy(&used, record + at + wanted, 8);
	sample->stack_bytes = used < wanted ? used : wanted;
	sample->is_cut = used >= wanted;
	return true;
}

#endif
