/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - see summary.h. */
#include "record/launch/summary.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "record/base/attribute_write.h"
#include "record/base/clock.h"
#include "record/base/refusal_text.h"
#include "record/base/rendezvous.h"
#include "record/modules/modules.h"
#include "store/base/path.h"

void summary_init(struct summary *summary, const char *events)
{
	memset(summary, 0, sizeof(*summary));
	summary->begin_ns = clock_now_ns();
	summary->unmonitored_stream = UINT32_MAX;
	snprintf(summary->events, sizeof(summary->events), "%s", events);
}

static uint32_t reason_text(struct store_writer *writer, const char *why, const char *command)
{
	struct store_bytes text = {0};
	uint32_t id = 0;

	attribute_write(&text, "reason", why);
	if (command)
		attribute_write(&text, "command", command);
	if (!text.failed)
		id = store_writer_text(writer, (const char *)text.data, text.size);
	store_bytes_fini(&text);
	return id;
}

void summary_unmonitored(struct summary *summary, const char *why, const char *command,
	struct store_writer *writer, uint32_t host)
{
	struct store_stream stream = {.kind = STORE_STREAM_CPU, .host = host, .rank = -1};
	struct store_record span = {.end_ns = STORE_OPEN_NS, .what = STORE_OP_UNMONITORED};

	if (!why)
		return;
	summary->writer = writer;
	summary->unmonitored_ns = span.begin_ns = stream.begin_ns = clock_now_ns();
	stream.end_ns = STORE_OPEN_NS;
	summary->unmonitored_attributes = span.attributes = reason_text(writer, why, command);
	summary->unmonitored_stream = store_writer_stream(writer, &stream);
	store_writer_span_open(writer, summary->unmonitored_stream, 0, &span);
}

