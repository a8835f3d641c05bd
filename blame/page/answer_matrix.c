/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_matrix.c - hpct-blame --matrix: what was sent from process to process, as rows for scripts, a square
 * of bytes for people, or a picture.
 *
 *   from \ to   0        1        2
 *   0           .        4.0 MiB  .
 *   1           4.0 MiB  .        64 KiB
 */
#include <stdlib.h>
#include <string.h>

#include "blame/base/process.h"
#include "blame/base/related.h"
#include "blame/page/answer.h"
#include "blame/wait/call_waits.h"
#include "timeline/report/coverage.h"
#include "timeline/report/report_fit.h"

#define GRID_MOST 16u /* ranks of a square on a screen; more are rows */
#define PICTURE_MOST 1024u
#define CELL 12u
#define MARGIN 60u

struct pair {
	uint64_t messages, bytes, wait_ns;
};

struct matrix {
	const uint32_t *first; /* streams of the processes, by rank */
	uint32_t count;
	uint32_t *number_of; /* by stream: its process's number */
	struct pair *pairs;  /* count x count */
	uint64_t bytes, messages, most;
};

static struct pair *pair_of(const struct matrix *matrix, uint32_t from, uint32_t to)
{
	return &matrix->pairs[(size_t)from * matrix->count + to];
}

struct ranked {
	int32_t rank;
	struct process process;
};

static int rank_compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->process.streams[0] < b->process.streams[0] ? -1
							     : a->process.streams[0] > b->process.streams[0];
}

static void fill(struct matrix *matrix, const struct call_waits *waits)
{
	for (size_t i = 0; i < waits->traffic_count; i++) {
		const struct call_traffic *traffic = &waits->traffic[i];
		struct pair *pair =
			pair_of(matrix, matrix->number_of[traffic->from], matrix->number_of[traffic->to]);

		pair->messages += traffic->messages;
		pair->bytes += traffic->bytes;
		matrix->messages += traffic->messages;
		matrix->bytes += traffic->bytes;
		matrix->most = pair->bytes > matrix->most ? pair->bytes : matrix->most;
	}
	for (size_t i = 0; i < waits->count; i++) {
		const struct call_wait *wait = &waits->list[i];

		if (wait->state == CALL_WAIT_LATE_SENDER && wait->other != CALL_WAIT_UNTOLD)
			pair_of(matrix, matrix->number_of[wait->other], matrix->number_of[wait->waiter])
				->wait_ns += wait->waited_ns;
	}
}

static int make(struct matrix *matrix, struct program_call *call, const struct idle_question *question,
	const struct call_waits *waits, struct error *error)
{
	struct arena *arena = &call->arena;
	struct process *processes;
	struct ranked *ranked;
	uint32_t *first;
	int result = process_list(&processes, &matrix->count, call->run, question->streams,
		question->stream_count, arena, error);

	if (result)
		return result;
	if (matrix->count > PICTURE_MOST)
		return error_set(error, ERROR_USAGE,
			"%u processes are too many for a matrix; choose up to %u "
			"with --streams rank=A-B",
			matrix->count, PICTURE_MOST);
	ranked = arena_calloc(arena, matrix->count + 1, sizeof(*ranked));
	first = arena_calloc(arena, matrix->count + 1, sizeof(*first));
	matrix->number_of = arena_calloc(arena, run_stream_count(call->run) + 1, sizeof(*matrix->number_of));
	matrix->pairs =
		arena_calloc(arena, (size_t)matrix->count * matrix->count + 1, sizeof(*matrix->pairs));
	if (!ranked || !first || !matrix->number_of || !matrix->pairs)
		return error_memory(error);
	for (uint32_t p = 0; p < matrix->count; p++)
		ranked[p] =
			(struct ranked){run_stream(call->run, processes[p].streams[0])->s.rank, processes[p]};
	qsort(ranked, matrix->count, sizeof(*ranked), rank_compare);
	for (uint32_t p = 0; p < matrix->count; p++) {
		first[p] = ranked[p].process.streams[0];
		for (uint32_t i = 0; i < ranked[p].process.stream_count; i++)
			matrix->number_of[ranked[p].process.streams[i]] = p;
	}
	matrix->first = first;
	fill(matrix, waits);
	return 0;
}

/* ---- rows ---- */

static const struct report_column columns[] = {{"from", REPORT_TEXT}, {"to", REPORT_TEXT},
	{"messages", REPORT_NUMBER}, {"bytes", REPORT_SIZE}, {"wait_ns", REPORT_DURATION}};

static int print_rows(struct program_call *call, const struct matrix *matrix, struct error *error)
{
	uint64_t pairs = 0, top = program_top(call);
	struct report *report;
	int result = report_open(&report, stdout, call->format, "hpct-blame", columns,
		sizeof columns / sizeof *columns, error);

	if (result)
		return result;
	for (uint32_t from = 0; from < matrix->count; from++)
		for (uint32_t to = 0; to < matrix->count; to++) {
			const struct pair *pair = pair_of(matrix, from, to);

			if ((!pair->messages && !pair->wait_ns) || ++pairs > top)
				continue;
			report_string(
				report, answer_party_name(call->run, matrix->first[from], &call->arena));
			report_string(report, answer_party_name(call->run, matrix->first[to], &call->arena));
			report_number(report, pair->messages);
			report_number(report, pair->bytes);
			report_number(report, pair->wait_ns);
			report_row(report);
		}
	result = report_close(report, error);
	program_say_left_out(call, pairs);
	return result;
}

