/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - see summary.h. */
#include "record/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/attributes.h"
#include "record/clock.h"

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

	attribute_put(&text, "reason", why);
	if (command)
		attribute_put(&text, "command", command);
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

/* Why a kernel refuses, in words that help. */
static const char *refusal(int error);

static const char *sampler_reason(int reason)
{
	switch (reason) {
	case EVENT_SAMPLER_OLD_KERNEL:
		return "this kernel is older than 5.18";
	case EVENT_SAMPLER_TRACED:
		return "a debugger would stop at each sample";
	case EVENT_SAMPLER_GO:
		return "Go's runtime takes all signals for itself";
	default:
		return refusal(-reason);
	}
}

static const char *counter_refusal(int error)
{
	switch (error) {
	case -EVENT_PAPI_MISSING:
		return "PAPI cannot be loaded into the program";
	case -EVENT_PAPI_FORKED:
		return "PAPI does not go on in a child of fork";
	default:
		break;
	}
	if (error <= -1000)
		return "PAPI refuses it";
	return error < 0 ? sampler_reason(-error) : refusal(error);
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
			used ? ", " : "", name, counter_refusal(error));
}

static void sampling_add(struct summary *summary, const struct measured *process)
{
	const struct event_process *shared = process->shared;
	int reason = atomic_load(&shared->sampler_reason);

	summary->counts += process->counts;
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

void summary_add(struct summary *summary, const struct measured *process)
{
	summary->processes++;
	summary->threads += atomic_load(&process->shared->thread_count);
	summary->threads_unmonitored += atomic_load(&process->shared->threads_unmonitored);
	summary->unmonitored_vforks += atomic_load(&process->shared->children_unmonitored);
	summary->unmonitored_execs += process->unmonitored_ns && measured_is_in_exec(process);
	summary->signals += process->signals;
	summary->overruns += process->overruns;
	summary->samples += process->samples;
	summary->partial += process->partial;
	summary->lost += process->lost;
	summary->errant += process->errant;
	summary->shared += process->shared_hits;
	summary->weight_ns += process->weight_ns;
	summary->handler_ns += process->handler_ns;
	summary->never_started +=
		process->pauses.count == 1 && process->pauses.times_ns[0] == process->begin_ns;
	summary->pauses_refused += atomic_load(&process->shared->pauses_refused);
	sampling_add(summary, process);
	summary->switches_read += process->switches_read;
	summary->switches_lost += process->switches_lost;
	summary->switches_refused +=
		process->switches_refused + atomic_load(&process->shared->switches_refused);
	summary->gpu_operations += process->gpu_operations;
	summary->gpu_launches += process->gpu_launches;
	summary->gpu_unmatched += process->gpu_unmatched;
	summary->gpu_untimed += process->gpu_untimed;
	summary->gpu_lost += process->gpu_lost;
	if (process->gpu_unwatched[0])
		memcpy(summary->gpu_unwatched, process->gpu_unwatched, sizeof(summary->gpu_unwatched));
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
	summary->has_ended = true;
	summary->status = status;
	summary->program_cpu_ns += cpu_ns;
	unmonitored_close(summary);
}

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
}

static bool has_gpu(const struct summary *summary)
{
	return summary->gpu_operations + summary->gpu_launches + summary->gpu_lost > 0 ||
	       summary->gpu_unwatched[0];
}

static void gpu_numbers_put(const struct summary *summary, struct store_writer *writer)
{
	if (!has_gpu(summary))
		return;
	store_writer_meta_number(writer, "gpu_operations", summary->gpu_operations);
	store_writer_meta_number(writer, "gpu_launches", summary->gpu_launches);
	store_writer_meta_number(writer, "gpu_unmatched", summary->gpu_unmatched);
	store_writer_meta_number(writer, "gpu_untimed", summary->gpu_untimed);
	store_writer_meta_number(writer, "gpu_lost", summary->gpu_lost);
	if (summary->gpu_unwatched[0])
		store_writer_meta(writer, "gpu_unwatched", summary->gpu_unwatched);
}