static void uncounted_add(struct summary *summary, const struct event_counter *counter)
{
	size_t used = strlen(summary->uncounted);
	char name[sizeof(counter->name)];
	int error = atomic_load(&counter->error);

	memcpy(name, counter->name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	if (!strstr(summary->uncounted, name))
		snprintf(summary->uncounted + used, sizeof(summary->uncounted) - used, "%s%s (%s)",
			used ? ", " : "", name, refusal_text_counter(error));
}

static void sampling_add(struct summary *summary, const struct measured_process *process)
{
	const struct event_process *shared = process->shared;
	int reason = atomic_load(&shared->sampler_reason);

	summary->counts += process->counts;
	summary->values_enabled_ns += process->values_enabled_ns;
	summary->values_running_ns += process->values_running_ns;
	summary->cpu_ns += process->cpu_ns;
	summary->foreign += atomic_load(&shared->signals_foreign);
	summary->period_ns = process->period_ns;
	if (!summary->sampler_reason)
		summary->sampler_reason = reason;
	if (!summary->sampler[0] || reason)
		memcpy(summary->sampler, process->sampler, sizeof(summary->sampler));
	for (uint32_t i = 0; i < process->counter_count; i++)
		if (atomic_load(&shared->counters[i].refused))
			uncounted_add(summary, &shared->counters[i]);
}

static bool has_library(const struct measured_process *process, const char *name)
{
	const struct event_module *table = (const void *)((const char *)process->shared + EVENT_MODULES_AT);
	char path[sizeof(table->path)];

	for (unsigned i = 0; i < EVENT_MODULE_MAX; i++) {
		if (!process->modules.ids[i])
			continue;
		memcpy(path, table[i].path, sizeof(path)); /* the program may change it */
		path[sizeof(path) - 1] = '\0';
		if (!strcmp(path_base(path), name))
			return true;
	}
	return false;
}

/* Of its code that was made at run time has no function a name. */
static void unnamed_code_add(struct summary *summary, const struct measured_process *process)
{
	if (!process->modules.jit || process->perf_map.entry_count || process->is_outside)
		return;
	summary->has_unnamed_java |= has_library(process, "libjvm.so");
	summary->has_unnamed_node |= !strcmp(path_base(process->executable), "node");
}

void summary_add(struct summary *summary, const struct measured_process *process)
{
	unnamed_code_add(summary, process);
	summary->processes++;
	summary->is_injected |= process->is_injected;
	summary->threads += atomic_load(&process->shared->thread_count);
	summary->threads_unmonitored += atomic_load(&process->shared->threads_unmonitored);
	summary->unsampled += process->unsampled_threads;
	if (process->unsampled_reason)
		summary->unsampled_reason = process->unsampled_reason;
	summary->unmonitored_vforks += atomic_load(&process->shared->children_unmonitored);
	if (atomic_load(&process->shared->python_unknown))
		summary->python_unknown = atomic_load(&process->shared->python_unknown);
	summary->names_refused += atomic_load(&process->shared->names_refused);
	summary->gpu_graphs_by_node += atomic_load(&process->shared->graphs_by_node);
	summary->unmonitored_execs += process->unmonitored_ns && measured_process_is_in_exec(process);
	summary->signals += process->signals;
	summary->overruns += process->overruns;
	summary->samples += process->samples;
	summary->partial += process->partial;
	summary->lost += process->lost;
	summary->unwind_faults += process->unwind_faults;
	summary->shared += process->extra_samples;
	summary->weight_ns += process->weight_ns;
	summary->handler_ns += process->handler_ns;
	summary->never_started +=
		process->sampling_off.count == 1 && process->sampling_off.times_ns[0] == process->begin_ns;
	summary->pauses_refused += atomic_load(&process->shared->pauses_refused);
	sampling_add(summary, process);
	summary->switches_read += process->switches_read;
	summary->switches_lost += process->switches_lost;
	summary->switches_refused +=
		process->switches_refused + atomic_load(&process->shared->switches_refused);
	summary->gpu_operations += process->gpu.operations;
	summary->gpu_launches += process->gpu.launches;
	summary->gpu_unmatched += process->gpu.unmatched;
	summary->gpu_untimed += process->gpu.untimed;
	summary->gpu_lost += process->gpu.lost_operations;
	summary->gpu_samples += process->gpu.samples;
	summary->gpu_samples_lost += process->gpu.samples_lost;
	if (process->gpu.unsampled[0])
		memcpy(summary->gpu_unsampled, process->gpu.unsampled, sizeof(summary->gpu_unsampled));
	if (process->gpu.uncounted[0])
		memcpy(summary->gpu_uncounted, process->gpu.uncounted, sizeof(summary->gpu_uncounted));
	if (process->gpu.unwatched[0])
		memcpy(summary->gpu_unwatched, process->gpu.unwatched, sizeof(summary->gpu_unwatched));
	if (!summary->switches_error)
		summary->switches_error = atomic_load(&process->shared->switches_error);
}

static void unmonitored_close(struct summary *summary)
{
	struct store_record span = {.begin_ns = summary->unmonitored_ns,
		.end_ns = clock_now_ns(),
		.what = STORE_OP_UNMONITORED,
		.attributes = summary->unmonitored_attributes};
	struct store_stream *stream;

	if (summary->unmonitored_stream == UINT32_MAX)
		return;
	stream = store_writer_stream_edit(summary->writer, summary->unmonitored_stream);
	if (stream)
		stream->end_ns = span.end_ns;
	store_writer_span_close(summary->writer, summary->unmonitored_stream, 0, &span);
	summary->unmonitored_stream = UINT32_MAX;
}

void summary_started(struct summary *summary, uint32_t pid)
{
	struct store_stream *stream =
		summary->unmonitored_stream == UINT32_MAX
			? NULL
			: store_writer_stream_edit(summary->writer, summary->unmonitored_stream);

	if (stream)
		stream->pid = stream->tid = pid;
}

void summary_ended(struct summary *summary, int32_t status, uint64_t cpu_ns)
{
	summary->has_ended = status != RENDEZVOUS_NO_STATUS;
	summary->status = status;
	summary->program_cpu_ns += cpu_ns;
	unmonitored_close(summary);
}

uint64_t summary_own_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
}

bool summary_has_gpu(const struct summary *summary)
{
	return summary->gpu_operations + summary->gpu_launches + summary->gpu_lost > 0 ||
	       summary->gpu_unwatched[0];
}

static void gpu_numbers_put(const struct summary *summary, struct store_writer *writer)
{
	if (!summary_has_gpu(summary))
		return;
	store_writer_meta_number(writer, "gpu_operations", summary->gpu_operations);
	store_writer_meta_number(writer, "gpu_launches", summary->gpu_launches);
	store_writer_meta_number(writer, "gpu_unmatched", summary->gpu_unmatched);
	store_writer_meta_number(writer, "gpu_untimed", summary->gpu_untimed);
	store_writer_meta_number(writer, "gpu_lost", summary->gpu_lost);
	if (summary->gpu_graphs_by_node)
		store_writer_meta_number(writer, "gpu_graphs_by_node", summary->gpu_graphs_by_node);
	if (summary->gpu_samples)
		store_writer_meta_number(writer, "gpu_samples", summary->gpu_samples);
	if (summary->gpu_samples_lost)
		store_writer_meta_number(writer, "gpu_samples_lost", summary->gpu_samples_lost);
	if (summary->gpu_unsampled[0])
		store_writer_meta(writer, "gpu_unsampled", summary->gpu_unsampled);
	if (summary->gpu_uncounted[0])
		store_writer_meta(writer, "gpu_uncounted", summary->gpu_uncounted);
	if (summary->gpu_unwatched[0])
		store_writer_meta(writer, "gpu_unwatched", summary->gpu_unwatched);
}

