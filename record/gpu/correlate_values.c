/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlate_values.c - a device's figures over time, read from its counters by the agent: a stream of figures
 * for each process and device, beside the queues.
 */
#include "record/gpu/correlate_internal.h"

static const struct {
	const char *name, *unit;
	enum store_metric_kind kind;
} figures[EVENT_GPU_FIGURE_COUNT] = {
#define X(id, name, unit, kind, text) {name, unit, STORE_METRIC_##kind},
	EVENT_GPU_FIGURES(X)
#undef X
};

/* The record comes from the program: its length is checked for each value, and its time. */
void correlate_values_take(struct correlate_pass *at, const struct event_gpu_values *said)
{
	const uint32_t room = said->h.words - (uint32_t)(sizeof(*said) / sizeof(uint64_t));
	struct correlate_queue *queue = correlate_queue_find(&at->correlate->queues, at->process, at->writer,
		at->host, said->device, EVENT_GPU_UTIL, EVENT_GPU_UTIL);
	uint64_t time_ns = said->time_ns < at->now_ns ? said->time_ns : at->now_ns;
	struct store_record values[EVENT_GPU_FIGURE_COUNT];
	uint32_t count = 0;

	if (time_ns < at->process->begin_ns)
		return;
	for (uint32_t i = 0; i < EVENT_GPU_FIGURE_COUNT && queue; i++) {
		if (!(said->figures >> i & 1))
			continue;
		if (count == room)
			return;
		values[count] = (struct store_record){.begin_ns = time_ns,
			.end_ns = time_ns,
			.amount = said->value[count],
			.what = store_writer_figure(
				at->writer, figures[i].name, figures[i].unit, false, figures[i].kind)};
		count++;
	}
	if (count)
		store_writer_append(at->writer, queue->stream, STORE_VALUES, values, count);
}
