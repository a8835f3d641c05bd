/* SPDX-License-Identifier: Apache-2.0 */
/* answer_lock.c - locks, and Python's GIL, that threads waited for: where, what their holders did, who waited
 * for whom. */
#include "blame/page/answer.h"
#include "blame/wait/lock.h"
#include "timeline/report/coverage.h"
#include "timeline/report/report_fit.h"

#define UNKNOWN_HOLDER "<unknown holder>"

static const char *stream_text(const struct program_call *call, uint32_t stream)
{
	return stream == LOCK_HOLDER_UNKNOWN ? UNKNOWN_HOLDER : run_stream(call->run, stream)->text;
}

static int print_pairs(struct program_call *call, const struct lock *lock, struct error *error)
{
	static const struct report_column columns[] = {{"key", REPORT_TEXT}, {"blame_ns", REPORT_DURATION},
		{"percent", REPORT_PERCENT}, {"waiter", REPORT_TEXT, 0, REPORT_WORTH_LITTLE},
		{"holder", REPORT_TEXT, 0, REPORT_WORTH_LITTLE}, {"waits", REPORT_NUMBER}};
	uint64_t left = program_top(call);
	struct report *report;
	int result = report_open(&report, stdout, call->format, "hpct-blame", columns, 6, error);

	if (result)
		return result;
	for (size_t i = 0; i < lock->pair_count && left; i++, left--) {
		const struct lock_pair *pair = &lock->pairs[i];
		const char *waiter = stream_text(call, pair->waiter),
			   *holder = stream_text(call, pair->holder);

		report_string(report, arena_printf(&call->arena, "%s waits for %s", waiter, holder));
		report_number(report, pair->time_ns);
		report_real(report, 100.0 * (double)pair->time_ns / (double)lock->waited_ns);
		report_string(report, waiter);
		report_string(report, holder);
		report_number(report, pair->waits);
		report_row(report);
	}
	result = report_close(report, error);
	program_say_left_out(call, lock->pair_count);
	return result;
}

static int print_summary(const struct program_call *call, const struct lock *lock, struct error *error)
{
	const struct answer_fact facts[] = {{"waits", lock->waits}, {"waited_ns", lock->waited_ns},
		{"held_ns", lock->waited_ns - lock->unknown_ns}, {"unknown_ns", lock->unknown_ns},
		{"pairs", lock->pair_count}};

	return answer_print_facts(call, facts, sizeof facts / sizeof *facts, error);
}

enum lock_by { LOCK_BY_SITE, LOCK_BY_HOLDER, LOCK_BY_PAIR };

/* By ask_of, from ASK_LOCK on. */
static const struct lock_answer {
	const char *about;
	enum lock_kind kinds;
	enum lock_by by;
} answers[] = {{"How long threads waited for locks, by the call that waited", LOCK_PROGRAM, LOCK_BY_SITE},
	{"How long threads waited for locks, by what the lock's holder did meanwhile", LOCK_PROGRAM,
		LOCK_BY_HOLDER},
	{"How long threads waited for locks, by who waited for whom", LOCK_PROGRAM, LOCK_BY_PAIR},
	{"How long threads waited for Python's GIL, by what its holder did meanwhile", LOCK_GIL,
		LOCK_BY_HOLDER},
	{"How long threads waited for Python's GIL, by the code that waited", LOCK_GIL, LOCK_BY_SITE},
	{"How long threads waited for Python's GIL, by who waited for whom", LOCK_GIL, LOCK_BY_PAIR}};
_Static_assert(sizeof answers / sizeof *answers == ASK_GIL_PAIR - ASK_LOCK + 1, "one for each");

int answer_lock(struct program_call *call, const struct ask *ask, struct error *error)
{
	const struct lock_answer *answer = &answers[ask->of - ASK_LOCK];
	struct idle_question question = answer_idle_question(call, ask);
	struct answer_shares shares = {0};
	struct lock lock;
	int result = lock_sweep(&lock, call->run, &question, answer->kinds, &call->arena, error);

	if (!result)
		result = coverage_require(call->run, call->select, error);
	if (result)
		return result;
	if (ask->shape == ASK_SUMMARY)
		return print_summary(call, &lock, error);
	answer_print_definition(call, answer->about);
	if (answer->by == LOCK_BY_PAIR)
		return print_pairs(call, &lock, error);
	shares.bucket.whole_ns = lock.waited_ns;
	if (answer->by == LOCK_BY_HOLDER) {
		shares.bucket.key = UNKNOWN_HOLDER;
		shares.bucket.time_ns = lock.unknown_ns;
	}
	shares.shares = answer->by == LOCK_BY_SITE ? lock.sites : lock.holders;
	shares.count = answer->by == LOCK_BY_SITE ? lock.site_count : lock.holder_count;
	return answer_print_shares(call, ask, &shares, error);
}
