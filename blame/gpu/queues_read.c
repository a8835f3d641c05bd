/* SPDX-License-Identifier: Apache-2.0 */
/* queues_read.c - see queues_internal.h: batches of a queue's spans to rows of work. */
#include <stdlib.h>
#include <string.h>

#include "blame/gpu/queues_internal.h"
#include "store/base/avx2.h"

/* Behind the levels. */
enum { CLASS_STATE = LEVEL_COUNT, CLASS_NOTHING };
enum { NOT_TOLD, COMPUTES, COMMUNICATES };

#define WORK_KINDS ((1u << LEVEL_COUNT) - 1)

static uint8_t class_of(uint32_t op)
{
	if (op == STORE_OP_KERNEL || op == STORE_OP_GRAPH)
		return LEVEL_KERNEL;
	if (op == STORE_OP_NONE || op == STORE_OP_MARK || op == STORE_OP_RANGE || op == STORE_OP_THINNED)
		return CLASS_NOTHING;
	return store_op_is_state(op) || op == STORE_OP_SYNC ? CLASS_STATE : LEVEL_ANY;
}

void queues_tell_classes(struct queues *queues)
{
	for (uint32_t op = 0; op < STORE_OP_TEXT; op++)
		queues->classes[op] = class_of(op);
	queues->classes[STORE_OP_TEXT] = LEVEL_ANY;
}

static inline uint32_t class_at(const struct queues *queues, uint32_t op)
{
	return queues->classes[op < STORE_OP_TEXT ? op : STORE_OP_TEXT];
}

/* ---- which rows ---- */

/* Told once per context. */
static bool is_comm(struct queues *queues, uint32_t context)
{
	struct wait_functions *waits = queues->question.waits;

	if (context >= queues->context_count)
		return wait_functions_match(waits, context);
	if (queues->kernels[context] == NOT_TOLD)
		queues->kernels[context] = wait_functions_match(waits, context) ? COMMUNICATES : COMPUTES;
	return queues->kernels[context] == COMMUNICATES;
}

/* A state: monitored for the whole life is as it should be. */
static void take_state(
	struct queues *queues, struct queue_reader *queue, uint32_t op, uint64_t begin_ns, uint64_t end_ns)
{
	if (op != STORE_OP_MONITORED || begin_ns > queue->life_begin_ns || end_ns < queue->life_end_ns) {
		queues->is_odd = true;
		return;
	}
	if (!queue->is_monitored && queue->life_begin_ns < queues->question.end_ns &&
		queue->life_end_ns > queues->question.begin_ns)
		queues->unmonitored--;
	queue->is_monitored = true;
}

/* The classes that there are, bits. */
static unsigned look(const struct queues *queues, const struct batch *batch)
{
	uint32_t ops = 0, all = 0;
	unsigned kinds = 0;

	for (size_t row = 0; row < batch->count; row++) {
		ops |= 1u << (batch->what[row] & 31);
		all |= batch->what[row];
	}
	if (all < 32)
		for (; ops; ops &= ops - 1)
			kinds |= 1u << class_at(queues, (uint32_t)__builtin_ctz(ops));
	else
		for (size_t row = 0; row < batch->count; row++)
			kinds |= 1u << class_at(queues, batch->what[row]);
	return kinds;
}

/* Whether some rows may be empty, and whether some may overlap each other or the row before: false is
 * certain. The sign of a difference marks it, or a huge difference; without comparisons the loop is
 * vectorized. */
struct doubts {
	bool last, overlap;
};

static struct doubts doubts_of(const struct rows *rows, uint64_t reach_ns)
{
	const uint64_t *begin_ns = rows->begin_ns, *end_ns = rows->end_ns;
	uint64_t last = 0, overlap = 0;
	size_t rest = rows->count - 1;

	if (!rows->count)
		return (struct doubts){false, false};
	for (size_t row = 0; row < rest; row++) {
		last |= (end_ns[row] - begin_ns[row] - 1) | end_ns[row];
		overlap |= begin_ns[row + 1] - end_ns[row];
	}
	last |= (end_ns[rest] - begin_ns[rest] - 1) | end_ns[rest];
	return (struct doubts){last >> 63, (last | overlap) >> 63 || begin_ns[0] < reach_ns};
}

/* The rows that are work, where others are not. */
static void sift(
	struct queues *queues, struct queue_reader *queue, const struct batch *batch, struct rows *rows)
{
	struct rows_memory *to = queues->work;
	size_t n = 0;

