/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_spans.h - one thread's switches, in order of time, turned into spans:
 *
 *   out ------- in ... preempted --- in ... out -----------
 *   |  blocked  |      |  runnable |        |  blocked, still open
 *
 * A record that is missing breaks the alternation: the time since the last one is `lost`.
 */
#ifndef RECORD_SWITCH_SPANS_H
#define RECORD_SWITCH_SPANS_H

#include "record/kernel/perf_ring.h"
#include "record/kernel/wait_paths.h"

struct switch_spans {
	uint64_t known_ns; /* of the last event */
	uint64_t out_ns;   /* switched out since then; 0: it runs */
	uint32_t what;	   /* STORE_OP_BLOCKED or STORE_OP_RUNNABLE, while it is out */
	bool is_shown;	   /* readers see the span open */
	uint32_t shown;	   /* with this context */
};

/* The next event. True: *span has come to its end (STORE_OP_LOST: without an amount). */
bool switch_spans_take(
	struct switch_spans *line, const struct switch_event *event, struct store_record *span);

/* What is open since before `before_ns` becomes an open span of the stream, on its path as far as that is
 * known. */
void switch_spans_show(struct switch_spans *line, const struct wait_paths *waits, struct store_writer *writer,
	uint32_t stream, uint64_t before_ns);
/* Hands a finished span on. */
void switch_spans_put(struct switch_spans *line, struct wait_paths *waits, struct store_writer *writer,
	uint32_t stream, const struct store_record *span, const struct kernel_callchain *callchain,
	uint64_t until_ns);
/* The thread has ended: what is open ends with it. */
void switch_spans_end(struct switch_spans *line, struct wait_paths *waits, struct store_writer *writer,
	uint32_t stream, uint64_t end_ns);

#endif
