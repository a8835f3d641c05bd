/* SPDX-License-Identifier: Apache-2.0 */
/* wait_cause_sums.c - see wait_causes.h: lays the causes over the threads' timelines and adds up what they
 * wait. */
#include <stdlib.h>
#include <string.h>

#include "blame/base/related.h"
#include "blame/wait/wait_causes.h"
#include "store/base/array.h"
#include "timeline/base/key_ids.h"

#define EXTENTS 256

struct row_id {
	uint32_t kind, party;
};

struct summing {
	struct run *run;
	const struct idle_question *question;
	struct wait_cause_sums *sums;
	struct key_ids ids;
	struct wait_cause_row *rows; /* by id */
	size_t capacity;
	uint64_t known_ns;    /* time in which a thread's state is known */
	uint8_t *by_function; /* by context: what a wait there is without a record, plus 1; 0: not asked */
	uint32_t context_count;
};

static bool waits(const struct summing *summing, const struct extent *piece)
{
	switch (piece->state) {
	case EXTENT_SYNC:
	case EXTENT_BLOCKED:
	case EXTENT_RUNNABLE:
		return true;
	default:
		return extent_state_is_busy(piece->state) &&
		       wait_functions_match(summing->question->waits, piece->context);
	}
}

static bool add(
	struct summing *summing, enum wait_cause_kind kind, uint32_t party, uint64_t time_ns, bool is_new)
{
	struct row_id id = {kind, party};
	bool is_row;
	uint32_t row;

	if (!time_ns)
		return true;
	summing->sums->waiting_ns += time_ns;
	summing->sums->kind_ns[kind] += time_ns;
	row = key_ids_put(&summing->ids, &id, &is_row);
	if (row == KEY_IDS_NONE ||
		!array_widen(&summing->rows, &summing->capacity, row, sizeof(*summing->rows)))
		return false;
	if (is_row)
		summing->rows[row] = (struct wait_cause_row){kind, party, 0, 0};
	summing->rows[row].time_ns += time_ns;
	summing->rows[row].waits += is_new;
	return true;
}

/* The causes of one thread, read from the first on. */
struct causes_cursor {
	const struct wait_cause *list;
	size_t count;
	size_t at;	/* the first that may reach into the piece */
	size_t counted; /* up to there they were counted as waits */
};

/* What the piece is where no record tells. */
static enum wait_cause_kind otherwise_of(struct summing *summing, const struct extent *piece)
{
	struct wait_functions *waits = summing->question->waits;
	bool is_kept = piece->context && piece->context < summing->context_count &&
		       piece->state != EXTENT_SYNC && piece->state != EXTENT_RUNNABLE;
	enum wait_cause_kind kind;

	if (is_kept && summing->by_function[piece->context])
		return (enum wait_cause_kind)(summing->by_function[piece->context] - 1);
	kind = wait_cause_by_function(summing->run, waits, piece->context, piece->state);
	if (is_kept)
		summing->by_function[piece->context] = (uint8_t)(kind + 1);
	return kind;
}

/* One waiting piece. */
static bool piece_add(struct summing *summing, const struct extent *piece, struct causes_cursor *cursor)
{
	uint64_t now_ns = piece->begin_ns;
	enum wait_cause_kind otherwise = otherwise_of(summing, piece);

	while (cursor->at < cursor->count && cursor->list[cursor->at].end_ns <= now_ns)
		cursor->at++;
	for (size_t i = cursor->at; now_ns < piece->end_ns; i++) {
		const struct wait_cause *cause = i < cursor->count ? &cursor->list[i] : NULL;
		uint64_t from_ns, until_ns;

		cause = cause && cause->begin_ns < piece->end_ns ? cause : NULL;
		from_ns = cause ? cause->begin_ns : piece->end_ns;
		until_ns = cause && cause->end_ns < piece->end_ns ? cause->end_ns : piece->end_ns;
		if (from_ns > now_ns && !add(summing, otherwise, CAUSE_NOBODY, from_ns - now_ns, true))
			return false;
		now_ns = from_ns > now_ns ? from_ns : now_ns;
		if (cause && !add(summing, cause->kind == CAUSE_UNKNOWN ? otherwise : cause->kind,
				     cause->party, until_ns - now_ns, i >= cursor->counted))
			return false;
		cursor->counted = cause && i >= cursor->counted ? i + 1 : cursor->counted;
		now_ns = until_ns;
	}
	return true;
}

