/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roller.c - one stream's roller: what waits, the sweep, and the buckets of each size that are being filled.
 *
 *   sizes[base]     |####    |      filled by the sweep
 *   sizes[base + 1] |########|####           |      filled by buckets that were finished below
 */
#include "store/roller.h"

#include <errno.h>
#include <stdlib.h>

#include "store/attribute.h"
#include "store/line_roll.h"
#include "store/table.h"

#define WAIT_MANY (1u << 16)
#define WAIT_MAX (1u << 20) /* records of a stream without a watermark; then it is not rolled */
#define PIECES_MANY 12000u  /* in a bucket: smaller ones from now on */
#define PIECES_FEW 1400u
#define BASE_FIRST 10u /* 2^30 ns, where no period tells */
#define SWITCHES_NOT_SAID UINT64_MAX
#define BASE_RECORDS 4096u	     /* in a bucket, about */
#define TIME_MAX (UINT64_C(1) << 62) /* buckets of all sizes end before the end of time */
#define TOP (STORE_LINE_ROLL_SIZES - 1)

/* Records that wait, sorted from `head` on unless `is_unsorted`. */
struct queue {
	struct store_record *records;
	uint32_t head, count, capacity;
	bool is_unsorted;
};

/* A bucket that is being filled. */
struct bucket {
	struct store_sums sums;
	uint64_t begin_ns, next_ns; /* filled from its begin to here */
	unsigned parts;
	bool is_whole; /* nothing is missing so far */
};

struct store_roller {
	struct line_walk line;
	uint32_t stream;
	struct queue samples, spans;
	uint64_t valid_ns;     /* the sweep knows the line from here on */
	bool awaits_sample;    /* ... once a sample begins there */
	uint64_t monitored_ns; /* begin of the `monitored` span that is open; UINT64_MAX: none is */
	bool has_begun, is_over;
	bool is_switches_said; /* by `monitored`; else any blocked or runnable span is taken for a sign */
	unsigned base;
	unsigned pieces; /* in the bucket of the base */
	struct bucket sizes[STORE_LINE_ROLL_SIZES];
	struct store_bytes made; /* to be put: | key | size u32 | value | ... */
	struct store_bytes value;
	uint64_t torn_ns; /* rollups that reach beyond it are to be deleted; UINT64_MAX: none */
};

/* What is known of a stream before it needs a roller. */
struct roller_place {
	struct store_roller *roller;
	struct store_record monitored; /* the last one; end STORE_OPEN_NS while it is open */
	bool has_monitored;
};

/* ---- buckets ---- */

static unsigned shift_of(unsigned size)
{
	return size * STORE_LINE_ROLL_STEP;
}

static uint64_t bucket_end(const struct bucket *bucket, unsigned size)
{
	return bucket->begin_ns + ((uint64_t)1 << shift_of(size));
}

static void bucket_add(struct bucket *bucket, enum extent_state state, uint32_t op, uint32_t context,
	uint64_t records, uint64_t time_ns)
{
	store_sums_add(&bucket->sums, &(struct store_sum){.samples = records,
					      .weight = time_ns,
					      .context = context,
					      .metric = store_line_roll_metric(state, op)});
}

/* Opens the bucket that holds `at_ns`. It is whole if the sweep knows it from its begin, or from the
 * stream's: what lies before that is absent. */
static void bucket_open(struct store_roller *roller, unsigned size, uint64_t at_ns)
{
	struct bucket *bucket = &roller->sizes[size];
	uint64_t life_ns = roller->line.rules.begin_ns, begin_ns = store_bucket_of(at_ns, shift_of(size));

	store_sums_clear(&bucket->sums);
	*bucket = (struct bucket){.sums = bucket->sums, .begin_ns = begin_ns, .next_ns = at_ns};
	bucket->is_whole = at_ns == begin_ns;
	if (!bucket->is_whole && at_ns <= life_ns) {
		bucket_add(bucket, EXTENT_ABSENT, STORE_OP_NONE, 0, 0, at_ns - begin_ns);
		bucket->is_whole = true;
	}
}

