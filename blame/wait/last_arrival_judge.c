/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_arrival_judge.c - who was last, of the calls and messages that were read: of each call the party that
 * came last held up those that were still there; of each wait for messages, the other side that came last.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/wait/last_arrival_calls.h"
#include "store/base/array.h"

#define CLOCKS_PAIRED 64u /* more are not compared each with each in every call */

static int stay_compare(const void *left, const void *right)
{
	const struct call_stay *a = left, *b = right;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->party < b->party ? -1 : a->party > b->party;
}

/* ---- calls ---- */

/* How long it waited there for the last. Of a call that does not hold its callers up (a broadcast) some have
 * left by then: those waited for nobody. */
static int stay_waited(const struct call_search *search, const struct call_stay *stay, uint64_t last_ns,
	uint64_t *waited_ns, struct error *error)
{
	const struct idle_question *question = search->question;
	uint64_t from_ns = stay->wait_begin_ns > stay->begin_ns ? stay->wait_begin_ns : stay->begin_ns;
	uint64_t most_ns;
	int result;

	*waited_ns = 0;
	if (!stay->end_ns || stay->end_ns < last_ns || from_ns >= last_ns)
		return 0;
	most_ns = last_arrival_within(question, from_ns, last_ns);
	if (!stay->is_polled) {
		*waited_ns = most_ns;
		return 0;
	}
	result = last_arrival_polled(search, stay->work.stream, stay->raw_wait_ns,
		stay->raw_wait_ns + (last_ns - stay->wait_begin_ns), waited_ns, error);
	*waited_ns = *waited_ns < most_ns ? *waited_ns : most_ns;
	return result;
}

static bool is_told(const struct host_clocks *clocks, const struct call_stay *stays, size_t count)
{
	const struct call_stay *last = &stays[count - 1];

	for (size_t i = 0; i + 1 < count; i++)
		if (!host_clocks_is_surely(
			    clocks, stays[i].clock, stays[i].begin_ns, last->clock, last->begin_ns))
			return false;
	return true;
}

/* For whom it waited, by the state's definition; *state: where that does not fit, it is any collective call.
 */
static const struct call_stay *waited_for(const struct call_stay *stays, size_t count,
	const struct call_stay *stay, enum call_wait_state *state)
{
	const struct call_stay *last = &stays[count - 1], *root = NULL;
	bool is_spread = stay->state == CALL_WAIT_LATE_BROADCAST;

	*state = stay->state;
	if (!is_spread && stay->state != CALL_WAIT_EARLY_REDUCE)
		return last;
	for (size_t i = 0; i < count; i++)
		root = stays[i].is_root ? &stays[i] : root;
	if (!root || is_spread == (stay == root))
		*state = CALL_WAIT_COLLECTIVE;
	return root && stay != root ? root : last;
}

static int put_told(struct call_waits *told, const struct call_wait *wait, struct error *error)
{
	return call_waits_put(told, wait) ? 0 : error_memory(error);
}

/* Tells the wait of one stay. The last of a call has waited for nobody. */
static int tell_stay(const struct call_search *search, const struct call_stay *stays, size_t count,
	const struct call_stay *stay, bool is_told, struct error *error)
{
	enum call_wait_state state;
	const struct call_stay *other = waited_for(stays, count, stay, &state);
	uint64_t from_ns = stay->wait_begin_ns > stay->begin_ns ? stay->wait_begin_ns : stay->begin_ns;
	uint64_t raw_ns = stay->raw_wait_ns + (from_ns - stay->wait_begin_ns);
	struct call_wait wait = {.begin_ns = raw_ns,
		.waiter = stay->work.stream,
		.other = is_told ? other->work.stream : CALL_WAIT_UNTOLD,
		.from_ns = other->work.until_ns,
		.since_ns = other->work.since_ns,
		.context = stay->context,
		.other_context = other->context,
		.state = state};
	int result = 0;

	if (!stay->end_ns || other == stay || stay->end_ns < other->begin_ns || from_ns >= other->begin_ns)
		return 0;
	wait.end_ns = raw_ns + (other->begin_ns - from_ns);
	if (wait.begin_ns < search->question->begin_ns)
		wait.begin_ns = search->question->begin_ns;
	if (wait.end_ns > search->question->end_ns)
		wait.end_ns = search->question->end_ns;
	wait.waited_ns = wait.end_ns > wait.begin_ns ? wait.end_ns - wait.begin_ns : 0;
	if (stay->is_polled)
		result = last_arrival_polled(
			search, wait.waiter, wait.begin_ns, wait.end_ns, &wait.waited_ns, error);
	return result ? result : put_told(search->told, &wait, error);
}

