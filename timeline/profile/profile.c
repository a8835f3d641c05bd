/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.c - sums the samples of a window by scope; the views do the rest.
 */
#include "timeline/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/profile/profile_launches.h"
#include "timeline/profile/profile_tree.h"
#include "timeline/sum/gpu_metric.h"
#include "timeline/sum/window.h"

static const char *const view_names[PROFILE_VIEW_COUNT] = {
	[PROFILE_TOP_DOWN] = "top-down", [PROFILE_BOTTOM_UP] = "bottom-up", [PROFILE_FLAT] = "flat"};
static const char *const kind_names[] = {[PROFILE_ROOT] = "root",
	[PROFILE_FUNCTION] = "function",
	[PROFILE_INLINE] = "inline",
	[PROFILE_LOOP] = "loop",
	[PROFILE_LINE] = "line",
	[PROFILE_INSTRUCTION] = "instruction",
	[PROFILE_FILE] = "file",
	[PROFILE_MODULE] = "module"};

const char *profile_view_name(enum profile_view view)
{
	return view_names[view];
}

int profile_view_find(const char *name)
{
	for (int i = 0; i < PROFILE_VIEW_COUNT; i++)
		if (strcmp(view_names[i], name) == 0)
			return i;
	return -1;
}

const char *profile_kind_name(enum profile_kind kind)
{
	return kind_names[kind];
}

/* ---- samples ---- */

static int sum_samples(struct window **window, struct run *run, const struct select *select,
	const uint32_t *streams, uint32_t count, struct error *error)
{
	uint64_t begin_ns = select_records_begin_ns(select), end_ns = select_records_end_ns(select);
	int rc = window_new(window, run, error);

	if (rc == 0)
		rc = window_add_weights(*window, streams, count, begin_ns, end_ns, error);
	if (rc == 0)
		rc = window_add_values(*window, streams, count, begin_ns, end_ns, error);
	if (rc == 0)
		rc = state_metrics_add_weights(*window, run, streams, count, select_begin_ns(select),
			select_end_ns(select), select_state_metrics(select), error);
	if (rc == 0)
		rc = gpu_metric_add_weights(
			*window, run, streams, count, begin_ns, end_ns, select_gpu(select), error);
	return rc ? rc : window_check_weights(*window, error);
}

/* ---- scopes ---- */

size_t profile_metric_index(const struct profile *profile, uint32_t metric)
{
	size_t i = 0;

	while (i < profile->metric_count && profile->metrics[i].metric != metric)
		i++;
	return i;
}

bool scope_sums_add_line(struct scope_sums *sums, const struct run_context *context,
	const struct profile *profile, size_t metric, union profile_value value)
{
	struct line_key key = {.file = (uint64_t)(uintptr_t)context->file,
		.scope = context->scope,
		.line = context->line,
		.loop = context->loop};
	bool is_new;
	uint32_t line;
	size_t row = profile->metric_count;

	if (context->scope == UINT32_MAX ||
		((!context->file[0] || context->line == 0) && context->loop == RUN_LOOP_NONE))
		return true;
	line = key_ids_put(&sums->lines, &key, &is_new);
	if (line == KEY_IDS_NONE)
		return false;
	/* Room doubles at each power of two. */
	if (is_new && (line & (line - 1)) == 0 &&
		!array_resize(
			&sums->line_values, line ? 2 * (size_t)line : 1, row * sizeof *sums->line_values))
		return false;
	if (is_new)
		memset(sums->line_values + line * row, 0, row * sizeof *sums->line_values);
	value_add(&profile->metrics[metric], &sums->line_values[line * row + metric], value);
	return true;
}

/* As many as there were, whatever they weigh. */
static bool add_count(struct scope_sums *sums, const struct run_context *context,
	const struct profile *profile, uint32_t scope, const struct window_weight *weight)
{
	union profile_value value = {.number = weight->samples};
	size_t last = profile->metric_count - 1;

	/* what opens a thread weighs nothing, and is no row */
	if (!profile->has_samples || weight->metric != profile->metrics[last].counted || !weight->weight)
		return true;
	value_add(&profile->metrics[last], &sums->exclusive[scope * profile->metric_count + last], value);
	return scope_sums_add_line(sums, context, profile, last, value);
}

static int add_weights(struct scope_sums *sums, const struct profile *profile, const struct select *select,
	const struct window *window, struct error *error)
{
	size_t count;
	const struct window_weight *weights = window_weights(window, &count);

	for (size_t i = 0; i < count; i++) {
		const struct window_weight *weight = &weights[i];
		const struct run_context *context = run_context(sums->run, weight->context);
		size_t metric = profile_metric_index(profile, weight->metric);
		uint32_t scope = context->scope == UINT32_MAX ? RUN_SCOPE_PROGRAM_ROOT : context->scope;
		union profile_value value = {.number = weight->weight};

		if (metric == profile->metric_count || !select_wants_context(select, weight->context))
			continue;
		if (profile->metrics[metric].is_real)
			value.real = weight->real;
		value_add(&profile->metrics[metric], &sums->exclusive[scope * profile->metric_count + metric],
			value);
		if (!values_are_zero(&value, 1))
			sums->met[scope] |= SCOPE_MET_OWN;
		if (!scope_sums_add_line(sums, context, profile, metric, value) ||
			!add_count(sums, context, profile, scope, weight))
			return error_memory(error);
	}
	return 0;
}

