/* SPDX-License-Identifier: Apache-2.0 */
/* instructions.c - see instructions.h. */
#include "timeline/stats/instructions.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/escape.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/stats/stats.h"

#define PREFIX "GINST:STL_"
#define LATENCY "/not_issued"
#define ISSUED "NONE"
#define STALLS 32u

enum by { BY_KERNEL, BY_PATH, BY_MODULE, BY_INSTRUCTION, BY_STALL, BY_PLACE };

/* What a metric of the run counts. */
struct reason {
	uint32_t stall; /* among the names; KEY_IDS_NONE: it counts something else */
	bool is_latency;
};

/* A row with its sums by reason. */
struct sums {
	struct instructions_row row;
	double by_stall[STALLS];
};

struct summing {
	struct run *run;
	const struct select *select;
	enum by by;
	enum row_key_by place;	/* of BY_PLACE */
	struct reason *reasons; /* by metric */
	uint32_t metric_count;
	const char *names[STALLS];
	uint32_t name_count;
	struct key_ids keys; /* of hashes */
	struct sums *sums;
	size_t capacity;
	struct store_bytes key;
	struct arena *arena;
};

/* ---- the key ---- */

static int find_by(struct summing *summing, struct error *error)
{
	static const struct {
		const char *name;
		enum by by;
		enum row_key_by place;
	} known[] = {{"function", BY_KERNEL, 0}, {"path", BY_PATH, 0}, {"module", BY_MODULE, 0},
		{"instruction", BY_INSTRUCTION, 0}, {"stall", BY_STALL, 0}, {"line", BY_PLACE, ROW_KEY_LINE},
		{"loop", BY_PLACE, ROW_KEY_LOOP}, {"file", BY_PLACE, ROW_KEY_FILE}};
	const char *name = select_by(summing->select) ? select_by(summing->select) : "function";

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, name) == 0) {
			summing->by = known[i].by;
			summing->place = known[i].place;
			return 0;
		}
	return error_set(error, ERROR_USAGE,
		"--by %s: samples of GPU instructions are by " INSTRUCTIONS_BY_NAMES, name);
}

static const struct run_function *leaf_of(const struct run *run, uint32_t context)
{
	uint32_t scope = run_context(run, context)->scope;

	return scope == UINT32_MAX ? NULL : run_function(run, run_scope(run, scope)->function);
}

static void put_function(struct store_bytes *out, const struct run_function *function)
{
	if (function)
		escape_frame(out, function->name, function->name_bytes);
	else
		store_bytes_put(out, "<unknown>", strlen("<unknown>"));
}

/* "KEY+0xADDRESS" is of the binary KEY. */
static void put_module(struct store_bytes *out, const struct run_function *leaf)
{
	const char *plus = leaf ? strstr(leaf->name, "+0x") : NULL;

	if (plus)
		store_bytes_put(out, leaf->name, (size_t)(plus - leaf->name));
	else
		store_bytes_put(out, "<unknown module>", strlen("<unknown module>"));
}

static bool put_key(struct summing *summing, const struct launch_samples_row *row)
{
	const struct run *run = summing->run;
	struct store_bytes *out = &summing->key;

	out->size = 0;
	switch (summing->by) {
	case BY_PLACE:
		return row_key_put(out, run, row->context, summing->place, UINT32_MAX);
	case BY_PATH:
		return row_key_put(out, run, row->launch ? row->launch : row->context, ROW_KEY_PATH,
			select_depth(summing->select));
	case BY_STALL:
		store_bytes_put(out, summing->names[summing->reasons[row->metric].stall],
			strlen(summing->names[summing->reasons[row->metric].stall]));
		break;
	case BY_MODULE:
		put_module(out, leaf_of(run, row->context));
		break;
	case BY_INSTRUCTION:
		put_function(out, run_context_kernel(run, row->context));
		store_bytes_put(out, ";", 1);
		put_function(out, leaf_of(run, row->context));
		break;
	default:
		put_function(out, run_context_kernel(run, row->context));
	}
	return !out->failed;
}

/* ---- reasons ---- */

static struct reason reason_of(struct summing *summing, const char *name)
{
	struct reason reason = {.stall = KEY_IDS_NONE};
	size_t size = strlen(name), bytes;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return reason;
	reason.is_latency = size > strlen(LATENCY) && strcmp(name + size - strlen(LATENCY), LATENCY) == 0;
	name += strlen(PREFIX);
	bytes = strcspn(name, "/");
	for (reason.stall = 0; reason.stall < summing->name_count; reason.stall++)
		if (strlen(summing->names[reason.stall]) == bytes &&
			memcmp(summing->names[reason.stall], name, bytes) == 0)
			return reason;
	if (summing->name_count == STALLS)
		reason.stall = KEY_IDS_NONE;
	else
		summing->names[summing->name_count++] = arena_copy(summing->arena, name, bytes);
	return reason;
}

static int reasons_find(struct summing *summing, struct error *error)
{
	summing->metric_count = run_metric_count(summing->run);
	summing->reasons =
		arena_calloc(summing->arena, (size_t)summing->metric_count + 1, sizeof *summing->reasons);
	if (!summing->reasons)
		return error_memory(error);
	for (uint32_t m = 0; m < summing->metric_count; m++)
		summing->reasons[m] = reason_of(summing, run_metric_name(summing->run, m));
	for (uint32_t i = 0; i < summing->name_count; i++)
		if (!summing->names[i])
			return error_memory(error);
	return 0;
}

/* ---- sums ---- */

