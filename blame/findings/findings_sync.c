/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_sync.c - finds unnecessary synchronizations (S0 8.4.1, 8.5). While the process has no work on its
 * GPUs all are unnecessary. One that waits for kernels is early if nothing was copied to the host before it
 * and the thread sends nothing by MPI after it: the thread's next work could have overlapped the kernels,
 * and the GPU could have continued.
 *
 * Where nothing is known of a queue (lost, unmonitored, without times) no wait is judged: there may have been
 * work.
 *
 *   thread   |launch|sync~~~~~~~~~~|==bookkeeping==|launch|sync
 *   queue           |####kernel####|...............|####        saves the shorter of the wait and the gap
 */
#include <stdlib.h>

#include "blame/base/sweep.h"
#include "blame/findings/findings_internal.h"
#include "store/base/array.h"
#include "store/base/hash.h"

#define COPIES_KNOWN 16u

/* A synchronization, or a call of MPI. */
struct call {
	uint64_t begin_ns, end_ns;
	size_t number; /* as they were read: of those that are alike the first is judged first */
	uint32_t context, stream;
	bool is_mpi;
};

/* An early synchronization whose next work is not known yet. */
struct early {
	struct finding finding;
	uint64_t end_ns;
};

/* Where the judgement of a thread stands. */
struct sync_thread {
	uint64_t before_ns; /* end of the synchronization before */
	bool is_early;	    /* the last one, unless the thread sends before next_ns */
	uint64_t next_ns;   /* UINT64_MAX: behind this block */
	struct early early;
};

struct findings_sync {
	uint64_t *copies; /* 2 x end, + 1: from the device */
	size_t copy_count, copy_capacity;
	struct call *calls;
	size_t call_count, call_capacity, call_number;
	struct sweep_span *unknown; /* of all queues */
	size_t unknown_count, unknown_capacity;
	struct { /* directions of copies already parsed */
		uint32_t stream, attributes;
		enum extent_state state;
	} known_copies[COPIES_KNOWN];
	struct key_ids streams; /* of `threads` */
	struct sync_thread *threads;
	size_t thread_capacity;
	struct early *waiting; /* early for certain, but for their next work */
	size_t waiting_count, waiting_capacity;
	uint64_t judged_ns; /* see findings_sync_judged() */
};

struct findings_sync *findings_sync_new(void)
{
	struct findings_sync *sync = calloc(1, sizeof(*sync));

	if (sync)
		key_ids_init(&sync->streams, sizeof(uint32_t));
	return sync;
}

void findings_sync_free(struct findings_sync *sync)
{
	if (!sync)
		return;
	key_ids_fini(&sync->streams);
	free(sync->copies);
	free(sync->calls);
	free(sync->unknown);
	free(sync->threads);
	free(sync->waiting);
	free(sync);
}

static bool put_copy(struct findings_sync *sync, uint64_t end_ns, bool is_back)
{
	if (!array_widen(&sync->copies, &sync->copy_capacity, sync->copy_count, sizeof(*sync->copies)))
		return false;
	sync->copies[sync->copy_count++] = end_ns << 1 | is_back;
	return true;
}

static bool put_call(struct findings_sync *sync, const struct call *call)
{
	if (!array_widen(&sync->calls, &sync->call_capacity, sync->call_count, sizeof(*sync->calls)))
		return false;
	sync->calls[sync->call_count] = *call;
	sync->calls[sync->call_count++].number = sync->call_number++;
	return true;
}

static int copy_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static int call_compare(const void *left, const void *right, void *run)
{
	const struct call *a = left, *b = right;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	if (a->context != b->context)
		return store_hash_compare(
			run_context_hash(run, a->context), run_context_hash(run, b->context));
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Whether it waited for a copy, or something came to the host since the one before. */
static bool brings_something(
	const struct findings_sync *sync, uint64_t before_ns, uint64_t begin_ns, uint64_t end_ns)
{
	size_t low = 0, high = sync->copy_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sync->copies[middle] >> 1 <= end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0; low--) {
		uint64_t copy_ns = sync->copies[low - 1] >> 1;

		if (copy_ns > begin_ns || (copy_ns > before_ns && sync->copies[low - 1] & 1))
			return true;
		if (copy_ns <= before_ns)
			return false;
	}
	return false;
}

/* The process's first stretch of work that ends later than that; NULL: none. */
static const struct sweep_span *work_after(const struct findings_search *search, uint64_t time_ns)
{
	size_t low = 0, high = search->work_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->work[middle].end_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < search->work_count ? &search->work[low] : NULL;
}