/* A scope's number is larger than its caller's. */
static void sum_subtrees(struct scope_sums *sums, const struct profile *profile)
{
	size_t row = profile->metric_count;

	for (uint32_t scope = sums->scope_count; scope-- > 0;) {
		uint32_t parent = run_scope(sums->run, scope)->parent;

		if (sums->met[scope] && parent != PROFILE_TREE_NONE)
			sums->met[parent] |= SCOPE_MET_BELOW;
		for (size_t m = 0; m < row; m++) {
			union profile_value *own = &sums->inclusive[scope * row + m];

			value_add(&profile->metrics[m], own, sums->exclusive[scope * row + m]);
			if (parent != PROFILE_TREE_NONE)
				value_add(&profile->metrics[m], &sums->inclusive[parent * row + m], *own);
		}
	}
}

/* What was sampled at a function's instructions is its own cost, too: they are no callees. */
static void own_instructions(struct scope_sums *sums, const struct profile *profile)
{
	size_t row = profile->metric_count;

	for (uint32_t i = 0; i < sums->scope_count; i++) {
		const struct run_scope *scope = run_scope(sums->run, i);

		if (!sums->met[i] || scope->kind != RUN_SCOPE_INSTRUCTION ||
			scope->parent == PROFILE_TREE_NONE)
			continue;
		sums->met[scope->parent] |= SCOPE_MET_OWN;
		for (size_t m = 0; m < row; m++)
			value_add(&profile->metrics[m], &sums->exclusive[scope->parent * row + m],
				sums->exclusive[i * row + m]);
	}
}

/* Names every context of the window, so that the number of scopes stands; in the order of their ids, since
 * what is met first tells where a function is defined. */
static int expand_contexts(const struct run *run, const struct window *window, struct error *error)
{
	size_t count;
	const struct window_weight *weights = window_weights(window, &count);
	uint32_t contexts = run_context_count(run);
	uint8_t *is_met = calloc((size_t)contexts + 1, 1);

	if (!is_met)
		return error_memory(error);
	for (size_t i = 0; i < count; i++)
		is_met[weights[i].context] = 1;
	for (uint32_t context = 0; context < contexts; context++)
		if (is_met[context])
			run_context(run, context);
	free(is_met);
	return 0;
}

static int sum_scopes(struct scope_sums *sums, const struct profile *profile, const struct select *select,
	const struct window *window, const struct profile_launches *launches, struct error *error)
{
	size_t values;

	if (expand_contexts(sums->run, window, error) < 0)
		return -ERROR_IO;
	profile_launches_expand(launches);
	sums->scope_count = run_scope_count(sums->run);
	values = (size_t)sums->scope_count * profile->metric_count + 1;
	sums->inclusive = calloc(values, sizeof *sums->inclusive);
	sums->exclusive = calloc(values, sizeof *sums->exclusive);
	sums->met = calloc((size_t)sums->scope_count + 1, sizeof *sums->met);
	if (!sums->inclusive || !sums->exclusive || !sums->met)
		return error_memory(error);
	if (add_weights(sums, profile, select, window, error) < 0 ||
		profile_launches_add(launches, sums, profile, error) < 0)
		return -ERROR_IO;
	sum_subtrees(sums, profile);
	own_instructions(sums, profile);
	return 0;
}

void scope_sums_fini(struct scope_sums *sums)
{
	key_ids_fini(&sums->lines);
	free(sums->line_values);
	free(sums->inclusive);
	free(sums->exclusive);
	free(sums->met);
}

static bool has_met(const struct scope_sums *sums)
{
	for (uint32_t scope = 0; scope < sums->scope_count; scope++)
		if (sums->met[scope])
			return true;
	return false;
}

/* ---- the whole ---- */

static int build_view(
	struct profile_tree *tree, const struct scope_sums *sums, enum profile_view view, uint32_t depth)
{
	switch (view) {
	case PROFILE_BOTTOM_UP:
		return profile_bottom_up(
			tree, sums, depth < PROFILE_CALLERS_MAX ? depth : PROFILE_CALLERS_MAX);
	case PROFILE_FLAT:
		return profile_flat(tree, sums);
	default:
		return profile_top_down(tree, sums);
	}
}

