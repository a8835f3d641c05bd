/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.c - see queues.h: a heap of queues by their next span. The union of spans that come by begin needs
 * no more than how far they reach so far; three of them, for three kinds of work.
 */
#include "blame/queues.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/scan.h"

enum work { WORK_KERNEL, WORK_COMM, WORK_OTHER };
enum { NOT_TOLD, COMPUTES, COMMUNICATES };

struct queue {
	struct scan *scan;
	const struct batch *batch;
	size_t row;
	uint64_t begin_ns, end_ns; /* the span at hand; begin UINT64_MAX: no more */
	uint64_t link;
	size_t hint; /* where its launches are */
	enum work work;
	uint64_t life_begin_ns, life_end_ns;
	uint64_t reach_ns; /* end of its spans so far */
	enum work reach_work;
	bool is_monitored;
};

struct life {
	uint64_t begin_ns, end_ns;
};

/* Stretches of time in order, taken away from the front. */
struct stretches {
	struct sweep_span *list;
	size_t first, count, room; /* count: with those that are gone */
};

struct queues {
	struct run *run;
	struct waits *waits;
	uint64_t begin_ns, end_ns;
	struct queue *list;
	uint32_t *heap;	  /* of numbers in the list */
	uint8_t *kernels; /* by context: what a kernel there does */
	uint32_t context_count;
	uint32_t count, heap_count;
	bool is_odd;
	uint64_t reach_ns[WORK_OTHER + 1]; /* of kernels, of kernels and communication, of all */
	struct queues_sums sums;
	struct queues_cuts cuts;
	uint32_t part[WORK_OTHER + 1]; /* that the last stretch of the kind begins in */
	struct life *lives;	       /* in order, apart */
	uint32_t life_count, life;
	struct queues_gap rest; /* of the gap that is being given */
	struct queued_launches *launches;
	struct stretches gaps;	 /* not given yet */
	struct stretches queued; /* when the process has work queued or running */
	uint64_t now_ns;	 /* begin of the last span taken; UINT64_MAX: all are */
};

/* ---- spans ---- */

/* Told once per context. */
static enum work work_of(struct queues *queues, uint32_t op, uint32_t context)
{
	if (op != STORE_OP_KERNEL && op != STORE_OP_GRAPH)
		return WORK_OTHER;
	if (context >= queues->context_count)
		return waits_context(queues->waits, context) ? WORK_COMM : WORK_KERNEL;
	if (!queues->kernels[context])
		queues->kernels[context] = waits_context(queues->waits, context) ? COMMUNICATES : COMPUTES;
	return queues->kernels[context] == COMMUNICATES ? WORK_COMM : WORK_KERNEL;
}

/* A state: monitored for the whole life is as it should be. */
static void take_state(struct queues *queues, struct queue *queue, size_t row)
{
	const struct batch *batch = queue->batch;

	if (batch->what[row] == STORE_OP_MONITORED && batch->begin_ns[row] <= queue->life_begin_ns &&
		batch->end_ns[row] >= queue->life_end_ns)
		queue->is_monitored = true;
	else
		queues->is_odd = true;
}

static bool says_nothing(uint32_t op)
{
	return op == STORE_OP_NONE || op == STORE_OP_MARK || op == STORE_OP_RANGE || op == STORE_OP_THINNED;
}

/* False: the row is no work. */
static bool take_row(struct queues *queues, struct queue *queue, size_t row)
{
	const struct batch *batch = queue->batch;
	uint64_t begin_ns = batch->begin_ns[row], end_ns = batch->end_ns[row];
	uint32_t op = batch->what[row];

	if (op != STORE_OP_KERNEL && says_nothing(op))
		return false;
	if (op != STORE_OP_KERNEL && (store_op_is_state(op) || op == STORE_OP_SYNC)) {
		take_state(queues, queue, row);
		return false;
	}
	if (end_ns <= begin_ns)
		return false;
	queue->work = work_of(queues, op, batch->context[row]);
	queues->is_odd |= begin_ns < queue->life_begin_ns || end_ns > queue->life_end_ns ||
			  (begin_ns < queue->reach_ns && queue->work != queue->reach_work);
	if (end_ns > queue->reach_ns)
		queue->reach_ns = end_ns;
	queue->reach_work = queue->work;
	queue->begin_ns = begin_ns;
	queue->end_ns = end_ns;
	if (batch->link)
		queue->link = batch->link[row];
	return true;
}

