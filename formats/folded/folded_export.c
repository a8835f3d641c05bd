/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.c - folded stacks for flamegraph.pl, speedscope and inferno: "main;solve;smooth 1200", where the
 * number is the weight (ns of CPU time). The format has no escapes: a ';' in a name becomes ':', a control
 * byte a space.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/format.h"
#include "formats/base/selected_weights.h"
#include "formats/folded/folded_import.h"
#include "store/base/arena.h"
#include "store/base/bytes.h"
#include "timeline/sum/state_metrics.h"

struct stack {
	const char *text;
	double real;
	uint64_t weight;
};

static uint32_t find_state_metric(const struct run *run, const struct select *select)
{
	for (unsigned d = 0; d < STATE_METRIC_COUNT; d++)
		if (select_state_metrics(select) >> d & 1)
			return state_metrics_number(run, (enum state_metric)d);
	return UINT32_MAX;
}

static bool is_time_source(struct run *run, const struct select *select, uint32_t metric)
{
	const char *name = run_metric_name(run, metric);
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);

	for (uint32_t s = 0; s < count; s++)
		if (strcmp(run_stream_read(run, streams[s])->metric, name) == 0)
			return true;
	return false;
}

static bool is_sampled(const struct window *window, uint32_t metric)
{
	size_t count;
	const struct window_weight *weights = window_weights(window, &count);

	for (size_t i = 0; i < count; i++)
		if (weights[i].metric == metric)
			return true;
	return false;
}

/* A folded file holds one metric: that of the time source, else one that was sampled, of several the first by
 * name, else a derived one. */
static uint32_t find_metric(struct run *run, const struct select *select, const struct window *window)
{
	uint32_t found = UINT32_MAX;
	bool is_source = false;

	for (uint32_t metric = 0; metric < run_metric_count(run); metric++) {
		bool is_better;

		if (!select_wants_metric(select, metric) || !is_sampled(window, metric))
			continue;
		is_better = is_time_source(run, select, metric);
		if (is_better == is_source)
			is_better = found == UINT32_MAX || run_metric_compare(run, metric, found) < 0;
		found = is_better ? metric : found;
		is_source |= is_better && is_time_source(run, select, metric);
	}
	return found == UINT32_MAX ? find_state_metric(run, select) : found;
}

static void put_name(struct store_bytes *text, const struct run_function *function)
{
	for (uint32_t i = 0; i < function->name_bytes; i++) {
		unsigned char c = (unsigned char)function->name[i];
		char shown = c == ';' ? ':' : c < 0x20 || c == 0x7f ? ' ' : (char)c;

		store_bytes_put(text, &shown, 1);
	}
}

/* Frames from the root, down to the requested depth. NULL: no memory. */
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

/* Contexts that read the same are one stack: the first of them has them all, the others nothing. False: one
 * is more than 64 bits hold. */
static bool merge_stacks(struct stack *stacks, size_t count)
{
	bool fits = true;

	qsort(stacks, count, sizeof *stacks, compare_stacks);
	for (size_t i = 1, first = 0; i < count; i++) {
		if (strcmp(stacks[i].text, stacks[first].text) != 0) {
			first = i;
			continue;
		}
		stacks[first].weight += stacks[i].weight;
		stacks[first].real += stacks[i].real;
		fits &= stacks[first].weight >= stacks[i].weight;
		stacks[i].weight = 0;
		stacks[i].real = 0;
	}
	return fits;
}

static bool write_stacks(const struct stack *stacks, size_t count, bool is_real, FILE *out)
{
	bool has_any = false;

	for (size_t i = 0; i < count; i++) {
		uint64_t weight = stacks[i].weight;

		if (is_real)
			weight = stacks[i].real > 0 ? (uint64_t)(stacks[i].real + 0.5) : 0;
		if (weight > 0)
			fprintf(out, "%s %" PRIu64 "\n", stacks[i].text, weight);
		has_any |= weight > 0;
	}
	return has_any;
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
	int rc = 0;

	for (size_t i = 0; i < count && ok; i++) {
		if (weights[i].metric != metric || !select_wants_context(select, weights[i].context))
			continue;
		stacks[used].weight = weights[i].weight;
		stacks[used].real = weights[i].real;
		stacks[used].text = stack_text(run, select, weights[i].context, &arena);
		ok = stacks[used++].text != NULL;
	}
	if (ok && !merge_stacks(stacks, used))
		rc = error_set(error, ERROR_USAGE,
			"a stack's weight is more than 64 bits hold: choose fewer --streams, or a part of it "
			"with --time");
	else if (ok && !write_stacks(stacks, used,
			       metric < run_metric_count(run) && run_metric_is_real(run, metric), out))
		rc = 1;
	else if (!ok)
		rc = error_memory(error);
	arena_fini(&arena);
	return rc;
}

static int folded_put(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	struct window *window = NULL;
	int rc = selected_weights(&window, run, select, select_state_metrics(select), error);

	if (rc == 0)
		rc = put_window(run, select, window, output->out, error);
	window_free(window);
	return rc;
}

const struct format format_folded = {.name = "folded",
	.about = "flame graphs",
	.put = folded_put,
	.lacks = FORMAT_LACKS_VALUES | FORMAT_LACKS_PC | FORMAT_LACKS_REGIONS,
	.take = folded_import,
	.is = folded_is,
	.refused = "op min",
	.takes_state_metrics = true};