static void made_add(struct store_roller *roller, unsigned size)
{
	struct bucket *bucket = &roller->sizes[size];
	struct store_key_roll key = {.begin_ns = bucket->begin_ns,
		.stream = roller->stream,
		.kind = STORE_ROLL_LINE,
		.shift = (uint8_t)shift_of(size)};
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	uint32_t length;

	store_key_roll_put(bytes, &key);
	store_bytes_begin_sealed(&roller->value);
	store_line_roll_put(&roller->value, &key, &roller->line.rules, &bucket->sums);
	store_bytes_seal(&roller->value, bytes, sizeof bytes);
	length = (uint32_t)roller->value.size;
	roller->made.failed |= roller->value.failed;
	store_bytes_put(&roller->made, bytes, sizeof bytes);
	store_bytes_put(&roller->made, &length, sizeof length);
	store_bytes_put(&roller->made, roller->value.data, length);
}

/* A bucket of the size below is finished: it becomes part of this one. */
static void bucket_join(
	struct store_roller *roller, unsigned size, const struct bucket *part, uint64_t end_ns)
{
	struct bucket *bucket = &roller->sizes[size];
	uint64_t begin_ns = store_bucket_of(part->begin_ns, shift_of(size));

	if (!bucket->next_ns || bucket->begin_ns != begin_ns)
		bucket_open(roller, size, part->begin_ns);
	bucket->is_whole &= part->is_whole && bucket->next_ns == part->begin_ns;
	bucket->next_ns = end_ns;
	bucket->parts++;
	for (uint32_t i = 0; bucket->is_whole && i < part->sums.count; i++)
		store_sums_add(&bucket->sums, &part->sums.entries[i]);
}

/* All of the bucket is swept: it is made, and larger ones that end with it. */
static void bucket_finish(struct store_roller *roller, unsigned size)
{
	for (;; size++) {
		struct bucket *bucket = &roller->sizes[size];
		uint64_t end_ns = bucket_end(bucket, size);

		if (bucket->is_whole && (size == roller->base || bucket->parts > 1))
			made_add(roller, size);
		if (size == TOP)
			break;
		bucket_join(roller, size + 1, bucket, end_ns);
		bucket->next_ns = 0;
		if (bucket_end(&roller->sizes[size + 1], size + 1) != end_ns)
			break;
	}
}

/* ---- the sweep ---- */

