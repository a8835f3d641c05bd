/* SPDX-License-Identifier: Apache-2.0 */
/* findings_devices.c - see findings.h: sweeps the queues of a device together. */
#include <stdlib.h>

#include "blame/base/related.h"
#include "blame/base/sweep.h"
#include "blame/findings/findings_internal.h"

/* Queues whose kernels overlap for more than this part of their time do run together. */
#define TOGETHER_LEAST 0.01
/* A queue with less of a device's kernel time plays no part. */
#define QUEUE_LEAST 0.05

struct device_sums {
	uint64_t *kernel_ns; /* by queue */
	bool *is_running;
	uint32_t running;
	uint64_t union_ns, together_ns, now_ns;
};

static void device_pass(struct device_sums *sums, uint32_t queues, uint64_t to_ns)
{
	uint64_t dt_ns = to_ns - sums->now_ns;

	sums->now_ns = to_ns;
	sums->union_ns += sums->running ? dt_ns : 0;
	sums->together_ns += sums->running > 1 ? dt_ns : 0;
	for (uint32_t i = 0; i < queues && sums->running && dt_ns; i++)
		sums->kernel_ns[i] += sums->is_running[i] ? dt_ns : 0;
}

/* Whatever is still to come of the time that they have at most. */
static bool do_run_together(const struct device_sums *sums, uint64_t at_most_ns)
{
	return (double)sums->together_ns > TOGETHER_LEAST * (double)at_most_ns;
}

enum { KERNEL, OTHER };

static unsigned class_of(void *own, uint32_t op, uint32_t context)
{
	(void)own;
	(void)context;
	return op == STORE_OP_KERNEL || op == STORE_OP_GRAPH ? KERNEL : OTHER;
}

static int device_sweep(struct findings_search *search, const uint32_t *queues, uint32_t count,
	struct device_sums *sums, struct error *error)
{
	const struct idle_question *question = search->question;
	struct sweep_change change;
	struct sweep *sweep;
	int more, result = sweep_new(&sweep, search->run, question->begin_ns, question->end_ns, error);

	sums->now_ns = question->begin_ns;
	if (!result)
		sweep_tell_classes(sweep, &(struct extent_classes){class_of, NULL});
	for (uint32_t i = 0; i < count && !result; i++)
		result = sweep_add_stream(sweep, queues[i], error);
	while (!result && !do_run_together(sums, question->end_ns - question->begin_ns) &&
		(more = sweep_next(sweep, &change, error)) != 0) {
		bool is_kernel = change.piece && change.piece->classes >> KERNEL & 1;

		if (more < 0) {
			result = more;
			break;
		}
		device_pass(sums, count, change.time_ns);
		sums->running += is_kernel ? 1u : 0u;
		sums->running -= sums->is_running[change.line] ? 1u : 0u;
		sums->is_running[change.line] = is_kernel;
	}
	sweep_free(sweep);
	return result;
}

/* Two queues that matter, never at work together: but for their order the shorter ones could run beside. */
static bool device_judge(struct findings_search *search, const uint32_t *queues, uint32_t count,
	const struct device_sums *sums)
{
	uint64_t most_ns = 0, sum_ns = 0;
	uint32_t matter = 0, first = 0;

	for (uint32_t i = 0; i < count; i++) {
		if ((double)sums->kernel_ns[i] < QUEUE_LEAST * (double)sums->union_ns)
			continue;
		matter++;
		sum_ns += sums->kernel_ns[i];
		most_ns = sums->kernel_ns[i] > most_ns ? sums->kernel_ns[i] : most_ns;
	}
	if (!sums->union_ns || matter < 2 || do_run_together(sums, sums->union_ns))
		return true;
	while (first + 1 < count && !related_is_reported(search->related, queues[first]))
		first++;
	return findings_put(search, &(struct finding){.kind = FINDING_SERIAL_QUEUES,
					    .stream = queues[first],
					    .count = matter,
					    .time_ns = sum_ns,
					    .save_ns = sum_ns - most_ns});
}

static int read_device(
	struct findings_search *search, const uint32_t *queues, uint32_t count, struct error *error)
{
	struct device_sums sums = {.kernel_ns = calloc(count, sizeof(*sums.kernel_ns)),
		.is_running = calloc(count, sizeof(*sums.is_running))};
	int result = -ERROR_IO;

	if (!sums.kernel_ns || !sums.is_running)
		error_memory(error);
	else
		result = device_sweep(search, queues, count, &sums, error);
	if (!result && !device_judge(search, queues, count, &sums))
		result = error_memory(error);
	free(sums.kernel_ns);
	free(sums.is_running);
	return result;
}

/* Streams come sorted by device. */
int findings_read_devices(struct findings_search *search, const struct process *process, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0, next; i < process->stream_count && !result; i = next) {
		const struct store_stream *first = &run_stream(search->run, process->streams[i])->s;

		for (next = i + 1; next < process->stream_count; next++) {
			const struct store_stream *s = &run_stream(search->run, process->streams[next])->s;

			if (s->kind != first->kind || s->device != first->device)
				break;
		}
		if (first->kind == STORE_STREAM_GPU && next - i > 1)
			result = read_device(search, process->streams + i, next - i, error);
	}
	return result;
}