uint64_t summary_rate_asked(const struct summary *summary)
{
	return summary->period_ns ? (1000000000u + summary->period_ns / 2) / summary->period_ns : 0;
}

/* wait() tells of descendants that somebody has waited for; the clocks of threads lack what was ahead of the
 * agent. */
uint64_t summary_program_cpu_ns(const struct summary *summary)
{
	return summary->program_cpu_ns > summary->cpu_ns ? summary->program_cpu_ns : summary->cpu_ns;
}

uint64_t summary_cpu_ns(const struct summary *summary)
{
	return summary->cpu_ns > summary->weight_ns ? summary->cpu_ns : summary->weight_ns;
}

uint64_t summary_rate_got(const struct summary *summary)
{
	double seconds = (double)summary_cpu_ns(summary) / 1e9;

	return seconds > 0 ? (uint64_t)((double)(summary->signals - summary->counts) / seconds + 0.5) : 0;
}

uint64_t summary_children(const struct summary *summary)
{
	return summary->unmonitored_children + summary->unmonitored_vforks + summary->unmonitored_execs;
}

void summary_put(struct summary *summary, struct store_writer *writer, uint64_t unnamed, const char *problem)
{
	const struct {
		const char *key;
		uint64_t value;
	} number[] = {
		{"processes", summary->processes},
		{"threads", summary->threads},
		{"signals", summary->signals},
		{"overruns", summary->overruns},
		{"samples_shared", summary->shared},
		{"samples", summary->samples},
		{"samples_lost", summary->lost},
		{"samples_partial", summary->partial},
		{"faults_caught", summary->unwind_faults},
		{"switches_read", summary->switches_read},
		{"switches_lost", summary->switches_lost},
		{"switches_refused", summary->switches_refused},
		{"threads_unmonitored", summary->threads_unmonitored},
		{"children_unmonitored", summary_children(summary)},
		{"processes_refused", summary->refused},
		{"never_started", summary->never_started},
		{"starts_refused", summary->pauses_refused},
		{"sampled_cpu_ns", summary->weight_ns},
		{"handler_ns", summary->handler_ns},
		{"program_cpu_ns", summary_program_cpu_ns(summary)},
		{"collector_cpu_ns", summary_own_cpu_ns()},
		{"frames_unnamed", unnamed},
		{"signals_counters", summary->counts},
		{"signals_foreign", summary->foreign},
		{"rate_asked", summary_rate_asked(summary)},
		{"rate_got", summary_rate_got(summary)},
	};

	summary->unnamed = unnamed;
	gpu_numbers_put(summary, writer);
	if (summary->values_enabled_ns) {
		store_writer_meta_number(writer, "values_enabled_ns", summary->values_enabled_ns);
		store_writer_meta_number(writer, "values_running_ns", summary->values_running_ns);
	}
	if (summary->python_unknown)
		store_writer_meta_number(writer, "python_unknown", summary->python_unknown);
	summary->has_openmp_archive = modules_have_openmp();
	if (summary->has_openmp_archive)
		store_writer_meta_number(writer, "openmp_archive", 1);
	if (summary->names_refused)
		store_writer_meta_number(writer, "python_names_refused", summary->names_refused);
	for (unsigned i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		store_writer_meta_number(writer, number[i].key, number[i].value);
	store_writer_meta(writer, "sampler", summary->sampler);
	if (summary->has_ended)
		store_writer_meta_number(writer, WIFSIGNALED(summary->status) ? "signal" : "exit",
			(uint64_t)(WIFSIGNALED(summary->status) ? WTERMSIG(summary->status)
								: WEXITSTATUS(summary->status)));
	if (problem) {
		snprintf(summary->problem, sizeof(summary->problem), "%s", problem);
		store_writer_meta(writer, "problem", problem);
	}
}
