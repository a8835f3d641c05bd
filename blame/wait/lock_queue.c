/* SPDX-License-Identifier: Apache-2.0 */
/* lock_queue.c - see lock_queue.h: parts by waiter and time give chains, by lock and time convoys. */
#include "blame/wait/lock_queue.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/merge_sort.h"
#include "timeline/base/key_ids.h"

struct chain_key {
	uint32_t streams[LOCK_CHAIN_MOST + 1];
	uint32_t length;
};

struct finding {
	const struct lock_part *parts; /* by waiter, begin */
	size_t count;
	struct key_ids ids;
	struct lock_chain *chains;
	size_t chain_capacity;
	struct lock_convoy *convoys;
	size_t convoy_count, convoy_capacity;
};

/* ---- chains ---- */

static int waiter_compare(const void *left, const void *right)
{
	const struct lock_part *a = left, *b = right;

	if (a->waiter != b->waiter)
		return a->waiter < b->waiter ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

/* The first part of the waiter that ends after the time. */
static size_t part_after(const struct finding *finding, uint32_t waiter, uint64_t time_ns)
{
	size_t low = 0, high = finding->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct lock_part *part = &finding->parts[middle];

		if (part->waiter < waiter || (part->waiter == waiter && part->end_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool chain_put(struct finding *finding, const struct chain_key *key, uint64_t time_ns)
{
	bool is_new;
	uint32_t id;

	if (key->length < 2 || !time_ns)
		return true;
	id = key_ids_put(&finding->ids, key, &is_new);
	if (id == KEY_IDS_NONE ||
		!array_widen(&finding->chains, &finding->chain_capacity, id, sizeof(*finding->chains)))
		return false;
	if (is_new) {
		finding->chains[id] = (struct lock_chain){.length = key->length};
		memcpy(finding->chains[id].streams, key->streams, sizeof key->streams);
	}
	finding->chains[id].time_ns += time_ns;
	finding->chains[id].parts++;
	return true;
}

/* [begin, end) of a chain: where its last stream waits itself, it is longer. */
static bool chain_follow(struct finding *finding, struct chain_key *key, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t last = key->streams[key->length];
	size_t at = key->length < LOCK_CHAIN_MOST ? part_after(finding, last, begin_ns) : finding->count;

	for (; at < finding->count && finding->parts[at].waiter == last &&
		finding->parts[at].begin_ns < end_ns;
		at++) {
		const struct lock_part *part = &finding->parts[at];
		uint64_t from_ns = part->begin_ns > begin_ns ? part->begin_ns : begin_ns;
		uint64_t until_ns = part->end_ns < end_ns ? part->end_ns : end_ns;

		/* Parts of one stream may overlap: what is told already is not told again. */
		if (part->holder == LOCK_HOLDER_UNKNOWN || until_ns <= from_ns)
			continue;
		if (!chain_put(finding, key, from_ns > begin_ns ? from_ns - begin_ns : 0))
			return false;
		key->streams[++key->length] = part->holder;
		if (!chain_follow(finding, key, from_ns, until_ns))
			return false;
		key->streams[key->length--] = 0;
		begin_ns = until_ns;
	}
	return chain_put(finding, key, end_ns - begin_ns);
}

static bool chains_find(struct finding *finding)
{
	for (size_t i = 0; i < finding->count; i++) {
		const struct lock_part *part = &finding->parts[i];
		struct chain_key key = {.streams = {part->waiter, part->holder}, .length = 1};

		if (part->holder != LOCK_HOLDER_UNKNOWN &&
			!chain_follow(finding, &key, part->begin_ns, part->end_ns))
			return false;
	}
	return true;
}

static int chain_compare(const void *left, const void *right)
{
	const struct lock_chain *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	if (a->length != b->length)
		return a->length > b->length ? -1 : 1;
	return memcmp(a->streams, b->streams, sizeof a->streams);
}

/* ---- convoys ---- */

static int lock_compare(const void *left, const void *right)
{
	const struct lock_part *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->lock != b->lock)
		return a->lock < b->lock ? -1 : 1;
	return waiter_compare(left, right);
}

/* A part begins or ends. */
struct edge {
	uint64_t time_ns;
	int change;
	bool is_last;
};

/* Ends first, so that a wait that goes on with another holder counts once. */
static int edge_compare(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->change < b->change ? -1 : a->change > b->change;
}

/* Takes [first, end) of the edges, in which somebody waited all the time. */
static void stretch_take(struct lock_convoy *convoy, const struct edge *edges, size_t first, size_t end)
{
	uint64_t waits = 0, waited_ns = 0, length_ns = edges[end - 1].time_ns - edges[first].time_ns;
	uint32_t now = 0, most = 0;

	for (size_t i = first; i < end; i++) {
		waited_ns += i > first ? now * (edges[i].time_ns - edges[i - 1].time_ns) : 0;
		waits += edges[i].is_last;
		now += (uint32_t)edges[i].change;
		most = now > most ? now : most;
	}
	if (waits < LOCK_CONVOY_WAITS || most < 2)
		return;
	convoy->convoys++;
	convoy->waits += waits;
	convoy->waited_ns += waited_ns;
	convoy->length_ns += length_ns;
	convoy->longest_ns = length_ns > convoy->longest_ns ? length_ns : convoy->longest_ns;
	convoy->most = most > convoy->most ? most : convoy->most;
}

/* All parts of one lock. */
static bool lock_take(
	struct finding *finding, const struct lock_part *parts, size_t count, struct edge *edges)
{
	struct lock_convoy convoy = {.lock = parts->lock,
		.process = parts->process,
		.context = parts->context,
		.is_gil = parts->is_gil};
	size_t first = 0;
	int now = 0;

	for (size_t i = 0; i < count; i++) {
		edges[2 * i] = (struct edge){parts[i].begin_ns, 1, false};
		edges[2 * i + 1] = (struct edge){parts[i].end_ns, -1, parts[i].is_last};
	}
	merge_sort(edges, 2 * count, sizeof(*edges), edge_compare);
	for (size_t i = 0; i < 2 * count; i++) {
		now += edges[i].change;
		/* What begins as another ends leaves no break. */
		if (now || (i + 1 < 2 * count && edges[i + 1].time_ns == edges[i].time_ns))
			continue;
		stretch_take(&convoy, edges, first, i + 1);
		first = i + 1;
	}
	if (!convoy.convoys)
		return true;
	if (!array_widen(&finding->convoys, &finding->convoy_capacity, finding->convoy_count,
		    sizeof(*finding->convoys)))
		return false;
	finding->convoys[finding->convoy_count++] = convoy;
	return true;
}

static bool convoys_find(struct finding *finding)
{
	struct edge *edges = malloc((2 * finding->count + 1) * sizeof(*edges));
	bool is_done = edges != NULL;
	size_t count;

	for (size_t i = 0; i < finding->count && is_done; i += count) {
		const struct lock_part *part = &finding->parts[i];

		for (count = 1; i + count < finding->count && part[count].lock == part->lock &&
				part[count].process == part->process;)
			count++;
		is_done = lock_take(finding, part, count, edges);
	}
	free(edges);
	return is_done;
}

static int convoy_compare(const void *left, const void *right)
{
	const struct lock_convoy *a = left, *b = right;

	if (a->waited_ns != b->waited_ns)
		return a->waited_ns > b->waited_ns ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->lock < b->lock ? -1 : a->lock > b->lock;
}

/* ---- the whole ---- */

static int answer_fill(
	struct lock_queue *queue, const struct finding *finding, struct arena *arena, struct error *error)
{
	queue->chain_count = finding->ids.count;
	queue->convoy_count = finding->convoy_count;
	queue->chains = arena_calloc(arena, queue->chain_count + 1, sizeof(*queue->chains));
	queue->convoys = arena_calloc(arena, queue->convoy_count + 1, sizeof(*queue->convoys));
	if (!queue->chains || !queue->convoys)
		return error_memory(error);
	if (queue->chain_count)
		memcpy(queue->chains, finding->chains, queue->chain_count * sizeof(*queue->chains));
	if (queue->convoy_count)
		memcpy(queue->convoys, finding->convoys, queue->convoy_count * sizeof(*queue->convoys));
	qsort(queue->chains, queue->chain_count, sizeof(*queue->chains), chain_compare);
	qsort(queue->convoys, queue->convoy_count, sizeof(*queue->convoys), convoy_compare);
	return 0;
}

int lock_queue_find(struct lock_queue *queue, struct lock_part *parts, size_t count, struct arena *arena,
	struct error *error)
{
	struct finding finding = {.parts = parts, .count = count};
	bool is_done;
	int result;

	*queue = (struct lock_queue){0};
	for (size_t i = 0; i < count; i++)
		queue->waited_ns += parts[i].end_ns - parts[i].begin_ns;
	key_ids_init(&finding.ids, sizeof(struct chain_key));
	merge_sort(parts, count, sizeof(*parts), waiter_compare);
	is_done = chains_find(&finding);
	merge_sort(parts, count, sizeof(*parts), lock_compare);
	is_done = is_done && convoys_find(&finding);
	result = is_done ? answer_fill(queue, &finding, arena, error) : error_memory(error);
	free(finding.chains);
	free(finding.convoys);
	key_ids_fini(&finding.ids);
	return result;
}