static int queue_advance(struct queues *queues, struct queue *queue, struct error *error)
{
	for (;;) {
		long count;

		while (queue->batch && queue->row < queue->batch->count)
			if (take_row(queues, queue, queue->row++))
				return 0;
		count = scan_next(queue->scan, &queue->batch, error);
		queue->row = 0;
		if (count <= 0) {
			queue->begin_ns = UINT64_MAX;
			return (int)count;
		}
	}
}

/* ---- heap ---- */

static void heap_sink(struct queues *queues, uint32_t at)
{
	uint32_t *heap = queues->heap, sinking = heap[at];
	uint64_t begin_ns = queues->list[sinking].begin_ns;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= queues->heap_count)
			break;
		if (child + 1 < queues->heap_count &&
			queues->list[heap[child + 1]].begin_ns < queues->list[heap[child]].begin_ns)
			child++;
		if (queues->list[heap[child]].begin_ns >= begin_ns)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = sinking;
}

/* ---- stretches ---- */

static bool put_stretch(struct stretches *stretches, uint64_t begin_ns, uint64_t end_ns)
{
	if (stretches->count == stretches->room && stretches->first > stretches->room / 2) {
		stretches->count -= stretches->first;
		memmove(stretches->list, stretches->list + stretches->first,
			stretches->count * sizeof(*stretches->list));
		stretches->first = 0;
	}
	if (stretches->count == stretches->room) {
		size_t room = stretches->room ? 2 * stretches->room : 1024;
		struct sweep_span *list = realloc(stretches->list, room * sizeof(*list));

		if (!list)
			return false;
		stretches->list = list;
		stretches->room = room;
	}
	stretches->list[stretches->count++] = (struct sweep_span){begin_ns, end_ns};
	return true;
}

/* Work comes by its begin, which lies in its stretch: so none lies wholly before the last one, and what is
 * united is at the end. */
static bool put_queued(struct stretches *queued, uint64_t since_ns, uint64_t end_ns)
{
	while (queued->count > queued->first && queued->list[queued->count - 1].end_ns >= since_ns) {
		const struct sweep_span *last = &queued->list[--queued->count];

		since_ns = last->begin_ns < since_ns ? last->begin_ns : since_ns;
		end_ns = last->end_ns > end_ns ? last->end_ns : end_ns;
	}
	return put_stretch(queued, since_ns, end_ns);
}

uint64_t queues_queued_ns(struct queues *queues, uint64_t begin_ns, uint64_t end_ns)
{
	struct stretches *queued = &queues->queued;
	uint64_t sum_ns = 0;

	while (queued->first < queued->count && queued->list[queued->first].end_ns <= begin_ns)
		queued->first++;
	for (size_t i = queued->first; i < queued->count && queued->list[i].begin_ns < end_ns; i++) {
		const struct sweep_span *span = &queued->list[i];

		sum_ns += (span->end_ns < end_ns ? span->end_ns : end_ns) -
			  (span->begin_ns > begin_ns ? span->begin_ns : begin_ns);
	}
	return sum_ns;
}

/* ---- gaps ---- */

static uint64_t *sum_of(struct queues_sums *sums, enum work work)
{
	return work == WORK_KERNEL ? &sums->kernel_ns
	       : work == WORK_COMM ? &sums->kernel_comm_ns
				   : &sums->busy_ns;
}

/* Each part gets what lies in it. */
static void add_stretch(struct queues *queues, enum work work, uint64_t begin_ns, uint64_t end_ns)
{
	const struct queues_cuts *cuts = &queues->cuts;
	uint32_t part = queues->part[work];

	while (part < cuts->count && cuts->cuts_ns[part] <= begin_ns)
		part++;
	queues->part[work] = part;
	for (; part < cuts->count && cuts->cuts_ns[part] < end_ns; part++) {
		*sum_of(&cuts->sums[part], work) += cuts->cuts_ns[part] - begin_ns;
		begin_ns = cuts->cuts_ns[part];
	}
	*sum_of(&cuts->sums[part], work) += end_ns - begin_ns;
}