/* Samples of the time source a second of CPU time. */
static uint64_t rate_asked(const struct summary *summary)
{
	return summary->period_ns ? (1000000000u + summary->period_ns / 2) / summary->period_ns : 0;
}

/* CPU time that was sampled: of threads that did not come to an end of their own, as in a program that was
 * killed and in Go's, only what their samples weigh is known. */
static uint64_t cpu_ns(const struct summary *summary)
{
	return summary->cpu_ns > summary->weight_ns ? summary->cpu_ns : summary->weight_ns;
}

static uint64_t rate_got(const struct summary *summary)
{
	double seconds = (double)cpu_ns(summary) / 1e9;

	return seconds > 0 ? (uint64_t)((double)(summary->signals - summary->counts) / seconds + 0.5) : 0;
}

static uint64_t children_count(const struct summary *summary)
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
		{"faults_caught", summary->errant},
		{"switches_read", summary->switches_read},
		{"switches_lost", summary->switches_lost},
		{"switches_refused", summary->switches_refused},
		{"threads_unmonitored", summary->threads_unmonitored},
		{"children_unmonitored", children_count(summary)},
		{"processes_refused", summary->refused},
		{"never_started", summary->never_started},
		{"starts_refused", summary->pauses_refused},
		{"sampled_cpu_ns", summary->weight_ns},
		{"handler_ns", summary->handler_ns},
		{"program_cpu_ns", summary->program_cpu_ns},
		{"collector_cpu_ns", own_cpu_ns()},
		{"frames_unnamed", unnamed},
		{"signals_counters", summary->counts},
		{"signals_foreign", summary->foreign},
		{"rate_asked", rate_asked(summary)},
		{"rate_got", rate_got(summary)},
	};

	summary->unnamed = unnamed;
	gpu_numbers_put(summary, writer);
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

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static const char *refusal(int error)
{
	switch (error) {
	case EACCES:
		return "kernel.perf_event_paranoid is above 2; set it to 2 or less";
	case EPERM:
		return "the kernel or a container's seccomp filter forbids it, or no more memory may be "
		       "pinned "
		       "(kernel.perf_event_mlock_kb, ulimit -l)";
	case EMFILE:
		return "no descriptors were left (ulimit -n)";
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "this machine has no such counter";
	case ENOSYS:
		return "this kernel has no perf events";
	default:
		return error ? strerror(error) : "the collector could not map their rings";
	}
}

/* Nothing where no GPU was used. */
static int gpu_put(const struct summary *summary, char *text, size_t room)
{
	int used = 0;

	if (!has_gpu(summary))
		return 0;
	used = snprintf(text, room, "gpu operations %lu  launches %lu  without a launch %lu  lost %lu\n",
		(unsigned long)summary->gpu_operations, (unsigned long)summary->gpu_launches,
		(unsigned long)summary->gpu_unmatched, (unsigned long)summary->gpu_lost);
	if (summary->gpu_untimed && (size_t)used < room)
		used += snprintf(text + used, room - (size_t)used,
			"gpu operations without possible times: %lu, shown at their launch\n",
			(unsigned long)summary->gpu_untimed);
	if (summary->gpu_unwatched[0] && (size_t)used < room)
		used += snprintf(text + used, room - (size_t)used, "gpu not watched all the time: %s\n",
			summary->gpu_unwatched);
	return used;
}

/* What measuring took. The kernel's part of an interrupt is not in it. */
static int costs_put(const struct summary *summary, char *text, size_t room)
{
	double taken = (double)(own_cpu_ns() + summary->handler_ns);
	/* Of many short processes the larger part is over before an agent is there. */
	uint64_t whole_ns =
		summary->weight_ns > summary->program_cpu_ns ? summary->weight_ns : summary->program_cpu_ns;

	if (!summary->weight_ns)
		return 0;
	return snprintf(text, room,
		"overhead about %.2f %% (handlers %.3f s by the clock, collector %.3f s)\n",
		100.0 * taken / (double)whole_ns, (double)summary->handler_ns / 1e9,
		(double)own_cpu_ns() / 1e9);
}

static const char paused_note[] =
	"never called hpct_start() (hpct.h), which -ds waits for: their CPU time was not "
	"sampled";

