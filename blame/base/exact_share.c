/* SPDX-License-Identifier: Apache-2.0 */
/* exact_share.c - see exact_share.h. */
#include "blame/base/exact_share.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/escape.h"
#include "store/base/hash.h"

/* ---- sums ---- */

bool exact_share_is_larger(
	const struct run *run, exact_share_fixed a, uint32_t context, exact_share_fixed b, uint32_t than)
{
	if (a != b)
		return a > b;
	return store_hash_compare(run_context_hash(run, context), run_context_hash(run, than)) < 0;
}

static bool add_at(struct exact_share_sums *sums, uint32_t number, exact_share_fixed amount)
{
	if (number >= sums->count &&
		!array_reserve_zero(&sums->amount, &sums->count, (size_t)number + 1, sizeof(*sums->amount)))
		return false;
	sums->amount[number] += amount;
	return true;
}

bool exact_share_sums_add(struct exact_share_sums *sums, uint32_t context, exact_share_fixed amount)
{
	return add_at(sums, context, amount);
}

static bool add_pair(
	struct exact_share_sums *sums, uint32_t context, uint32_t group, exact_share_fixed amount)
{
	const uint32_t pair[2] = {context, group};
	uint32_t number;

	if (!sums->pairs.key_bytes)
		key_ids_init(&sums->pairs, sizeof(pair));
	number = key_ids_put(&sums->pairs, pair, NULL);
	return number != KEY_IDS_NONE && add_at(sums, number, amount);
}

bool exact_share_sums_add_of(
	struct exact_share_sums *sums, uint32_t stream, uint32_t context, exact_share_fixed amount)
{
	return sums->groups ? add_pair(sums, context, sums->groups->of[stream], amount)
			    : add_at(sums, context, amount);
}

bool exact_share_sums_put(struct exact_share_sums *sums, const struct exact_share *share)
{
	return sums->groups ? add_pair(sums, share->context, share->group, share->amount)
			    : add_at(sums, share->context, share->amount);
}

bool exact_share_sums_next(const struct exact_share_sums *sums, size_t *at, struct exact_share *share)
{
	while (*at < sums->count && !sums->amount[*at])
		(*at)++;
	if (*at == sums->count)
		return false;
	*share = (struct exact_share){(uint32_t)*at, STREAM_GROUPS_NONE, sums->amount[*at]};
	if (sums->groups) {
		const uint32_t *pair = key_ids_key(&sums->pairs, (uint32_t)*at);

		share->context = pair[0];
		share->group = pair[1];
	}
	(*at)++;
	return true;
}

bool exact_share_sums_join(struct exact_share_sums *to, const struct exact_share_sums *from)
{
	struct exact_share share;

	for (size_t at = 0; exact_share_sums_next(from, &at, &share);)
		if (!exact_share_sums_put(to, &share))
			return false;
	return true;
}

int exact_share_sums_list(const struct exact_share_sums *sums, struct exact_share **shares, size_t *count,
	struct arena *arena, struct error *error)
{
	size_t used = 0;

	for (size_t i = 0; i < sums->count; i++)
		used += sums->amount[i] != 0;
	*shares = arena_calloc(arena, used + 1, sizeof(**shares));
	if (!*shares)
		return error_memory(error);
	*count = 0;
	for (size_t at = 0; *count < used; (*count)++)
		exact_share_sums_next(sums, &at, &(*shares)[*count]);
	return 0;
}

void exact_share_sums_clear(struct exact_share_sums *sums)
{
	for (uint32_t i = 0; i < sums->count; i++)
		sums->amount[i] = 0;
}

void exact_share_sums_fini(struct exact_share_sums *sums)
{
	free(sums->amount);
	if (sums->pairs.key_bytes)
		key_ids_fini(&sums->pairs);
	*sums = (struct exact_share_sums){0};
}

/* ---- rounding ---- */

struct rounding {
	const exact_share_fixed *amounts;
	const uint64_t *keys;
};

