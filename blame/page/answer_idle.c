/* SPDX-License-Identifier: Apache-2.0 */
/* answer_idle.c - blame for idle GPUs, as rows or as sums. */
#include <stdio.h>

#include "blame/base/runtime_calls.h"
#include "blame/gpu/gpu_pending.h"
#include "blame/page/answer.h"
#include "timeline/report/coverage.h"
#include "timeline/report/report_fit.h"

#define NOBODY "<nobody active>"
#define UNKNOWN "<unknown>"

static int print_summary(const struct program_call *call, const struct idle *idle, struct error *error)
{
	const struct answer_fact facts[] = {{"gpu_idle_ns", idle->idle_ns}, {"blamed_ns", idle->blamed_ns},
		{"all_idle_ns", idle->all_idle_ns}, {"window_ns", idle->window_ns},
		{"busy_ns", idle->busy_ns}, {"unknown_ns", idle->unknown_ns}, {"lost_ns", idle->lost_ns},
		{"kernel_ns", idle->kernel_ns}, {"communicating_ns", idle->comm_ns},
		{"copy_ns", idle->copy_ns}, {"unexplained_ns", idle->unexplained_ns},
		{"groups", idle->groups}, {"unused_ns", idle->unused_ns}, {"no_core_ns", idle->no_core_ns},
		{"ended_ns", idle->ended_ns}};

	answer_print_definition(
		call, "busy + gpu_idle + unknown = window (groups x window); blamed + all_idle = gpu_idle");
	return answer_print_facts(call, facts, sizeof(facts) / sizeof(facts[0]), error);
}

static void print_waited(const struct idle *idle)
{
	char text[REPORT_HUMAN_MAX];

	report_human_duration(text, idle->no_core_ns);
	report_fit_say("What threads waited in while none was at work%s%s%s",
		idle->no_core_ns ? "; for " : "", idle->no_core_ns ? text : "",
		idle->no_core_ns ? " of that one could have worked, had it a core" : "");
}

static void print_head(const struct program_call *call, const struct ask *ask,
	const struct idle_question *question, const struct idle *idle)
{
	char idle_text[REPORT_HUMAN_MAX], known_text[REPORT_HUMAN_MAX];
	uint64_t known_ns = idle->busy_ns + idle->idle_ns;

	if (call->format != REPORT_TABLE)
		return;
	report_human_duration(idle_text, idle->idle_ns);
	report_human_duration(known_text, known_ns);
	report_fit_say("GPUs idle for %s of %s known (%.2f %%), in %u group%s: no queue runs %s", idle_text,
		known_text, 100.0 * (double)idle->idle_ns / (double)known_ns, idle->groups,
		idle->groups == 1 ? "" : "s",
		question->busy == IDLE_BUSY_KERNEL ? "a kernel" : "any operation");
	if (idle->unused_ns) {
		report_human_duration(idle_text, idle->unused_ns);
		report_fit_say("Before the first use of a GPU (%s) none is idle", idle_text);
	}
	if (idle->ended_ns) {
		report_human_duration(idle_text, idle->ended_ns);
		report_fit_say("After the end of the processes that use GPUs (%s) none is idle", idle_text);
	}
	if (ask->of == ASK_GPU_IDLE)
		report_fit_say("Threads at work meanwhile share it equally");
	else if (ask->of == ASK_GPU_IDLE_SAMPLED)
		report_fit_say("Every sample at work meanwhile counts for its period, shared among the "
			       "threads at work");
	else
		print_waited(idle);
	report_fit_say(
		"A synchronization is work unless its process has work running or queued (" GPU_PENDING_TEXT
		")");
	answer_print_losses(call);
}

/* Rows that are functions take calls of a runtime as one. */
static int fold(
	const struct program_call *call, const struct ask *ask, const struct idle *idle, struct error *error)
{
	enum row_key_by by = ROW_KEY_FUNCTION;
	bool has_keys = ask->shape != ASK_TREE && !ask->groups;
	int result = has_keys ? answer_find_by(call, &by, error) : 0;

	if (result || !has_keys)
		return result;
	runtime_calls_fold(call->run, idle->blamed, idle->blamed_count, call->select, by);
	runtime_calls_fold(call->run, idle->sampled, idle->sampled_count, call->select, by);
	return 0;
}

/* By samples alone nothing is left over: per cents are of what the samples say. */
static struct answer_shares sampled_of(const struct idle *idle)
{
	struct answer_shares found = {idle->sampled, idle->sampled_count, {0}};
	exact_share_fixed sum = 0;

	for (size_t i = 0; i < idle->sampled_count; i++)
		sum += idle->sampled[i].amount;
	found.bucket.whole_ns = (uint64_t)(sum >> 64);
	return found;
}

/* Before rows take calls of a runtime as one: the others' part is of what was charged. */
static struct answer_shares shares_of(const struct ask *ask, const struct idle *idle)
{
	if (ask->of == ASK_GPU_IDLE_SAMPLED)
		return sampled_of(idle);
	if (ask->of == ASK_ALL_IDLE)
		return (struct answer_shares){idle->waited, idle->waited_count,
			{UNKNOWN, idle->unexplained_ns, idle->all_idle_ns,
				idle_others_ns(idle->waited, idle->waited_count,
					idle->all_idle_ns - idle->unexplained_ns)}};
	return (struct answer_shares){idle->blamed, idle->blamed_count,
		{NOBODY, idle->all_idle_ns, idle->idle_ns,
			idle_others_ns(idle->blamed, idle->blamed_count, idle->blamed_ns)}};
}

int answer_gpu_idle_shares(
	struct answer_shares *shares, struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct idle idle;
	int result;

	question.is_brief = true;
	result = idle_sweep(&idle, call->run, &question, &call->arena, error);
	if (result)
		return result;
	*shares = shares_of(ask, &idle);
	return fold(call, ask, &idle, error);
}

int answer_gpu_idle(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct answer_shares shares;
	struct idle idle;
	int result;

	question.is_brief = ask->shape != ASK_SUMMARY;
	result = idle_sweep(&idle, call->run, &question, &call->arena, error);

	if (result || ask->shape == ASK_SUMMARY)
		return result ? result : print_summary(call, &idle, error);
	shares = shares_of(ask, &idle);
	result = fold(call, ask, &idle, error);
	if (result)
		return result;
	print_head(call, ask, &question, &idle);
	return answer_print_shares(call, ask, &shares, error);
}
