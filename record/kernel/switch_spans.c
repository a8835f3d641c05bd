/* SPDX-License-Identifier: Apache-2.0 */
/* switch_spans.c - see switch_spans.h. */
#include "record/kernel/switch_spans.h"

static struct store_record span_of(uint64_t begin_ns, uint64_t end_ns, uint32_t what)
{
	return (struct store_record){.begin_ns = begin_ns, .end_ns = end_ns, .what = what};
}

bool switch_spans_take(struct switch_spans *line, const struct switch_event *event, struct store_record *span)
{
	bool is_out = line->out_ns != 0, goes_out = event->kind != SWITCH_IN;
	uint64_t now_ns = event->time_ns;

	/* Readers already take this time for complete. */
	if (now_ns < line->known_ns) {
		*span = span_of(now_ns, line->known_ns, STORE_OP_LOST);
		return true;
	}
	*span = is_out && !goes_out ? span_of(line->out_ns, now_ns, line->what)
				    : span_of(line->known_ns, now_ns, STORE_OP_LOST);
	line->known_ns = now_ns;
	line->out_ns = goes_out ? now_ns : 0;
	line->what = event->kind == SWITCH_OUT ? STORE_OP_BLOCKED : STORE_OP_RUNNABLE;
	return is_out || !goes_out;
}

void switch_spans_show(struct switch_spans *line, const struct wait_paths *waits, struct store_writer *writer,
	uint32_t stream, uint64_t before_ns)
{
	struct store_record span = span_of(line->out_ns, STORE_OPEN_NS, line->what);

	if (!line->out_ns || line->out_ns >= before_ns)
		return;
	span.context = wait_paths_context(waits, line->out_ns, STORE_OPEN_NS);
	if (line->is_shown && line->shown == span.context)
		return;
	store_writer_span_open(writer, stream, WAIT_PATHS_HANDLE_SWITCH + line->out_ns, &span);
	line->is_shown = true;
	line->shown = span.context;
}

void switch_spans_put(struct switch_spans *line, struct wait_paths *waits, struct store_writer *writer,
	uint32_t stream, const struct store_record *span, const struct kernel_callchain *callchain,
	uint64_t until_ns)
{
	wait_paths_put(waits, writer, stream, span, line->is_shown, callchain, until_ns);
	line->is_shown = false;
}

void switch_spans_end(struct switch_spans *line, struct wait_paths *waits, struct store_writer *writer,
	uint32_t stream, uint64_t end_ns)
{
	struct store_record span = span_of(line->out_ns, end_ns, line->what);

	if (line->out_ns && line->out_ns < end_ns)
		switch_spans_put(line, waits, writer, stream, &span, NULL, UINT64_MAX);
	else if (line->is_shown)
		store_writer_span_close(writer, stream, WAIT_PATHS_HANDLE_SWITCH + line->out_ns, NULL);
	wait_paths_settle(waits, writer, stream, UINT64_MAX);
	*line = (struct switch_spans){0};
}