static int compare(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

static uint64_t queue_next(struct queue *queue)
{
	if (queue->is_unsorted)
		qsort(queue->records + queue->head, queue->count - queue->head, sizeof *queue->records,
			compare);
	queue->is_unsorted = false;
	return queue->head < queue->count ? queue->records[queue->head].begin_ns : UINT64_MAX;
}

static void queue_shrink(struct queue *queue)
{
	if (queue->head == 0) /* nothing was taken, or there never was anything */
		return;
	memmove(queue->records, queue->records + queue->head,
		(queue->count - queue->head) * sizeof *queue->records);
	queue->count -= queue->head;
	queue->head = 0;
}

static bool take_span(struct store_roller *roller, const struct store_record *record)
{
	/* The copy's direction came with it, see span_wait(). */
	return line_take_span(&roller->line, (struct line_span){.begin_ns = record->begin_ns,
						     .end_ns = record->end_ns,
						     .context = record->context,
						     .op = record->what,
						     .state = (enum extent_state)record->flags});
}

static void take_sample(struct store_roller *roller, const struct store_record *record)
{
	line_take_sample(&roller->line, record->begin_ns, record->context);
	if (roller->awaits_sample && record->begin_ns >= roller->valid_ns) {
		roller->valid_ns = record->begin_ns;
		roller->awaits_sample = false;
	}
}

/* Takes what begins now or before, samples before spans. */
static bool take_all(struct store_roller *roller)
{
	for (;;) {
		uint64_t sample_ns = queue_next(&roller->samples), span_ns = queue_next(&roller->spans);

		if (sample_ns > roller->line.now_ns && span_ns > roller->line.now_ns)
			return true;
		if (sample_ns <= span_ns)
			take_sample(roller, &roller->samples.records[roller->samples.head++]);
		else if (!take_span(roller, &roller->spans.records[roller->spans.head++]))
			return false;
	}
}

/* Smaller buckets where they hold much, larger ones where little and the time allows. */
static void base_adapt(struct store_roller *roller, uint64_t now_ns)
{
	unsigned base = roller->base;

	if (roller->pieces > PIECES_MANY && base > 1)
		roller->base--;
	else if (roller->pieces < PIECES_FEW && base < TOP &&
		 store_bucket_of(now_ns, shift_of(base + 1)) == now_ns)
		roller->base++;
	roller->pieces = 0;
}

static void piece_add(struct store_roller *roller, const struct line_piece *piece)
{
	struct bucket *bucket = &roller->sizes[roller->base];

	/* What the sweep does not know is not counted, and nothing that holds it is made. */
	if (roller->awaits_sample || piece->begin_ns < roller->valid_ns)
		bucket->is_whole = false;
	if (bucket->is_whole)
		bucket_add(bucket, piece->state, piece->op, piece->context, piece->is_record_begin,
			piece->end_ns - piece->begin_ns);
	bucket->next_ns = piece->end_ns;
	roller->pieces++;
}

static bool sweep_until(struct store_roller *roller, uint64_t until_ns)
{
	struct line_walk *line = &roller->line;

	while (line->now_ns < until_ns) {
		struct bucket *bucket = &roller->sizes[roller->base];
		struct line_piece piece;
		uint64_t end_ns;

		if (!take_all(roller))
			return false;
		if (!bucket->next_ns)
			bucket_open(roller, roller->base, line->now_ns);
		end_ns = bucket_end(bucket, roller->base);
		line_step(line, queue_next(&roller->samples), queue_next(&roller->spans),
			end_ns < until_ns ? end_ns : until_ns, &piece);
		piece_add(roller, &piece);
		if (line->now_ns == end_ns) {
			bucket_finish(roller, roller->base);
			base_adapt(roller, end_ns);
		}
	}
	queue_shrink(&roller->samples);
	queue_shrink(&roller->spans);
	return true;
}

/* The stream has ended: what is left of the buckets is absent, up to the one that holds all of its life. */
static void finish(struct store_roller *roller)
{
	uint64_t life_ns = roller->line.rules.begin_ns;

	for (unsigned size = roller->base; size <= TOP; size++) {
		struct bucket *bucket = &roller->sizes[size];
		uint64_t end_ns = bucket_end(bucket, size);

		if (!bucket->next_ns) /* it ended with the bucket below */
			continue;
		if (bucket->is_whole && bucket->next_ns < end_ns)
			bucket_add(bucket, EXTENT_ABSENT, STORE_OP_NONE, 0, 0, end_ns - bucket->next_ns);
		if (bucket->is_whole && (size == roller->base || bucket->parts > 1))
			made_add(roller, size);
		if (size == TOP || bucket->begin_ns <= life_ns)
			break;
		bucket_join(roller, size + 1, bucket, end_ns);
		bucket->next_ns = 0;
	}
}

/* ---- late records ---- */

/* The line is not known now, but again from `again_ns`. */
static void doubt(struct store_roller *roller, uint64_t again_ns)
{
	for (unsigned size = 0; size <= TOP; size++)
		roller->sizes[size].is_whole = false;
	if (again_ns < roller->line.now_ns)
		again_ns = roller->line.now_ns;
	if (again_ns > roller->valid_ns)
		roller->valid_ns = again_ns;
	roller->awaits_sample = !roller->line.rules.is_gpu;
}

/* What was rolled from this time on is wrong. */
static void tear(struct store_roller *roller, uint64_t from_ns, uint64_t again_ns)
{
	if (from_ns < roller->torn_ns)
		roller->torn_ns = from_ns;
	doubt(roller, again_ns);
	/* What was made since the last commit goes, too: its times are in the keys. */
	for (size_t at = 0; at < roller->made.size;) {
		struct store_key_roll key;
		uint32_t length = store_load32(roller->made.data + at + STORE_KEY_ROLL_BYTES);
		size_t size = STORE_KEY_ROLL_BYTES + sizeof length + length;

		if (store_key_roll_get(&key, roller->made.data + at, STORE_KEY_ROLL_BYTES) &&
			key.begin_ns + ((uint64_t)1 << key.shift) > from_ns) {
			memmove(roller->made.data + at, roller->made.data + at + size,
				roller->made.size - at - size);
			roller->made.size -= size;
			continue;
		}
		at += size;
	}
}

/* ---- waiting ---- */

static bool queue_add(struct queue *queue, const struct store_record *record)
{
	struct store_record *to =
		store_table_add((void **)&queue->records, &queue->count, &queue->capacity, sizeof *to);

	if (!to)
		return false;
	*to = *record;
	if (queue->count - queue->head > 1 && store_record_compare(to - 1, to) > 0)
		queue->is_unsorted = true;
	return true;
}

static bool is_late(const struct store_roller *roller, const struct store_record *record)
{
	return roller->has_begun && record->begin_ns < roller->line.now_ns;
}

static bool sample_wait(struct store_roller *roller, const struct store_record *record)
{
	if (!(record->flags & STORE_RECORD_EXTENT))
		return true;
	if (is_late(roller, record))
		tear(roller, record->begin_ns, 0);
	return queue_add(&roller->samples, record);
}

/* Rollups made by other rules stay in the file, and readers pass over them. */
static void switches_note(struct store_roller *roller)
{
	if (!roller->line.rules.has_switches && roller->has_begun)
		doubt(roller, 0);
	roller->line.rules.has_switches = true;
}

static bool span_wait(
	struct store_roller *roller, const struct store_record *record, const struct store_texts *texts)
{
	bool is_gpu = roller->line.rules.is_gpu;
	struct store_record span = *record;

	if (line_kind_of(record->what, is_gpu, roller->line.rules.has_samples) == LINE_KIND_COUNT ||
		record->end_ns <= record->begin_ns)
		return true;
	if (is_late(roller, record))
		tear(roller, record->begin_ns, record->end_ns);
	if ((record->what == STORE_OP_BLOCKED || record->what == STORE_OP_RUNNABLE) &&
		!roller->is_switches_said)
		switches_note(roller);
	span.flags = (uint32_t)line_state_of(record->what, is_gpu);
	if (record->what == STORE_OP_COPY && is_gpu && record->attributes) {
		struct store_slice text = store_texts_at(texts, record->attributes);

		span.flags = (uint32_t)line_copy_state((const char *)text.bytes, text.size);
	}
	return queue_add(&roller->spans, &span);
}

/* ---- streams ---- */

static void queue_fini(struct queue *queue)
{
	free(queue->records);
	*queue = (struct queue){0};
}

/* No more rollups of this stream; what was made is kept, and torn where a late record comes. */
static void roller_end(struct store_roller *roller)
{
	line_fini(&roller->line);
	queue_fini(&roller->samples);
	queue_fini(&roller->spans);
	for (unsigned size = 0; size <= TOP; size++)
		store_sums_fini(&roller->sizes[size].sums);
	store_bytes_fini(&roller->value);
	roller->is_over = true;
}

static void roller_free(struct store_roller *roller)
{
	if (!roller)
		return;
	roller_end(roller);
	store_bytes_fini(&roller->made);
	free(roller);
}

void store_rollers_fini(struct store_rollers *rollers)
{
	for (uint32_t i = 0; i < rollers->count; i++)
		roller_free(rollers->places[i].roller);
	free(rollers->places);
	*rollers = (struct store_rollers){0};
}

static struct roller_place *place_of(struct store_rollers *rollers, uint32_t stream)
{
	while (rollers->count <= stream)
		if (!store_table_add((void **)&rollers->places, &rollers->count, &rollers->capacity,
			    sizeof *rollers->places)) {
			rollers->failed = true;
			return NULL;
		}
	return &rollers->places[stream];
}

static void monitored_note(
	struct store_roller *roller, const struct store_record *span, const struct store_texts *texts)
{
	struct store_slice text = store_texts_at(texts, span->attributes);
	struct line_rules *rules = &roller->line.rules;
	uint64_t switches;

	rules->has_monitored = true;
	if (!rules->period_ns)
		rules->period_ns = attribute_number((const char *)text.bytes, text.size, "period_ns", 0);
	switches = attribute_number((const char *)text.bytes, text.size, "switches", SWITCHES_NOT_SAID);
	roller->is_switches_said |= switches != SWITCHES_NOT_SAID;
	if (switches && switches != SWITCHES_NOT_SAID)
		switches_note(roller);
}

/* The base that holds about BASE_RECORDS of them. */
static unsigned base_of(uint64_t period_ns)
{
	unsigned base = 1;

	if (!period_ns)
		return BASE_FIRST;
	while (base < TOP && (uint64_t)1 << shift_of(base + 1) <= period_ns * BASE_RECORDS)
		base++;
	return base;
}

static struct store_roller *roller_new(struct roller_place *place, uint32_t stream,
	const struct store_stream *properties, const struct store_texts *texts)
{
	struct store_roller *roller = calloc(1, sizeof *roller);

	if (!roller)
		return NULL;
	roller->stream = stream;
	roller->torn_ns = UINT64_MAX;
	roller->monitored_ns = UINT64_MAX;
	roller->line.rules.is_gpu = properties->kind == STORE_STREAM_GPU;
	roller->line.rules.has_samples = !roller->line.rules.is_gpu;
	if (place->has_monitored) {
		struct store_record span = place->monitored;

		monitored_note(roller, &span, texts);
		if (span.end_ns == STORE_OPEN_NS)
			roller->monitored_ns = span.begin_ns;
		if (!span_wait(roller, &span, texts)) {
			roller_free(roller);
			return NULL;
		}
	}
	roller->base = base_of(roller->line.rules.period_ns);
	place->roller = roller;
	return roller;
}

static bool announces_switches(const struct store_record *monitored, const struct store_texts *texts)
{
	struct store_slice text = store_texts_at(texts, monitored->attributes);

	return attribute_number((const char *)text.bytes, text.size, "switches", 0) != 0;
}

static bool needs_roller(const struct store_stream *properties, enum store_track track,
	const struct store_record *record, const struct store_texts *texts)
{
	enum line_kind kind;

	if (properties->kind == STORE_STREAM_GPU)
		return true;
	if (track != STORE_SPANS)
		return false;
	kind = line_kind_of(record->what, false, true);
	return kind == LINE_KIND_SYNC || kind == LINE_KIND_BLOCKED || kind == LINE_KIND_RUNNABLE ||
	       (kind == LINE_KIND_MONITORED && announces_switches(record, texts));
}

static void monitored_set(struct roller_place *place, const struct store_record *span)
{
	place->monitored = *span;
	place->has_monitored = true;
}

/* The roller may come into being in the middle of the stream: samples before are not known. */
static bool roller_begin(struct roller_place *place, uint32_t stream, const struct store_stream *properties,
	uint64_t now_ns, const struct store_texts *texts)
{
	struct store_roller *roller = roller_new(place, stream, properties, texts);

	if (roller && properties->count[STORE_SAMPLES]) {
		roller->valid_ns = now_ns;
		roller->awaits_sample = true;
	}
	return roller != NULL;
}

/* The span that began there, as the sweep knows it, ends. */
static void monitored_end(struct store_roller *roller, const struct store_record *ended)
{
	struct line_stack *stack = &roller->line.stacks[LINE_KIND_MONITORED];

	for (uint32_t i = roller->spans.head; i < roller->spans.count; i++)
		if (roller->spans.records[i].what == STORE_OP_MONITORED &&
			roller->spans.records[i].end_ns == STORE_OPEN_NS) {
			roller->spans.records[i].end_ns = ended->end_ns;
			roller->spans.is_unsorted = true;
		}
	for (size_t i = 0; i < stack->count; i++)
		if (stack->spans[i].end_ns == STORE_OPEN_NS)
			stack->spans[i].end_ns = ended->end_ns;
	roller->line.steady_ns = 0;
	roller->monitored_ns = UINT64_MAX;
	if (roller->has_begun && ended->end_ns < roller->line.now_ns)
		tear(roller, ended->end_ns, 0);
}

/* False: memory is out. */
static bool monitored_take(
	struct roller_place *place, const struct store_record *span, const struct store_texts *texts)
{
	struct store_roller *roller = place->roller;

	monitored_set(place, span);
	if (!roller)
		return true;
	monitored_note(roller, span, texts);
	if (roller->monitored_ns == span->begin_ns && span->end_ns != STORE_OPEN_NS) {
		monitored_end(roller, span);
		return true;
	}
	if (span->end_ns == STORE_OPEN_NS) {
		if (roller->monitored_ns != UINT64_MAX)
			return true;
		roller->monitored_ns = span->begin_ns;
	}
	return span_wait(roller, span, texts);
}

/* After the last rollup was made: what comes behind the sweep, still comes behind the sweep. */
static void late_only(struct store_roller *roller, const struct store_record *records, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_late(roller, &records[i]))
			tear(roller, records[i].begin_ns, 0);
}

