/* SPDX-License-Identifier: Apache-2.0 */
/* gauges.c - see gauges.h: when passes are taken, what time they have, and the streams of host and processes.
 */
#include "record/gauges/gauges.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/gauges/gauge_devices.h"
#include "record/gauges/gauge_host.h"
#include "record/gauges/gauge_process.h"

#define SHARE 1000u    /* of a core's time that passes may take: one part in so many */
#define WAKE_NS 40000u /* what a wake-up costs beside the pass itself */
#define SMOOTH 4u      /* of the cost of passes: one in so many is new */
#define SLOW_NS UINT64_C(1000000000)
#define LATE_PART 64u /* a pass is in time if it is late by a 64th of the interval */
#define FALL_MOST 9u  /* the interval is at most 2^9 times as long: 51 s */
#define KEPT_OPEN 16u /* processes whose files stay open */

struct gauges {
	struct gauges_asked asked;
	const char *root;
	struct gauge_metrics metrics;
	struct gauge_values values; /* of the current pass */
	struct gauge_host host;
	uint32_t host_stream, host_text;
	struct gauge_devices devices;
	struct gauge_values device_values; /* of one device, whose pass is another */
	uint64_t due_ns, begun_cpu_ns;
	uint64_t cost_ns; /* of a pass, smoothed */
	uint64_t slow_ns; /* next pass that reads all */
	unsigned fall;	  /* the interval is 2^fall times the one asked for */
	uint32_t kept_open;
};

struct gauges_process {
	struct gauge_process read;
	uint32_t stream;
	bool keeps;
};

static uint64_t cpu_now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static uint64_t interval_ns(const struct gauges *gauges)
{
	return gauges->asked.interval_ns << gauges->fall;
}

struct gauges *gauges_new(const struct gauges_asked *asked, const char *root, uint64_t now_ns)
{
	struct gauges *gauges = calloc(1, sizeof *gauges);

	if (!gauges)
		return NULL;
	gauges->asked = *asked;
	gauges->root = root;
	gauges->metrics.wanted = asked->wanted;
	gauges->host_stream = UINT32_MAX;
	gauges->due_ns = asked->interval_ns ? now_ns + asked->interval_ns : UINT64_MAX;
	return gauges;
}

static void stream_end(struct store_writer *writer, uint32_t stream, uint64_t now_ns)
{
	struct store_stream *of = stream == UINT32_MAX ? NULL : store_writer_stream_edit(writer, stream);

	if (!of)
		return;
	of->end_ns = now_ns > of->begin_ns ? now_ns : of->begin_ns + 1;
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
		of->complete_ns[track] = STORE_OPEN_NS;
}

void gauges_rest(struct gauges *gauges, struct store_writer *writer, uint64_t now_ns)
{
	if (!gauges)
		return;
	gauge_devices_drain(
		&gauges->devices, &gauges->metrics, &gauges->device_values, writer, gauges->host_text);
	stream_end(writer, gauges->host_stream, now_ns);
	for (unsigned i = 0; i < GAUGE_DEVICES; i++)
		if (gauges->devices.stream[i])
			stream_end(writer, gauges->devices.stream[i] - 1, now_ns);
}

void gauges_free(struct gauges *gauges)
{
	if (!gauges)
		return;
	gauge_devices_stop(&gauges->devices);
	gauge_host_fini(&gauges->host);
	free(gauges);
}

uint64_t gauges_due_ns(const struct gauges *gauges)
{
	return gauges ? gauges->due_ns : UINT64_MAX;
}

/* ---- a pass ---- */

/* The plan's time, where it was kept. */
static uint64_t time_of(const struct gauges *gauges, uint64_t now_ns)
{
	return now_ns - gauges->due_ns < interval_ns(gauges) / LATE_PART ? gauges->due_ns : now_ns;
}

