/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - habits that cost time and that the records alone prove: each with its call path, how often,
 * and what could be saved at most (S0 8.4.1, S3 IV-B). What needs to know buffers, arguments or devices that
 * were not used is not in the records, and not here.
 */
#ifndef BLAME_FINDINGS_H
#define BLAME_FINDINGS_H

#include "blame/idle.h"

/* Name, the least number of cases, what is found, what to do. */
#define FINDINGS(X)                                                                                          \
	X(NEEDLESS_SYNC, "needless-sync", 1, "synchronizations while the process has no GPU work",           \
		"leave them out, or wait once")                                                              \
	X(SERIAL_QUEUES, "serial-queues", 2, "queues of one device whose kernels never run together",        \
		"look for what orders them: default stream, events, one lock")                               \
	X(SMALL_COPIES, "small-copies", 16, "copies of less than 64 KiB", "gather them into few large ones") \
	X(REPEATED_ALLOC, "repeated-alloc", 8, "the same place allocates or frees again and again",          \
		"keep the memory, or use a pool")                                                            \
	X(REPEATED_COMPILE, "repeated-compile", 2, "the same place compiles GPU code again and again",       \
		"compile once and keep the result")                                                          \
	X(COMPILE, "compile", 1, "GPU code is compiled while the program runs", "compile ahead of time")
enum finding_kind {
#define X(name, word, least, text, advice) FINDING_##name,
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
	uint32_t stream;  /* where it was seen first */
	uint64_t count;	  /* cases; serial queues: queues */
	uint64_t time_ns; /* that the cases take */
	uint64_t save_ns; /* at most */
	uint64_t bytes;	  /* copies: in all */
};

struct findings {
	struct finding *list; /* by descending save_ns */
	size_t count;
};

/* Of the question its streams, window and waits count. In `arena`. */
int findings_make(struct findings *findings, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);

#endif
