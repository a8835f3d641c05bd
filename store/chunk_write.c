/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_write.c - sorted records to the bytes of a chunk. First what is the same for all records
 * (constant columns, dictionary, tables), then block by block the smallest of each column's transforms.
 */
#include "store/chunk.h"
#include "store/dictionary.h"
#include "store/hash.h"
#include "store/sums.h"

#define CENTRE_SAMPLES 31u
#define RECONSIDER (8 * STORE_BLOCK_RECORDS) /* how often all transforms are tried, in records */
#define DICTIONARY_LEAST 16u		     /* contexts that always have one */
#define DICTIONARY_PAYS 2u		     /* more want so many records each */
#define SUMS_PAY 4u			     /* where there are sums, so many */
#define TABLE_PAYS 4u			     /* a table wants so many records per context */

/* What one encoding is about. */
struct job {
	struct store_chunk_coder *coder;
	const struct store_record *records;
	unsigned count;
	struct store_bytes *out;
	size_t start;			    /* of the chunk in `out` */
	uint8_t chosen[CHUNK_COLUMN_COUNT]; /* transforms of the block before */
	struct store_chunk_header header;
};

/* Transforms worth trying for each column, the most promising first. */
static const uint8_t candidates[CHUNK_COLUMN_COUNT][4] = {
	[CHUNK_CONTEXT] = {CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_DURATION] = {CHUNK_TABLE, CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_BEGIN] = {CHUNK_DELTA, CHUNK_GAP, UINT8_MAX},
	[CHUNK_AMOUNT] = {CHUNK_PLAIN, CHUNK_CENTRE, CHUNK_DELTA, UINT8_MAX},
	[CHUNK_BYTES] = {CHUNK_TABLE, CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_LINK] = {CHUNK_DELTA, CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_WHAT] = {CHUNK_TABLE, CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_ATTRIBUTES] = {CHUNK_TABLE, CHUNK_PLAIN, UINT8_MAX},
	[CHUNK_FLAGS] = {CHUNK_PLAIN, UINT8_MAX},
};

#define TABLE_COLUMNS (1u << CHUNK_DURATION | 1u << CHUNK_BYTES | 1u << CHUNK_WHAT | 1u << CHUNK_ATTRIBUTES)

static void gather(uint64_t *to, enum chunk_column column, const struct store_record *from, unsigned count)
{
#define EACH(value)                          \
	for (unsigned i = 0; i < count; i++) \
		to[i] = from[i].value;       \
	break
	switch (column) {
	case CHUNK_CONTEXT:
		EACH(context);
	case CHUNK_DURATION:
		EACH(end_ns - from[i].begin_ns);
	case CHUNK_BEGIN:
		EACH(begin_ns);
	case CHUNK_AMOUNT:
		EACH(amount);
	case CHUNK_BYTES:
		EACH(bytes);
	case CHUNK_LINK:
		EACH(link);
	case CHUNK_WHAT:
		EACH(what);
	case CHUNK_ATTRIBUTES:
		EACH(attributes);
	case CHUNK_FLAGS:
		EACH(flags);
	default:
		break;
	}
#undef EACH
}