void gauges_take(struct gauges *gauges, struct store_writer *writer, uint32_t host_text, uint64_t now_ns)
{
	struct store_stream stream = {
		.kind = STORE_STREAM_GAUGES,
		.host = host_text,
		.rank = -1,
		.pid = UINT32_MAX,
		.generation = UINT32_MAX,
		.device = UINT32_MAX,
		.end_ns = STORE_OPEN_NS,
	};

	gauges->begun_cpu_ns = cpu_now_ns();
	gauges->values.time_ns = time_of(gauges, now_ns);
	gauges->values.is_slow = gauges->asked.is_exact || now_ns >= gauges->slow_ns;
	gauges->values.count = 0;
	if (now_ns >= gauges->slow_ns)
		gauges->slow_ns = now_ns / SLOW_NS * SLOW_NS + SLOW_NS;
	gauge_host_read(&gauges->host, gauges->root, &gauges->metrics, &gauges->values, writer);
	if (gauges->values.count && gauges->host_stream == UINT32_MAX) {
		stream.begin_ns = gauges->values.time_ns;
		gauges->host_stream = store_writer_stream(writer, &stream);
	}
	gauge_values_flush(&gauges->values, writer, gauges->host_stream);
	gauges->host_text = host_text;
	gauge_devices_take(&gauges->devices, &gauges->asked, gauges->root, &gauges->metrics,
		&gauges->device_values, writer, host_text);
}

/* The next time of the plan, which counts from 0: passes of all hosts with one clock meet. */
static void plan_next(struct gauges *gauges)
{
	const uint64_t step_ns = interval_ns(gauges), from_ns = gauges->values.time_ns;

	gauges->due_ns = from_ns / step_ns * step_ns + step_ns;
}

/* Passes that cost too much get rarer by half, and as often again when they are a quarter of that. */
static void fall_decide(struct gauges *gauges)
{
	uint64_t cost_ns = (gauges->cost_ns + WAKE_NS) * SHARE;

	if (gauges->asked.is_exact)
		return;
	if (cost_ns > interval_ns(gauges) && gauges->fall < FALL_MOST)
		gauges->fall++;
	else if (gauges->fall && cost_ns < interval_ns(gauges) / 4)
		gauges->fall--;
}

void gauges_taken(struct gauges *gauges, struct store_writer *writer)
{
	uint64_t cost_ns = cpu_now_ns() - gauges->begun_cpu_ns;

	(void)writer;
	gauges->cost_ns =
		gauges->cost_ns ? gauges->cost_ns - gauges->cost_ns / SMOOTH + cost_ns / SMOOTH : cost_ns;
	fall_decide(gauges);
	plan_next(gauges);
}

/* ---- processes ---- */

static struct gauges_process *process_new(struct gauges *gauges, const struct gauges_target *target)
{
	struct gauges_process *process = calloc(1, sizeof *process);

	if (!process)
		return NULL;
	process->stream = UINT32_MAX;
	process->read.proc_pid = target->proc_pid;
	process->keeps = gauges->kept_open < KEPT_OPEN;
	gauges->kept_open += process->keeps;
	return process;
}

void gauges_process_take(struct gauges *gauges, struct gauges_process **process,
	const struct gauges_target *target, struct store_writer *writer, uint32_t host_text)
{
	struct store_stream stream = {
		.kind = STORE_STREAM_GAUGES,
		.host = host_text,
		.rank = target->rank,
		.pid = target->pid,
		.generation = target->generation,
		.device = UINT32_MAX,
		.begin_ns = target->begin_ns,
		.end_ns = STORE_OPEN_NS,
	};
	struct gauge_values *values = &gauges->values;

	if (!*process && target->begin_ns + interval_ns(gauges) > values->time_ns)
		return;
	if (!*process)
		*process = process_new(gauges, target);
	if (!*process || !gauge_process_read(&(*process)->read, gauges->root, &gauges->metrics, values,
				 writer, (*process)->keeps))
		values->count = 0;
	if (values->count && (*process)->stream == UINT32_MAX)
		(*process)->stream = store_writer_stream(writer, &stream);
	if (*process)
		gauge_values_flush(values, writer, (*process)->stream);
}

void gauges_process_end(
	struct gauges *gauges, struct gauges_process *process, struct store_writer *writer, uint64_t now_ns)
{
	if (!process)
		return;
	stream_end(writer, process->stream, now_ns);
	gauges->kept_open -= process->keeps;
	gauge_process_fini(&process->read);
	free(process);
}
