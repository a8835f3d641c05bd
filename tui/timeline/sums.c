/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.c - adds up the tile entries of lines by key. Exact, and without the store: the frame already holds
 * the times.
 */
#include "tui/timeline/sums.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"

struct sums {
	struct sums_line *lines;
	size_t count, capacity;
	uint32_t *slots; /* open addressing, index + 1 */
	size_t slot_count;
};

static uint64_t mix(uint64_t value)
{
	value ^= value >> 31;
	value *= 0x9e3779b97f4a7c15u;
	return value ^ value >> 29;
}

static bool grow(struct sums *sums)
{
	size_t capacity = sums->capacity ? sums->capacity * 2 : 256, slots = capacity * 4;
	struct sums_line *lines = realloc(sums->lines, capacity * sizeof(*lines));
	uint32_t *table;

	if (!lines)
		return false;
	sums->lines = lines;
	table = calloc(slots, sizeof(*table));
	if (!table)
		return false;
	free(sums->slots);
	sums->slots = table;
	sums->slot_count = slots;
	sums->capacity = capacity;
	for (size_t i = 0; i < sums->count; i++) {
		size_t at = mix(lines[i].id ^ (uint64_t)lines[i].class << 56) & (slots - 1);
		while (table[at])
			at = (at + 1) & (slots - 1);
		table[at] = (uint32_t)i + 1;
	}
	return true;
}

static struct sums_line *sum_of(struct sums *sums, uint64_t id, uint32_t class)
{
	size_t at;

	if (sums->count == sums->capacity && !grow(sums))
		return NULL;
	at = mix(id ^ (uint64_t) class << 56) & (sums->slot_count - 1);
	for (; sums->slots[at]; at = (at + 1) & (sums->slot_count - 1)) {
		struct sums_line *sum = &sums->lines[sums->slots[at] - 1];
		if (sum->id == id && sum->class == class)
			return sum;
	}
	sums->slots[at] = (uint32_t)++sums->count;
	sums->lines[sums->count - 1] = (struct sums_line){.id = id, .class = class, .function = UINT32_MAX};
	return &sums->lines[sums->count - 1];
}

static uint32_t scope_of(struct frame *frame, uint32_t context)
{
	const struct run_context *c;
	bool is_shorter;

	if (context >= run_context_count(frame->run))
		return UINT32_MAX;
	c = run_context(frame->run, context);
	return c->scope == UINT32_MAX ? UINT32_MAX : frame_scope(frame, c->scope, &is_shorter);
}

/* The position in the scope at the depth: where its child on the way to the leaf is called, or the leaf's. */
const char *sums_position(struct frame *frame, uint32_t context, uint32_t *line)
{
	const struct run_context *c = run_context(frame->run, context);
	uint32_t target = scope_of(frame, context), scope = c->scope;
	const char *file = c->file;

	*line = c->line;
	while (scope != target && scope != UINT32_MAX) {
		file = run_scope(frame->run, scope)->call_file;
		*line = run_scope(frame->run, scope)->call_line;
		scope = run_scope(frame->run, scope)->parent;
	}
	return file && file[0] ? file : "";
}

/* Of keys that have no number of their own. */
static uint64_t text_key(const struct frame *frame, uint32_t context, enum stats_by by)
{
	struct store_bytes text = {0};
	enum row_key_by place;
	uint64_t key = UINT64_MAX;

	if (stats_by_row_key(by, &place) && row_key_put(&text, frame->run, context, place, frame->depth))
		key = store_hash64(text.data, text.size, 0);
	store_bytes_fini(&text);
	return key;
}

/* A number that is equal where the key is; UINT64_MAX: has none. */
uint64_t sums_key(struct frame *frame, const struct tile_entry *entry, uint32_t stream, enum stats_by by)
{
	uint32_t line, function;
	const char *text;
	bool is_shorter;

	if (by == STATS_STREAM)
		return stream;
	if (by == STATS_OP)
		return entry->op;
	function = frame_function(frame, entry->context, &is_shorter);
	if (function == UINT32_MAX)
		return UINT64_MAX;
	if (by == STATS_PATH)
		return scope_of(frame, entry->context);
	if (by >= STATS_LOOP)
		return text_key(frame, entry->context, by);
	if (by == STATS_MODULE) {
		text = run_function(frame->run, function)->module;
		return store_hash64(text, strlen(text), 0);
	}
	if (by == STATS_LINE) {
		text = sums_position(frame, entry->context, &line);
		return store_hash64(text, strlen(text), 1) + line;
	}
	return function;
}

/* Functions at the depth, and what they tell, are the same of all contexts of a function. */
bool sums_by_leaf(enum stats_by by)
{
	return by != STATS_FUNCTION && by != STATS_STREAM && by != STATS_OP && by != STATS_MODULE;
}

/* Work and waiting in a synchronization go by key, the other states by themselves. */
bool sums_has_key(const struct tile_entry *entry)
{
	return extent_state_is_busy(entry->state) || (entry->state == EXTENT_SYNC && entry->context);
}

static int add_entry(struct sums *sums, struct frame *frame, const struct tile_entry *entry, uint32_t stream,
	enum stats_by by)
{
	bool is_keyed = sums_has_key(entry), is_shorter;
	uint64_t id = is_keyed ? sums_key(frame, entry, stream, by) : UINT64_MAX;
	/* one key may be work here and waiting there: two lines, as the cells differ */
	struct sums_line *sum = sum_of(sums, id, entry->state);

	if (!sum)
		return -1;
	if (entry->time_ns > sum->best_ns || sum->time_ns == 0) {
		sum->best_ns = entry->time_ns;
		sum->context = entry->context;
		sum->stream = stream;
		sum->op = entry->op;
		sum->function = is_keyed ? frame_function(frame, entry->context, &is_shorter) : UINT32_MAX;
	}
	sum->state = entry->state;
	sum->time_ns += entry->time_ns;
	sum->records += entry->records;
	return 0;
}

int sums_add_up(struct sums_line **lines, size_t *count, struct frame *frame, const uint32_t *streams,
	uint32_t stream_count, enum stats_by by)
{
	struct sums sums = {0};

	*lines = NULL;
	*count = 0;
	if (!grow(&sums))
		goto failed;
	for (uint32_t i = 0; i < stream_count; i++) {
		const struct frame_line *line =
			sums_by_leaf(by) ? frame_leaves(frame, streams[i]) : frame_line(frame, streams[i]);
		for (uint32_t e = 0; line && e < line->first[frame->columns.count]; e++)
			if (add_entry(&sums, frame, &line->entries[e], streams[i], by))
				goto failed;
	}
	free(sums.slots);
	*lines = sums.lines;
	*count = sums.count;
	return 0;
failed:
	free(sums.slots);
	free(sums.lines);
	return -1;
}

static int compare_times(const void *a, const void *b)
{
	const struct sums_line *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

int sums_largest(struct sums_line **lines, size_t *count, struct frame *frame, const uint32_t *streams,
	uint32_t stream_count)
{
	int result = sums_add_up(lines, count, frame, streams, stream_count, STATS_FUNCTION);

	if (!result && *count)
		qsort(*lines, *count, sizeof(**lines), compare_times);
	return result;
}
