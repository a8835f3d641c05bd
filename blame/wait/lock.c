/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - see lock.h. Of each process: all waits for locks, by lock and end; each is cut where another of
 * them gets the lock; then, holder by holder, the parts are laid over its timeline.
 */
#include "blame/wait/lock.h"

#include <stdlib.h>
#include <string.h>

#include "blame/base/process.h"
#include "blame/base/related.h"
#include "store/base/array.h"
#include "store/base/attribute.h"
#include "store/base/merge_sort.h"
#include "timeline/base/key_ids.h"
#include "timeline/scan/extent.h"
#include "timeline/scan/scan.h"

#define EXTENTS 256

struct lock_wait {
	uint64_t begin_ns, end_ns, until_ns; /* end: cut at the window; until: when it got the lock */
	uint64_t woken_ns;		     /* when it ran again, for the last time; 0: not known */
	uint64_t lock;
	uint32_t stream, context, holder;
	bool is_reported, is_gil, is_taken;
	bool is_read; /* of a read-write lock, to read */
};

/* A reader has left a lock that others wait for. */
struct lock_leave {
	uint64_t lock, time_ns;
	uint32_t stream;
};

/* A stretch of a wait with one holder. */
struct part {
	uint64_t begin_ns, end_ns;
	uint32_t holder;
	bool is_last;
};

/* What attributes say, by the store's number of their text: most repeat. */
#define TEXTS 256u
struct lock_text {
	uint32_t text;
	uint32_t holder; /* stream */
	uint64_t lock;
	bool is_kept;
	bool is_lock, is_read, is_taken; /* of a wait */
	bool is_leave;			 /* of a wake: a reader left the lock */
};

struct lock_search {
	struct run *run;
	const struct idle_question *question;
	const struct process *process;
	struct lock *lock;
	struct lock_wait *waits; /* of the process */
	size_t wait_count, wait_capacity;
	struct lock_leave *leaves; /* by lock, time */
	size_t leave_count, leave_capacity;
	struct part *parts;
	size_t part_count, part_capacity;
	struct lock_part *told; /* of all processes, see lock_parts() */
	size_t told_count, told_capacity;
	bool tells; /* parts alone: not what holders did */
	enum lock_kind kinds;
	uint32_t op_lock, op_gil, op_wake, process_number;
	struct lock_text texts[TEXTS]; /* of the process; by text */
	struct key_ids pair_ids;       /* waiter, holder */
	struct lock_pair *pairs;
	size_t pair_count, pair_capacity;
	struct exact_share_sums sites, holders;
};

/* ---- the waits ---- */

static uint32_t stream_of(const struct lock_search *search, uint64_t tid)
{
	for (uint32_t i = 0; tid && i < search->process->stream_count; i++) {
		const struct run_stream *stream = run_stream(search->run, search->process->streams[i]);

		if (stream->s.kind == STORE_STREAM_CPU && stream->s.tid == tid)
			return search->process->streams[i];
	}
	return LOCK_HOLDER_UNKNOWN;
}

/* The thread was switched out: its wait for a lock began before, if it was that. */
static void blocked_take(struct lock_search *search, const struct batch *batch, size_t row)
{
	struct lock_wait *wait = search->wait_count ? &search->waits[search->wait_count - 1] : NULL;

	if (wait && wait->is_taken && wait->stream == batch->stream && batch->end_ns[row] <= wait->until_ns &&
		batch->begin_ns[row] < wait->until_ns && batch->end_ns[row] > wait->woken_ns)
		wait->woken_ns = batch->end_ns[row];
}

static void text_parse(const struct lock_search *search, struct lock_text *to, const char *text, size_t size)
{
	char call[32] = "", lock[24];

	attribute_get(text, size, "call", call, sizeof call);
	to->is_read = strstr(call, "rdlock") != NULL;
	to->is_taken = !attribute_number(text, size, "again", 0);
	to->holder = stream_of(search, attribute_number(text, size, "holder", 0));
	to->is_lock = attribute_get(text, size, "lock", lock, sizeof lock);
	to->is_leave = !to->is_lock && !strcmp(call, "pthread_rwlock_unlock") &&
		       attribute_get(text, size, "wakes", lock, sizeof lock);
	to->lock = to->is_lock || to->is_leave ? strtoull(lock, NULL, 16) : 0;
}