#define SAMPLES_TELLING 20u /* of so many that were due a rate can be told */

/* How often samples came, and why not as often as asked. */
static int rate_put(const struct summary *summary, char *text, size_t room)
{
	int used = 0;

	if (!summary->processes)
		return 0; /* nothing was measured */
	if (cpu_ns(summary) && cpu_ns(summary) >= SAMPLES_TELLING * summary->period_ns)
		used = snprintf(text, room, "rate %lu a second of CPU time by %s, asked %lu",
			(unsigned long)rate_got(summary), summary->sampler,
			(unsigned long)rate_asked(summary));
	else /* too few samples were due */
		used = snprintf(text, room, "samples by %s, asked %lu a second of CPU time", summary->sampler,
			(unsigned long)rate_asked(summary));
	if (summary->sampler_reason && (size_t)used < room)
		used += snprintf(
			text + used, room - (size_t)used, ": %s", sampler_reason(summary->sampler_reason));
	if ((size_t)used < room)
		used += snprintf(text + used, room - (size_t)used, "\n");
	return used;
}

/* Appends what does not go by itself. */
static int notes_put(const struct summary *summary, char *text, size_t room)
{
	uint64_t children = children_count(summary);
	int used = rate_put(summary, text, room);

	if (summary->uncounted[0] && (size_t)used < room)
		used += snprintf(text + used, room - (size_t)used, "not counted: %s\n", summary->uncounted);
	if (summary->switches_refused && (size_t)used < room)
		used += snprintf(text + used, room - (size_t)used,
			"blocked time is not known in %lu processes or threads: %s\n",
			(unsigned long)summary->switches_refused, refusal(summary->switches_error));
	if (summary->switches_lost && (size_t)used < room)
		used += snprintf(text + used, room - (size_t)used, "switch records lost: %lu\n",
			(unsigned long)summary->switches_lost);
	if (summary->never_started && (size_t)used < room)
		used += snprintf(text + used, room - (size_t)used, "%lu processes %s\n",
			(unsigned long)summary->never_started, paused_note);
	if (summary->pauses_refused && (size_t)used < room)
		used += snprintf(text + used, room - (size_t)used,
			"%lu calls of hpct_start() came too fast for the collector and had no effect\n",
			(unsigned long)summary->pauses_refused);
	if (summary->refused && (size_t)used < room)
		used += snprintf(text + used, room - (size_t)used,
			"%lu processes are not measured, or not all of them: the collector has no "
			"descriptors left "
			"(ulimit -Hn)\n",
			(unsigned long)summary->refused);
	if (summary->threads_unmonitored + children && (size_t)used < room)
		used += snprintf(text + used, room - (size_t)used, "unmonitored: %lu threads, %lu children\n",
			(unsigned long)summary->threads_unmonitored, (unsigned long)children);
	return used;
}

void summary_text(const struct summary *summary, char *text, size_t room)
{
	int used = snprintf(text, room,
		"processes %lu  threads %lu  samples %lu  lost %lu  partial %lu (%.2f %%)\n"
		"events %.200s\nsignals %lu  overruns %lu  program %.3f s CPU\n",
		(unsigned long)summary->processes, (unsigned long)summary->threads,
		(unsigned long)summary->samples, (unsigned long)summary->lost,
		(unsigned long)summary->partial, share(summary->partial, summary->samples), summary->events,
		(unsigned long)summary->signals, (unsigned long)summary->overruns,
		(double)summary->program_cpu_ns / 1e9);

	if ((size_t)used < room)
		used += gpu_put(summary, text + used, room - (size_t)used);
	if ((size_t)used < room)
		used += costs_put(summary, text + used, room - (size_t)used);
	if ((size_t)used < room)
		used += notes_put(summary, text + used, room - (size_t)used);
	if (summary->unnamed && (size_t)used < room)
		used += snprintf(text + used, room - (size_t)used,
			"%lu frames are not named yet; readers will\n", (unsigned long)summary->unnamed);
	if (summary->problem[0] && (size_t)used < room)
		snprintf(text + used, room - (size_t)used, "recording stopped early: %s\n", summary->problem);
}