/* One pass over the records: which columns are constant, the latest end, the flags. */
static void survey(struct job *job)
{
	struct store_chunk_header *header = &job->header;
	const struct store_record *first = job->records;
	struct store_record differs = {0};
	uint64_t duration = first->end_ns - first->begin_ns, duration_differs = 0, end_ns = 0;
	uint32_t flags = 0;

	for (unsigned i = 0; i < job->count; i++) {
		const struct store_record *record = &job->records[i];

		differs.begin_ns |= record->begin_ns ^ first->begin_ns;
		differs.amount |= record->amount ^ first->amount;
		differs.bytes |= record->bytes ^ first->bytes;
		differs.link |= record->link ^ first->link;
		differs.context |= record->context ^ first->context;
		differs.what |= record->what ^ first->what;
		differs.attributes |= record->attributes ^ first->attributes;
		differs.flags |= record->flags ^ first->flags;
		duration_differs |= (record->end_ns - record->begin_ns) ^ duration;
		flags |= record->flags;
		end_ns = record->end_ns > end_ns ? record->end_ns : end_ns;
	}
	header->constant =
		(uint16_t)(!differs.context << CHUNK_CONTEXT | !duration_differs << CHUNK_DURATION |
			   !differs.begin_ns << CHUNK_BEGIN | !differs.amount << CHUNK_AMOUNT |
			   !differs.bytes << CHUNK_BYTES | !differs.link << CHUNK_LINK |
			   !differs.what << CHUNK_WHAT | !differs.attributes << CHUNK_ATTRIBUTES |
			   !differs.flags << CHUNK_FLAGS);
	header->flags_seen = (uint8_t)flags;
	header->first_ns = first->begin_ns;
	header->last_ns = first[job->count - 1].begin_ns;
	header->end_ns = end_ns;
}

static bool is_constant(const struct job *job, enum chunk_column column)
{
	return job->header.constant >> column & 1;
}

static void put_constants(struct job *job)
{
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++) {
		uint64_t value;

		if (!is_constant(job, column) || column == CHUNK_BEGIN)
			continue;
		gather(&value, column, job->records, 1);
		store_bytes_put_varint(job->out, value);
	}
}

static void put_dictionary(struct job *job)
{
	struct store_chunk_coder *coder = job->coder;
	unsigned contexts = job->header.dictionary;

	for (unsigned i = 0; i < contexts; i++)
		coder->values[i] = coder->ids[i];
	store_sums_put_array(job->out, coder->values, contexts);
}

/* Contexts have no table of their own: its memory holds the column that a table is made from. */
static void put_tables(struct job *job)
{
	unsigned contexts = job->header.dictionary;

	if (contexts * TABLE_PAYS > job->count)
		return;
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++) {
		uint64_t *values = job->coder->tables[CHUNK_CONTEXT];

		if (is_constant(job, column) || !(TABLE_COLUMNS >> column & 1))
			continue;
		gather(values, column, job->records, job->count);
		store_dictionary_table(job->coder, column, values, job->count, contexts);
		store_sums_put_array(job->out, job->coder->tables[column], contexts);
		job->header.tables |= (uint16_t)(1u << column);
	}
}

/* ---- sums by context, for rollups ---- */

static uint64_t zigzag(uint64_t value)
{
	return value << 1 ^ (0 - (value >> 63));
}

/* The different metrics of the records; their number, or METRICS_MAX + 1. */
static unsigned find_metrics(const struct job *job, uint32_t *metrics)
{
	unsigned known = 1;

	metrics[0] = job->records->what;
	for (unsigned i = 1; i < job->count && !is_constant(job, CHUNK_WHAT); i++) {
		unsigned m = 0;

		while (m < known && metrics[m] != job->records[i].what)
			m++;
		if (m == known && known == CHUNK_SUMS_METRICS)
			return CHUNK_SUMS_METRICS + 1;
		if (m == known)
			metrics[known++] = job->records[i].what;
	}
	return known;
}

/* The entries of one metric, in the order of the dictionary. */
static void sum_metric(struct job *job, uint32_t metric, struct store_sum *sums, unsigned contexts)
{
	const uint32_t *index = job->coder->index;

	memset(sums, 0, contexts * sizeof *sums);
	for (unsigned i = 0; i < job->count; i++) {
		struct store_sum *sum = &sums[job->header.dictionary ? index[i] : 0];

		if (job->records[i].what != metric)
			continue;
		sum->samples++;
		sum->weight += job->records[i].amount;
	}
}

