/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - the names of tracks, operations and reserved frames, and the order of records.
 */
#include "store/store.h"

#include <string.h>

static const char *const op_names[] = {
#define X(name, text) text,
	STORE_OPS(X)
#undef X
};

static const char *const frame_names[] = {
#define X(name, text) text,
	STORE_FRAMES(X)
#undef X
};

_Static_assert(STORE_OP_COUNT <= STORE_OP_TEXT, "fixed operations lie below the text operations");

const char *store_track_name(enum store_track track)
{
	static const char *const names[STORE_TRACK_COUNT] = {"samples", "spans", "values"};

	return (unsigned)track < STORE_TRACK_COUNT ? names[track] : NULL;
}

const char *store_stream_kind_name(enum store_stream_kind kind)
{
	static const char *const names[STORE_STREAM_KINDS] = {"cpu", "gpu", "pc", "gauges"};

	return (unsigned)kind < STORE_STREAM_KINDS ? names[kind] : NULL;
}

/* Index of the name in the table, `count` when it is not there. */
static uint32_t table_find(const char *const *table, uint32_t count, const char *name, size_t size_bytes)
{
	for (uint32_t i = 0; i < count; i++)
		if (strlen(table[i]) == size_bytes && memcmp(table[i], name, size_bytes) == 0)
			return i;
	return count;
}

const char *store_op_name(uint32_t op)
{
	return op < STORE_OP_COUNT ? op_names[op] : NULL;
}

uint32_t store_op_find(const char *name, size_t size_bytes)
{
	return table_find(op_names, STORE_OP_COUNT, name, size_bytes);
}

bool store_op_is_state(uint32_t op)
{
	return (op >= STORE_OP_MONITORED && op <= STORE_OP_MARK) || op == STORE_OP_THINNED;
}

const char *store_frame_name(uint64_t frame)
{
	return frame < STORE_FRAME_COUNT ? frame_names[frame] : NULL;
}

uint64_t store_frame_find(const char *name, size_t size_bytes)
{
	return table_find(frame_names, STORE_FRAME_COUNT, name, size_bytes);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int store_record_compare(const struct store_record *a, const struct store_record *b)
{
	int order = compare_u64(a->begin_ns, b->begin_ns);

	order = order ? order : compare_u64(a->end_ns, b->end_ns);
	order = order ? order : compare_u64(a->context, b->context);
	order = order ? order : compare_u64(a->what, b->what);
	order = order ? order : compare_u64(a->amount, b->amount);
	order = order ? order : compare_u64(a->bytes, b->bytes);
	order = order ? order : compare_u64(a->link, b->link);
	order = order ? order : compare_u64(a->attributes, b->attributes);
	return order ? order : compare_u64(a->flags, b->flags);
}
