/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_use.c - a process's use of devices, queues, contexts, buffers and arguments (S3 IV-B, S0 8.4.2).
 * The evidence is in attributes: of a queue's `monitored` span order=in|out and devices=N (number of devices
 * available); of a copy kind= and buffer=ID, with at=OFFSET for a part of the buffer; of a kernel
 * args=BEGIN+SIZE:BEGIN+SIZE, the memory of its buffer arguments. Without an attribute there is no case.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/findings/findings_internal.h"
#include "store/base/array.h"
#include "store/base/attribute.h"
#include "store/base/hash.h"
#include "store/states/span_stack.h"

#define ARGS_MAX 64u
#define TEXT_BYTES 2048u

struct findings_use *findings_use_new(const struct process *process)
{
	struct findings_use *use = calloc(1, sizeof(*use));

	if (!use)
		return NULL;
	use->process = process;
	key_ids_init(&use->buffers, sizeof(struct store_hash));
	key_ids_init(&use->kernels, sizeof(uint32_t));
	key_ids_init(&use->homes, sizeof(struct findings_kernel_home));
	key_ids_init(&use->compile_places, sizeof(uint32_t));
	use->queues = calloc(process->stream_count + 1, sizeof(*use->queues));
	if (use->queues)
		return use;
	findings_use_free(use);
	return NULL;
}

void findings_use_free(struct findings_use *use)
{
	if (!use)
		return;
	key_ids_fini(&use->buffers);
	key_ids_fini(&use->kernels);
	key_ids_fini(&use->homes);
	key_ids_fini(&use->compile_places);
	free(use->compile_of);
	free(use->has_none);
	free(use->transfers);
	free(use->cases);
	free(use->queues);
	free(use);
}

/* ---- attributes ---- */

#define TEXTS_REMEMBERED 1048576u

enum { NO_ARGS = 1, NO_BUFFER = 2 };

/* What a span's attributes tell of arguments or a buffer, in `value` of TEXT_BYTES. Most spans of a run share
 * their attributes: that there is nothing is remembered by the text's number. */
static bool find_attribute(
	struct findings_search *search, const struct batch *batch, size_t row, uint8_t none, char *value)
{
	struct findings_use *use = search->use;
	uint32_t text = batch->attributes[row];
	const char *attributes;
	size_t size;

	if (!text || (text < use->text_capacity && use->has_none[text] & none))
		return false;
	attributes = batch_attributes(search->run, batch, row, &size);
	if (attribute_get(attributes, size, none == NO_ARGS ? "args" : "buffer", value, TEXT_BYTES))
		return true;
	if (text < TEXTS_REMEMBERED &&
		array_reserve_zero(&use->has_none, &use->text_capacity, (size_t)text + 1, 1))
		use->has_none[text] |= none;
	return false;
}

/* ---- spans ---- */

static struct findings_queue *queue_of(struct findings_use *use, uint32_t stream)
{
	uint32_t i = use->queue_at;

	if (i < use->queue_count && use->queues[i].stream == stream)
		return &use->queues[i];
	for (i = 0; i < use->queue_count && use->queues[i].stream != stream;)
		i++;
	if (i == use->queue_count)
		use->queues[use->queue_count++] = (struct findings_queue){.stream = stream};
	use->queue_at = i;
	return &use->queues[i];
}

static void take_monitored(const struct findings_search *search, const struct batch *batch, size_t row)
{
	struct findings_use *use = search->use;
	const char *attributes;
	uint64_t devices;
	char order[8];
	size_t size;

	if (!batch->attributes[row])
		return;
	attributes = batch_attributes(search->run, batch, row, &size);
	devices = attribute_number(attributes, size, "devices", 0);
	if (attribute_get(attributes, size, "order", order, sizeof order) && !strcmp(order, "in"))
		queue_of(use, batch->stream)->is_in_order = true;
	if (devices > use->devices_there)
		use->devices_there = devices;
}

static bool take_copy(struct findings_search *search, const struct batch *batch, size_t row)
{
	struct findings_use *use = search->use;
	char name[TEXT_BYTES];
	enum extent_state state;
	struct store_hash hash;
	const char *attributes;
	uint32_t buffer;
	size_t size;

	use->copies++;
	if (!find_attribute(search, batch, row, NO_BUFFER, name))
		return true;
	attributes = batch_attributes(search->run, batch, row, &size);
	state = span_copy_state(attributes, size);
	if (state != EXTENT_COPY_IN && state != EXTENT_COPY_OUT)
		return true;
	if (!array_widen(
		    &use->transfers, &use->transfer_capacity, use->transfer_count, sizeof *use->transfers))
		return false;
	hash = store_hash128(name, strlen(name));
	buffer = key_ids_put(&use->buffers, &hash, NULL);
	use->transfers[use->transfer_count++] =
		(struct findings_transfer){.begin_ns = findings_begin(search, batch, row),
			.time_ns = findings_time(search, batch, row),
			.bytes = batch->bytes[row],
			.buffer = buffer,
			.at = attribute_number(attributes, size, "at", FINDINGS_WHOLE),
			.context = batch->context[row],
			.stream = batch->stream,
			.is_back = state == EXTENT_COPY_OUT};
	return buffer != KEY_IDS_NONE;
}

