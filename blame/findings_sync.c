/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_sync.c - which synchronizations are not needed (S0 8.4.1, 8.5). While the process has no work on
 * its GPUs none is. One that waits for kernels is early where nothing came to the host before it and the
 * thread sends nothing by MPI after it: what the thread does next could have gone on beside the kernels, and
 * the GPU with what comes next.
 *
 *   thread   |launch|sync~~~~~~~~~~|==bookkeeping==|launch|sync
 *   queue           |####kernel####|...............|####        saves the shorter of the wait and the gap
 */
#include <stdlib.h>

#include "blame/findings_parts.h"
#include "blame/sweep.h"

#define COPIES_TOLD 16u

/* A synchronization, or a call of MPI. */
struct call {
	uint64_t begin_ns, end_ns;
	size_t number; /* as they were read: of those that begin together the first is judged first */
	uint32_t context, stream;
	bool is_mpi;
};

struct findings_sync {
	uint64_t *copies; /* 2 x end, + 1: from the device */
	size_t copy_count, copy_room;
	struct call *calls;
	size_t call_count, call_room;
	struct { /* directions of copies that were told already */
		uint32_t stream, attributes;
		enum extent_state state;
	} told[COPIES_TOLD];
	/* judged: of the thread at hand */
	uint64_t before_ns; /* end of the synchronization before */
	bool is_early;	    /* the last one, unless the thread sends before next_ns */
	uint64_t next_ns;
	struct finding early;
};

struct findings_sync *findings_sync_new(void)
{
	return calloc(1, sizeof(struct findings_sync));
}

void findings_sync_free(struct findings_sync *sync)
{
	if (!sync)
		return;
	free(sync->copies);
	free(sync->calls);
	free(sync);
}

static bool put_copy(struct findings_sync *sync, uint64_t end_ns, bool is_back)
{
	if (sync->copy_count == sync->copy_room) {
		size_t room = sync->copy_room ? 2 * sync->copy_room : 256;
		uint64_t *copies = realloc(sync->copies, room * sizeof(*copies));

		if (!copies)
			return false;
		sync->copies = copies;
		sync->copy_room = room;
	}
	sync->copies[sync->copy_count++] = end_ns << 1 | is_back;
	return true;
}

static bool put_call(struct findings_sync *sync, const struct call *call)
{
	if (sync->call_count == sync->call_room) {
		size_t room = sync->call_room ? 2 * sync->call_room : 256;
		struct call *calls = realloc(sync->calls, room * sizeof(*calls));

		if (!calls)
			return false;
		sync->calls = calls;
		sync->call_room = room;
	}
	sync->calls[sync->call_count] = *call;
	sync->calls[sync->call_count].number = sync->call_count;
	sync->call_count++;
	return true;
}

static int copy_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static int call_compare(const void *left, const void *right)
{
	const struct call *a = left, *b = right;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Whether it waited for a copy, or something came to the host since the one before. */
static bool brings_something(const struct findings_sync *sync, uint64_t begin_ns, uint64_t end_ns)
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

		if (copy_ns > begin_ns || (copy_ns > sync->before_ns && sync->copies[low - 1] & 1))
			return true;
		if (copy_ns <= sync->before_ns)
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

static bool commit(struct findings_search *search)
{
	struct findings_sync *sync = search->sync;

	if (!sync->is_early)
		return true;
	sync->is_early = false;
	return findings_add(search, &sync->early);
}

static bool judge_sync(struct findings_search *search, const struct call *call)
{
	struct findings_sync *sync = search->sync;
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
	if (next && next->begin_ns > call->end_ns && !brings_something(sync, call->begin_ns, call->end_ns)) {
		uint64_t gap_ns = next->begin_ns - call->end_ns;

		finding.kind = FINDING_EARLY_SYNC;
		finding.save_ns = gap_ns < finding.time_ns ? gap_ns : finding.time_ns;
		sync->early = finding;
		sync->next_ns = next->begin_ns;
		sync->is_early = true;
	}
	return true;
}

static bool judge_call(struct findings_search *search, const struct call *call)
{
	struct findings_sync *sync = search->sync;
	bool is_kept;

	if (call->is_mpi) {
		sync->is_early = sync->is_early && call->begin_ns >= sync->next_ns;
		return true;
	}
	is_kept = commit(search) && judge_sync(search, call);
	sync->before_ns = call->end_ns;
	return is_kept;
}

/* Where a copy goes: most say so in few ways. */
static enum extent_state copy_state(
	const struct findings_search *search, const struct batch *batch, size_t row)
{
	uint32_t attributes = batch->attributes[row], at = attributes % COPIES_TOLD;
	struct findings_sync *sync = search->sync;
	const char *text;
	size_t size;

	if (!attributes)
		return EXTENT_SET;
	if (sync->told[at].attributes == attributes && sync->told[at].stream == batch->stream)
		return sync->told[at].state;
	text = batch_attributes(search->run, batch, row, &size);
	sync->told[at].attributes = attributes;
	sync->told[at].stream = batch->stream;
	return sync->told[at].state = line_copy_state(text, size);
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
	if (what != STORE_OP_COPY)
		return true;
	state = copy_state(search, batch, row);
	return (state != EXTENT_COPY_IN && state != EXTENT_COPY_OUT) ||
	       put_copy(search->sync, end_ns, state == EXTENT_COPY_OUT);
}

bool findings_sync_judge(struct findings_search *search)
{
	struct findings_sync *sync = search->sync;
	bool is_kept = true;

	if (sync->copy_count)
		qsort(sync->copies, sync->copy_count, sizeof(*sync->copies), copy_compare);
	if (sync->call_count)
		qsort(sync->calls, sync->call_count, sizeof(*sync->calls), call_compare);
	for (size_t i = 0; i < sync->call_count && is_kept; i++) {
		if (i && sync->calls[i].stream != sync->calls[i - 1].stream) {
			is_kept = commit(search);
			sync->before_ns = 0;
		}
		is_kept = is_kept && judge_call(search, &sync->calls[i]);
	}
	return is_kept && commit(search);
}
