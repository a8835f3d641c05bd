/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_duplicates.c - detects a store that is a copy of another one in the run under another name; otherwise
 * everything would be counted twice.
 */
#include <string.h>

#include "store/base/hash.h"
#include "timeline/run/run_internal.h"

/* What a recording has from its begin to its end. A collector writes one store: with its number they name it.
 */
static const char *const facts[] = {
	"host", "boot", "launch", "origin_ns", "wall_ns", "command", "recorder", "collector_pid"};
#define FACT_COUNT (sizeof facts / sizeof *facts)

static const char *fact(const struct run_part *part, size_t i)
{
	const char *value = store_reader_meta(part->reader, facts[i]);

	return value ? value : "";
}

uint64_t run_part_origin_hash(const struct run_part *part)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < FACT_COUNT; i++)
		hash = store_hash64(fact(part, i), strlen(fact(part, i)), hash);
	return hash;
}

static bool has_same_facts(const struct run_part *a, const struct run_part *b)
{
	for (size_t i = 0; i < FACT_COUNT; i++)
		if (strcmp(fact(a, i), fact(b, i)) != 0)
			return false;
	return true;
}

static bool is_same_stream(const struct run_part *a, const struct run_part *b, uint32_t stream)
{
	const struct store_stream *x = store_reader_stream_peek(a->reader, stream);
	const struct store_stream *y = store_reader_stream_peek(b->reader, stream);

	if (x->kind != y->kind || x->rank != y->rank || x->pid != y->pid || x->generation != y->generation ||
		x->thread != y->thread || x->device != y->device || x->context != y->context ||
		x->queue != y->queue || x->begin_ns != y->begin_ns || x->end_ns != y->end_ns)
		return false;
	return !memcmp(x->count, y->count, sizeof x->count) &&
	       !strcmp(store_reader_text_peek(a->reader, x->host),
		       store_reader_text_peek(b->reader, y->host));
}

/* Where no collector is named (slices, imports) stores of different streams or windows may say the same of
 * themselves. */
static bool has_same_streams(const struct run_part *a, const struct run_part *b)
{
	uint32_t count = store_reader_stream_count(a->reader);

	if (count != store_reader_stream_count(b->reader))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!is_same_stream(a, b, i))
			return false;
	return count > 0;
}

bool run_part_is_duplicate(const struct run_part *a, const struct run_part *b)
{
	if (a->origin_hash != b->origin_hash || !has_same_facts(a, b))
		return false;
	return *fact(a, FACT_COUNT - 1) || has_same_streams(a, b);
}
