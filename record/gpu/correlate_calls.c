/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlate_calls.c - collective calls whose kernel does not come to an end: CUPTI tells of kernels that have
 * finished, so a rank that hangs in one would look idle. After a while the launching thread gets an open span
 * `nccl` with what the library said of the call and `unfinished=1`; it is dropped when the kernel is there.
 */
#include <stdio.h>

#include "record/gpu/correlate_internal.h"

#define CALLS_LEAST_NS UINT64_C(2000000000) /* CUPTI keeps finished kernels for up to a second */
#define CALLS_EVERY_NS UINT64_C(1000000000)
#define CALLS_BACK 65536u /* launches that are looked through: behind one that hangs there come few */
#define CALLS_HANDLE (UINT64_C(1) << 62) /* with the link: of store_writer_span_open */
#define CALLS_TEXT 1100u

static struct store_record call_span(
	struct store_writer *writer, const struct correlate_launch *launch, uint64_t end_ns)
{
	size_t size = 0;
	const char *said = store_writer_text_at(writer, launch->said, &size);
	char text[CALLS_TEXT + 16];
	int length = said && size < CALLS_TEXT
			     ? snprintf(text, sizeof(text), "%.*s,unfinished=1", (int)size, said)
			     : snprintf(text, sizeof(text), "unfinished=1");

	return (struct store_record){.begin_ns = launch->begin_ns,
		.end_ns = end_ns,
		.bytes = launch->said_bytes,
		.context = launch->context,
		.what = store_writer_op(writer, "nccl", 4),
		.attributes = store_writer_text(writer, text, (size_t)length)};
}

void correlate_calls_look(struct correlate_pass *at)
{
	struct correlate *correlate = at->correlate;
	struct correlate_launch *launch;
	uint64_t number = UINT64_MAX;

	if (!correlate->has_calls || at->now_ns - correlate->calls_ns < CALLS_EVERY_NS || at->is_last ||
		at->process->is_discarded)
		return;
	correlate->calls_ns = at->now_ns;
	while ((launch = correlate_launches_said(&correlate->launches, &number, CALLS_BACK))) {
		struct store_record span;

		if (launch->is_open || at->now_ns < launch->begin_ns + CALLS_LEAST_NS)
			continue;
		span = call_span(at->writer, launch, STORE_OPEN_NS);
		store_writer_span_open(at->writer, launch->stream, CALLS_HANDLE | launch->link, &span);
		launch->is_open = true;
		correlate->calls_open++;
	}
}

void correlate_call_over(
	struct correlate *correlate, struct store_writer *writer, struct correlate_launch *launch)
{
	if (!launch->is_open)
		return;
	store_writer_span_close(writer, launch->stream, CALLS_HANDLE | launch->link, NULL);
	launch->is_open = false;
	correlate->calls_open--;
}

void correlate_calls_end(struct gpu_process *process, struct store_writer *writer, uint64_t end_ns)
{
	struct correlate *correlate = process->correlate;
	struct correlate_launch *launch;
	uint64_t number = UINT64_MAX;

	if (!correlate || !correlate->has_calls || process->is_discarded)
		return;
	while ((launch = correlate_launches_said(&correlate->launches, &number, CALLS_BACK))) {
		struct store_record span = call_span(writer, launch, end_ns);

		correlate_call_over(correlate, writer, launch);
		if (span.begin_ns < end_ns)
			store_writer_append(writer, launch->stream, STORE_SPANS, &span, 1);
	}
}