static bool record_take(struct roller_place *place, uint32_t stream, const struct store_stream *properties,
	enum store_track track, const struct store_record *record, const struct store_texts *texts)
{
	bool is_monitored = track == STORE_SPANS && record->what == STORE_OP_MONITORED;

	if (is_monitored && !monitored_take(place, record, texts))
		return false;
	if (!place->roller && needs_roller(properties, track, record, texts) &&
		!roller_begin(place, stream, properties, record->begin_ns, texts))
		return false;
	if (!place->roller || is_monitored)
		return true;
	return track == STORE_SAMPLES ? sample_wait(place->roller, record)
				      : span_wait(place->roller, record, texts);
}

void store_rollers_append(struct store_rollers *rollers, uint32_t stream,
	const struct store_stream *properties, enum store_track track, const struct store_record *records,
	size_t count, const struct store_texts *texts)
{
	struct roller_place *place = rollers->failed ? NULL : place_of(rollers, stream);

	if (!place || track == STORE_VALUES ||
		(!place->roller && track == STORE_SAMPLES && properties->kind == STORE_STREAM_CPU))
		return;
	if (place->roller && place->roller->is_over) {
		late_only(place->roller, records, count);
		return;
	}
	for (size_t i = 0; i < count && !rollers->failed; i++)
		rollers->failed = !record_take(place, stream, properties, track, &records[i], texts);
}