static void lengthen(struct queues *queues, enum work work, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t *reach_ns = &queues->reach_ns[work];
	uint64_t from_ns = begin_ns > *reach_ns ? begin_ns : *reach_ns;

	if (end_ns <= from_ns)
		return;
	*reach_ns = end_ns;
	if (queues->cuts.sums)
		add_stretch(queues, work, from_ns, end_ns);
	else
		*sum_of(&queues->sums, work) += end_ns - from_ns;
}

/* False when memory is out. */
static bool unite(struct queues *queues, struct queue *queue)
{
	uint64_t begin_ns = queue->begin_ns, end_ns = queue->end_ns;

	if (queues->launches &&
		!put_queued(&queues->queued,
			queued_since(queues->launches, &queue->hint, queue->link, begin_ns), end_ns))
		return false;
	if (begin_ns >= queues->end_ns)
		return true;
	end_ns = end_ns < queues->end_ns ? end_ns : queues->end_ns;
	if (begin_ns > queues->reach_ns[WORK_OTHER] &&
		!put_stretch(&queues->gaps, queues->reach_ns[WORK_OTHER], begin_ns))
		return false;
	if (queue->work == WORK_KERNEL)
		lengthen(queues, WORK_KERNEL, begin_ns, end_ns);
	if (queue->work <= WORK_COMM)
		lengthen(queues, WORK_COMM, begin_ns, end_ns);
	lengthen(queues, WORK_OTHER, begin_ns, end_ns);
	return true;
}

/* Takes the next span; at the end the gap that is left. */
static int take_next(struct queues *queues, struct error *error)
{
	struct queue *first = queues->heap_count ? &queues->list[queues->heap[0]] : NULL;
	int result;

	queues->now_ns = first ? first->begin_ns : UINT64_MAX;
	if (queues->now_ns == UINT64_MAX) {
		bool is_kept = queues->reach_ns[WORK_OTHER] >= queues->end_ns ||
			       put_stretch(&queues->gaps, queues->reach_ns[WORK_OTHER], queues->end_ns);

		return is_kept ? 0 : error_memory(error);
	}
	if (!unite(queues, first))
		return error_memory(error);
	result = queue_advance(queues, first, error);
	if (!result)
		heap_sink(queues, 0);
	return result;
}

/* No span that is still to come was queued in the first gap. */
static bool is_final(const struct queues *queues)
{
	const struct stretches *gaps = &queues->gaps;

	if (gaps->first == gaps->count)
		return false;
	return !queues->launches || queues->now_ns == UINT64_MAX ||
	       queues->now_ns - gaps->list[gaps->first].end_ns >= QUEUED_REACH_NS;
}

/* Gives the first part of the rest, in which as many queues live: some, or none. */
static void give(struct queues *queues, struct queues_gap *gap)
{
	struct queues_gap *rest = &queues->rest;
	const struct life *life;

	while (queues->life < queues->life_count && queues->lives[queues->life].end_ns <= rest->begin_ns)
		queues->life++;
	*gap = *rest;
	gap->is_alive = false;
	if (queues->life < queues->life_count) {
		uint64_t change_ns;

		life = &queues->lives[queues->life];
		gap->is_alive = life->begin_ns <= rest->begin_ns;
		change_ns = gap->is_alive ? life->end_ns : life->begin_ns;
		if (change_ns < gap->end_ns)
			gap->end_ns = change_ns;
	}
	rest->begin_ns = gap->end_ns;
}

int queues_next(struct queues *queues, struct queues_gap *gap, struct error *error)
{
	if (queues->rest.begin_ns >= queues->rest.end_ns) {
		const struct sweep_span *first;

		while (!is_final(queues)) {
			int result;

			if (queues->now_ns == UINT64_MAX || queues->is_odd)
				return 0;
			result = take_next(queues, error);
			if (result)
				return result;
		}
		first = &queues->gaps.list[queues->gaps.first++];
		queues->rest = (struct queues_gap){first->begin_ns, first->end_ns, false};
	}
	give(queues, gap);
	return 1;
}

/* ---- begin and end ---- */

