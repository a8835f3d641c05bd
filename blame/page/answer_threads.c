/* SPDX-License-Identifier: Apache-2.0 */
/* answer_threads.c - what threads wait in, and where only one works: as rows or as sums. */
#include <stdio.h>

#include "blame/page/answer.h"
#include "blame/wait/threads.h"
#include "timeline/report/report_fit.h"

static int print_summary(const struct program_call *call, const struct threads *threads, struct error *error)
{
	const struct answer_fact facts[] = {{"work_ns", threads->work_ns}, {"sync_ns", threads->sync_ns},
		{"blocked_ns", threads->blocked_ns}, {"spin_ns", threads->spin_ns},
		{"runnable_ns", threads->runnable_ns}, {"unknown_ns", threads->unknown_ns},
		{"absent_ns", threads->absent_ns}, {"window_ns", threads->window_ns},
		{"waiting_ns", threads->sync_ns + threads->blocked_ns + threads->spin_ns},
		{"serial_ns", threads->serial_ns}, {"threads", threads->threads},
		{"processes", threads->processes}, {"pathless_ns", threads->pathless_ns}};

	answer_print_definition(call,
		"work + sync + blocked + spin + runnable + unknown + absent = window (threads x "
		"window); waiting = sync + blocked + spin; pathless is of blocked, and counts where its "
		"thread "
		"was last seen");
	return answer_print_facts(call, facts, sizeof facts / sizeof *facts, error);
}

const char *answer_pathless(struct program_call *call, const struct threads *threads)
{
	char text[REPORT_HUMAN_MAX];

	report_human_duration(text, threads->pathless_ns);
	return arena_printf(&call->arena,
		"%s of it in calls that no record names: it counts where its thread was last seen at work",
		text);
}

static void print_head(struct program_call *call, const struct ask *ask, const struct threads *threads)
{
	uint64_t waiting_ns = threads->sync_ns + threads->blocked_ns + threads->spin_ns;
	char text[REPORT_HUMAN_MAX];

	if (call->format != REPORT_TABLE)
		return;
	report_human_duration(text, ask->of == ASK_SERIAL ? threads->serial_ns : waiting_ns);
	if (ask->of == ASK_SERIAL)
		report_fit_say("One thread of its process works alone for %s", text);
	else
		report_fit_say("%u thread%s for %s together: blocked, in synchronization calls or in "
			       "functions that only wait",
			threads->threads, threads->threads == 1 ? " waits" : "s wait", text);
	if (ask->of != ASK_SERIAL && threads->pathless_ns)
		report_fit_say("%s", answer_pathless(call, threads));
	answer_print_losses(call);
}

int answer_threads(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct answer_bucket bucket = {0};
	struct threads threads;
	bool is_serial = ask->of == ASK_SERIAL;
	int result = threads_sweep(&threads, call->run, &question, &call->arena, error);

	if (result || ask->shape == ASK_SUMMARY)
		return result ? result : print_summary(call, &threads, error);
	bucket.whole_ns =
		is_serial ? threads.serial_ns : threads.sync_ns + threads.blocked_ns + threads.spin_ns;
	print_head(call, ask, &threads);
	return answer_print_shares(call, ask, is_serial ? threads.serial : threads.waited,
		is_serial ? threads.serial_count : threads.waited_count, &bucket, error);
}
