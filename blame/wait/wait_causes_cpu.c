/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_causes_cpu.c - who ran while a thread waited for a core, by switch records: a core that lets one
 * thread go takes the next at once.
 *
 *   thread 1  ====|--runnable----------|===
 *   thread 2      |====|--blocked--             switched in within CORE_NS of 1's switch-out: it has its core
 *   thread 3           |===============|        and 3 that of 2
 *
 * Two threads that were switched in within that time (on several cores) leave the rest unknown, as does one
 * that is not of the run.
 */
#include <stdlib.h>

#include "blame/wait/wait_causes_internal.h"
#include "store/base/merge_sort.h"

#define CORE_NS 20000

/* A thread's arrival on a core. */
struct arrival {
	uint64_t time_ns;
	size_t next; /* the thread's next switch in search->switches, or `none` */
	uint32_t stream;
};

struct cores {
	struct cause_search *search;
	struct arrival *list; /* of one host, by time */
	size_t count;
};

static int arrival_compare(const void *left, const void *right)
{
	const struct arrival *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

/* The only one that came within CORE_NS from then on; NULL: none, or several. */
static const struct arrival *arrival_find(const struct cores *cores, uint64_t time_ns, uint32_t but)
{
	size_t low = 0, high = cores->count;
	const struct arrival *found = NULL;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (cores->list[middle].time_ns >= time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	for (; low < cores->count && cores->list[low].time_ns < time_ns + CORE_NS; low++) {
		if (cores->list[low].stream == but)
			continue;
		if (found)
			return NULL;
		found = &cores->list[low];
	}
	return found;
}

static bool put(const struct cores *cores, const struct cause_switch *wait, uint64_t begin_ns,
	uint64_t end_ns, uint32_t party)
{
	const struct idle_question *question = cores->search->question;
	struct wait_cause cause = {.begin_ns = begin_ns > question->begin_ns ? begin_ns : question->begin_ns,
		.end_ns = end_ns < question->end_ns ? end_ns : question->end_ns,
		.waiter = wait->stream,
		.party = party,
		.kind = CAUSE_CPU};

	cause.from_ns = party == CAUSE_NOBODY ? 0 : cause.end_ns;
	return cause.begin_ns >= cause.end_ns || wait_causes_put(cores->search->causes, &cause);
}

static bool runnable_take(const struct cores *cores, const struct cause_switch *wait)
{
	const struct cause_search *search = cores->search;
	uint64_t at_ns = wait->out_ns;

	while (at_ns < wait->in_ns) {
		const struct arrival *arrival = arrival_find(cores, at_ns, wait->stream);
		uint64_t until_ns;

		if (!arrival)
			break;
		until_ns = arrival->next < search->switch_count ? search->switches[arrival->next].out_ns
								: STORE_OPEN_NS;
		until_ns = until_ns < wait->in_ns ? until_ns : wait->in_ns;
		if (until_ns <= at_ns)
			break;
		if (!put(cores, wait, at_ns, until_ns, arrival->stream))
			return false;
		at_ns = until_ns;
	}
	return put(cores, wait, at_ns, wait->in_ns, CAUSE_NOBODY);
}

static void host_arrivals(struct cores *cores, unsigned store)
{
	const struct cause_search *search = cores->search;

	cores->count = 0;
	for (size_t i = 0; i < search->switch_count; i++) {
		const struct cause_switch *here = &search->switches[i];
		bool has_next =
			i + 1 < search->switch_count && search->switches[i + 1].stream == here->stream;

		if (run_stream(search->run, here->stream)->store == store && here->in_ns != STORE_OPEN_NS)
			cores->list[cores->count++] = (struct arrival){
				here->in_ns, has_next ? i + 1 : search->switch_count, here->stream};
	}
	merge_sort(cores->list, cores->count, sizeof(*cores->list), arrival_compare);
}

int wait_causes_cpu(struct cause_search *search, struct error *error)
{
	bool has_runnable = false;
	struct cores cores = {search, malloc((search->switch_count + 1) * sizeof(struct arrival)), 0};
	bool is_done = cores.list != NULL;

	for (size_t i = 0; i < search->switch_count && !has_runnable; i++)
		has_runnable = search->switches[i].is_runnable;
	for (unsigned store = 0; store < run_store_count(search->run) && is_done && has_runnable; store++) {
		host_arrivals(&cores, store);
		for (size_t i = 0; i < search->switch_count && is_done; i++)
			if (search->switches[i].is_runnable &&
				run_stream(search->run, search->switches[i].stream)->store == store)
				is_done = runnable_take(&cores, &search->switches[i]);
	}
	free(cores.list);
	return is_done ? 0 : error_memory(error);
}