/* Valid until the next call. */
static const struct lock_text *text_of(struct lock_search *search, const struct batch *batch, size_t row)
{
	struct lock_text *kept = &search->texts[batch->attributes[row] % TEXTS];
	const char *text;
	size_t size;

	if (kept->is_kept && kept->text == batch->attributes[row])
		return kept;
	text = batch_attributes(search->run, batch, row, &size);
	*kept = (struct lock_text){.text = batch->attributes[row], .is_kept = true};
	text_parse(search, kept, text, size);
	return kept;
}

static int leave_take(struct lock_search *search, const struct batch *batch, size_t row, struct error *error)
{
	const struct lock_text *said = text_of(search, batch, row);

	if (!said->is_leave)
		return 0;
	if (!array_widen(
		    &search->leaves, &search->leave_capacity, search->leave_count, sizeof(*search->leaves)))
		return error_memory(error);
	search->leaves[search->leave_count++] =
		(struct lock_leave){said->lock, batch->begin_ns[row], batch->stream};
	return 0;
}

static bool is_asked(const struct lock_search *search, uint32_t what)
{
	return (what == search->op_lock && search->kinds & LOCK_PROGRAM) ||
	       (what == search->op_gil && search->kinds & LOCK_GIL);
}

static int wait_take(struct lock_search *search, const struct batch *batch, size_t row, struct error *error)
{
	const struct idle_question *question = search->question;
	const struct lock_text *said;
	struct lock_wait wait = {.begin_ns = batch->begin_ns[row],
		.until_ns = batch->end_ns[row],
		.end_ns = batch->end_ns[row],
		.context = batch->context[row],
		.stream = batch->stream};

	if (batch->what[row] == STORE_OP_BLOCKED)
		blocked_take(search, batch, row);
	if (batch->what[row] == search->op_wake)
		return leave_take(search, batch, row, error);
	if (!is_asked(search, batch->what[row]))
		return 0;
	said = text_of(search, batch, row);
	if (!said->is_lock)
		return 0;
	wait.is_gil = batch->what[row] == search->op_gil;
	wait.is_reported = related_is_reported(question->related, batch->stream);
	wait.lock = said->lock;
	wait.is_read = said->is_read;
	wait.is_taken = said->is_taken;
	wait.holder = said->holder;
	wait.begin_ns = wait.begin_ns > question->begin_ns ? wait.begin_ns : question->begin_ns;
	wait.end_ns = wait.end_ns < question->end_ns ? wait.end_ns : question->end_ns;
	if (!array_widen(&search->waits, &search->wait_capacity, search->wait_count, sizeof(*search->waits)))
		return error_memory(error);
	search->waits[search->wait_count++] = wait;
	return 0;
}

static int waits_read(struct lock_search *search, uint32_t stream, struct error *error)
{
	const struct idle_question *question = search->question;
	const struct batch *batch;
	struct scan *scan;
	long count = 0;
	int result = scan_open(&scan, search->run, stream, STORE_SPANS, question->begin_ns, question->end_ns,
		STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_ATTRIBUTES, 0, error);

	if (result)
		return result;
	while (!result && (count = scan_next(scan, &batch, error)) > 0)
		for (size_t row = 0; row < batch->count && !result; row++)
			result = wait_take(search, batch, row, error);
	scan_close(scan);
	return result ? result : (int)count;
}