/* Behind the metrics that are shown. */
static void put_samples(struct profile *profile, struct run *run, const struct select *select)
{
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);

	for (size_t m = 0; m < profile->metric_count && !profile->has_samples; m++)
		for (uint32_t i = 0; i < count && !profile->has_samples; i++)
			if (strcmp(run_stream_read(run, streams[i])->metric, profile->metrics[m].name) == 0) {
				profile->metrics[profile->metric_count++] =
					(struct profile_metric){.metric = UINT32_MAX,
						.counted = profile->metrics[m].metric,
						.name = "samples",
						.unit = ""};
				profile->has_samples = true;
			}
}

/* Sums of these streams, in the profile's metrics, which are found first where it has none. */
static int sums_make(struct scope_sums *sums, struct profile *profile, const struct profile_part *part,
	struct error *error)
{
	struct profile_launches launches;
	struct window *window = NULL;
	int rc = profile_launches_read(&launches, part, error);

	*sums = (struct scope_sums){.run = part->run};
	key_ids_init(&sums->lines, sizeof(struct line_key));
	if (rc == 0)
		rc = sum_samples(
			&window, part->run, part->select, launches.others, launches.other_count, error);
	if (rc == 0)
		rc = profile_launches_mark(&launches, window, error);
	if (rc == 0 && !profile->metrics)
		rc = profile_metrics_find(profile, part->run, part->select, window, part->arena, error);
	if (rc == 0 && part->counts)
		put_samples(profile, part->run, part->select);
	if (rc == 0)
		rc = sum_scopes(sums, profile, part->select, window, &launches, error);
	if (window)
		window_free(window);
	profile_launches_fini(&launches);
	return rc;
}

const uint32_t *profile_streams(const struct select *select, uint32_t *count)
{
	return select_has_metric(select) ? select_all_streams(select, count) : select_streams(select, count);
}

static int sums_init(struct scope_sums *sums, struct profile *profile, struct run *run,
	const struct select *select, bool counts, struct arena *arena, struct error *error)
{
	struct profile_part part = {.run = run, .select = select, .arena = arena, .counts = counts};

	part.streams = profile_streams(select, &part.count);
	*profile = (struct profile){0};
	return sums_make(sums, profile, &part, error);
}

static int make_tree(struct profile_tree *tree, const struct profile *profile, const struct scope_sums *sums,
	const struct select *select, enum profile_view view, struct error *error)
{
	int rc = profile_tree_init(tree, profile->metrics, profile->metric_count);

	if (rc == 0)
		rc = build_view(tree, sums, view, select_depth(select));
	if (rc == 0)
		profile_ratios(profile, tree->values, 2 * (size_t)tree->nodes.count);
	return rc < 0 ? error_memory(error) : 0;
}

int profile_tree_of(struct profile_tree *tree, const struct profile *profile, const struct profile_part *part,
	struct error *error)
{
	struct profile same = *profile;
	struct scope_sums sums;
	int rc = sums_make(&sums, &same, part, error);

	if (rc == 0) {
		rc = make_tree(tree, profile, &sums, part->select, part->view, error);
		if (rc < 0)
			profile_tree_fini(tree);
	}
	scope_sums_fini(&sums);
	return rc;
}

static int compute_tree(struct profile *profile, struct profile_tree *tree, struct run *run,
	const struct select *select, enum profile_view view, bool counts, struct arena *arena,
	struct error *error)
{
	struct scope_sums sums;
	int rc = sums_init(&sums, profile, run, select, counts, arena, error);

	if (rc == 0) {
		rc = make_tree(tree, profile, &sums, select, view, error);
		if (rc == 0)
			rc = profile_tree_rows(tree, run, select_depth(select), profile, arena, error);
		if (rc == 0 && !has_met(&sums))
			profile->count = 0;
		if (rc < 0)
			profile_tree_fini(tree);
	}
	scope_sums_fini(&sums);
	return rc;
}

int profile_compute_tree(struct profile *profile, struct profile_tree *tree, struct run *run,
	const struct select *select, enum profile_view view, struct arena *arena, struct error *error)
{
	return compute_tree(profile, tree, run, select, view, false, arena, error);
}

int scope_sums_init(struct scope_sums *sums, struct profile *profile, struct run *run,
	const struct select *select, struct arena *arena, struct error *error)
{
	return sums_init(sums, profile, run, select, false, arena, error);
}

static int compute(struct profile *profile, struct run *run, const struct select *select,
	enum profile_view view, bool counts, struct arena *arena, struct error *error)
{
	struct profile_tree tree;
	int rc = compute_tree(profile, &tree, run, select, view, counts, arena, error);

	if (rc == 0)
		profile_tree_fini(&tree);
	return rc;
}

int profile_compute(struct profile *profile, struct run *run, const struct select *select,
	enum profile_view view, struct arena *arena, struct error *error)
{
	return compute(profile, run, select, view, false, arena, error);
}

int profile_compute_counted(struct profile *profile, struct run *run, const struct select *select,
	enum profile_view view, struct arena *arena, struct error *error)
{
	return compute(profile, run, select, view, true, arena, error);
}
