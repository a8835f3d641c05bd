/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_spans.h - turns one thread's switch records, in order of time, into spans:
 *
 *   out ------- in ... preempted --- in ... out -----------
 *   |  blocked  |      |  runnable |        |  blocked, still open
 *
 * If a record is missing, out and in do not alternate: the time since the last record becomes `lost`.
 */
#ifndef RECORD_SWITCH_SPANS_H
#define RECORD_SWITCH_SPANS_H

#include "record/kernel/perf_ring.h"
#include "record/kernel/wait_paths.h"

struct switch_spans {
	uint64_t known_ns; /* time of the last event */
	uint64_t out_ns;   /* time of the switch-out; 0: the thread runs */
	uint32_t what;	   /* STORE_OP_BLOCKED or STORE_OP_RUNNABLE while switched out */
	bool is_shown;	   /* the open span is published to readers */
	uint32_t shown;	   /* context of that open span */
};

/* Takes the next event. True: it ends *span (STORE_OP_LOST has no amount). */
bool switch_spans_take(
	struct switch_spans *line, const struct switch_event *event, struct store_record *span);

/* Publishes a span that has been open since before `before_ns` as open in the stream, with its call path
 * if known. */
void switch_spans_show(struct switch_spans *line, const struct wait_paths *waits, struct store_writer *writer,
	uint32_t stream, uint64_t before_ns);
/* Writes a finished span. */
void switch_spans_put(struct switch_spans *line, struct wait_paths *waits, struct store_writer *writer,
	uint32_t stream, const struct store_record *span, const struct kernel_callchain *callchain,
	uint64_t until_ns);
/* The thread has ended: ends its open span. */
void switch_spans_end(struct switch_spans *line, struct wait_paths *waits, struct store_writer *writer,
	uint32_t stream, uint64_t end_ns);

#endif