/* ---- arguments ---- */

struct range {
	uint64_t begin, end;
};

/* Ranges of "4096+1024:8192+512"; 0 when it is not that. */
static size_t parse_args(const char *text, struct range *ranges)
{
	size_t count = 0;

	while (count < ARGS_MAX) {
		char *end;
		uint64_t begin = strtoull(text, &end, 0), size;

		if (end == text || *end != '+')
			return 0;
		text = end + 1;
		size = strtoull(text, &end, 0);
		if (end == text || begin + size < begin)
			return 0;
		ranges[count++] = (struct range){begin, begin + size};
		if (!*end)
			return count;
		if (*end != ':')
			return 0;
		text = end + 1;
	}
	return 0;
}

static bool do_overlap(const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (ranges[i].begin < ranges[j].end && ranges[j].begin < ranges[i].end)
				return true;
	return false;
}

static bool take_args(struct findings_search *search, const struct batch *batch, size_t row, const char *args)
{
	struct findings_use *use = search->use;
	struct range ranges[ARGS_MAX];
	size_t count = parse_args(args, ranges);
	bool is_new;
	uint32_t number;

	if (count < 2)
		return true;
	number = key_ids_put(&use->kernels, &batch->context[row], &is_new);
	if (number == KEY_IDS_NONE ||
		!array_widen(&use->cases, &use->case_capacity, number, sizeof(*use->cases)))
		return false;
	if (is_new)
		use->cases[number] =
			(struct findings_kernel){.context = batch->context[row], .stream = batch->stream};
	if (batch->stream < use->cases[number].stream)
		use->cases[number].stream = batch->stream;
	use->cases[number].count++;
	use->cases[number].time_ns += findings_time(search, batch, row);
	use->cases[number].is_aliased |= do_overlap(ranges, count);
	return true;
}

/* The kernel and where it runs; most were seen before. */
static bool take_home(struct findings_search *search, uint32_t context, uint32_t of)
{
	struct findings_use *use = search->use;
	uint32_t at = context % FINDINGS_PUT, scope;
	struct findings_kernel_home home;
	const struct store_stream *stream;

	if (use->put[at].context == context && use->put[at].stream == of)
		return true;
	scope = run_context(search->run, context)->scope;
	if (scope == UINT32_MAX)
		return true;
	stream = &run_stream(search->run, of)->s;
	home = (struct findings_kernel_home){
		run_scope(search->run, scope)->function, stream->device, stream->context};
	use->put[at].context = context;
	use->put[at].stream = of;
	return key_ids_put(&use->homes, &home, NULL) != KEY_IDS_NONE;
}

static bool take_kernel(struct findings_search *search, const struct batch *batch, size_t row)
{
	struct findings_use *use = search->use;
	struct findings_queue *queue = queue_of(use, batch->stream);
	uint64_t time_ns = findings_time(search, batch, row);
	char args[TEXT_BYTES];

	queue->kernels++;
	queue->kernel_ns += time_ns;
	queue->longest_ns = time_ns > queue->longest_ns ? time_ns : queue->longest_ns;
	if (!take_home(search, batch->context[row], batch->stream))
		return false;
	/* A list that fills the buffer was cut. */
	if (!find_attribute(search, batch, row, NO_ARGS, args) || strlen(args) + 1 == sizeof args)
		return true;
	return take_args(search, batch, row, args);
}

static bool take_compile(const struct findings_search *search, const struct batch *batch, size_t row)
{
	struct findings_use *use = search->use;
	uint64_t time_ns = findings_time(search, batch, row);
	uint32_t place = key_ids_put(&use->compile_places, &batch->context[row], NULL);
	struct findings_compile *of;

	if (place == KEY_IDS_NONE || !array_widen((void **)&use->compile_of, &use->compile_capacity, place,
					     sizeof *use->compile_of))
		return false;
	of = &use->compile_of[place];
	if (place == use->compile_count) {
		*of = (struct findings_compile){.stream = batch->stream};
		use->compile_count++;
	}
	of->count++;
	of->time_ns += time_ns;
	of->longest_ns = time_ns > of->longest_ns ? time_ns : of->longest_ns;
	of->stream = batch->stream < of->stream ? batch->stream : of->stream;
	use->compiles++;
	use->compile_ns += time_ns;
	if (time_ns < use->compile_most_ns ||
		(time_ns == use->compile_most_ns && batch->stream < use->compile_stream))
		return true;
	use->compile_most_ns = time_ns;
	use->compile_context = batch->context[row];
	use->compile_stream = batch->stream;
	return true;
}

bool findings_use_take(struct findings_search *search, const struct batch *batch, size_t row, bool is_gpu)
{
	switch (batch->what[row]) {
	case STORE_OP_MONITORED:
		if (is_gpu)
			take_monitored(search, batch, row);
		return true;
	case STORE_OP_KERNEL:
		return !is_gpu || take_kernel(search, batch, row);
	case STORE_OP_COPY:
		return !is_gpu || take_copy(search, batch, row);
	case STORE_OP_COMPILE:
		return take_compile(search, batch, row);
	case STORE_OP_ALLOC:
		search->use->allocs++;
		search->use->alloc_bytes += batch->bytes[row];
		return true;
	default:
		return true;
	}
}
