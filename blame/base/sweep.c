/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - see sweep.h: a heap of lines by the end of their current piece. */
#include "blame/base/sweep.h"

#include <stdlib.h>

#include "blame/base/runtime_calls.h"
#include "store/base/array.h"
#include "timeline/scan/scan.h"

#define PIECES 64
#define AFTERS 64u /* most waits are few, and called again and again */

/* The samples of a line, read along only where its pieces name no context. */
struct resume {
	struct scan *scan;
	const struct batch *batch;
	size_t row;
	uint32_t context;
};

struct sweep_line {
	struct extent_walk *walk;
	uint32_t stream;
	bool is_cpu;
	const struct sweep_span *spans;
	size_t span_count, span;
	uint64_t span_ns; /* spans are turned into pieces up to here */
	struct extent piece[PIECES];
	long count, at;
	bool is_last_seen; /* the piece at `at` is where `resume` says */
	struct resume resume;
};

/* What runtime_calls_after() said. */
struct after {
	uint32_t context, wait, is;
};

struct due {
	uint64_t time_ns;
	uint32_t line;
};

struct sweep {
	struct run *run;
	uint64_t begin_ns, end_ns;
	struct sweep_line **lines;
	struct due *heap;
	uint32_t line_count, line_capacity, heap_count;
	bool is_ready;
	struct extent_classes classes; /* of GPU queues; none: nobody tells them apart */
	struct after afters[AFTERS];
};

int sweep_new(
	struct sweep **sweep_out, struct run *run, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	struct sweep *sweep = calloc(1, sizeof(*sweep));

	*sweep_out = sweep;
	if (!sweep)
		return error_memory(error);
	sweep->run = run;
	sweep->begin_ns = begin_ns;
	sweep->end_ns = end_ns;
	return 0;
}

void sweep_free(struct sweep *sweep)
{
	if (!sweep)
		return;
	for (uint32_t i = 0; i < sweep->line_count; i++) {
		extent_close(sweep->lines[i]->walk);
		scan_close(sweep->lines[i]->resume.scan);
		free(sweep->lines[i]);
	}
	free(sweep->lines);
	free(sweep->heap);
	free(sweep);
}

/* ---- timelines ---- */

static bool lines_widen(struct sweep *sweep)
{
	uint32_t capacity = sweep->line_capacity ? 2 * sweep->line_capacity : 16;

	if (!array_resize(&sweep->lines, capacity, sizeof(struct sweep_line *)) ||
		!array_resize(&sweep->heap, capacity, sizeof(*sweep->heap)))
		return false;
	sweep->line_capacity = capacity;
	return true;
}

static struct sweep_line *line_new(struct sweep *sweep)
{
	struct sweep_line *line;

	if (sweep->line_count == sweep->line_capacity && !lines_widen(sweep))
		return NULL;
	line = calloc(1, sizeof(*line));
	if (!line)
		return NULL;
	line->at = -1;
	sweep->lines[sweep->line_count] = line;
	sweep->heap[sweep->heap_count++] = (struct due){sweep->begin_ns, sweep->line_count++};
	return line;
}

void sweep_tell_classes(struct sweep *sweep, const struct extent_classes *classes)
{
	sweep->classes = *classes;
}

int sweep_add_stream(struct sweep *sweep, uint32_t stream, struct error *error)
{
	return sweep_add_stream_read(sweep, stream, NULL, error);
}

int sweep_add_stream_read(
	struct sweep *sweep, uint32_t stream, const struct extent_source *spans, struct error *error)
{
	struct sweep_line *line = line_new(sweep);
	int result;

	if (!line)
		return error_memory(error);
	line->stream = stream;
	line->is_cpu = run_stream(sweep->run, stream)->s.kind == STORE_STREAM_CPU;
	result = extent_open_read(
		&line->walk, sweep->run, stream, sweep->begin_ns, sweep->end_ns, spans, error);
	if (!result && line->is_cpu)
		extent_tell_ended(line->walk);
	else if (!result && sweep->classes.class_of)
		extent_tell_classes(line->walk, &sweep->classes);
	return result;
}

int sweep_add_spans(struct sweep *sweep, const struct sweep_span *spans, size_t count, struct error *error)
{
	struct sweep_line *line = line_new(sweep);

	if (!line)
		return error_memory(error);
	line->spans = spans;
	line->span_count = count;
	line->span_ns = sweep->begin_ns;
	return 0;
}

/* ---- pieces ---- */