	for (size_t row = 0; row < batch->count; row++) {
		uint64_t begin_ns = batch->begin_ns[row], end_ns = batch->end_ns[row];
		uint32_t class = class_at(queues, batch->what[row]);

		if (class == CLASS_STATE)
			take_state(queues, queue, batch->what[row], begin_ns, end_ns);
		if (class >= LEVEL_COUNT || end_ns <= begin_ns)
			continue;
		to->begin_ns[n] = begin_ns;
		to->end_ns[n] = end_ns;
		to->links[n] = batch->link ? batch->link[row] : 0;
		to->context[n] = batch->context ? batch->context[row] : 0;
		to->kind[n++] = (uint8_t) class;
	}
	*rows = (struct rows){to->begin_ns, to->end_ns, to->links, to->context, n, rows->kinds};
}

/* What each row is, where that matters: where rows are left out. */
static void tell_kinds(struct queues *queues, const struct batch *batch, struct rows *rows, bool is_sifted)
{
	uint8_t *kind = queues->work->kind;

	if (!queues->wants[LEVEL_COMM])
		return;
	if (!(rows->kinds & (rows->kinds - 1)))
		memset(kind, rows->kinds ? __builtin_ctz(rows->kinds) : 0, rows->count);
	else if (!is_sifted)
		for (size_t row = 0; row < rows->count; row++)
			kind[row] = (uint8_t)class_at(queues, batch->what[row]);
	if (!queues->question.wants_kinds || !(rows->kinds & 1u << LEVEL_KERNEL))
		return;
	for (size_t row = 0; row < rows->count; row++)
		if (kind[row] == LEVEL_KERNEL && is_comm(queues, rows->context[row])) {
			kind[row] = LEVEL_COMM;
			rows->kinds |= 1u << LEVEL_COMM;
		}
}

/* ---- queues ---- */

static bool take_rows(struct queues *queues, uint32_t number, const struct batch *batch)
{
	struct rows rows = {batch->begin_ns, batch->end_ns, batch->link, batch->context, batch->count, 0};
	uint64_t reach_ns = queues->list[number].reach_ns;
	unsigned classes = look(queues, batch);
	struct doubts doubts;
	bool is_sifted;

	rows.kinds = classes & WORK_KINDS;
	doubts = doubts_of(&rows, reach_ns);
	is_sifted = classes != rows.kinds || doubts.last;
	if (is_sifted) {
		sift(queues, &queues->list[number], batch, &rows);
		doubts = doubts_of(&rows, reach_ns);
	}
	rows.overlap = doubts.overlap;
	tell_kinds(queues, batch, &rows, is_sifted);
	return queue_put_rows(queues, number, &rows);
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static bool take_rows_wide(struct queues *queues, uint32_t number, const struct batch *batch)
{
	return take_rows(queues, number, batch);
}
#endif

static bool take_rows_best(struct queues *queues, uint32_t number, const struct batch *batch)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2())
		return take_rows_wide(queues, number, batch);
#endif
	return take_rows(queues, number, batch);
}

int queue_fill(struct queues *queues, uint32_t number, struct error *error)
{
	struct queue_reader *queue = &queues->list[number];
	const struct batch *batch;
	size_t before;

	if (!queue_reserve(queues, queue))
		return error_memory(error);
	before = queue->edges[LEVEL_ANY].count;
	while (queue->edges[LEVEL_ANY].count == before) {
		long count = scan_next(queue->scan, &batch, error);

		queue->is_over = count <= 0;
		if (count <= 0)
			return (int)count;
		if (!take_rows_best(queues, number, batch))
			return error_memory(error);
	}
	return 0;
}

int queue_open(struct queues *queues, uint32_t number, uint32_t stream, struct error *error)
{
	const struct store_stream *s = &run_stream(queues->run, stream)->s;
	const struct queues_question *question = &queues->question;
	struct queue_reader *queue = &queues->list[number];
	uint64_t end_ns = question->end_ns;
	unsigned columns = STORE_END | STORE_WHAT;

	*queue = (struct queue_reader){
		.stream = stream, .life_begin_ns = s->begin_ns, .life_end_ns = s->end_ns};
	queues->is_odd |= s->end_ns <= s->begin_ns || s->end_ns == STORE_OPEN_NS;
	queues->unmonitored += s->begin_ns < question->end_ns && s->end_ns > question->begin_ns;
	if (!queue_begin(queues, queue))
		return error_memory(error);
	if (question->wants_next || question->wants_kinds)
		columns |= STORE_CONTEXT;
	if (question->launches) {
		columns |= STORE_LINK;
		end_ns = gpu_pending_after(end_ns);
	}
	return scan_open(&queue->scan, queues->run, stream, STORE_SPANS, question->begin_ns, end_ns, columns,
		0, error);
}

void queue_close(struct queue_reader *queue)
{
	scan_close(queue->scan);
	queue_forget(queue);
}
