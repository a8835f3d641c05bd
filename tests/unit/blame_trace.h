/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_trace.h - traces of processes with threads and queues, as few lines as a closed-form case needs, for
 * the tests of the blame room.
 */
#ifndef TESTS_BLAME_TRACE_H
#define TESTS_BLAME_TRACE_H

#include "tests/unit/timeline_small_run.h"

/* `attributes` of its `monitored` span. */
static inline uint32_t trace_stream_said(struct store_writer *writer, enum store_stream_kind kind,
	uint32_t pid, uint32_t number, uint64_t begin_ns, uint64_t end_ns, const char *attributes)
{
	struct store_stream stream = {.kind = kind,
		.host = small_text(writer, "node"),
		.rank = (int32_t)pid,
		.pid = pid,
		.thread = kind == STORE_STREAM_CPU ? number : 0,
		.queue = kind == STORE_STREAM_GPU ? number : 0,
		.begin_ns = begin_ns,
		.end_ns = end_ns};
	uint32_t id = store_writer_stream(writer, &stream);

	small_span(writer, id, begin_ns, end_ns, STORE_OP_MONITORED, 0, attributes);
	return id;
}

static inline uint32_t trace_stream(struct store_writer *writer, enum store_stream_kind kind, uint32_t pid,
	uint32_t number, uint64_t begin_ns, uint64_t end_ns)
{
	return trace_stream_said(writer, kind, pid, number, begin_ns, end_ns, "");
}

static inline uint32_t trace_thread(
	struct store_writer *writer, uint32_t pid, uint32_t number, uint64_t end_ns)
{
	return trace_stream(writer, STORE_STREAM_CPU, pid, number, 0, end_ns);
}

static inline uint32_t trace_queue(
	struct store_writer *writer, uint32_t pid, uint32_t number, uint64_t end_ns)
{
	return trace_stream(writer, STORE_STREAM_GPU, pid, number, 0, end_ns);
}

/* From here on the thread runs this path. */
static inline void trace_run(struct store_writer *writer, uint32_t stream, uint64_t time_ns, const char *path)
{
	small_sample(writer, stream, time_ns, small_path(writer, path),
		store_writer_metric(writer, "CPUTIME", "ns", false), 0);
}

static inline void trace_span(struct store_writer *writer, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, uint32_t op, const char *path, uint64_t link)
{
	struct store_record record = {.begin_ns = begin_ns,
		.end_ns = end_ns,
		.context = *path ? small_path(writer, path) : 0,
		.what = op,
		.link = link};

	store_writer_append(writer, stream, STORE_SPANS, &record, 1);
}

static inline void trace_kernel(
	struct store_writer *writer, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	trace_span(writer, stream, begin_ns, end_ns, STORE_OP_KERNEL, "main;kernel", 0);
}

/* Links of random traces: each is of one launch, and of work that begins no sooner. Launches come in order.
 */
struct trace_links {
	uint64_t launched_ns[256];
	uint32_t count;
};

static inline uint64_t trace_link_new(struct trace_links *links, uint64_t launched_ns)
{
	assert_true(links->count < 256);
	links->launched_ns[links->count++] = launched_ns;
	return links->count;
}

/* One of work that begins then: of the last few launches; now and then none, or one whose launch is not
 * there. */
static inline uint64_t trace_link_any(const struct trace_links *links, uint64_t begin_ns)
{
	uint32_t launched = 0;

	while (launched < links->count && links->launched_ns[launched] <= begin_ns)
		launched++;
	if (!launched || !small_below(4))
		return small_below(3) ? 0 : 1000 + small_below(10);
	return launched - small_below(launched < 4 ? launched : 4);
}

#endif
