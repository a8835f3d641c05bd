/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_write_column.c - encodes one column of one block with the transform whose body (codec.h) is
 * smallest.
 */
#include "store/base/avx2.h"
#include "store/chunk/chunk_encode_internal.h"

#define CENTRE_SAMPLES 31u
#define RECONSIDER (8 * STORE_BLOCK_RECORDS) /* how often all transforms are tried, in records */

/* Transforms worth trying for each column, the most promising first. */
static const uint8_t candidates[CHUNK_COLUMN_COUNT][5] = {
	[CHUNK_CONTEXT] = {CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_DURATION] = {CHUNK_TABLE, CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_BEGIN] = {CHUNK_DELTA, CHUNK_GAP, UINT8_MAX},
	[CHUNK_AMOUNT] = {CHUNK_PLAIN, CHUNK_CENTRE, CHUNK_DELTA, CHUNK_SCALED, UINT8_MAX},
	[CHUNK_BYTES] = {CHUNK_TABLE, CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_LINK] = {CHUNK_DELTA, CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_WHAT] = {CHUNK_TABLE, CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_ATTRIBUTES] = {CHUNK_TABLE, CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_FLAGS] = {CHUNK_PLAIN, UINT8_MAX},
};

/* Of all records, or of those whose numbers are given. */
static inline void gather(uint64_t *to, enum chunk_column column, const struct store_record *records,
	const uint32_t *numbers, unsigned count)
{
#define EACH(value)                                                                     \
	for (unsigned i = 0; i < count; i++) {                                          \
		const struct store_record *record = &records[numbers ? numbers[i] : i]; \
                                                                                        \
		to[i] = value;                                                          \
	}                                                                               \
	break
	switch (column) {
	case CHUNK_CONTEXT:
		EACH(record->context);
	case CHUNK_DURATION:
		EACH(record->end_ns - record->begin_ns);
	case CHUNK_BEGIN:
		EACH(record->begin_ns);
	case CHUNK_AMOUNT:
		EACH(record->amount);
	case CHUNK_BYTES:
		EACH(record->bytes);
	case CHUNK_LINK:
		EACH(record->link);
	case CHUNK_WHAT:
		EACH(record->what);
	case CHUNK_ATTRIBUTES:
		EACH(record->attributes);
	case CHUNK_FLAGS:
		EACH(record->flags);
	default:
		break;
	}
#undef EACH
}

void store_chunk_gather(
	uint64_t *to, enum chunk_column column, const struct store_record *from, unsigned count)
{
	gather(to, column, from, NULL, count);
}

void store_chunk_gather_some(uint64_t *to, enum chunk_column column, const struct store_record *from,
	const uint32_t *numbers, unsigned count)
{
	gather(to, column, from, numbers, count);
}

/* A column's values in a block, on their way through a transform. */
struct attempt {
	enum chunk_transform transform;
	uint64_t parameter; /* base or centre */
	uint64_t scale;
	uint64_t residual[STORE_BLOCK_RECORDS];
	struct store_codec_plan plan;
};

/* Signed numbers of 32 bits, as many as fit a vector. */
typedef int32_t lanes __attribute__((vector_size(32), may_alias));
#define LANES (sizeof(lanes) / sizeof(int32_t))
#define VECTORS ((CENTRE_SAMPLES + LANES) / LANES)

/* The largest number below which there are no more than half of the others: all are counted for all at once,
 * which is faster than to sort them. What fills up the last vector is the largest of all. */
static inline int32_t median_narrow(const int32_t *sample, unsigned count)
{
	const lanes *all = (const lanes *)sample;
	lanes below[VECTORS] = {0}, median = (lanes){0} + INT32_MIN;
	int32_t largest = INT32_MIN;

	for (unsigned i = 0; i < count; i++) {
#pragma GCC unroll 4
		for (unsigned v = 0; v < VECTORS; v++)
			below[v] -= (lanes)(all[v] > sample[i]);
	}
#pragma GCC unroll 4
	for (unsigned v = 0; v < VECTORS; v++) {
		lanes is_larger = (below[v] <= (int32_t)(count / 2)) & (all[v] > median);

		median = (all[v] & is_larger) | (median & ~is_larger);
	}
	for (unsigned l = 0; l < LANES; l++)
		largest = median[l] > largest ? median[l] : largest;
	return largest;
}