static int life_compare(const void *left, const void *right)
{
	const struct life *a = left, *b = right;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

static void lives_unite(struct queues *queues)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < queues->count; i++)
		queues->lives[i] = (struct life){queues->list[i].life_begin_ns, queues->list[i].life_end_ns};
	if (queues->count)
		qsort(queues->lives, queues->count, sizeof(*queues->lives), life_compare);
	for (uint32_t i = 0; i < queues->count; i++) {
		const struct life life = queues->lives[i];

		if (count && life.begin_ns <= queues->lives[count - 1].end_ns) {
			if (life.end_ns > queues->lives[count - 1].end_ns)
				queues->lives[count - 1].end_ns = life.end_ns;
		} else {
			queues->lives[count++] = life;
		}
	}
	queues->life_count = count;
}

static int queue_open(struct queues *queues, uint32_t stream, struct error *error)
{
	const struct store_stream *s = &run_stream(queues->run, stream)->s;
	struct queue *queue = &queues->list[queues->count];
	uint64_t end_ns = queues->end_ns;
	int result;

	*queue = (struct queue){.life_begin_ns = s->begin_ns, .life_end_ns = s->end_ns, .work = WORK_OTHER};
	queues->heap[queues->count] = queues->count;
	queues->count++;
	queues->is_odd |= s->end_ns <= s->begin_ns || s->end_ns == STORE_OPEN_NS;
	if (queues->launches && end_ns < UINT64_MAX - QUEUED_REACH_NS)
		end_ns += QUEUED_REACH_NS;
	result = scan_open(&queue->scan, queues->run, stream, STORE_SPANS, queues->begin_ns, end_ns,
		STORE_END | STORE_WHAT | STORE_CONTEXT | (queues->launches ? STORE_LINK : 0), 0, error);
	return result ? result : queue_advance(queues, queue, error);
}

int queues_new(struct queues **out, struct run *run, const struct process *process, uint64_t begin_ns,
	uint64_t end_ns, struct waits *waits, struct queued_launches *launches,
	const struct queues_cuts *cuts, struct error *error)
{
	struct queues *queues = calloc(1, sizeof(*queues));
	int result = 0;

	*out = queues;
	if (!queues)
		return error_memory(error);
	*queues = (struct queues){
		.run = run, .waits = waits, .begin_ns = begin_ns, .end_ns = end_ns, .launches = launches};
	if (cuts)
		queues->cuts = *cuts;
	for (int work = 0; work <= WORK_OTHER; work++)
		queues->reach_ns[work] = begin_ns;
	queues->list = calloc(process->gpu_count + 1, sizeof(*queues->list));
	queues->heap = calloc(process->gpu_count + 1, sizeof(*queues->heap));
	queues->lives = calloc(process->gpu_count + 1, sizeof(*queues->lives));
	queues->context_count = run_context_count(run);
	queues->kernels = calloc((size_t)queues->context_count + 1, 1);
	if (!queues->list || !queues->heap || !queues->lives || !queues->kernels)
		result = error_memory(error);
	for (uint32_t i = 0; i < process->stream_count && !result; i++)
		if (run_stream(run, process->streams[i])->s.kind == STORE_STREAM_GPU)
			result = queue_open(queues, process->streams[i], error);
	if (result) {
		queues_free(queues);
		*out = NULL;
		return result;
	}
	queues->heap_count = queues->count;
	for (uint32_t i = queues->heap_count; i-- > 0;)
		heap_sink(queues, i);
	lives_unite(queues);
	return 0;
}

void queues_free(struct queues *queues)
{
	if (!queues)
		return;
	for (uint32_t i = 0; i < queues->count; i++)
		scan_close(queues->list[i].scan);
	free(queues->list);
	free(queues->heap);
	free(queues->lives);
	free(queues->kernels);
	free(queues->gaps.list);
	free(queues->queued.list);
	free(queues);
}

bool queues_are_odd(const struct queues *queues)
{
	bool is_odd = queues->is_odd;

	/* One that lives in the window must be monitored there. */
	for (uint32_t i = 0; i < queues->count && !is_odd; i++)
		is_odd = !queues->list[i].is_monitored && queues->list[i].life_begin_ns < queues->end_ns &&
			 queues->list[i].life_end_ns > queues->begin_ns;
	return is_odd;
}

const struct queues_sums *queues_sums(const struct queues *queues)
{
	return &queues->sums;
}