static int thread_add(
	struct summing *summing, const struct wait_causes *causes, uint32_t stream, struct error *error)
{
	static struct extent pieces[EXTENTS];
	const struct idle_question *question = summing->question;
	struct causes_cursor waited = {0}, cores = {0};
	struct extent_walk *walk;
	long count = 0;
	int result = extent_open(&walk, summing->run, stream, question->begin_ns, question->end_ns, error);

	if (result)
		return result;
	waited.list = wait_causes_of(causes->list, causes->count, stream, &waited.count);
	cores.list = wait_causes_of(causes->cores, causes->core_count, stream, &cores.count);
	while (!result && (count = extent_next(walk, pieces, EXTENTS, error)) > 0)
		for (long i = 0; i < count && !result; i++) {
			bool is_known = pieces[i].state != EXTENT_ABSENT &&
					pieces[i].state != EXTENT_UNMONITORED &&
					pieces[i].state != EXTENT_UNKNOWN && pieces[i].state != EXTENT_LOST;

			summing->known_ns += is_known ? pieces[i].end_ns - pieces[i].begin_ns : 0;
			if (waits(summing, &pieces[i]) &&
				!piece_add(summing, &pieces[i],
					pieces[i].state == EXTENT_RUNNABLE ? &cores : &waited))
				result = error_memory(error);
		}
	extent_close(walk);
	return result ? result : (int)count;
}

static int row_compare(const void *left, const void *right)
{
	const struct wait_cause_row *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->party < b->party ? -1 : a->party > b->party;
}

static int fill(struct summing *summing, struct arena *arena, struct error *error)
{
	struct wait_cause_sums *sums = summing->sums;

	sums->unknown_ns = sums->kind_ns[CAUSE_UNKNOWN];
	if (!sums->threads)
		return error_set(error, ERROR_EMPTY,
			"no CPU thread is among the chosen streams; hpct-info --streams lists them");
	if (!summing->known_ns)
		return error_set(error, ERROR_EMPTY, "no CPU thread was monitored in this window");
	sums->rows = arena_calloc(arena, summing->ids.count + 1, sizeof(*sums->rows));
	if (!sums->rows)
		return error_memory(error);
	sums->row_count = summing->ids.count;
	if (sums->row_count)
		memcpy(sums->rows, summing->rows, sums->row_count * sizeof(*sums->rows));
	qsort(sums->rows, sums->row_count, sizeof(*sums->rows), row_compare);
	return 0;
}

int wait_cause_sums_find(struct wait_cause_sums *sums, struct run *run, const struct idle_question *asked,
	struct arena *arena, struct error *error)
{
	struct idle_question question = *asked;
	struct summing summing = {.run = run, .question = &question, .sums = sums};
	struct related related = {0};
	struct wait_causes causes = {0};
	int result = related_find(&related, run, asked->streams, asked->stream_count, true, arena, error);

	*sums = (struct wait_cause_sums){0};
	question.streams = related.streams;
	question.stream_count = related.count;
	if (!result)
		result = wait_causes_find(&causes, run, &question, arena, error);
	summing.context_count = run_context_count(run);
	summing.by_function = arena_calloc(arena, summing.context_count + 1, 1);
	if (!result && !summing.by_function)
		result = error_memory(error);
	key_ids_init(&summing.ids, sizeof(struct row_id));
	for (uint32_t i = 0; i < asked->stream_count && !result; i++) {
		if (run_stream(run, asked->streams[i])->s.kind != STORE_STREAM_CPU)
			continue;
		sums->threads++;
		result = thread_add(&summing, &causes, asked->streams[i], error);
	}
	if (!result)
		result = fill(&summing, arena, error);
	wait_causes_fini(&causes);
	key_ids_fini(&summing.ids);
	free(summing.rows);
	return result;
}