static int leave_compare(const void *left, const void *right)
{
	const struct lock_leave *a = left, *b = right;

	if (a->lock != b->lock)
		return a->lock < b->lock ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static int wait_compare(const void *left, const void *right)
{
	const struct lock_wait *a = left, *b = right;

	if (a->lock != b->lock)
		return a->lock < b->lock ? -1 : 1;
	if (a->until_ns != b->until_ns)
		return a->until_ns < b->until_ns ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

/* ---- parts of them, by holder ---- */

/* After it ran again it waited for nobody. */
static bool tell(struct lock_search *search, const struct lock_wait *wait, const struct part *part)
{
	if (wait->woken_ns && part->begin_ns >= wait->woken_ns)
		return true;
	if (!array_widen(&search->told, &search->told_capacity, search->told_count, sizeof(*search->told)))
		return false;
	search->told[search->told_count++] = (struct lock_part){.begin_ns = part->begin_ns,
		.end_ns = part->end_ns,
		.lock = wait->lock,
		.waiter = wait->stream,
		.holder = part->holder,
		.context = wait->context,
		.process = search->process_number,
		.is_last = part->is_last && wait->is_taken,
		.is_gil = wait->is_gil};
	return true;
}

static bool part_put(struct lock_search *search, const struct lock_wait *wait, struct part part)
{
	uint32_t key[2] = {wait->stream, part.holder}, id;
	struct lock_pair *pair;

	if (part.begin_ns >= part.end_ns)
		return true;
	id = key_ids_put(&search->pair_ids, key, NULL);
	if (id == KEY_IDS_NONE ||
		!array_widen(&search->pairs, &search->pair_capacity, id, sizeof(*search->pairs)) ||
		!array_widen(
			&search->parts, &search->part_capacity, search->part_count, sizeof(*search->parts)))
		return false;
	if (id == search->pair_count)
		search->pairs[search->pair_count++] = (struct lock_pair){key[0], key[1], 0, 0};
	pair = &search->pairs[id];
	pair->time_ns += part.end_ns - part.begin_ns;
	pair->waits++;
	if (search->tells && !tell(search, wait, &part))
		return false;
	search->parts[search->part_count++] = part;
	return true;
}

/* The reader that left last by then, other than the one who waits; LOCK_HOLDER_UNKNOWN: none is told. */
static uint32_t last_reader(
	const struct lock_search *search, const struct lock_wait *wait, uint64_t begin_ns, uint64_t end_ns)
{
	size_t low = 0, high = search->leave_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct lock_leave *leave = &search->leaves[middle];

		if (leave->lock < wait->lock || (leave->lock == wait->lock && leave->time_ns <= end_ns))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low && search->leaves[low - 1].lock == wait->lock &&
		search->leaves[low - 1].time_ns > begin_ns;
		low--)
		if (search->leaves[low - 1].stream != wait->stream)
			return search->leaves[low - 1].stream;
	return LOCK_HOLDER_UNKNOWN;
}

/* Of several readers the last one counts: the others did not keep the lock from anybody. */
static void part_name(
	const struct lock_search *search, const struct lock_wait *wait, struct part *part, bool is_readers)
{
	uint32_t reader = is_readers && !wait->is_read
				  ? last_reader(search, wait, part->begin_ns, part->end_ns)
				  : LOCK_HOLDER_UNKNOWN;

	part->holder = reader == LOCK_HOLDER_UNKNOWN ? part->holder : reader;
}

/* `first`: of those with the same lock the first that gets it after this wait began. */
static bool wait_cut(struct lock_search *search, const struct lock_wait *wait, size_t first, size_t end)
{
	uint64_t held_ns = wait->woken_ns && wait->woken_ns < wait->end_ns ? wait->woken_ns : wait->end_ns;
	struct part part = {wait->begin_ns, held_ns, wait->holder, false};
	bool is_readers = wait->holder == LOCK_HOLDER_UNKNOWN; /* who has the lock in the part */

	for (size_t i = first; i < end && search->waits[i].until_ns < held_ns; i++) {
		const struct lock_wait *other = &search->waits[i];

		if (other->stream == wait->stream || !other->is_taken || (wait->is_read && other->is_read))
			continue;
		part.end_ns = other->until_ns;
		part_name(search, wait, &part, is_readers);
		if (!part_put(search, wait, part))
			return false;
		part = (struct part){other->until_ns, held_ns, other->stream, false};
		is_readers = other->is_read;
	}
	part_name(search, wait, &part, is_readers);
	part.is_last = held_ns == part.end_ns;
	return part_put(search, wait, part) &&
	       part_put(search, wait, (struct part){held_ns, wait->end_ns, LOCK_HOLDER_UNKNOWN, false});
}

/* Whose call waited: its path, without the function that waits. */
static uint32_t site_of(const struct lock_search *search, const struct lock_wait *wait)
{
	uint32_t caller = wait->context ? run_context_parent(search->run, wait->context) : 0;

	return caller > STORE_CONTEXT_THREAD_ROOT ? caller : wait->context;
}

/* All waits of one lock. */
static bool lock_cut(struct lock_search *search, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		const struct lock_wait *wait = &search->waits[i];
		size_t first = i;

		if (!wait->is_reported || wait->begin_ns >= wait->end_ns)
			continue;
		while (first > begin && search->waits[first - 1].until_ns > wait->begin_ns)
			first--;
		search->lock->waits += wait->is_taken;
		search->lock->waited_ns += wait->end_ns - wait->begin_ns;
		if (!exact_share_sums_add_of(&search->sites, wait->stream, site_of(search, wait),
			    exact_share_of(wait->end_ns - wait->begin_ns, 1)) ||
			!wait_cut(search, wait, first, end))
			return false;
	}
	return true;
}

