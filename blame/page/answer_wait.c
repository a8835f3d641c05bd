/* SPDX-License-Identifier: Apache-2.0 */
/* answer_wait.c - where threads wait in synchronization calls, and for which kernels. */
#include <stdio.h>

#include "blame/page/answer.h"
#include "blame/wait/wait.h"
#include "timeline/report/report_fit.h"

static int print_summary(const struct program_call *call, const struct wait *wait, struct error *error)
{
	const struct answer_fact facts[] = {{"cpu_idle_ns", wait->sync_ns}, {"covered_ns", wait->covered_ns},
		{"uncovered_ns", wait->uncovered_ns}, {"window_ns", wait->window_ns},
		{"monitored_ns", wait->monitored_ns}, {"threads", wait->threads}};

	answer_print_definition(
		call, "cpu_idle is time in synchronization calls: covered by kernels + uncovered");
	return answer_print_facts(call, facts, sizeof(facts) / sizeof(facts[0]), error);
}

static void print_head(const struct program_call *call, const struct ask *ask, const struct wait *wait)
{
	char sync_text[REPORT_HUMAN_MAX], monitored_text[REPORT_HUMAN_MAX];

	if (call->format != REPORT_TABLE)
		return;
	report_human_duration(sync_text, wait->sync_ns);
	report_human_duration(monitored_text, wait->monitored_ns);
	report_fit_say("%u thread%s in synchronization calls for %s of %s monitored (%.2f %%)", wait->threads,
		wait->threads == 1 ? "" : "s", sync_text, monitored_text,
		100.0 * (double)wait->sync_ns / (double)wait->monitored_ns);
	if (ask->of == ASK_CPU_IDLE_CAUSE)
		report_fit_say("Kernels that ran meanwhile share it by overlap, concurrent ones equally");
	answer_print_losses(call);
}

static struct answer_shares shares_of(const struct ask *ask, const struct wait *wait)
{
	if (ask->of == ASK_CPU_IDLE_CAUSE)
		return (struct answer_shares){wait->causes, wait->cause_count,
			{"<no kernel>", wait->uncovered_ns, wait->sync_ns, 0}};
	return (struct answer_shares){wait->sync, wait->sync_count, {.whole_ns = wait->sync_ns}};
}

int answer_cpu_idle_shares(
	struct answer_shares *shares, struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct wait wait;
	int result = wait_sweep(&wait, call->run, &question, &call->arena, error);

	if (!result)
		*shares = shares_of(ask, &wait);
	return result;
}

int answer_cpu_idle(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct answer_shares shares;
	struct wait wait;
	int result = wait_sweep(&wait, call->run, &question, &call->arena, error);

	if (result || ask->shape == ASK_SUMMARY)
		return result ? result : print_summary(call, &wait, error);
	shares = shares_of(ask, &wait);
	print_head(call, ask, &wait);
	return answer_print_shares(call, ask, &shares, error);
}