/* ---- a square ---- */

static int print_square(struct program_call *call, const struct matrix *matrix, struct error *error)
{
	struct report_column square[GRID_MOST + 1] = {{"from \\ to", REPORT_TEXT}};
	struct report *report;
	int result;

	for (uint32_t to = 0; to < matrix->count; to++)
		square[to + 1] = (struct report_column){
			answer_party_name(call->run, matrix->first[to], &call->arena), REPORT_SIZE};
	result = report_open(&report, stdout, call->format, "hpct-blame", square, matrix->count + 1, error);
	if (result)
		return result;
	for (uint32_t from = 0; from < matrix->count; from++) {
		report_string(report, answer_party_name(call->run, matrix->first[from], &call->arena));
		for (uint32_t to = 0; to < matrix->count; to++)
			if (pair_of(matrix, from, to)->messages)
				report_number(report, pair_of(matrix, from, to)->bytes);
			else
				report_none(report);
		report_row(report);
	}
	return report_close(report, error);
}

/* ---- a picture ---- */

/* Darker is more, by the logarithm: sizes of messages span orders of magnitude. */
static unsigned shade(uint64_t bytes, uint64_t most)
{
	unsigned of = 64u - (unsigned)__builtin_clzll(bytes + 1),
		 all = 64u - (unsigned)__builtin_clzll(most + 1);

	return all ? 235u - 200u * of / all : 235u;
}

static void print_cell(struct program_call *call, const struct matrix *matrix, uint32_t from, uint32_t to)
{
	const struct pair *pair = pair_of(matrix, from, to);
	unsigned grey = shade(pair->bytes, matrix->most);

	printf("<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"#%02x%02xf0\"><title>%s to %s: "
	       "%llu "
	       "messages, %llu bytes, late for %llu ns</title></rect>\n",
		MARGIN + to * CELL, MARGIN + from * CELL, CELL, CELL, grey, grey,
		answer_party_name(call->run, matrix->first[from], &call->arena),
		answer_party_name(call->run, matrix->first[to], &call->arena),
		(unsigned long long)pair->messages, (unsigned long long)pair->bytes,
		(unsigned long long)pair->wait_ns);
}

static void print_scale(const struct matrix *matrix)
{
	uint32_t step = matrix->count <= 16 ? 1 : matrix->count / 16;

	for (uint32_t i = 0; i < matrix->count; i += step) {
		printf("<text x=\"%u\" y=\"%u\" text-anchor=\"end\">%u</text>\n", MARGIN - 4,
			MARGIN + i * CELL + CELL - 2, i);
		printf("<text x=\"%u\" y=\"%u\">%u</text>\n", MARGIN + i * CELL, MARGIN - 4, i);
	}
}

static int print_picture(struct program_call *call, const struct matrix *matrix)
{
	unsigned size = 2 * MARGIN + matrix->count * CELL;

	printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
	       "font-family=\"sans-serif\" "
	       "font-size=\"9\">\n<rect width=\"%u\" height=\"%u\" fill=\"#ffffff\"/>\n",
		size, size, size, size);
	printf("<text x=\"%u\" y=\"14\" font-size=\"11\">bytes sent, row to column: %llu in %llu "
	       "messages</text>\n",
		MARGIN, (unsigned long long)matrix->bytes, (unsigned long long)matrix->messages);
	print_scale(matrix);
	for (uint32_t from = 0; from < matrix->count; from++)
		for (uint32_t to = 0; to < matrix->count; to++)
			if (pair_of(matrix, from, to)->messages)
				print_cell(call, matrix, from, to);
	printf("<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"none\" "
	       "stroke=\"#808080\"/>\n</svg>\n",
		MARGIN, MARGIN, matrix->count * CELL, matrix->count * CELL);
	return 0;
}

/* ---- all ---- */

static void print_head(struct program_call *call, const struct matrix *matrix, const struct call_waits *waits)
{
	char bytes[REPORT_HUMAN_MAX];

	if (call->format != REPORT_TABLE)
		return;
	report_human_size(bytes, matrix->bytes);
	report_fit_say(
		"%llu messages with %s, from row to column", (unsigned long long)matrix->messages, bytes);
	if (waits->unmatched)
		report_fit_say("%llu more sends have no receive that is known to be theirs",
			(unsigned long long)waits->unmatched);
	if (waits->summed)
		report_fit_say("%u process%s: short calls are sums there, their messages are not told",
			waits->summed, waits->summed == 1 ? "" : "es");
	answer_print_losses(call);
}

static int print(struct program_call *call, const struct ask *ask, const struct matrix *matrix,
	const struct call_waits *waits, struct error *error)
{
	if (ask->is_svg)
		return print_picture(call, matrix);
	print_head(call, matrix, waits);
	if (call->format == REPORT_TABLE && matrix->count <= GRID_MOST)
		return print_square(call, matrix, error);
	return print_rows(call, matrix, error);
}

int answer_matrix(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct call_waits waits = {0};
	struct matrix matrix = {0};
	int result = coverage_require(call->run, call->select, error);

	if (!result)
		result = call_waits_find(&waits, call->run, &question, &call->arena, error);
	if (!result)
		result = make(&matrix, call, &question, &waits, error);
	if (!result && !matrix.messages && !waits.unmatched)
		result = error_set(error, ERROR_EMPTY,
			"no messages: no two of these processes sent to each other by calls that are spans");
	if (!result)
		result = print(call, ask, &matrix, &waits, error);
	call_waits_fini(&waits);
	return result;
}
