/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_gpu.c - memory of GPUs in use at a moment, by who allocated it: from the allocations and frees that a
 * recording has as operations. A free finds its allocation by address within its process; in recordings
 * without addresses the last of its size, which tells sums, and paths only where they allocate different
 * sizes. See live.h.
 */
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/attribute.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/scan/scan.h"
#include "timeline/select/select.h"
#include "timeline/stats/live.h"

/* An allocation or a free. */
struct event {
	uint64_t time_ns, bytes;
	struct store_hash place; /* process and address, or size */
	uint32_t context, stream;
	uint32_t before; /* of an allocation: the one below it on the stack of its place */
	bool is_free;
};

#define NONE UINT32_MAX

struct events {
	struct event *list;
	size_t count, room;
};

/* Of the host's memory none counts. */
static bool is_device_kind(const char *kind)
{
	return strcmp(kind, "PAG") != 0 && strcmp(kind, "PIN") != 0;
}

/* False: it is no memory of a device. */
static bool event_of(struct event *event, const struct run *run, const struct run_stream *r,
	const struct batch *batch, size_t i, uint32_t stream)
{
	struct {
		uint64_t address, bytes;
		uint32_t store, pid, generation, rank;
	} place = {0, 0, r->store, r->s.pid, r->s.generation, (uint32_t)r->s.rank};
	char kind[16] = "", address[32] = "";
	size_t size;
	const char *text = batch_attributes(run, batch, i, &size);

	attribute_get(text, size, "kind", kind, sizeof kind);
	if (attribute_get(text, size, "address", address, sizeof address))
		place.address = strtoull(address, NULL, 16);
	else
		place.bytes = batch->bytes[i];
	*event = (struct event){.bytes = batch->bytes[i],
		/* From then on the memory may be another one's: when it is asked to be freed. */
		.time_ns = batch->end_ns[i] == STORE_OPEN_NS || batch->what[i] == STORE_OP_FREE
				   ? batch->begin_ns[i]
				   : batch->end_ns[i],
		.context = batch->context[i],
		.stream = stream,
		.before = NONE,
		.place = store_hash128(&place, sizeof place),
		.is_free = batch->what[i] == STORE_OP_FREE};
	return is_device_kind(kind);
}

static int read_stream(struct events *events, struct run *run, uint32_t stream, struct error *error)
{
	const struct run_stream *r = run_stream(run, stream);
	const struct batch *batch;
	struct scan *scan;
	long got = 0;
	int rc = scan_open(&scan, run, stream, STORE_SPANS, 0, STORE_OPEN_NS,
		STORE_BEGIN | STORE_END | STORE_WHAT | STORE_BYTES | STORE_CONTEXT | STORE_ATTRIBUTES, 0,
		error);

	if (rc)
		return rc;
	while (!rc && (got = scan_next(scan, &batch, error)) > 0)
		for (size_t i = 0; i < batch->count && !rc; i++) {
			if (batch->what[i] != STORE_OP_ALLOC && batch->what[i] != STORE_OP_FREE)
				continue;
			if (!array_reserve(
				    &events->list, &events->room, events->count + 1, sizeof *events->list))
				rc = error_memory(error);
			else
				events->count +=
					event_of(&events->list[events->count], run, r, batch, i, stream);
		}
	scan_close(scan);
	return got < 0 ? (int)got : rc;
}

/* At one moment what is freed comes first: its address may be given away again. */
static int compare_events(const void *x, const void *y)
{
	const struct event *a = x, *b = y;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (int)b->is_free - (int)a->is_free;
}

static int read_all(struct events *events, struct run *run, const struct select *select, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);
	int rc = 0;

	for (uint32_t i = 0; i < count && !rc; i++)
		rc = read_stream(events, run, streams[i], error);
	if (rc)
		return rc;
	if (!events->count)
		return error_set(error, ERROR_USAGE,
			"--metric " LIVE_GPU_METRIC ": %s has no allocations of GPU memory", run_path(run));
	qsort(events->list, events->count, sizeof *events->list, compare_events);
	return 0;
}

/* ---- who allocated what is freed ---- */

struct pairing {
	struct key_ids places;
	uint32_t *top; /* of each place: the event that allocated it last, and is in use; NONE: none */
	size_t room;
};

/* The allocation that the event frees; NONE: it is not in the recording. An allocation is put down. Negative
 * in *rc: no memory. */
static uint32_t pair(struct pairing *pairing, struct event *list, uint32_t i, int *rc, struct error *error)
{
	bool is_new;
	uint32_t place = key_ids_put(&pairing->places, &list[i].place, &is_new), freed;

	if (place == KEY_IDS_NONE ||
		!array_reserve(&pairing->top, &pairing->room, (size_t)place + 1, sizeof *pairing->top)) {
		*rc = error_memory(error);
		return NONE;
	}
	if (is_new)
		pairing->top[place] = NONE;
	freed = pairing->top[place];
	if (!list[i].is_free) {
		list[i].before = freed;
		pairing->top[place] = i;
	} else if (freed != NONE) {
		pairing->top[place] = list[freed].before;
	}
	return list[i].is_free ? freed : NONE;
}

/* ---- answers ---- */

static int count_event(struct live_folding *folding, const struct select *select, const struct event *of,
	const struct event *event, struct error *error)
{
	struct live_row *row;

	if (!select_wants_context(select, of->context))
		return 0;
	row = live_row_of(folding, of->context, of->stream);
	if (!row)
		return error_memory(error);
	*(event->is_free ? &row->freed_bytes : &row->allocated_bytes) += of->bytes;
	return 0;
}

int live_gpu_compute(struct live *live, struct live_peak *peak, struct run *run, const struct select *select,
	uint64_t at_ns, enum stats_by by, struct arena *arena, struct error *error)
{
	struct events events = {0};
	struct pairing pairing = {0};
	struct live_folding folding;
	uint64_t now = 0;
	int rc = read_all(&events, run, select, error);

	*peak = (struct live_peak){0, 0};
	live_folding_init(&folding, run, by, select_depth(select), arena);
	key_ids_init(&pairing.places, sizeof(struct store_hash));
	for (uint32_t i = 0; i < events.count && !rc; i++) {
		struct event *event = &events.list[i];
		uint32_t freed = pair(&pairing, events.list, i, &rc, error);
		const struct event *of =
			event->is_free ? (freed == NONE ? NULL : &events.list[freed]) : event;

		if (rc || !of) /* what was allocated before the recording is not known */
			continue;
		now = event->is_free ? now - of->bytes : now + of->bytes;
		if ((int64_t)now > peak->bytes)
			*peak = (struct live_peak){event->time_ns, (int64_t)now};
		if (event->time_ns < at_ns)
			rc = count_event(&folding, select, of, event, error);
	}
	rc = live_folding_end(live, &folding, rc, error);
	key_ids_fini(&pairing.places);
	free(pairing.top);
	free(events.list);
	return rc;
}