static int tell_stays(const struct call_search *search, const struct call_stay *stays, size_t count,
	bool is_told, struct error *error)
{
	int result = 0;

	for (size_t i = 0; search->told && i < count && !result; i++)
		result = tell_stay(search, stays, count, &stays[i], is_told, error);
	return result;
}

static void blame(struct last_arrival *late, struct call_search *search, uint32_t number, uint64_t held_ns,
	uint32_t context, const struct call_most *most)
{
	struct last_arrival_party *party = &late->parties[number];

	party->last++;
	party->held_ns += held_ns;
	if (held_ns < search->most[number].held_ns)
		return;
	search->most[number] = *most;
	party->context = context;
}

/* The stays [0, count) of one call or round; the last is the last to come. */
static int occasion(struct last_arrival *late, struct call_search *search, const struct call_stay *stays,
	size_t count, struct error *error)
{
	const struct call_stay *last = &stays[count - 1];
	const bool is_thread = late->parties[last->party].role == LAST_ARRIVAL_THREAD;
	struct call_most most = {0, last->work, stays[0].work};
	bool is_sure;

	if (count < 2 || !last_arrival_is_asked(search->question, stays[0].begin_ns, last->begin_ns))
		return 0;
	for (size_t i = 0; i < count; i++) {
		struct last_arrival_party *party = &late->parties[stays[i].party];
		uint64_t waited_ns = 0;
		int result =
			i + 1 < count ? stay_waited(search, &stays[i], last->begin_ns, &waited_ns, error) : 0;

		if (result)
			return result;
		party->occasions++;
		party->waited_ns += waited_ns;
		most.held_ns += waited_ns;
	}
	late->occasions += !is_thread;
	*(is_thread ? &late->thread_held_ns : &late->held_ns) += most.held_ns;
	is_sure = is_told(search->clocks, stays, count);
	if (is_sure) {
		blame(late, search, last->party, most.held_ns, last->context, &most);
	} else {
		late->untold++;
		late->untold_ns += most.held_ns;
	}
	return tell_stays(search, stays, count, is_sure, error);
}

/* ---- messages ---- */

/* One side's wait for the other: of one wait for several, that for the last of them counts. */
struct message_wait {
	const struct message_side *waiter, *other;
	uint64_t waited_ns;
	uint64_t error_ns;
	bool is_told;
};

struct message_waits {
	struct message_wait *list;
	size_t count, capacity;
};

/* A sender that is through before the receiver has come has waited for nothing. */
static bool is_waiting(const struct message_side *waiter, const struct message_side *other)
{
	return waiter->end_ns && other->begin_ns > waiter->wait_begin_ns &&
	       (waiter->is_receive || waiter->end_ns >= other->begin_ns);
}

/* How long it waited there until then: what is polled has waited for a part of that. */
static int side_waited(const struct call_search *search, const struct message_side *waiter, uint64_t until_ns,
	uint64_t *waited_ns, struct error *error)
{
	uint64_t shift_ns = waiter->begin_ns - waiter->raw_ns; /* modulo 2^64 */
	uint64_t most_ns = last_arrival_within(search->question, waiter->wait_begin_ns, until_ns);
	int result;

	*waited_ns = most_ns;
	if (!waiter->is_polled || !most_ns)
		return 0;
	result = last_arrival_polled(search, waiter->polled_by, waiter->wait_begin_ns - shift_ns,
		until_ns - shift_ns, waited_ns, error);
	*waited_ns = *waited_ns < most_ns ? *waited_ns : most_ns;
	return result;
}