/* Adds each sample's time until the next one; the longest, 0: they are not plain. */
static uint64_t sum_times(struct job *job, struct store_sum *sums)
{
	const struct store_record *records = job->records;
	uint64_t longest = 0, all_longer = 1;

	if (!is_constant(job, CHUNK_FLAGS) || !is_constant(job, CHUNK_WHAT) || job->count < 2 ||
		!(records->flags & STORE_RECORD_EXTENT))
		return 0;
	for (unsigned i = 0; i + 1 < job->count; i++) {
		uint64_t gap_ns = records[i + 1].begin_ns - records[i].begin_ns;

		sums[job->header.dictionary ? job->coder->index[i] : 0].time_ns += gap_ns;
		longest = gap_ns > longest ? gap_ns : longest;
		all_longer &= gap_ns != 0;
	}
	return all_longer ? longest : 0;
}

static void put_sum_column(
	struct job *job, const struct store_sum *sums, unsigned contexts, enum store_sums_column column)
{
	uint64_t values[STORE_BLOCK_RECORDS], unit = store_sums_unit(sums, contexts, column);

	if (column != STORE_SUMS_SAMPLES)
		store_bytes_put_varint(job->out, unit);
	for (unsigned at = 0; at < contexts; at += STORE_BLOCK_RECORDS) {
		unsigned left = contexts - at < STORE_BLOCK_RECORDS ? contexts - at : STORE_BLOCK_RECORDS;

		for (unsigned i = 0; i < left; i++) {
			const struct store_sum *sum = &sums[at + i];

			values[i] = column == STORE_SUMS_SAMPLES ? sum->samples
				    : column == STORE_SUMS_TIME	 ? zigzag(sum->time_ns - sum->samples * unit)
								 : zigzag(sum->weight - sum->samples * unit);
		}
		store_codec_put(job->out, values, left);
	}
}

/* | metrics | metrics x | id | samples | unit, weights | | longest gap | last context | unit, times |;
 * without a gap nothing follows it. What tables are made in holds the sums. */
static void put_sums(struct job *job)
{
	uint32_t metrics[CHUNK_SUMS_METRICS];
	unsigned contexts = job->header.dictionary ? job->header.dictionary : 1, count;
	struct store_sum *sums = (struct store_sum *)job->coder->values;
	uint64_t longest_ns;

	if (job->header.track == STORE_SPANS || (!job->header.dictionary && !is_constant(job, CHUNK_CONTEXT)))
		return;
	count = find_metrics(job, metrics);
	if (count > CHUNK_SUMS_METRICS)
		return;
	job->header.constant |= 1u << CHUNK_SUMS;
	store_bytes_put_varint(job->out, count);
	for (unsigned m = 0; m < count; m++) {
		sum_metric(job, metrics[m], sums, contexts);
		store_bytes_put_varint(job->out, metrics[m]);
		put_sum_column(job, sums, contexts, STORE_SUMS_SAMPLES);
		put_sum_column(job, sums, contexts, STORE_SUMS_WEIGHT);
	}
	longest_ns = sum_times(job, sums);
	store_bytes_put_varint(job->out, longest_ns);
	if (longest_ns) {
		store_bytes_put_varint(job->out, job->records[job->count - 1].context);
		put_sum_column(job, sums, contexts, STORE_SUMS_TIME);
	}
}

/* ---- one column of one block ---- */

/* A column's values in a block, on their way through a transform. */
struct attempt {
	enum chunk_transform transform;
	uint64_t parameter; /* base or centre */
	uint64_t residual[STORE_BLOCK_RECORDS];
	struct store_codec_plan plan;
};

/* Median of a sample of the steps, as signed numbers: a few outliers must not move it. */
static uint64_t centre_of(const uint64_t *steps, unsigned count)
{
	int64_t sample[CENTRE_SAMPLES];
	unsigned taken = 0, stride = count / CENTRE_SAMPLES + 1;

	for (unsigned i = 1; i < count && taken < CENTRE_SAMPLES; i += stride) {
		int64_t value = (int64_t)steps[i];
		unsigned at = taken++;

		for (; at > 0 && sample[at - 1] > value; at--)
			sample[at] = sample[at - 1];
		sample[at] = value;
	}
	return taken ? (uint64_t)sample[taken / 2] : 0;
}

