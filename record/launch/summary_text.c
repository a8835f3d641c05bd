/* SPDX-License-Identifier: Apache-2.0 */
/* summary_text.c - the summary lines that hpct-record prints; leaves out lines without content. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "record/base/refusal_text.h"
#include "record/launch/summary.h"

struct lines {
	char *text;
	size_t capacity, used; /* text beyond the capacity is dropped */
};

__attribute__((format(printf, 2, 3))) static void put(struct lines *lines, const char *format, ...)
{
	va_list arguments;
	int more;

	if (lines->used >= lines->capacity)
		return;
	va_start(arguments, format);
	more = vsnprintf(lines->text + lines->used, lines->capacity - lines->used, format, arguments);
	va_end(arguments);
	lines->used += more > 0 ? (size_t)more : 0;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static void gpu_put(const struct summary *summary, struct lines *lines)
{
	if (!summary_has_gpu(summary))
		return;
	put(lines, "gpu operations %lu  launches %lu  without a launch %lu  lost %lu\n",
		(unsigned long)summary->gpu_operations, (unsigned long)summary->gpu_launches,
		(unsigned long)summary->gpu_unmatched, (unsigned long)summary->gpu_lost);
	if (summary->gpu_untimed)
		put(lines,
			"gpu operations with impossible times: %lu, shown at their launch with untimed=1\n",
			(unsigned long)summary->gpu_untimed);
	if (summary->gpu_graphs_by_node)
		put(lines, "CUDA graphs traced by node: CUPTI fails on XLA's graphs when they are traced as "
			   "wholes\n");
	if (summary->gpu_unsampled[0])
		put(lines, "gpu instructions not sampled as asked: %s\n", summary->gpu_unsampled);
	if (summary->gpu_uncounted[0])
		put(lines, "gpu counters not sampled as asked: %s\n", summary->gpu_uncounted);
	if (summary->gpu_unwatched[0])
		put(lines, "gpu not traced all the time: %s\n", summary->gpu_unwatched);
}

static void python_put(const struct summary *summary, struct lines *lines)
{
	if (summary->python_unknown == EVENT_PYTHON_PYPY)
		put(lines, "PyPy: its stack cannot be read (CPython's can): native frames only\n");
	else if (summary->python_unknown > 1)
		put(lines,
			"Python 3.%u: its stack cannot be read (CPython 3.8 to 3.15 with a GIL can): native "
			"frames only\n",
			summary->python_unknown);
	else if (summary->python_unknown)
		put(lines, "a Python interpreter of an unknown version: native frames only\n");
	if (summary->names_refused)
		put(lines, "Python functions beyond the first 100000 or so have no name: <python>\n");
}

static void unnamed_code_put(const struct summary *summary, struct lines *lines)
{
	if (summary->has_unnamed_java)
		put(lines, "Java's compiled methods have no names: hpct-record --java asks the machine for "
			   "them\n");
	if (summary->has_unnamed_node)
		put(lines, "Node's compiled functions have no names: hpct-record --node has it write them to "
			   "a file\n");
}

static void openmp_put(const struct summary *summary, struct lines *lines)
{
	if (summary->has_openmp_archive)
		put(lines, "OpenMP: the program has libgomp linked in (libgomp.a): its regions are not "
			   "known, call "
			   "paths are the threads'\n");
}

#define OVERHEAD_TELLING_NS \
	100000000u /* of less CPU time the share is mostly that of starting the collector */

#define OVERHEAD_MUCH 5.0	/* per cent: from here on the cause is named */
#define HANDLER_LONG_NS 30000.0 /* a sample's path was long, or hard to walk */
#define SWITCHES_MANY 10	/* switch records to a sample: waits are what the collector reads */

/* What most of it was, and what to do. */
static void cause_put(
	const struct summary *summary, double handlers_ns, double collector_ns, struct lines *lines)
{
	double each_ns = summary->samples ? handlers_ns / (double)summary->samples : 0;

	if (handlers_ns >= collector_ns && each_ns >= HANDLER_LONG_NS)
		put(lines,
			"most of it: long call paths, %.0f us a sample (%.0f %% partial); a lower rate (-c) "
			"takes fewer\n",
			each_ns / 1e3, share(summary->partial, summary->samples));
	else if (handlers_ns >= collector_ns)
		put(lines, "most of it: %lu samples; a lower rate (-c) takes fewer\n",
			(unsigned long)summary->samples);
	else if (summary->switches_read > SWITCHES_MANY * (summary->samples + 1))
		put(lines, "most of it: %lu records of thread switches; --no-switches leaves them out\n",
			(unsigned long)summary->switches_read);
	else
		put(lines, "most of it: storing the run of %lu process%s, new call paths and names with it\n",
			(unsigned long)summary->processes, summary->processes == 1 ? "" : "es");
}

/* What measuring took. The kernel's part of an interrupt is not in it. */
static void costs_put(const struct summary *summary, struct lines *lines)
{
	double collector = (double)summary_own_cpu_ns(), handlers = (double)summary->handler_ns;
	/* Of many short processes the larger part is over before an agent is there. */
	uint64_t program_ns = summary_program_cpu_ns(summary);
	uint64_t whole_ns = summary->weight_ns > program_ns ? summary->weight_ns : program_ns;

	double percent = whole_ns ? 100.0 * (collector + handlers) / (double)whole_ns : 0;

	if (!summary->weight_ns || whole_ns < OVERHEAD_TELLING_NS)
		return;
	put(lines, "overhead about %.2f %% (handlers and wrappers %.3f s by the clock, collector %.3f s)\n",
		percent, handlers / 1e9, collector / 1e9);
	if (percent > OVERHEAD_MUCH)
		cause_put(summary, handlers, collector, lines);
}

#define SAMPLES_TELLING 20u /* fewer due samples give no reliable rate */

/* Writes the sampling rate, and why it is lower than requested. */
static void rate_put(const struct summary *summary, struct lines *lines)
{
	uint64_t cpu_ns = summary_cpu_ns(summary), asked = summary_rate_asked(summary);

	if (!summary->processes)
		return; /* nothing was measured */
	if (cpu_ns && cpu_ns >= SAMPLES_TELLING * summary->period_ns)
		put(lines, "rate %lu a second of CPU time by %s, asked %lu",
			(unsigned long)summary_rate_got(summary), summary->sampler, (unsigned long)asked);
	else /* too few samples were due */
		put(lines, "samples by %s, asked %lu a second of CPU time", summary->sampler,
			(unsigned long)asked);
	if (summary->sampler_reason)
		put(lines, ": %s", refusal_text_sampler(summary->sampler_reason));
	put(lines, "\n");
}

/* What nobody sees of a process that ran already. */
static void attached_put(const struct summary *summary, struct lines *lines)
{
	if (!strcmp(summary->sampler, SUMMARY_OUTSIDE))
		put(lines, "measured from outside: no bytes of IO, no MPI calls, no GPU operations\n");
	if (summary->is_injected)
		put(lines, "measured by an agent that was loaded into it: no locks, no processes that it "
			   "started; threads of less than 20 ms, and calls of MPI and IO that are not made "
			   "by "
			   "tables, may be missing\n");
}

static void switches_put(const struct summary *summary, struct lines *lines)
{
	if (summary->switches_refused)
		put(lines, "blocked time is not known in %lu processes or threads: %s\n",
			(unsigned long)summary->switches_refused, refusal_text_perf(summary->switches_error));
	if (summary->switches_lost)
		put(lines, "switch records lost: %lu\n", (unsigned long)summary->switches_lost);
}

/* Writes what was not measured, or not all the time. */
static void unmeasured_put(const struct summary *summary, struct lines *lines)
{
	uint64_t children = summary_children(summary);

	if (strstr(summary->events, EVENT_WORD_UNSAMPLED))
		put(lines, "-e NONE: no CPU time was sampled\n");
	else if (summary->never_started)
		put(lines,
			"%lu processes never called hpct_start() (hpct.h), which -ds waits for: their CPU "
			"time "
			"was not sampled\n",
			(unsigned long)summary->never_started);
	if (summary->pauses_refused)
		put(lines, "%lu calls of hpct_start() came too fast for the collector and had no effect\n",
			(unsigned long)summary->pauses_refused);
	if (summary->refused)
		put(lines,
			"%lu processes are not measured, or not all of them: the collector has no "
			"descriptors "
			"left (ulimit -Hn)\n",
			(unsigned long)summary->refused);
	if (summary->unsampled)
		put(lines,
			"%lu of %lu threads were not sampled, or not all the time, and are unmonitored "
			"there: %s\n",
			(unsigned long)summary->unsampled, (unsigned long)summary->threads,
			refusal_text_unsampled(summary->unsampled_reason));
	if (summary->threads_unmonitored + children)
		put(lines, "unmonitored: %lu threads, %lu children",
			(unsigned long)summary->threads_unmonitored, (unsigned long)children);
	if (summary->unmonitored_children_ns)
		put(lines, " (at least %.3f s CPU)", (double)summary->unmonitored_children_ns / 1e9);
	if (summary->threads_unmonitored + children)
		put(lines, "\n");
}

void summary_text(const struct summary *summary, char *text, size_t room)
{
	struct lines lines = {text, room, 0};

	put(&lines,
		"processes %lu  threads %lu  samples %lu  lost %lu  partial %lu (%.2f %%)\n"
		"events %.200s\nsignals %lu  overruns %lu  program %.3f s CPU\n",
		(unsigned long)summary->processes, (unsigned long)summary->threads,
		(unsigned long)summary->samples, (unsigned long)summary->lost,
		(unsigned long)summary->partial, share(summary->partial, summary->samples), summary->events,
		(unsigned long)summary->signals, (unsigned long)summary->overruns,
		(double)summary_program_cpu_ns(summary) / 1e9);
	python_put(summary, &lines);
	unnamed_code_put(summary, &lines);
	openmp_put(summary, &lines);
	gpu_put(summary, &lines);
	costs_put(summary, &lines);
	rate_put(summary, &lines);
	if (summary->uncounted[0])
		put(&lines, "not counted: %s\n", summary->uncounted);
	if (summary->values_running_ns < summary->values_enabled_ns)
		put(&lines,
			"counters read at samples took turns: they counted %.1f %% of the time, and are "
			"scaled\n",
			share(summary->values_running_ns, summary->values_enabled_ns));
	attached_put(summary, &lines);
	switches_put(summary, &lines);
	unmeasured_put(summary, &lines);
	if (summary->unnamed)
		put(&lines, "%lu frames have no names yet; `hpct-names RUN` finds them\n",
			(unsigned long)summary->unnamed);
	if (summary->problem[0])
		put(&lines, "recording stopped early: %s\n", summary->problem);
}