/* ---- what holders did ---- */

static int part_compare(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->holder != b->holder)
		return a->holder < b->holder ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

/* Adds what the piece has in common with parts [first, end), which are sorted by begin. */
static bool piece_share(struct lock_search *search, const struct extent *piece, size_t first, size_t end)
{
	/* preempted with the lock in hand: it waits where it will go on */
	uint32_t context = piece->context ? piece->context : piece->resumed;
	bool is_known = context && piece->state != EXTENT_ABSENT && piece->state != EXTENT_UNKNOWN;

	for (size_t i = first; i < end && search->parts[i].begin_ns < piece->end_ns; i++) {
		const struct part *part = &search->parts[i];
		uint64_t begin_ns = part->begin_ns > piece->begin_ns ? part->begin_ns : piece->begin_ns;
		uint64_t end_ns = part->end_ns < piece->end_ns ? part->end_ns : piece->end_ns;

		if (begin_ns >= end_ns)
			continue;
		if (!is_known)
			search->lock->unknown_ns += end_ns - begin_ns;
		else if (!exact_share_sums_add_of(&search->holders, part->holder, context,
				 exact_share_of(end_ns - begin_ns, 1)))
			return false;
	}
	return true;
}

/* Parts [first, end) of one holder. */
static int holder_share(struct lock_search *search, size_t first, size_t end, struct error *error)
{
	static struct extent pieces[EXTENTS];
	uint64_t begin_ns = search->parts[first].begin_ns, end_ns = 0;
	struct extent_walk *walk;
	long count = 0;
	int result;

	for (size_t i = first; i < end; i++)
		end_ns = search->parts[i].end_ns > end_ns ? search->parts[i].end_ns : end_ns;
	result = extent_open(&walk, search->run, search->parts[first].holder, begin_ns, end_ns, error);
	if (result)
		return result;
	extent_tell_resumed(walk);
	while (!result && (count = extent_next(walk, pieces, EXTENTS, error)) > 0)
		for (long i = 0; i < count && !result; i++) {
			while (first < end && search->parts[first].end_ns <= pieces[i].begin_ns)
				first++;
			if (!piece_share(search, &pieces[i], first, end))
				result = error_memory(error);
		}
	extent_close(walk);
	return result ? result : (int)count;
}

static int holders_share(struct lock_search *search, struct error *error)
{
	size_t count;
	int result = 0;

	merge_sort(search->parts, search->part_count, sizeof(*search->parts), part_compare);
	for (size_t i = 0; i < search->part_count && !result; i += count) {
		uint32_t holder = search->parts[i].holder;

		for (count = 1; i + count < search->part_count && search->parts[i + count].holder == holder;)
			count++;
		if (holder != LOCK_HOLDER_UNKNOWN) {
			result = holder_share(search, i, i + count, error);
			continue;
		}
		for (size_t part = i; part < i + count; part++)
			search->lock->unknown_ns += search->parts[part].end_ns - search->parts[part].begin_ns;
	}
	return result;
}

/* ---- the whole ---- */