bool store_rollers_is_full(const struct store_rollers *rollers, uint32_t stream)
{
	const struct store_roller *roller = stream < rollers->count ? rollers->places[stream].roller : NULL;

	return roller && (roller->samples.count > WAIT_MANY || roller->spans.count > WAIT_MANY);
}

void store_rollers_open(struct store_rollers *rollers, uint32_t stream, const struct store_stream *properties,
	const struct store_record *record, const struct store_texts *texts)
{
	struct roller_place *place = rollers->failed ? NULL : place_of(rollers, stream);
	struct store_record open = *record;

	open.end_ns = STORE_OPEN_NS;
	if (place && open.what == STORE_OP_MONITORED && !(place->roller && place->roller->is_over))
		rollers->failed = !record_take(place, stream, properties, STORE_SPANS, &open, texts);
}

/* ---- commits ---- */

/* Life and edges, as far as they are known. False: the line cannot be swept yet. */
static bool rules_learn(
	struct store_roller *roller, const struct store_stream *properties, uint64_t *until_ns)
{
	struct line_rules *rules = &roller->line.rules;
	bool has_life = properties->end_ns > properties->begin_ns;

	/* Without a life or a `monitored` span these are the first and the last record: readers sweep. */
	if (!has_life || !rules->has_monitored)
		return false;
	rules->begin_ns = properties->begin_ns;
	rules->end_ns = properties->end_ns;
	if (!rules->is_gpu && rules->has_samples != (properties->count[STORE_SAMPLES] > 0)) {
		doubt(roller, 0);
		rules->has_samples = !rules->has_samples;
	}
	if (*until_ns > rules->end_ns)
		*until_ns = rules->end_ns;
	return *until_ns <= TIME_MAX;
}

