/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - costly habits that the records alone prove: each with its call path, count and largest
 * possible saving (S0 8.4.1, 8.4.2, S3 IV-B). Findings about buffers, arguments, unused devices or the order
 * of queues need a recorder that provides the attributes listed in findings_use.c.
 */
#ifndef BLAME_FINDINGS_H
#define BLAME_FINDINGS_H

#include "blame/idle/idle.h"

/* Name, smallest number of cases, whether it is a hint without a known saving, description, advice. */
#define FINDINGS(X)                                                                                          \
	X(NEEDLESS_SYNC, "needless-sync", 1, false, "synchronizations while the process has no GPU work",    \
		"leave them out, or wait once")                                                              \
	X(EARLY_SYNC, "early-sync", 2, false, "synchronizations after which no data went to the host",       \
		"launch the next work first, and wait when the host needs results")                          \
	X(SERIAL_QUEUES, "serial-queues", 2, false, "queues of one device whose kernels never run together", \
		"look for what orders them: default stream, events, one lock")                               \
	X(SMALL_COPIES, "small-copies", 16, false, "copies of less than 64 KiB",                             \
		"gather them into few large ones")                                                           \
	X(REPEATED_ALLOC, "repeated-alloc", 8, false, "one call path allocates or frees again and again",    \
		"keep the memory, or use a pool")                                                            \
	X(REPEATED_COMPILE, "repeated-compile", 2, false, "one call path compiles GPU code again and again", \
		"compile once and keep the result")                                                          \
	X(COMPILE, "compile", 1, false, "GPU code is compiled while the program runs",                       \
		"compile ahead of time")                                                                     \
	X(SINGLE_DEVICE, "single-device", 1, false,                                                          \
		"code is compiled at run time for the only device that is used",                             \
		"compile ahead of time for this device")                                                     \
	X(ROUND_TRIP, "round-trip", 1, false, "buffers copied back to the device they were just read from",  \
		"leave them on the device between the kernels")                                              \
	X(IN_ORDER, "in-order-queue", 2, false, "kernels of a queue that keeps their order",                 \
		"use an out-of-order queue, or several, for independent kernels")                            \
	X(UNUSED_DEVICES, "unused-devices", 1, false, "devices that the process could use and does not",     \
		"share the work among them")                                                                 \
	X(GPU_FAULT, "gpu-fault", 1, true, "a kernel faulted, and nothing ran after it",                     \
		"find the access with compute-sanitizer")                                                    \
	X(MANY_CONTEXTS, "many-contexts", 1, true,                                                           \
		"kernels that run in a further context of the same device",                                  \
		"use one context: each compiles for itself")                                                 \
	X(NOT_ALIASED, "not-aliased", 1, true, "launches of a kernel whose buffers never overlap",           \
		"declare its arguments restrict")                                                            \
	X(IMPLICIT_COPIES, "implicit-copies", 1, true, "device memory and kernels, but no recorded copy",    \
		"look for managed memory, or copies made by the runtime itself")
enum finding_kind {
#define X(name, word, least, is_hint, text, advice) FINDING_##name,
	FINDINGS(X)
#undef X
		FINDING_COUNT
};
const char *finding_name(enum finding_kind kind);
const char *finding_text(enum finding_kind kind);
const char *finding_advice(enum finding_kind kind);

struct finding {
	enum finding_kind kind;
	uint32_t context; /* of the calls; 0: none */
	uint32_t stream;  /* where it first occurred */
	uint64_t count;	  /* number of cases; serial queues: of queues */
	uint64_t time_ns; /* time of the cases */
	uint64_t save_ns; /* upper bound */
	uint64_t bytes;	  /* copies: total */
	/* Of a fault, in the arena: the runtime's error. Each of so many kernels may have faulted (0: unknown
	 * which); `context` is that of the first. */
	const char *error;
	uint64_t candidates;
};

struct findings {
	struct finding *list; /* by descending save_ns */
	size_t count;
};

/* Uses streams, window and waits of the question. In `arena`. */
int findings_make(struct findings *findings, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);

#endif