static bool put_unknown(struct findings_sync *sync, uint64_t begin_ns, uint64_t end_ns)
{
	struct sweep_span *last = sync->unknown_count ? &sync->unknown[sync->unknown_count - 1] : NULL;

	if (last && begin_ns >= last->begin_ns && begin_ns <= last->end_ns) {
		last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
		return true;
	}
	if (!array_widen((void **)&sync->unknown, &sync->unknown_capacity, sync->unknown_count,
		    sizeof(*sync->unknown)) ||
		!sync->unknown)
		return false;
	sync->unknown[sync->unknown_count++] = (struct sweep_span){begin_ns, end_ns};
	return true;
}

static bool is_unknown(const struct findings_sync *sync, uint64_t begin_ns, uint64_t end_ns)
{
	for (size_t i = 0; i < sync->unknown_count; i++)
		if (sync->unknown[i].begin_ns < end_ns && sync->unknown[i].end_ns >= begin_ns)
			return true;
	return false;
}

/* What ended before all that is still to be judged. */
static void unknown_forget(struct findings_sync *sync)
{
	size_t kept = 0;

	for (size_t i = 0; i < sync->unknown_count; i++)
		if (sync->unknown[i].end_ns >= sync->judged_ns)
			sync->unknown[kept++] = sync->unknown[i];
	sync->unknown_count = kept;
}

static bool early_add(struct findings_search *search, const struct early *early, uint64_t next_ns)
{
	struct finding finding = early->finding;
	uint64_t gap_ns = next_ns - early->end_ns;

	finding.save_ns = gap_ns < finding.time_ns ? gap_ns : finding.time_ns;
	return findings_add(search, &finding);
}

static bool commit(struct findings_search *search, struct sync_thread *thread)
{
	struct findings_sync *sync = search->sync;

	if (!thread->is_early)
		return true;
	thread->is_early = false;
	if (thread->next_ns != UINT64_MAX)
		return early_add(search, &thread->early, thread->next_ns);
	if (!array_widen(
		    &sync->waiting, &sync->waiting_capacity, sync->waiting_count, sizeof(*sync->waiting)))
		return false;
	sync->waiting[sync->waiting_count++] = thread->early;
	return true;
}

static bool judge_sync(struct findings_search *search, struct sync_thread *thread, const struct call *call)
{
	const struct sweep_span *work = work_after(search, call->begin_ns), *next;
	struct finding finding = {.kind = FINDING_NEEDLESS_SYNC,
		.context = call->context,
		.stream = call->stream,
		.count = 1,
		.time_ns = call->end_ns - call->begin_ns,
		.save_ns = call->end_ns - call->begin_ns};

	if (!work || work->begin_ns >= call->end_ns)
		return findings_add(search, &finding);
	/* The GPU is idle from here to the next work. */
	next = work_after(search, call->end_ns);
	if ((!next && search->block.is_last) || (next && next->begin_ns <= call->end_ns) ||
		brings_something(search->sync, thread->before_ns, call->begin_ns, call->end_ns))
		return true;
	finding.kind = FINDING_EARLY_SYNC;
	thread->early = (struct early){finding, call->end_ns};
	thread->next_ns = next ? next->begin_ns : UINT64_MAX;
	thread->is_early = true;
	return true;
}

static bool judge_call(struct findings_search *search, struct sync_thread *thread, const struct call *call)
{
	bool is_kept;

	if (call->is_mpi) {
		thread->is_early = thread->is_early && thread->next_ns != UINT64_MAX &&
				   call->begin_ns >= thread->next_ns;
		return true;
	}
	is_kept = commit(search, thread) && (is_unknown(search->sync, call->begin_ns, call->end_ns) ||
						    judge_sync(search, thread, call));
	thread->before_ns = call->end_ns;
	return is_kept;
}

/* ---- from block to block ---- */

/* NULL: no memory. */
static struct sync_thread *thread_of(struct findings_sync *sync, uint32_t stream)
{
	bool is_new;
	uint32_t number = key_ids_put(&sync->streams, &stream, &is_new);

	if (number == KEY_IDS_NONE ||
		!array_widen(&sync->threads, &sync->thread_capacity, number, sizeof(*sync->threads)))
		return NULL;
	if (is_new)
		sync->threads[number] = (struct sync_thread){0};
	return &sync->threads[number];
}