static int put_wait(struct message_waits *waits, const struct call_search *search,
	const struct message_side *waiter, const struct message_side *other, struct error *error)
{
	const struct host_clocks *clocks = search->clocks;
	uint64_t until_ns = other->begin_ns < waiter->end_ns ? other->begin_ns : waiter->end_ns;
	uint64_t own_ns = host_clocks_error(clocks, waiter->clock),
		 other_ns = host_clocks_error(clocks, other->clock);
	struct message_wait wait = {waiter, other, 0, 0, true};
	int result = 0;

	if (is_waiting(waiter, other))
		result = side_waited(search, waiter, until_ns, &wait.waited_ns, error);
	if (!wait.waited_ns || result)
		return result;
	wait.is_told = host_clocks_is_surely(
		clocks, waiter->clock, waiter->wait_begin_ns, other->clock, other->begin_ns);
	if (waiter->clock != other->clock)
		wait.error_ns = own_ns == HOST_CLOCK_UNKNOWN || other_ns == HOST_CLOCK_UNKNOWN
					? HOST_CLOCK_UNKNOWN
					: own_ns + other_ns;
	if (!array_widen(&waits->list, &waits->capacity, waits->count, sizeof(*waits->list)))
		return error_memory(error);
	waits->list[waits->count++] = wait;
	return 0;
}

static int judge_message(struct last_arrival *late, struct call_search *search, struct message_waits *waits,
	const struct message *message, struct error *error)
{
	const struct message_side *send = message->send, *receive = message->receive;
	uint64_t first_ns = send->begin_ns < receive->begin_ns ? send->begin_ns : receive->begin_ns;
	uint64_t last_ns = send->begin_ns < receive->begin_ns ? receive->begin_ns : send->begin_ns;
	int result;

	if (!last_arrival_is_asked(search->question, first_ns, last_ns))
		return 0;
	late->parties[send->party].occasions++;
	late->parties[receive->party].occasions++;
	late->message_occasions++;
	result = put_wait(waits, search, receive, send, error);
	return result ? result : put_wait(waits, search, send, receive, error);
}

/* When the call that waits began; of tests, when the one that found it over ended. */
static uint64_t call_ns(const struct message_side *waiter)
{
	return waiter->is_polled ? waiter->end_ns : waiter->wait_begin_ns;
}

/* By the call that waits, the longest wait first. */
static int wait_compare(const void *left, const void *right)
{
	const struct message_wait *a = left, *b = right;

	if (a->waiter->stream != b->waiter->stream)
		return a->waiter->stream < b->waiter->stream ? -1 : 1;
	if (call_ns(a->waiter) != call_ns(b->waiter))
		return call_ns(a->waiter) < call_ns(b->waiter) ? -1 : 1;
	if (a->waited_ns != b->waited_ns)
		return a->waited_ns > b->waited_ns ? -1 : 1;
	if (a->waiter->is_receive != b->waiter->is_receive)
		return a->waiter->is_receive ? -1 : 1;
	return a->other->process < b->other->process ? -1 : a->other->process > b->other->process;
}

static bool is_same_wait(const struct message_wait *a, const struct message_wait *b)
{
	return a->waiter->stream == b->waiter->stream && call_ns(a->waiter) == call_ns(b->waiter);
}

/* Whether another that came nearly as late may have been the last. */
static bool is_clear(const struct message_wait *waits, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint64_t error_ns = waits[i].error_ns > waits->error_ns ? waits[i].error_ns : waits->error_ns;

		if (waits[i].other->process != waits->other->process &&
			waits[i].other->clock != waits->other->clock &&
			waits->waited_ns - waits[i].waited_ns < error_ns)
			return false;
	}
	return waits->is_told;
}

static bool tell_message(const struct call_search *search, const struct message_wait *wait, bool is_told)
{
	const struct message_side *waiter = wait->waiter, *other = wait->other;
	uint64_t until_ns = other->begin_ns < waiter->end_ns ? other->begin_ns : waiter->end_ns;
	uint64_t shift_ns = waiter->begin_ns - waiter->raw_ns; /* modulo 2^64 */
	struct call_wait told = {.begin_ns = waiter->wait_begin_ns - shift_ns,
		.end_ns = until_ns - shift_ns,
		.waited_ns = wait->waited_ns,
		.from_ns = other->raw_ns,
		.since_ns = other->since_ns,
		.waiter = waiter->stream,
		.other = is_told ? other->stream : CALL_WAIT_UNTOLD,
		.context = waiter->context,
		.other_context = other->context,
		.state = waiter->is_receive ? CALL_WAIT_LATE_SENDER : CALL_WAIT_LATE_RECEIVER};

	if (told.begin_ns < search->question->begin_ns)
		told.begin_ns = search->question->begin_ns;
	if (told.end_ns > search->question->end_ns)
		told.end_ns = search->question->end_ns;
	return !search->told || call_waits_put(search->told, &told);
}

