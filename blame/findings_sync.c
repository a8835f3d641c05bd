/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_sync.c - which synchronizations are not needed (S0 8.4.1, 8.5). While the process has no work on
 * its GPUs none is. One that waits for kernels is early where nothing came to the host before it and the
 * thread sends nothing by MPI after it: what the thread does next could have gone on beside the kernels, and
 * the GPU with what comes next.
 *
 *   thread   |launch|sync~~~~~~~~~~|==bookkeeping==|launch|sync
 *   queue           |####kernel####|...............|####        saves the shorter of the wait and the gap
 *
 * Copies of the process come first, its threads' spans after them.
 */
#include <stdlib.h>

#include "blame/findings_parts.h"
#include "blame/sweep.h"

struct findings_sync {
	uint64_t *copies; /* 2 x end, + 1: from the device; in order once `is_ready` */
	size_t count, room;
	bool is_ready;
	/* the thread at hand */
	uint32_t stream;
	uint64_t before_ns; /* end of the synchronization before */
	bool is_early;	    /* the last one, unless the thread sends before next_ns */
	uint64_t next_ns;
	struct finding early;
};

struct findings_sync *findings_sync_new(void)
{
	struct findings_sync *sync = calloc(1, sizeof(*sync));

	if (sync)
		sync->stream = UINT32_MAX;
	return sync;
}

void findings_sync_free(struct findings_sync *sync)
{
	if (!sync)
		return;
	free(sync->copies);
	free(sync);
}

static bool put_copy(struct findings_sync *sync, uint64_t end_ns, bool is_back)
{
	if (sync->count == sync->room) {
		size_t room = sync->room ? 2 * sync->room : 256;
		uint64_t *copies = realloc(sync->copies, room * sizeof(*copies));

		if (!copies)
			return false;
		sync->copies = copies;
		sync->room = room;
	}
	sync->copies[sync->count++] = end_ns << 1 | is_back;
	return true;
}

static int copy_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Whether it waited for a copy, or something came to the host since the one before. */
static bool brings_something(const struct findings_sync *sync, uint64_t begin_ns, uint64_t end_ns)
{
	size_t low = 0, high = sync->count;

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

static bool take_sync(struct findings_search *search, const struct batch *batch, size_t row)
{
	struct findings_sync *sync = search->sync;
	uint64_t begin_ns = batch->begin_ns[row], end_ns = batch->end_ns[row];
	const struct sweep_span *work = work_after(search, begin_ns), *next = work_after(search, end_ns);
	struct finding finding = {.kind = FINDING_NEEDLESS_SYNC,
		.context = batch->context[row],
		.stream = batch->stream,
		.count = 1,
		.time_ns = end_ns - begin_ns,
		.save_ns = end_ns - begin_ns};

	if (!work || work->begin_ns >= end_ns)
		return findings_add(search, &finding);
	/* The GPU is idle from here to the next work. */
	if (next && next->begin_ns > end_ns && !brings_something(sync, begin_ns, end_ns)) {
		uint64_t gap_ns = next->begin_ns - end_ns;

		finding.kind = FINDING_EARLY_SYNC;
		finding.save_ns = gap_ns < finding.time_ns ? gap_ns : finding.time_ns;
		sync->early = finding;
		sync->next_ns = next->begin_ns;
		sync->is_early = true;
	}
	return true;
}

static bool take_thread(struct findings_search *search, const struct batch *batch, size_t row)
{
	struct findings_sync *sync = search->sync;
	bool is_kept = true;

	if (!sync->is_ready && sync->count)
		qsort(sync->copies, sync->count, sizeof(*sync->copies), copy_compare);
	sync->is_ready = true;
	if (batch->stream != sync->stream) {
		is_kept = commit(search);
		sync->stream = batch->stream;
		sync->before_ns = 0;
	}
	if (batch->what[row] == STORE_OP_MPI && batch->begin_ns[row] < sync->next_ns)
		sync->is_early = false;
	if (!is_kept || batch->what[row] != STORE_OP_SYNC)
		return is_kept;
	is_kept = commit(search) && take_sync(search, batch, row);
	sync->before_ns = batch->end_ns[row];
	return is_kept;
}

bool findings_sync_take(struct findings_search *search, const struct batch *batch, size_t row, bool is_gpu)
{
	const char *attributes = "";
	enum extent_state state;
	size_t size = 0;

	if (!is_gpu)
		return take_thread(search, batch, row);
	if (batch->what[row] != STORE_OP_COPY)
		return true;
	if (batch->attributes[row])
		attributes = batch_attributes(search->run, batch, row, &size);
	state = line_copy_state(attributes, size);
	return (state != EXTENT_COPY_IN && state != EXTENT_COPY_OUT) ||
	       put_copy(search->sync, batch->end_ns[row], state == EXTENT_COPY_OUT);
}

bool findings_sync_judge(struct findings_search *search)
{
	return commit(search);
}