static struct sums *sums_of(struct summing *summing)
{
	uint64_t hash[2] = {store_hash64(summing->key.data, summing->key.size, 1),
		store_hash64(summing->key.data, summing->key.size, 2)};
	bool is_new;
	uint32_t at = key_ids_put(&summing->keys, hash, &is_new);

	if (at == KEY_IDS_NONE ||
		(is_new && !array_widen(&summing->sums, &summing->capacity, at, sizeof *summing->sums)))
		return NULL;
	if (is_new) {
		summing->sums[at] =
			(struct sums){.row.key = arena_copy(summing->arena, (const char *)summing->key.data,
					      summing->key.size)};
		if (!summing->sums[at].row.key)
			return NULL;
	}
	return &summing->sums[at];
}

static int row_take(struct summing *summing, const struct launch_samples_row *row, struct error *error)
{
	const struct reason *reason =
		row->metric < summing->metric_count ? &summing->reasons[row->metric] : NULL;
	struct sums *sums;

	if (!reason || reason->stall == KEY_IDS_NONE)
		return 0;
	sums = put_key(summing, row) ? sums_of(summing) : NULL;
	if (!sums)
		return error_memory(error);
	sums->row.weight += row->weight;
	sums->row.latency += reason->is_latency ? row->weight : 0;
	sums->by_stall[reason->stall] += row->weight;
	return 0;
}

/* Full use of the launches' time, for the rows that there are. */
static int expected_take(
	struct summing *summing, const struct launch_samples_expected *expected, struct error *error)
{
	struct launch_samples_row row = {.launch = expected->launch, .context = expected->launch};
	uint64_t hash[2];
	uint32_t at;

	if (!put_key(summing, &row))
		return error_memory(error);
	hash[0] = store_hash64(summing->key.data, summing->key.size, 1);
	hash[1] = store_hash64(summing->key.data, summing->key.size, 2);
	at = key_ids_find(&summing->keys, hash);
	if (at != KEY_IDS_NONE)
		summing->sums[at].row.expected += expected->weight;
	return 0;
}

static void row_finish(const struct summing *summing, struct sums *sums)
{
	sums->row.stall = "";
	for (uint32_t i = 0; i < summing->name_count; i++) {
		if (strcmp(summing->names[i], ISSUED) == 0) {
			sums->row.issued = sums->by_stall[i];
		} else if (sums->by_stall[i] > sums->row.stalled) {
			sums->row.stalled = sums->by_stall[i];
			sums->row.stall = summing->names[i];
		}
	}
}

static int row_compare(const void *left, const void *right)
{
	const struct instructions_row *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->key, b->key);
}

int instructions_none(const struct run *run, const struct select *select, struct error *error)
{
	return error_set(error, ERROR_EMPTY,
		select_has_context(select)
			? "%s has no samples of GPU instructions here of launches that --context matches"
			: "%s has no samples of GPU instructions here; record them with -e gpu=nvidia,pc",
		run_path(run));
}

static int rows_make(struct instructions *instructions, struct summing *summing, struct error *error)
{
	instructions->count = summing->keys.count;
	instructions->rows =
		arena_calloc(summing->arena, instructions->count + 1, sizeof *instructions->rows);
	if (!instructions->rows)
		return error_memory(error);
	for (size_t i = 0; i < instructions->count; i++) {
		row_finish(summing, &summing->sums[i]);
		instructions->rows[i] = summing->sums[i].row;
		instructions->weight += summing->sums[i].row.weight;
	}
	qsort(instructions->rows, instructions->count, sizeof *instructions->rows, row_compare);
	return instructions->count ? 0 : instructions_none(summing->run, summing->select, error);
}

/* ---- the whole ---- */

static bool wants(const void *select, uint32_t context)
{
	return select_wants_context(select, context);
}

static int samples_sum(struct instructions *instructions, struct summing *summing, struct error *error)
{
	struct launch_samples_question question = {.begin_ns = select_records_begin_ns(summing->select),
		.end_ns = select_records_end_ns(summing->select),
		.wants = select_has_context(summing->select) ? wants : NULL,
		.own = summing->select,
		.by_launch = summing->by == BY_PATH,
		.expects = true};
	struct launch_samples *samples;
	const struct launch_samples_row *rows;
	const struct launch_samples_expected *expected;
	struct launch_samples_share share;
	size_t count;
	int rc;

	question.streams = select_all_streams(summing->select, &question.stream_count);
	rc = launch_samples_read(&samples, summing->run, &question, error);
	if (rc)
		return rc;
	rows = launch_samples_rows(samples, &count);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = row_take(summing, &rows[i], error);
	expected = launch_samples_expected(samples, &count);
	if (summing->by == BY_KERNEL || summing->by == BY_PATH)
		for (size_t i = 0; i < count && rc == 0; i++)
			rc = expected_take(summing, &expected[i], error);
	instructions->use = launch_samples_use(samples);
	share = launch_samples_share_of(samples, NULL);
	instructions->exact = share.exact;
	instructions->shared = share.shared;
	instructions->cut = share.cut;
	launch_samples_free(samples);
	return rc;
}

int instructions_sum(struct instructions *instructions, struct run *run, const struct select *select,
	struct arena *arena, struct error *error)
{
	struct summing summing = {.run = run, .select = select, .arena = arena};
	int rc = find_by(&summing, error);

	*instructions = (struct instructions){0};
	key_ids_init(&summing.keys, 2 * sizeof(uint64_t));
	if (rc == 0)
		rc = reasons_find(&summing, error);
	if (rc == 0)
		rc = samples_sum(instructions, &summing, error);
	if (rc == 0)
		rc = rows_make(instructions, &summing, error);
	key_ids_fini(&summing.keys);
	store_bytes_fini(&summing.key);
	free(summing.sums);
	return rc;
}