void store_rollers_advance(struct store_rollers *rollers, uint32_t stream,
	const struct store_stream *properties, uint64_t until_ns)
{
	struct store_roller *roller = stream < rollers->count ? rollers->places[stream].roller : NULL;

	if (!roller || roller->is_over || rollers->failed || !rules_learn(roller, properties, &until_ns))
		return;
	if (!roller->has_begun) {
		roller->line.now_ns = roller->line.rules.begin_ns;
		roller->has_begun = true;
	}
	if (!sweep_until(roller, until_ns)) {
		rollers->failed = true;
		return;
	}
	if (roller->line.now_ns == roller->line.rules.end_ns) {
		finish(roller);
		roller_end(roller);
	} else if (roller->samples.count > WAIT_MAX || roller->spans.count > WAIT_MAX) {
		roller_end(roller);
	}
}

static int put_made(const struct store_roller *roller, MDB_txn *txn, MDB_dbi rolls)
{
	int rc = roller->made.failed ? ENOMEM : 0;

	for (size_t at = 0; at < roller->made.size && !rc;) {
		uint8_t *bytes = roller->made.data + at;
		MDB_val key = {STORE_KEY_ROLL_BYTES, bytes};
		MDB_val value = {store_load32(bytes + STORE_KEY_ROLL_BYTES),
			bytes + STORE_KEY_ROLL_BYTES + sizeof(uint32_t)};

		rc = mdb_put(txn, rolls, &key, &value, 0);
		at += STORE_KEY_ROLL_BYTES + sizeof(uint32_t) + value.mv_size;
	}
	return rc;
}