/* The first work of this block is the next one of those that wait for it. */
static bool judge_waiting(struct findings_search *search)
{
	struct findings_sync *sync = search->sync;
	const struct sweep_span *next;
	size_t count = 0;

	for (uint32_t i = 0; i < sync->streams.count; i++) {
		struct sync_thread *thread = &sync->threads[i];

		if (!thread->is_early || thread->next_ns != UINT64_MAX)
			continue;
		next = work_after(search, thread->early.end_ns);
		thread->is_early = next ? next->begin_ns > thread->early.end_ns : !search->block.is_last;
		thread->next_ns = next ? next->begin_ns : UINT64_MAX;
	}
	for (size_t i = 0; i < sync->waiting_count; i++) {
		const struct early early = sync->waiting[i];

		next = work_after(search, early.end_ns);
		if (!next)
			sync->waiting[count++] = early;
		else if (next->begin_ns > early.end_ns && !early_add(search, &early, next->begin_ns))
			return false;
	}
	sync->waiting_count = count;
	return true;
}

/* Of the copies that are over the last of each kind is all that later calls ask for. */
static void copies_forget(struct findings_sync *sync)
{
	size_t over = 0, kept = 0;
	uint64_t last = 0, other = 0; /* of the other kind: before it */

	for (; over < sync->copy_count && sync->copies[over] >> 1 <= sync->judged_ns; over++) {
		other = last && (last ^ sync->copies[over]) & 1 ? last : other;
		last = sync->copies[over];
	}
	if (other)
		sync->copies[kept++] = other;
	if (last)
		sync->copies[kept++] = last;
	while (over < sync->copy_count)
		sync->copies[kept++] = sync->copies[over++];
	sync->copy_count = kept;
}

/* Where a copy goes: most say so in few ways. */
static enum extent_state copy_state(
	const struct findings_search *search, const struct batch *batch, size_t row)
{
	uint32_t attributes = batch->attributes[row], at = attributes % COPIES_KNOWN;
	struct findings_sync *sync = search->sync;
	const char *text;
	size_t size;

	if (!attributes)
		return EXTENT_SET;
	if (sync->known_copies[at].attributes == attributes && sync->known_copies[at].stream == batch->stream)
		return sync->known_copies[at].state;
	text = batch_attributes(search->run, batch, row, &size);
	sync->known_copies[at].attributes = attributes;
	sync->known_copies[at].stream = batch->stream;
	return sync->known_copies[at].state = span_copy_state(text, size);
}

bool findings_sync_take(struct findings_search *search, const struct batch *batch, size_t row, bool is_gpu)
{
	uint64_t begin_ns = findings_begin(search, batch, row);
	uint64_t end_ns = begin_ns + findings_time(search, batch, row);
	uint32_t what = batch->what[row];
	enum extent_state state;

	if (!is_gpu)
		return (what != STORE_OP_SYNC && what != STORE_OP_MPI) ||
		       put_call(search->sync, &(struct call){begin_ns, end_ns, 0, batch->context[row],
						      batch->stream, what == STORE_OP_MPI});
	if (what == STORE_OP_LOST || what == STORE_OP_UNMONITORED)
		return put_unknown(search->sync, begin_ns, end_ns);
	if (what != STORE_OP_COPY)
		return true;
	state = copy_state(search, batch, row);
	return (state != EXTENT_COPY_IN && state != EXTENT_COPY_OUT) ||
	       put_copy(search->sync, end_ns, state == EXTENT_COPY_OUT);
}

/* Calls that go on behind the block wait, and those of their thread that began after them. */
static bool judge_calls(struct findings_search *search)
{
	struct findings_sync *sync = search->sync;
	struct sync_thread *thread = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < sync->call_count; i++) {
		const struct call call = sync->calls[i];
		bool is_kept = kept && sync->calls[kept - 1].stream == call.stream;

		if (is_kept && call.begin_ns < sync->judged_ns)
			sync->judged_ns = call.begin_ns;
		if (is_kept || (!search->block.is_last && call.end_ns > search->block.end_ns)) {
			sync->calls[kept++] = call;
			continue;
		}
		if (!thread || !i || sync->calls[i - 1].stream != call.stream)
			thread = thread_of(sync, call.stream);
		if (!thread || !judge_call(search, thread, &call))
			return false;
	}
	sync->call_count = kept;
	return true;
}

bool findings_sync_judge(struct findings_search *search)
{
	struct findings_sync *sync = search->sync;
	bool is_kept = true;

	if (sync->copy_count)
		qsort(sync->copies, sync->copy_count, sizeof(*sync->copies), copy_compare);
	if (sync->call_count)
		qsort_r(sync->calls, sync->call_count, sizeof(*sync->calls), call_compare, search->run);
	sync->judged_ns = search->block.end_ns;
	is_kept = judge_waiting(search) && judge_calls(search);
	copies_forget(sync);
	unknown_forget(sync);
	for (uint32_t i = 0; i < sync->streams.count && search->block.is_last && is_kept; i++)
		is_kept = commit(search, &sync->threads[i]);
	return is_kept;
}

uint64_t findings_sync_judged(const struct findings_sync *sync)
{
	return sync->judged_ns;
}
