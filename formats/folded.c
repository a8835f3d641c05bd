/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.c - stacks as flamegraph.pl, speedscope and inferno read them: "main;solve;smooth 1200", the
 * number being the weight (ns of CPU time). The format has no escapes: a ';' in a name becomes ':',
 * a control byte a space.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "store/arena.h"
#include "store/bytes.h"
#include "timeline/coverage.h"
#include "timeline/derived.h"
#include "timeline/window.h"

struct stack {
	const char *text;
	double real;
	uint64_t weight;
};

static int sum_samples(
	struct window *window, struct run *run, const struct select *select, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);
	int rc = window_add_weights(window, streams, count, select_records_begin_ns(select),
		select_records_end_ns(select), error);

	if (rc == 0)
		rc = derived_add_weights(window, run, streams, count, select_begin_ns(select),
			select_end_ns(select), select_derived(select), error);
	return rc;
}

static uint32_t find_derived(const struct run *run, const struct select *select)
{
	for (unsigned d = 0; d < DERIVED_COUNT; d++)
		if (select_derived(select) >> d & 1)
			return derived_number(run, (enum derived_metric)d);
	return UINT32_MAX;
}

/* A folded file holds one metric: that of the time source, else the first one sampled,
 * else a derived one. */
static uint32_t find_metric(struct run *run, const struct select *select, const struct window *window)
{
	size_t count;
	const struct window_weight *weights = window_weights(window, &count);
	uint32_t stream_count, found = UINT32_MAX;
	const uint32_t *streams = select_streams(select, &stream_count);

	for (size_t i = 0; i < count; i++) {
		const char *name;

		if (weights[i].metric >= run_metric_count(run) ||
			!select_wants_metric(select, weights[i].metric))
			continue;
		name = run_metric_name(run, weights[i].metric);
		for (uint32_t s = 0; s < stream_count; s++)
			if (strcmp(run_stream_read(run, streams[s])->metric, name) == 0)
				return weights[i].metric;
		if (weights[i].metric < found)
			found = weights[i].metric;
	}
	return found == UINT32_MAX ? find_derived(run, select) : found;
}

static void put_name(struct store_bytes *text, const struct run_function *function)
{
	for (uint32_t i = 0; i < function->name_bytes; i++) {
		unsigned char c = (unsigned char)function->name[i];
		char shown = c == ';' ? ':' : c < 0x20 || c == 0x7f ? ' ' : (char)c;

		store_bytes_put(text, &shown, 1);
	}
}

/* Frames from the root, as deep as asked for. NULL: memory is out. */
static const char *stack_text(
	const struct run *run, const struct select *select, uint32_t context, struct arena *arena)
{
	uint32_t scope = run_scope_at(run, run_context(run, context)->scope, select_depth(select)), count = 0;
	struct store_bytes text = {0};
	const char *copy = NULL;
	uint32_t *scopes;

	for (uint32_t at = scope; at != UINT32_MAX; at = run_scope(run, at)->parent)
		count++;
	scopes = malloc(((size_t)count + 1) * sizeof *scopes);
	if (!scopes)
		return NULL;
	for (uint32_t i = count; i-- > 0; scope = run_scope(run, scope)->parent)
		scopes[i] = scope;
	for (uint32_t i = 0; i < count; i++) {
		if (count > 1 && scopes[i] == RUN_SCOPE_PROGRAM_ROOT)
			continue;
		if (text.size > 0)
			store_bytes_put(&text, ";", 1);
		put_name(&text, run_function(run, run_scope(run, scopes[i])->function));
	}
	if (count == 0)
		store_bytes_put(&text, "<unknown>", 9);
	if (!text.failed)
		copy = arena_copy(arena, (const char *)text.data, text.size);
	store_bytes_fini(&text);
	free(scopes);
	return copy;
}

static int compare_stacks(const void *left, const void *right)
{
	const struct stack *a = left, *b = right;

	return strcmp(a->text, b->text);
}

/* Contexts that read the same are one stack. */
static void write_stacks(struct stack *stacks, size_t count, bool is_real, FILE *out)
{
	qsort(stacks, count, sizeof *stacks, compare_stacks);
	for (size_t i = 0; i < count;) {
		struct stack sum = {.text = stacks[i].text};

		for (; i < count && strcmp(stacks[i].text, sum.text) == 0; i++) {
			sum.weight += stacks[i].weight;
			sum.real += stacks[i].real;
		}
		if (is_real)
			sum.weight = sum.real > 0 ? (uint64_t)(sum.real + 0.5) : 0;
		if (sum.weight > 0)
			fprintf(out, "%s %" PRIu64 "\n", sum.text, sum.weight);
	}
}

static int put_window(struct run *run, const struct select *select, const struct window *window, FILE *out,
	struct error *error)
{
	uint32_t metric = find_metric(run, select, window);
	struct arena arena = {0};
	size_t count, used = 0;
	const struct window_weight *weights = window_weights(window, &count);
	struct stack *stacks = arena_calloc(&arena, count + 1, sizeof *stacks);
	bool ok = stacks != NULL;

	for (size_t i = 0; i < count && ok; i++) {
		if (weights[i].metric != metric || !select_wants_context(select, weights[i].context))
			continue;
		stacks[used].weight = weights[i].weight;
		stacks[used].real = weights[i].real;
		stacks[used].text = stack_text(run, select, weights[i].context, &arena);
		ok = stacks[used++].text != NULL;
	}
	if (ok)
		write_stacks(
			stacks, used, metric < run_metric_count(run) && run_metric_is_real(run, metric), out);
	arena_fini(&arena);
	return ok ? 0 : error_memory(error);
}

static int folded_put(struct run *run, const struct select *select, FILE *out, struct error *error)
{
	struct window *window = NULL;
	int rc = coverage_require(run, select, error);

	if (rc == 0)
		rc = window_new(&window, run, error);
	if (rc < 0)
		return rc;
	rc = sum_samples(window, run, select, error);
	if (rc == 0)
		rc = put_window(run, select, window, out, error);
	window_free(window);
	return rc;
}

const struct format format_folded = {
	.name = "folded", .about = "flame graphs", .put = folded_put, .takes_derived = true};