static int process_sweep(struct lock_search *search, struct error *error)
{
	size_t count;
	int result = 0;

	search->wait_count = search->part_count = search->leave_count = 0;
	memset(search->texts, 0, sizeof(search->texts)); /* holders are of the process */
	for (uint32_t i = 0; i < search->process->stream_count && !result; i++)
		if (run_stream(search->run, search->process->streams[i])->s.kind == STORE_STREAM_CPU)
			result = waits_read(search, search->process->streams[i], error);
	merge_sort(search->leaves, search->leave_count, sizeof(*search->leaves), leave_compare);
	merge_sort(search->waits, search->wait_count, sizeof(*search->waits), wait_compare);
	for (size_t i = 0; i < search->wait_count && !result; i += count) {
		for (count = 1; i + count < search->wait_count &&
				search->waits[i + count].lock == search->waits[i].lock;)
			count++;
		if (!lock_cut(search, i, i + count))
			result = error_memory(error);
	}
	return result || search->tells ? result : holders_share(search, error);
}

static int pair_compare(const void *left, const void *right)
{
	const struct lock_pair *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	if (a->waiter != b->waiter)
		return a->waiter < b->waiter ? -1 : 1;
	return a->holder < b->holder ? -1 : a->holder > b->holder;
}

static int answer_fill(struct lock_search *search, struct arena *arena, struct error *error)
{
	struct lock *lock = search->lock;
	int result = exact_share_sums_list(&search->sites, &lock->sites, &lock->site_count, arena, error);

	if (!result)
		result = exact_share_sums_list(
			&search->holders, &lock->holders, &lock->holder_count, arena, error);
	lock->pairs = result ? NULL : arena_calloc(arena, search->pair_count + 1, sizeof(*lock->pairs));
	if (!lock->pairs)
		return result ? result : error_memory(error);
	if (search->pair_count)
		memcpy(lock->pairs, search->pairs, search->pair_count * sizeof(*lock->pairs));
	lock->pair_count = search->pair_count;
	qsort(lock->pairs, lock->pair_count, sizeof(*lock->pairs), pair_compare);
	return 0;
}

static int sweep(struct lock_search *search, const struct idle_question *asked, struct arena *arena,
	struct error *error)
{
	struct idle_question question = *asked;
	struct run *run = search->run;
	struct related related = {0};
	struct process *processes;
	uint32_t count = 0;
	int result = related_find(&related, run, asked->streams, asked->stream_count, false, arena, error);

	*search->lock = (struct lock){0};
	search->op_lock = run_op_named(run, "lock", 4);
	search->op_gil = run_op_named(run, "gil", 3);
	search->question = &question;
	search->sites.groups = search->holders.groups = question.groups;
	if (!result)
		result = process_list(&processes, &count, run, related.streams, related.count, arena, error);
	question.related = related.bits;
	search->op_wake = run_op_named(run, "wake", 4);
	key_ids_init(&search->pair_ids, 2 * sizeof(uint32_t));
	for (uint32_t p = 0; p < count && !result; p++) {
		search->process = &processes[p];
		search->process_number = p;
		result = process_sweep(search, error);
	}
	if (!result)
		result = answer_fill(search, arena, error);
	free(search->waits);
	free(search->leaves);
	free(search->parts);
	free(search->pairs);
	key_ids_fini(&search->pair_ids);
	exact_share_sums_fini(&search->sites);
	exact_share_sums_fini(&search->holders);
	return result;
}

int lock_sweep(struct lock *lock, struct run *run, const struct idle_question *asked, enum lock_kind kinds,
	struct arena *arena, struct error *error)
{
	struct lock_search search = {.run = run, .lock = lock, .kinds = kinds};

	return sweep(&search, asked, arena, error);
}

int lock_parts(struct lock_part **parts, size_t *count, struct run *run, const struct idle_question *asked,
	struct arena *arena, struct error *error)
{
	struct lock lock;
	struct lock_search search = {.run = run, .lock = &lock, .kinds = LOCK_ALL, .tells = true};
	int result = sweep(&search, asked, arena, error);

	*count = result ? 0 : search.told_count;
	*parts = result ? NULL : arena_calloc(arena, *count + 1, sizeof(**parts));
	if (!result && !*parts)
		result = error_memory(error);
	if (!result && *count)
		memcpy(*parts, search.told, *count * sizeof(**parts));
	free(search.told);
	return result;
}