static int64_t median_wide(int64_t *sample, unsigned count)
{
	for (unsigned i = 1; i < count; i++) {
		int64_t value = sample[i];
		unsigned at = i;

		for (; at > 0 && sample[at - 1] > value; at--)
			sample[at] = sample[at - 1];
		sample[at] = value;
	}
	return sample[count / 2];
}

/* Median of a sample of the steps, as signed numbers: a few outliers must not move it. */
static inline uint64_t centre_of(const uint64_t *steps, unsigned count)
{
	int32_t narrow[VECTORS * LANES] __attribute__((aligned(sizeof(lanes))));
	int64_t sample[CENTRE_SAMPLES], differs = 0;
	unsigned taken = 0, stride = count / CENTRE_SAMPLES + 1;

	for (unsigned i = 1; i < count && taken < CENTRE_SAMPLES; i += stride, taken++) {
		sample[taken] = (int64_t)steps[i];
		narrow[taken] = (int32_t)sample[taken];
		differs |= sample[taken] ^ narrow[taken];
	}
	if (!taken)
		return 0;
	for (unsigned i = taken; i < VECTORS * LANES; i++)
		narrow[i] = INT32_MAX;
	return (uint64_t)(differs ? median_wide(sample, taken) : median_narrow(narrow, taken));
}

static void centre_steps(struct attempt *attempt, unsigned count)
{
	attempt->parameter = centre_of(attempt->residual, count);
	attempt->residual[0] = 0;
	for (unsigned i = 1; i < count; i++)
		attempt->residual[i] = store_zigzag(attempt->residual[i] - attempt->parameter);
}