static int order_compare(const void *left, const void *right, void *own)
{
	const struct rounding *parts = own;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	exact_share_fixed part_a = exact_share_rank((uint64_t)parts->amounts[a]),
			  part_b = exact_share_rank((uint64_t)parts->amounts[b]);

	if (part_a != part_b)
		return part_a > part_b ? -1 : 1;
	if (parts->keys[a] != parts->keys[b])
		return parts->keys[a] < parts->keys[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

bool exact_share_is_script(const struct run *run, const struct exact_share *shares, size_t count)
{
	exact_share_fixed all = 0, scripts = 0;

	for (size_t i = 0; i < count; i++) {
		all += shares[i].amount;
		scripts += row_key_has_script(run, shares[i].context) ? shares[i].amount : 0;
	}
	return scripts && scripts >= all / 4;
}

uint64_t exact_share_round(const exact_share_fixed *amounts, const uint64_t *keys, uint64_t *times_ns,
	size_t *order, size_t count)
{
	struct rounding parts = {amounts, keys};
	exact_share_fixed sum = 0;
	uint64_t total_ns, whole_ns = 0;

	for (size_t i = 0; i < count; i++) {
		sum += amounts[i];
		times_ns[i] = (uint64_t)(amounts[i] >> 64);
		whole_ns += times_ns[i];
		order[i] = i;
	}
	total_ns = (uint64_t)((exact_share_rank(sum) + (1 << 23)) >> 24);
	qsort_r(order, count, sizeof(*order), order_compare, &parts);
	for (size_t i = 0; i < count && whole_ns < total_ns; i++, whole_ns++)
		times_ns[order[i]]++;
	return total_ns;
}

/* ---- rows ---- */

struct rows_work {
	const struct stream_groups *groups; /* rows are these; NULL: keys of contexts */
	struct key_ids keys;		    /* of texts, by hash */
	struct exact_share_row *rows;
	exact_share_fixed *amounts, *best; /* of each row; of its context */
	uint64_t *key_hashes;		   /* of each row */
	struct store_bytes key;		   /* scratch */
};

/* Into work->key. */
static bool put_key(struct rows_work *work, const struct run *run, const struct exact_share *share,
	enum row_key_by by, uint32_t depth)
{
	work->key.size = 0;
	if (work->groups) {
		const char *text = stream_groups_text(work->groups, share->group);

		escape_field(&work->key, text, strlen(text));
	} else if (!row_key_put(&work->key, run, share->context, by, depth)) {
		return false;
	}
	if (!work->key.size) { /* paths leave out the root */
		const char *name = share->context ? "<program root>" : "<unknown>";

		store_bytes_put(&work->key, name, strlen(name));
	}
	return !work->key.failed;
}

/* The row's number, made if needed; KEY_IDS_NONE: no memory. */
static uint32_t row_of(struct rows_work *work, const struct run *run, const struct exact_share *share,
	enum row_key_by by, uint32_t depth, struct arena *arena)
{
	struct store_hash hash;
	uint32_t row;
	bool is_new;

	if (!put_key(work, run, share, by, depth))
		return KEY_IDS_NONE;
	hash = store_hash128(work->key.data, work->key.size);
	row = key_ids_put(&work->keys, &hash, &is_new);
	if (row == KEY_IDS_NONE || !is_new)
		return row;
	work->key_hashes[row] = hash.low;
	work->rows[row].key = arena_copy(arena, (const char *)work->key.data, work->key.size);
	return work->rows[row].key ? row : KEY_IDS_NONE;
}

static bool rows_fill(struct rows_work *work, const struct run *run, const struct exact_share *shares,
	size_t count, const struct select *select, enum row_key_by by, uint32_t depth, struct arena *arena)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t row;

		if (select && !select_wants_context(select, shares[i].context))
			continue;
		row = row_of(work, run, &shares[i], by, depth, arena);
		if (row == KEY_IDS_NONE)
			return false;
		work->amounts[row] += shares[i].amount;
		if (exact_share_rank(shares[i].amount) > exact_share_rank(work->best[row])) {
			work->best[row] = shares[i].amount;
			work->rows[row].context = shares[i].context;
		}
	}
	return true;
}

static int row_compare(const void *left, const void *right)
{
	const struct exact_share_row *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return strcmp(a->key, b->key);
}

/* Rounds, sorts, leaves out what is nothing. */
static bool rows_finish(struct rows_work *work, struct exact_share_rows *rows, struct arena *arena)
{
	size_t count = work->keys.count;
	uint64_t *times_ns = arena_calloc(arena, count + 1, sizeof(*times_ns));
	size_t *order = arena_calloc(arena, count + 1, sizeof(*order));

	if (!times_ns || !order)
		return false;
	rows->rows = work->rows;
	rows->total_ns = exact_share_round(work->amounts, work->key_hashes, times_ns, order, count);
	for (size_t i = 0; i < count; i++) {
		rows->rows[i].time_ns = times_ns[i];
		rows->count += times_ns[i] != 0;
	}
	qsort(rows->rows, count, sizeof(*rows->rows), row_compare);
	return true;
}

int exact_share_rows_make(struct exact_share_rows *rows, const struct run *run,
	const struct exact_share *shares, size_t count, const struct select *select, enum row_key_by by,
	uint32_t depth, const struct stream_groups *groups, struct arena *arena, struct error *error)
{
	struct rows_work work = {.groups = groups,
		.rows = arena_calloc(arena, count + 1, sizeof(*work.rows)),
		.amounts = arena_calloc(arena, count + 1, sizeof(*work.amounts)),
		.best = arena_calloc(arena, count + 1, sizeof(*work.best)),
		.key_hashes = arena_calloc(arena, count + 1, sizeof(*work.key_hashes))};
	bool is_done;

	*rows = (struct exact_share_rows){0};
	key_ids_init(&work.keys, sizeof(struct store_hash));
	is_done = work.rows && work.amounts && work.best && work.key_hashes &&
		  rows_fill(&work, run, shares, count, select, by, depth, arena) &&
		  rows_finish(&work, rows, arena);
	key_ids_fini(&work.keys);
	store_bytes_fini(&work.key);
	return is_done ? 0 : error_memory(error);
}