static void centre_steps(struct attempt *attempt, unsigned count)
{
	attempt->parameter = centre_of(attempt->residual, count);
	attempt->residual[0] = 0;
	for (unsigned i = 1; i < count; i++)
		attempt->residual[i] = zigzag(attempt->residual[i] - attempt->parameter);
}

static void transform_plain(struct attempt *attempt, const uint64_t *values, unsigned count)
{
	uint64_t base = values[0];

	for (unsigned i = 1; i < count; i++)
		base = values[i] < base ? values[i] : base;
	for (unsigned i = 0; i < count; i++)
		attempt->residual[i] = values[i] - base;
	attempt->parameter = base;
}

static void transform(struct attempt *attempt, const struct job *job, enum chunk_column column, unsigned at,
	const uint64_t *values, unsigned count)
{
	const struct store_record *records = job->records + at;
	const uint64_t *table = job->coder->tables[column];
	const uint32_t *index = job->coder->index + at;

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
	case CHUNK_TABLE:
		for (unsigned i = 0; i < count; i++)
			attempt->residual[i] = zigzag(values[i] - table[index[i]]);
		break;
	case CHUNK_CENTRE:
		attempt->parameter = centre_of(values, count);
		for (unsigned i = 0; i < count; i++)
			attempt->residual[i] = zigzag(values[i] - attempt->parameter);
		break;
	case CHUNK_FRESH: /* three bodies: put_fresh() */
		break;
	}
}

static bool is_possible(const struct job *job, enum chunk_column column, enum chunk_transform how)
{
	if (how == CHUNK_TABLE)
		return job->header.tables >> column & 1;
	return how != CHUNK_GAP || (job->header.track == STORE_SPANS && !is_constant(job, CHUNK_DURATION));
}