static int delete_roll(MDB_txn *txn, MDB_dbi rolls, const struct store_key_roll *key)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	MDB_val mdb_key = {sizeof bytes, bytes};
	int rc;

	store_key_roll_put(bytes, key);
	rc = mdb_del(txn, rolls, &mdb_key, NULL);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Those that hold the time, of each size, and all that begin behind it. */
static int delete_torn(const struct store_roller *roller, uint64_t thinned_ns, MDB_txn *txn, MDB_dbi rolls)
{
	uint64_t torn_ns = roller->torn_ns > thinned_ns ? roller->torn_ns : thinned_ns;
	struct store_key_roll key = {.stream = roller->stream, .kind = STORE_ROLL_LINE};
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	int rc = 0;

	if (roller->torn_ns == UINT64_MAX)
		return 0;
	for (unsigned size = 1; size <= TOP && !rc; size++) {
		key.shift = (uint8_t)shift_of(size);
		key.begin_ns = store_bucket_of(torn_ns, key.shift);
		rc = delete_roll(txn, rolls, &key);
	}
	while (!rc) {
		MDB_cursor *cursor;
		MDB_val found = {sizeof bytes, bytes}, value;

		store_key_roll_put(bytes, &(struct store_key_roll){.stream = roller->stream,
						  .kind = STORE_ROLL_LINE,
						  .begin_ns = torn_ns,
						  .shift = STORE_SHIFT_MAX});
		rc = mdb_cursor_open(txn, rolls, &cursor);
		if (rc)
			return rc;
		rc = mdb_cursor_get(cursor, &found, &value, MDB_SET_RANGE);
		if (!rc && (!store_key_roll_get(&key, found.mv_data, found.mv_size) ||
				   key.stream != roller->stream || key.kind != STORE_ROLL_LINE))
			rc = MDB_NOTFOUND;
		if (!rc)
			rc = mdb_cursor_del(cursor, 0);
		mdb_cursor_close(cursor);
	}
	return rc == MDB_NOTFOUND ? 0 : rc;
}

int store_rollers_put(struct store_rollers *rollers, MDB_txn *txn, MDB_dbi rolls)
{
	int rc = 0;

	for (uint32_t i = 0; i < rollers->count && !rc; i++) {
		const struct store_roller *roller = rollers->places[i].roller;

		if (!roller)
			continue;
		rc = delete_torn(roller, rollers->thinned_ns, txn, rolls);
		rc = rc ? rc : put_made(roller, txn, rolls);
	}
	return rc;
}

void store_rollers_committed(struct store_rollers *rollers)
{
	for (uint32_t i = 0; i < rollers->count; i++) {
		struct store_roller *roller = rollers->places[i].roller;

		if (!roller)
			continue;
		roller->made.size = 0;
		roller->torn_ns = UINT64_MAX;
	}
}