static uint64_t greatest_common(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* What all steps are multiples of: pages, ticks of a clock. 1 where their differences might not be. */
static uint64_t scale_of(const uint64_t *steps, unsigned count)
{
	uint64_t scale = 0;

	for (unsigned i = 1; i < count && scale != 1; i++) {
		uint64_t size = steps[i] >> 63 ? 0 - steps[i] : steps[i];

		if (size >> 62)
			return 1;
		scale = greatest_common(size, scale);
	}
	return scale ? scale : 1;
}

static void scale_steps(struct attempt *attempt, unsigned count)
{
	attempt->scale = scale_of(attempt->residual, count);
	attempt->parameter = centre_of(attempt->residual, count);
	attempt->residual[0] = 0;
	for (unsigned i = 1; i < count; i++) {
		int64_t step = (int64_t)(attempt->residual[i] - attempt->parameter);

		if (attempt->scale > 1)
			step /= (int64_t)attempt->scale;
		attempt->residual[i] = store_zigzag((uint64_t)step);
	}
}

/* Numbers of 64 bits, as many as fit a vector. */
typedef int64_t quads __attribute__((vector_size(32), aligned(8), may_alias));
#define QUADS (sizeof(quads) / sizeof(int64_t))
#define LEASTS 4u /* vectors compared in turn: none waits for the one before */

/* The highest bit is turned over, since vectors compare signed numbers. */
static inline uint64_t least_of(const uint64_t *values, unsigned count)
{
	quads least[LEASTS];
	uint64_t all = values[0];
	unsigned i = 0;

	for (unsigned v = 0; v < LEASTS; v++)
		least[v] = (quads){0} + INT64_MAX;
	for (; i + LEASTS * QUADS <= count; i += LEASTS * QUADS) {
#pragma GCC unroll 4
		for (unsigned v = 0; v < LEASTS; v++) {
			const quads these = *(const quads *)&values[i + v * QUADS] ^ INT64_MIN;
			const quads is_less = these < least[v];

			least[v] = (these & is_less) | (least[v] & ~is_less);
		}
	}
	for (unsigned v = 0; v < LEASTS; v++)
		for (unsigned q = 0; q < QUADS; q++)
			all = ((uint64_t)least[v][q] ^ (uint64_t)INT64_MIN) < all
				      ? (uint64_t)least[v][q] ^ (uint64_t)INT64_MIN
				      : all;
	for (; i < count; i++)
		all = values[i] < all ? values[i] : all;
	return all;
}

static void transform_plain(struct attempt *attempt, const uint64_t *values, unsigned count)
{
	const uint64_t base = least_of(values, count);

	for (unsigned i = 0; i < count; i++)
		attempt->residual[i] = values[i] - base;
	attempt->parameter = base;
}

static void transform(struct attempt *attempt, const struct store_chunk_draft *draft,
	enum chunk_column column, unsigned at, const uint64_t *values, unsigned count)
{
	const struct store_record *records = draft->records + at;
	const uint64_t *table = draft->coder->tables[column];
	const uint32_t *index = draft->coder->index + at;

	switch (attempt->transform) {
	case CHUNK_PLAIN:
		transform_plain(attempt, values, count);
		break;
	case CHUNK_DELTA:
		for (unsigned i = 1; i < count; i++)
			attempt->residual[i] = values[i] - values[i - 1];
		centre_steps(attempt, count);
		break;
	case CHUNK_GAP:
		for (unsigned i = 1; i < count; i++)
			attempt->residual[i] = values[i] - records[i - 1].end_ns;
		centre_steps(attempt, count);
		break;
	case CHUNK_TABLE: /* two loops: vectors do the second */
		for (unsigned i = 0; i < count; i++)
			attempt->residual[i] = table[index[i]];
		for (unsigned i = 0; i < count; i++)
			attempt->residual[i] = store_zigzag(values[i] - attempt->residual[i]);
		break;
	case CHUNK_CENTRE:
		attempt->parameter = centre_of(values, count);
		for (unsigned i = 0; i < count; i++)
			attempt->residual[i] = store_zigzag(values[i] - attempt->parameter);
		break;
	case CHUNK_SCALED:
		for (unsigned i = 1; i < count; i++)
			attempt->residual[i] = values[i] - values[i - 1];
		scale_steps(attempt, count);
		break;
	case CHUNK_FRESH: /* three bodies: put_fresh() */
		break;
	}
}

static bool is_possible(
	const struct store_chunk_draft *draft, enum chunk_column column, enum chunk_transform how)
{
	if (how == CHUNK_TABLE)
		return draft->header.tables >> column & 1;
	if (how == CHUNK_SCALED)
		return draft->header.track == STORE_VALUES;
	return how != CHUNK_GAP ||
	       (draft->header.track == STORE_SPANS && !store_chunk_draft_is_constant(draft, CHUNK_DURATION));
}

static void put_attempt(struct store_chunk_draft *draft, enum chunk_column column,
	const struct attempt *attempt, uint64_t first, unsigned count)
{
	uint8_t how = (uint8_t)attempt->transform;

	store_bytes_put(draft->out, &how, 1);
	if ((how == CHUNK_DELTA && column != CHUNK_BEGIN) || how == CHUNK_SCALED)
		store_bytes_put_varint(draft->out, first);
	if (how == CHUNK_PLAIN || how == CHUNK_CENTRE)
		store_bytes_put_varint(draft->out, attempt->parameter);
	else if (how != CHUNK_TABLE)
		store_bytes_put_zigzag(draft->out, attempt->parameter);
	if (how == CHUNK_SCALED)
		store_bytes_put_varint(draft->out, attempt->scale);
	if (how == CHUNK_GAP)
		draft->header.tables |= 1u << CHUNK_BEGIN;
	store_codec_put_planned(draft->out, attempt->residual, count, &attempt->plan);
}

/* All are what their contexts' table says. */
static void put_as_table(struct store_chunk_draft *draft, enum chunk_column column)
{
	draft->chosen[column] = CHUNK_TABLE;
	store_bytes_put(draft->out, &(uint8_t){CHUNK_TABLE}, 1);
	store_codec_put_const(draft->out, 0);
}

/* ---- contexts that are new, as most of a young program's are: their ids are the next ones ---- */

struct fresh {
	uint64_t is_fresh[STORE_BLOCK_RECORDS], above[STORE_BLOCK_RECORDS], below[STORE_BLOCK_RECORDS];
	unsigned fresh_count, old_count;
	struct store_codec_plan which, fresh, old;
	uint32_t size;
};

static void split_fresh(struct fresh *fresh, const uint64_t *values, unsigned count)
{
	uint64_t most = values[0];

	fresh->is_fresh[0] = 1;
	fresh->above[0] = 0;
	fresh->fresh_count = 1;
	fresh->old_count = 0;
	for (unsigned i = 1; i < count; i++) {
		fresh->is_fresh[i] = values[i] > most;
		if (values[i] > most) {
			fresh->above[fresh->fresh_count++] = values[i] - most - 1;
			most = values[i];
		} else {
			fresh->below[fresh->old_count++] = most - values[i];
		}
	}
	fresh->which = store_codec_plan(fresh->is_fresh, count);
	fresh->fresh = store_codec_plan(fresh->above, fresh->fresh_count);
	fresh->old = fresh->old_count ? store_codec_plan(fresh->below, fresh->old_count)
				      : (struct store_codec_plan){0};
	fresh->size = fresh->which.size + fresh->fresh.size + fresh->old.size;
}

/* False: it takes no less than `limit` bytes, and nothing was put. */
static bool put_fresh(struct store_chunk_draft *draft, const uint64_t *values, unsigned count, uint32_t limit)
{
	struct fresh fresh;

	split_fresh(&fresh, values, count);
	if (fresh.size >= limit)
		return false;
	store_bytes_put(draft->out, &(uint8_t){CHUNK_FRESH}, 1);
	store_bytes_put_varint(draft->out, values[0]);
	store_codec_put_planned(draft->out, fresh.is_fresh, count, &fresh.which);
	store_codec_put_planned(draft->out, fresh.above, fresh.fresh_count, &fresh.fresh);
	if (fresh.old_count)
		store_codec_put_planned(draft->out, fresh.below, fresh.old_count, &fresh.old);
	return true;
}

static bool tries(const struct store_chunk_draft *draft, enum chunk_column column, uint8_t how, unsigned at)
{
	return at % RECONSIDER == 0 || how == draft->chosen[column];
}

static inline void put_column(
	struct store_chunk_draft *draft, enum chunk_column column, unsigned at, unsigned count)
{
	struct attempt attempts[2], *best = NULL, *next = attempts;
	const uint32_t *index = draft->coder->index + at, *rank = draft->coder->rank;
	uint64_t values[STORE_BLOCK_RECORDS];

	if (draft->header.tables & ~draft->varies & 1u << column) {
		put_as_table(draft, column);
		return;
	}
	values[0] = 0; /* there is a record, which the compiler cannot know */
	if (column == CHUNK_CONTEXT && draft->header.dictionary)
		for (unsigned i = 0; i < count; i++)
			values[i] = rank[index[i]];
	else
		gather(values, column, draft->records + at, NULL, count);
	for (const uint8_t *how = candidates[column]; *how != UINT8_MAX; how++) {
		if (!is_possible(draft, column, *how) || !tries(draft, column, *how, at))
			continue;
		next->transform = *how;
		transform(next, draft, column, at, values, count);
		next->plan = store_codec_plan(next->residual, count);
		if (!best || next->plan.size < best->plan.size)
			best = next;
		next = best == attempts ? attempts + 1 : attempts;
		if (best->plan.size <= 2)
			break;
	}
	if (column == CHUNK_CONTEXT && !draft->header.dictionary && tries(draft, column, CHUNK_FRESH, at) &&
		put_fresh(draft, values, count, best ? best->plan.size : UINT32_MAX)) {
		draft->chosen[column] = CHUNK_FRESH;
		return;
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what was chosen before is possible still */
	draft->chosen[column] = (uint8_t)best->transform;
	put_attempt(draft, column, best, values[0], count);
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static void put_column_wide(
	struct store_chunk_draft *draft, enum chunk_column column, unsigned at, unsigned count)
{
	put_column(draft, column, at, count);
}
#endif

void store_chunk_put_column(
	struct store_chunk_draft *draft, enum chunk_column column, unsigned at, unsigned count)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2()) {
		put_column_wide(draft, column, at, count);
		return;
	}
#endif
	put_column(draft, column, at, count);
}