static void put_attempt(struct job *job, enum chunk_column column, const struct attempt *attempt,
	uint64_t first, unsigned count)
{
	uint8_t how = (uint8_t)attempt->transform;

	store_bytes_put(job->out, &how, 1);
	if (how == CHUNK_DELTA && column != CHUNK_BEGIN)
		store_bytes_put_varint(job->out, first);
	if (how == CHUNK_PLAIN || how == CHUNK_CENTRE)
		store_bytes_put_varint(job->out, attempt->parameter);
	else if (how != CHUNK_TABLE)
		store_bytes_put_zigzag(job->out, attempt->parameter);
	if (how == CHUNK_GAP)
		job->header.tables |= 1u << CHUNK_BEGIN;
	store_codec_put_planned(job->out, attempt->residual, count, &attempt->plan);
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
static bool put_fresh(struct job *job, const uint64_t *values, unsigned count, uint32_t limit)
{
	struct fresh fresh;

	split_fresh(&fresh, values, count);
	if (fresh.size >= limit)
		return false;
	store_bytes_put(job->out, &(uint8_t){CHUNK_FRESH}, 1);
	store_bytes_put_varint(job->out, values[0]);
	store_codec_put_planned(job->out, fresh.is_fresh, count, &fresh.which);
	store_codec_put_planned(job->out, fresh.above, fresh.fresh_count, &fresh.fresh);
	if (fresh.old_count)
		store_codec_put_planned(job->out, fresh.below, fresh.old_count, &fresh.old);
	return true;
}

static bool tries(const struct job *job, enum chunk_column column, uint8_t how, unsigned at)
{
	return at % RECONSIDER == 0 || how == job->chosen[column];
}

static void put_column(struct job *job, enum chunk_column column, unsigned at, unsigned count)
{
	struct attempt attempts[2], *best = NULL, *next = attempts;
	uint64_t values[STORE_BLOCK_RECORDS];

	if (column == CHUNK_CONTEXT && job->header.dictionary)
		for (unsigned i = 0; i < count; i++)
			values[i] = job->coder->index[at + i];
	else
		gather(values, column, job->records + at, count);
	for (const uint8_t *how = candidates[column]; *how != UINT8_MAX; how++) {
		if (!is_possible(job, column, *how) || !tries(job, column, *how, at))
			continue;
		next->transform = *how;
		transform(next, job, column, at, values, count);
		next->plan = store_codec_plan(next->residual, count);
		if (!best || next->plan.size < best->plan.size)
			best = next;
		next = best == attempts ? attempts + 1 : attempts;
		if (best->plan.size <= 2)
			break;
	}
	if (column == CHUNK_CONTEXT && !job->header.dictionary && tries(job, column, CHUNK_FRESH, at) &&
		put_fresh(job, values, count, best ? best->plan.size : UINT32_MAX)) {
		job->chosen[column] = CHUNK_FRESH;
		return;
	}
	job->chosen[column] = (uint8_t)best->transform;
	put_attempt(job, column, best, values[0], count);
}

static void put_blocks(struct job *job)
{
	unsigned blocks = (job->count + STORE_BLOCK_RECORDS - 1) / STORE_BLOCK_RECORDS;
	size_t directory = job->out->size;
	struct store_chunk_entry entry;

	job->header.directory_at = (uint32_t)(directory - job->start);
	if (!store_bytes_reserve(job->out, blocks * sizeof entry))
		return;
	job->out->size += blocks * sizeof entry;
	for (unsigned at = 0; at < job->count; at += STORE_BLOCK_RECORDS, directory += sizeof entry) {
		unsigned left = job->count - at;
		uint32_t offset = (uint32_t)(job->out->size - job->start);

		memcpy(entry.first_ns, &job->records[at].begin_ns, sizeof entry.first_ns);
		memcpy(entry.at, &offset, sizeof entry.at);
		memcpy(job->out->data + directory, &entry, sizeof entry);
		for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
			if (!is_constant(job, column))
				put_column(job, column, at,
					left < STORE_BLOCK_RECORDS ? left : STORE_BLOCK_RECORDS);
	}
}

/* The header is written last, when all is known. */
static void finish(struct job *job)
{
	uint8_t *chunk = job->out->data + job->start;
	const size_t skipped = sizeof job->header.checksum;

	if (job->out->failed)
		return;
	memcpy(chunk, &job->header, sizeof job->header);
	job->header.checksum = store_hash64(chunk + skipped, job->out->size - job->start - skipped, 0);
	memcpy(chunk, &job->header.checksum, sizeof job->header.checksum);
}

static unsigned dictionary_most(const struct job *job)
{
	unsigned most = job->count / (job->header.track == STORE_SPANS ? DICTIONARY_PAYS : SUMS_PAY);

	return most > DICTIONARY_LEAST ? most : DICTIONARY_LEAST;
}

void store_chunk_encode(struct store_chunk_coder *coder, const struct store_key_chunk *key,
	const struct store_record *records, unsigned count, struct store_bytes *out)
{
	struct job job = {.coder = coder,
		.records = records,
		.count = count,
		.out = out,
		.start = out->size,
		.header = {.stream = key->stream,
			.track = key->track,
			.shift = key->shift,
			.codec = STORE_CHUNK_CODEC,
			.bucket_ns = key->bucket_ns,
			.count = count}};
	unsigned contexts = 0;

	if (!store_chunk_coder_prepare(coder))
		out->failed = true;
	if (!store_bytes_reserve(out, sizeof job.header))
		return;
	out->size += sizeof job.header;
	survey(&job);
	put_constants(&job);
	if (!is_constant(&job, CHUNK_CONTEXT))
		contexts = store_dictionary_build(coder, records, count, dictionary_most(&job));
	job.header.dictionary = contexts;
	if (contexts) {
		put_dictionary(&job);
		put_tables(&job);
	}
	put_sums(&job);
	put_blocks(&job);
	finish(&job);
}