static long spans_fill(const struct sweep *sweep, struct sweep_line *line)
{
	long count = 0;

	while (count < PIECES && line->span_ns < sweep->end_ns) {
		const struct sweep_span *span = &line->spans[line->span];
		struct extent *piece = &line->piece[count];
		uint64_t end_ns = sweep->end_ns;
		bool is_in = false;

		if (line->span < line->span_count) {
			is_in = span->begin_ns <= line->span_ns;
			end_ns = is_in ? span->end_ns : span->begin_ns;
			line->span += is_in;
		}
		if (end_ns <= line->span_ns)
			continue;
		*piece = (struct extent){line->span_ns, end_ns < sweep->end_ns ? end_ns : sweep->end_ns, 0,
			STORE_OP_NONE, is_in ? EXTENT_KERNEL : EXTENT_IDLE, false};
		line->span_ns = piece->end_ns;
		count++;
	}
	return count;
}

static int resume_begin(struct sweep *sweep, struct sweep_line *line, uint64_t begin_ns, struct error *error)
{
	return scan_open(&line->resume.scan, sweep->run, line->stream, STORE_SAMPLES, begin_ns, sweep->end_ns,
		STORE_CONTEXT | STORE_FLAGS, SCAN_CARRY, error);
}

/* Where the thread's last sample at this moment, or before it, was taken. */
static int resume_at(struct sweep *sweep, struct sweep_line *line, uint64_t time_ns, uint32_t *context,
	struct error *error)
{
	struct resume *resume = &line->resume;
	int result = resume->scan ? 0 : resume_begin(sweep, line, time_ns, error);

	while (!result) {
		if (!resume->batch || resume->row == resume->batch->count) {
			long count = scan_next(resume->scan, &resume->batch, error);

			resume->row = 0;
			if (count <= 0) {
				resume->batch = NULL;
				result = (int)count;
				break;
			}
		}
		if (resume->batch->begin_ns[resume->row] > time_ns)
			break;
		if (resume->batch->flags[resume->row] & STORE_RECORD_EXTENT)
			resume->context = resume->batch->context[resume->row];
		resume->row++;
	}
	*context = resume->context;
	return result;
}

static bool is_switched_out(const struct extent *piece)
{
	return piece->state == EXTENT_BLOCKED || piece->state == EXTENT_RUNNABLE;
}

/* Where the sample in force was taken, but for a call that is over. */
static void leave_call(struct sweep *sweep, struct extent *piece)
{
	struct after *after = &sweep->afters[(piece->context ^ piece->ended * 31) % AFTERS];

	if (!piece->ended || !piece->context)
		return;
	if (after->context != piece->context || after->wait != piece->ended)
		*after = (struct after){piece->context, piece->ended,
			runtime_calls_after(sweep->run, piece->context, piece->ended)};
	piece->context = after->is;
}

/* The next piece of a line, NULL at its end. */
static int line_next(
	struct sweep *sweep, struct sweep_line *line, struct extent **piece_out, struct error *error)
{
	struct extent *piece;

	*piece_out = NULL;
	line->is_last_seen = false;
	if (++line->at >= line->count) {
		line->at = 0;
		line->count = line->walk ? extent_next(line->walk, line->piece, PIECES, error)
					 : spans_fill(sweep, line);
	}
	if (line->count <= 0)
		return (int)line->count;
	piece = &line->piece[line->at];
	*piece_out = piece;
	if (!line->is_cpu)
		return 0;
	if (!piece->context && is_switched_out(piece)) {
		int result = resume_at(sweep, line, piece->begin_ns, &piece->context, error);

		if (result)
			return result;
		line->is_last_seen = true;
		leave_call(sweep, piece);
	} else if (piece->state == EXTENT_WORK && piece->op == STORE_OP_NONE) {
		leave_call(sweep, piece);
	}
	return 0;
}

/* ---- changes ---- */

static bool is_before(const struct due *a, const struct due *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->line < b->line;
}

static void heap_sink(struct sweep *sweep, uint32_t at)
{
	struct due *heap = sweep->heap, sinking;

	if (at >= sweep->heap_count)
		return;
	sinking = heap[at];
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= sweep->heap_count)
			break;
		if (child + 1 < sweep->heap_count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &sinking))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = sinking;
}

int sweep_next(struct sweep *sweep, struct sweep_change *change, struct error *error)
{
	struct due *first = sweep->heap;
	struct extent *piece;
	int result;

	if (!sweep->is_ready)
		for (uint32_t i = sweep->heap_count; i-- > 0;)
			heap_sink(sweep, i);
	sweep->is_ready = true;
	if (!sweep->heap_count)
		return 0;
	result = line_next(sweep, sweep->lines[first->line], &piece, error);
	if (result)
		return result;
	*change = (struct sweep_change){
		first->time_ns, first->line, piece, sweep->lines[first->line]->is_last_seen};
	if (piece)
		first->time_ns = piece->end_ns;
	else
		*first = sweep->heap[--sweep->heap_count];
	heap_sink(sweep, 0);
	return 1;
}