static bool judge_waits(struct last_arrival *late, struct call_search *search, struct message_waits *waits)
{
	size_t count;

	if (waits->count)
		qsort(waits->list, waits->count, sizeof(*waits->list), wait_compare);
	for (size_t i = 0; i < waits->count; i += count) {
		const struct message_wait *wait = &waits->list[i];
		const struct message_side *waiter = wait->waiter, *other = wait->other;
		struct call_most most = {wait->waited_ns, {other->since_ns, other->raw_ns, other->stream},
			{waiter->since_ns, waiter->raw_ns, waiter->stream}};

		for (count = 1; i + count < waits->count && is_same_wait(wait, &wait[count]);)
			count++;
		late->parties[waiter->party].waited_ns += wait->waited_ns;
		late->message_held_ns += wait->waited_ns;
		if (!tell_message(search, wait, is_clear(wait, count)))
			return false;
		if (is_clear(wait, count)) {
			blame(late, search, other->party, wait->waited_ns, other->context, &most);
		} else {
			late->message_untold++;
			late->message_untold_ns += wait->waited_ns;
		}
	}
	return true;
}

/* ---- what was sent ---- */

static int traffic_compare(const void *left, const void *right)
{
	const struct call_traffic *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static bool traffic_put(struct call_waits *told, uint32_t from, uint32_t to, uint64_t bytes)
{
	struct call_traffic *last = told->traffic_count ? &told->traffic[told->traffic_count - 1] : NULL;

	if (last && last->from == from && last->to == to) {
		last->messages++;
		last->bytes += bytes;
		return true;
	}
	if (!array_widen(
		    &told->traffic, &told->traffic_capacity, told->traffic_count, sizeof(*told->traffic)))
		return false;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a list that is not there has no room */
	told->traffic[told->traffic_count++] = (struct call_traffic){from, to, 1, bytes};
	return true;
}

/* Messages come pair by pair, but a pair of processes may have several communicators. */
static void traffic_unite(struct call_waits *told)
{
	size_t kept = 0;

	if (!told->traffic_count)
		return;
	qsort(told->traffic, told->traffic_count, sizeof(*told->traffic), traffic_compare);
	for (size_t i = 1; i < told->traffic_count; i++) {
		struct call_traffic *here = &told->traffic[i], *last = &told->traffic[kept];

		if (traffic_compare(here, last)) {
			told->traffic[++kept] = *here;
			continue;
		}
		last->messages += here->messages;
		last->bytes += here->bytes;
	}
	told->traffic_count = kept + 1;
}

/* Messages that were sent in the window. */
static bool tell_traffic(const struct last_arrival *late, const struct call_search *search)
{
	const struct call_messages *messages = &search->messages;
	const struct idle_question *question = search->question;
	uint64_t sends = 0, matched = 0;

	for (size_t i = 0; i < messages->side_count; i++)
		sends += !messages->sides[i].is_receive && messages->sides[i].raw_ns >= question->begin_ns &&
			 messages->sides[i].raw_ns < question->end_ns;
	for (size_t i = 0; i < messages->count; i++) {
		const struct message_side *send = messages->list[i].send,
					  *receive = messages->list[i].receive;

		if (send->raw_ns < question->begin_ns || send->raw_ns >= question->end_ns)
			continue;
		matched++;
		if (!traffic_put(search->told, late->parties[send->party].stream,
			    late->parties[receive->party].stream, send->bytes))
			return false;
	}
	search->told->unmatched = sends - matched;
	traffic_unite(search->told);
	return true;
}

/* ---- the clocks of several hosts ---- */

/* Of one call, by clock: when the last of it came, and the first left, as far as that is sure. */
struct call_reach {
	uint64_t in_ns, out_ns; /* 0, UINT64_MAX: none */
};

static void reach_of(struct call_reach *reach, uint32_t clocks, const struct call_stay *stays, size_t count)
{
	for (uint32_t i = 0; i < clocks; i++)
		reach[i] = (struct call_reach){0, UINT64_MAX};
	for (size_t i = 0; i < count; i++) {
		const struct call_stay *stay = &stays[i];
		struct call_reach *here = &reach[stay->clock];
		bool is_in = stay->kind == CALL_ALL || stay->kind == CALL_GATHER || stay->is_root;
		bool is_out = stay->kind == CALL_ALL || stay->kind == CALL_SPREAD || stay->is_root;

		if (stay->kind == CALL_LOOSE)
			continue;
		if (is_in && stay->begin_ns + 1 > here->in_ns)
			here->in_ns = stay->begin_ns + 1;
		if (is_out && stay->end_ns && stay->end_ns < here->out_ns)
			here->out_ns = stay->end_ns;
	}
}

/* Each with each. Of many, each with the last to come and the first to leave: fewer bounds, none of them
 * wrong. */
static void order(struct call_search *search, const struct call_stay *stays, size_t count)
{
	struct call_reach *reach = search->reach;
	const uint32_t clocks = search->clocks->count;
	uint32_t last = 0, first = 0;

	reach_of(reach, clocks, stays, count);
	for (uint32_t i = 1; i < clocks; i++) {
		last = reach[i].in_ns > reach[last].in_ns ? i : last;
		first = reach[i].out_ns < reach[first].out_ns ? i : first;
	}
	for (uint32_t i = 0; i < clocks; i++)
		for (uint32_t j = 0; j < clocks; j++)
			if (i != j && reach[i].in_ns && reach[j].out_ns != UINT64_MAX &&
				(clocks <= CLOCKS_PAIRED || i == last || j == first))
				host_clocks_order(search->clocks, i, reach[i].in_ns - 1, j, reach[j].out_ns);
}

/* A message is sent before it is received. */
static void order_message(struct host_clocks *clocks, const struct message *message)
{
	const struct message_side *send = message->send, *receive = message->receive;

	if (send->clock != receive->clock && receive->end_ns)
		host_clocks_order(clocks, send->clock, send->begin_ns, receive->clock, receive->end_ns);
}

static int put_meeting(struct call_search *search, size_t first, size_t count, struct error *error)
{
	if (!array_widen((void **)&search->meetings, &search->meeting_capacity, search->meeting_count,
		    sizeof *search->meetings))
		return error_memory(error);
	search->meetings[search->meeting_count++] = (struct call_meeting){first, count,
		count ? search->stays[first].begin_ns : search->messages.list[first].send->begin_ns};
	return 0;
}

static int meeting_compare(const void *left, const void *right)
{
	const struct call_meeting *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (!a->count != !b->count)
		return a->count ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static void shift_times(const struct host_clocks *clocks, uint32_t clock, uint64_t *begin_ns,
	uint64_t *wait_begin_ns, uint64_t *end_ns)
{
	*begin_ns = host_clocks_time(clocks, clock, *begin_ns);
	*wait_begin_ns = host_clocks_time(clocks, clock, *wait_begin_ns);
	*end_ns = *end_ns ? host_clocks_time(clocks, clock, *end_ns) : 0;
}

static void shift_side(const struct host_clocks *clocks, struct message_side *side)
{
	shift_times(clocks, side->clock, &side->begin_ns, &side->wait_begin_ns, &side->end_ns);
}

static void shift_stays(const struct host_clocks *clocks, struct call_stay *stays, size_t count)
{
	for (size_t i = 0; i < count; i++)
		shift_times(clocks, stays[i].clock, &stays[i].begin_ns, &stays[i].wait_begin_ns,
			&stays[i].end_ns);
	qsort(stays, count, sizeof(*stays), stay_compare);
}

static bool fit(struct call_search *search, size_t first, size_t count)
{
	host_clocks_clear(search->clocks);
	for (size_t i = first; i < first + count; i++)
		if (search->meetings[i].count)
			order(search, &search->stays[search->meetings[i].first], search->meetings[i].count);
		else
			order_message(search->clocks, &search->messages.list[search->meetings[i].first]);
	return host_clocks_close(search->clocks);
}

static int judge_meeting(struct last_arrival *late, struct call_search *search, struct message_waits *waits,
	const struct call_meeting *meeting, struct error *error)
{
	struct call_stay *stays = &search->stays[meeting->first];
	const struct message *message;

	if (meeting->count) {
		shift_stays(search->clocks, stays, meeting->count);
		return occasion(late, search, stays, meeting->count, error);
	}
	message = &search->messages.list[meeting->first];
	shift_side(search->clocks, message->send);
	shift_side(search->clocks, message->receive);
	return judge_message(late, search, waits, message, error);
}

/* Clocks run differently fast: where one shift fits not all calls, each half of them gets its own. */
static int judge_meetings(struct last_arrival *late, struct call_search *search, struct message_waits *waits,
	size_t first, size_t count, struct arena *arena, struct error *error)
{
	int result = 0;

	if (!fit(search, first, count) && count > 1) {
		result = judge_meetings(late, search, waits, first, count / 2, arena, error);
		return result ? result
			      : judge_meetings(late, search, waits, first + count / 2, count - count / 2,
					arena, error);
	}
	for (size_t i = first; i < first + count && !result; i++)
		result = judge_meeting(late, search, waits, &search->meetings[i], error);
	return result ? result : last_arrival_show_clocks(late, search->clocks, arena, error);
}

/* ---- all ---- */

/* How many of the stays, which begin with one call's, are one round of it. */
static size_t round_count(const struct call_stay *stays, size_t count)
{
	uint64_t left_ns = stays[0].end_ns;
	size_t i = 1;

	while (i < count && stays[i].call == stays[0].call && stays[i].begin_ns <= left_ns) {
		if (stays[i].end_ns < left_ns)
			left_ns = stays[i].end_ns;
		i++;
	}
	return i;
}

static size_t call_count(const struct call_stay *stays, size_t count)
{
	size_t i = 1;

	while (i < count && stays[i].call == stays[0].call)
		i++;
	return i;
}

static void find_windows(struct call_search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		struct call_stay *stay = &search->stays[i];
		const struct call_window *window;

		if (stay->window == CALL_WINDOW_NONE)
			continue;
		window = &search->requests.windows[stay->window];
		stay->wait_begin_ns = stay->raw_wait_ns = window->begin_ns;
		stay->end_ns = stay->raw_end_ns = window->end_ns;
		stay->is_polled = window->is_polled;
	}
}

static int judge_calls(struct last_arrival *late, struct call_search *search, struct error *error)
{
	size_t count;
	int result = 0;

	for (size_t i = 0; i < search->count && !result; i += count) {
		const struct call_stay *stays = &search->stays[i];
		const struct call_key *key = key_ids_key(&search->calls, stays->call);
		bool is_barrier = key->process != 0;

		count = is_barrier ? round_count(stays, search->count - i)
				   : call_count(stays, search->count - i);
		if (!is_barrier && search->clocks->count > 1)
			result = put_meeting(search, i, count, error);
		else
			result = occasion(late, search, stays, count, error);
	}
	return result;
}

static int judge_messages(struct last_arrival *late, struct call_search *search, struct message_waits *waits,
	struct error *error)
{
	int result = 0;

	for (size_t i = 0; i < search->messages.count && !result; i++)
		if (search->clocks->count > 1)
			result = put_meeting(search, i, 0, error);
		else
			result = judge_message(late, search, waits, &search->messages.list[i], error);
	return result;
}

int last_arrival_judge(
	struct last_arrival *late, struct call_search *search, struct arena *arena, struct error *error)
{
	struct message_waits waits = {0};
	int result = 0;

	search->most = arena_calloc(arena, search->parties.count + 1, sizeof(*search->most));
	late->parties = arena_calloc(arena, search->parties.count + 1, sizeof(*late->parties));
	if (!search->most || !late->parties || !call_requests_match(&search->requests) ||
		!call_messages_match(&search->messages, &search->requests))
		return error_memory(error);
	late->count = search->parties.count;
	for (uint32_t i = 0; i < late->count; i++)
		late->parties[i] = *(const struct last_arrival_party *)key_ids_key(&search->parties, i);
	find_windows(search);
	if (search->count)
		qsort(search->stays, search->count, sizeof(*search->stays), stay_compare);
	result = judge_calls(late, search, error);
	if (!result)
		result = judge_messages(late, search, &waits, error);
	if (!result && search->meeting_count) {
		qsort(search->meetings, search->meeting_count, sizeof(*search->meetings), meeting_compare);
		result = judge_meetings(late, search, &waits, 0, search->meeting_count, arena, error);
	}
	if (!result && search->told && !tell_traffic(late, search))
		result = error_memory(error);
	if (!result && !judge_waits(late, search, &waits))
		result = error_memory(error);
	for (uint32_t i = 0; i < late->count && !result; i++)
		if (late->parties[i].last)
			result =
				last_arrival_work(search, &search->most[i], &late->parties[i].context, error);
	free(waits.list);
	return result;
}

struct call_reach *last_arrival_reach_new(const struct host_clocks *clocks, struct arena *arena)
{
	return arena_calloc(arena, clocks->count + 1u, sizeof(struct call_reach));
}
