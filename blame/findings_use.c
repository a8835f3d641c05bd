/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_use.c - what a process makes of its devices, queues, contexts, buffers and arguments (S3 IV-B,
 * S0 8.4.2). Evidence is what recorders say in attributes: of a queue's `monitored` span order=in|out and
 * devices=N, how many there were to choose from; of a copy kind= and buffer=ID; of a kernel
 * args=BEGIN+SIZE:BEGIN+SIZE, the memory of its buffer arguments. What is not said is no case.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/findings_parts.h"
#include "store/hash.h"
#include "timeline/attribute.h"
#include "timeline/extent_stack.h"

#define ARGS_MAX 64u
#define TEXT_BYTES 2048u

/* A copy of a buffer that has a name, or a kernel's launch. */
struct transfer {
	uint64_t begin_ns, time_ns, bytes;
	uint32_t buffer; /* its number */
	uint32_t context, stream;
	bool is_back; /* device to host */
};

/* A kernel by its context. */
struct kernel_case {
	uint64_t count, time_ns;
	uint32_t context, stream;
	bool is_aliased;
};

struct queue_case {
	uint64_t kernels, kernel_ns, longest_ns;
	uint32_t stream;
	bool is_in_order;
};

struct kernel_home {
	uint32_t function, device, context;
};

struct findings_use {
	const struct process *process;
	struct numbering buffers, kernels, homes; /* by hash of the name; by context; by struct kernel_home */
	struct transfer *transfers;
	size_t transfer_count, transfer_room;
	struct kernel_case *cases;
	uint32_t case_room;
	struct queue_case queue, *queues; /* the one being read; all */
	uint32_t queue_count;
	uint64_t devices_there; /* 0: not known */
	uint64_t compiles, compile_ns, copies, alloc_bytes, allocs;
	uint32_t compile_context, compile_stream;
	uint64_t compile_most_ns;
};

struct findings_use *findings_use_new(const struct process *process)
{
	struct findings_use *use = calloc(1, sizeof(*use));

	if (!use)
		return NULL;
	use->process = process;
	numbering_init(&use->buffers, sizeof(struct store_hash));
	numbering_init(&use->kernels, sizeof(uint32_t));
	numbering_init(&use->homes, sizeof(struct kernel_home));
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
	numbering_fini(&use->buffers);
	numbering_fini(&use->kernels);
	numbering_fini(&use->homes);
	free(use->transfers);
	free(use->cases);
	free(use->queues);
	free(use);
}

/* ---- spans ---- */

static struct queue_case *queue_of(struct findings_use *use, uint32_t stream)
{
	if (!use->queue_count || use->queues[use->queue_count - 1].stream != stream)
		use->queues[use->queue_count++] = (struct queue_case){.stream = stream};
	return &use->queues[use->queue_count - 1];
}

static void take_monitored(struct findings_use *use, const char *attributes, size_t size, uint32_t stream)
{
	uint64_t devices = attribute_number(attributes, size, "devices", 0);
	char order[8];

	if (attribute_get(attributes, size, "order", order, sizeof order) && !strcmp(order, "in"))
		queue_of(use, stream)->is_in_order = true;
	if (devices > use->devices_there)
		use->devices_there = devices;
}

static bool take_copy(
	struct findings_use *use, const struct batch *batch, size_t row, const char *attributes, size_t size)
{
	char name[TEXT_BYTES];
	enum extent_state state = extent_copy_state(attributes, size);
	struct store_hash hash;
	uint32_t buffer;

	use->copies++;
	if ((state != EXTENT_COPY_IN && state != EXTENT_COPY_OUT) ||
		!attribute_get(attributes, size, "buffer", name, sizeof name))
		return true;
	if (use->transfer_count == use->transfer_room) {
		size_t room = use->transfer_room ? 2 * use->transfer_room : 64;
		struct transfer *transfers = realloc(use->transfers, room * sizeof(*transfers));

		if (!transfers)
			return false;
		use->transfers = transfers;
		use->transfer_room = room;
	}
	hash = store_hash128(name, strlen(name));
	buffer = numbering_put(&use->buffers, &hash, NULL);
	use->transfers[use->transfer_count++] = (struct transfer){.begin_ns = batch->begin_ns[row],
		.time_ns = batch->end_ns[row] - batch->begin_ns[row],
		.bytes = batch->bytes[row],
		.buffer = buffer,
		.context = batch->context[row],
		.stream = batch->stream,
		.is_back = state == EXTENT_COPY_OUT};
	return buffer != NUMBERING_NONE;
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

static bool take_args(struct findings_use *use, const struct batch *batch, size_t row, const char *args)
{
	struct range ranges[ARGS_MAX];
	size_t count = parse_args(args, ranges);
	bool is_new;
	uint32_t number;

	if (count < 2)
		return true;
	number = numbering_put(&use->kernels, &batch->context[row], &is_new);
	if (number == NUMBERING_NONE)
		return false;
	if (number >= use->case_room) {
		uint32_t room = use->case_room ? 2 * use->case_room : 64;
		struct kernel_case *cases = realloc(use->cases, room * sizeof(*cases));

		if (!cases)
			return false;
		use->cases = cases;
		use->case_room = room;
	}
	if (is_new)
		use->cases[number] =
			(struct kernel_case){.context = batch->context[row], .stream = batch->stream};
	use->cases[number].count++;
	use->cases[number].time_ns += batch->end_ns[row] - batch->begin_ns[row];
	use->cases[number].is_aliased |= do_overlap(ranges, count);
	return true;
}

static bool take_kernel(struct findings_search *search, const struct batch *batch, size_t row,
	const char *attributes, size_t size)
{
	struct findings_use *use = search->use;
	const struct store_stream *stream = &run_stream(search->run, batch->stream)->s;
	uint32_t scope = run_context(search->run, batch->context[row])->scope;
	struct queue_case *queue = queue_of(use, batch->stream);
	uint64_t time_ns = batch->end_ns[row] - batch->begin_ns[row];
	char args[TEXT_BYTES];

	queue->kernels++;
	queue->kernel_ns += time_ns;
	queue->longest_ns = time_ns > queue->longest_ns ? time_ns : queue->longest_ns;
	if (scope != UINT32_MAX) {
		struct kernel_home home = {
			run_scope(search->run, scope)->function, stream->device, stream->context};

		if (numbering_put(&use->homes, &home, NULL) == NUMBERING_NONE)
			return false;
	}
	return !attribute_get(attributes, size, "args", args, sizeof args) ||
	       take_args(use, batch, row, args);
}

static void take_compile(struct findings_use *use, const struct batch *batch, size_t row)
{
	uint64_t time_ns = batch->end_ns[row] - batch->begin_ns[row];

	use->compiles++;
	use->compile_ns += time_ns;
	if (time_ns < use->compile_most_ns)
		return;
	use->compile_most_ns = time_ns;
	use->compile_context = batch->context[row];
	use->compile_stream = batch->stream;
}

bool findings_use_take(struct findings_search *search, const struct batch *batch, size_t row, bool is_gpu)
{
	size_t size = 0;
	const char *attributes = "";

	if (batch->attributes[row] && is_gpu)
		attributes = batch_attributes(search->run, batch, row, &size);
	switch (batch->what[row]) {
	case STORE_OP_MONITORED:
		if (is_gpu)
			take_monitored(search->use, attributes, size, batch->stream);
		return true;
	case STORE_OP_KERNEL:
		return !is_gpu || take_kernel(search, batch, row, attributes, size);
	case STORE_OP_COPY:
		return !is_gpu || take_copy(search->use, batch, row, attributes, size);
	case STORE_OP_COMPILE:
		take_compile(search->use, batch, row);
		return true;
	case STORE_OP_ALLOC:
		search->use->allocs++;
		search->use->alloc_bytes += batch->bytes[row];
		return true;
	default:
		return true;
	}
}

/* ---- judgement ---- */

static int transfer_compare(const void *left, const void *right)
{
	const struct transfer *a = left, *b = right;

	if (a->buffer != b->buffer)
		return a->buffer < b->buffer ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (int)a->is_back - (int)b->is_back;
}

static int case_compare(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;

	return a->context < b->context ? -1 : a->context > b->context;
}

/* Both ways of every round trip, by the place that sends the buffer back to the device. */
static bool judge_round_trips(struct findings_search *search)
{
	struct findings_use *use = search->use;
	struct finding *found = calloc(use->transfer_count + 1, sizeof(*found));
	size_t count = 0;
	bool is_kept = found != NULL;

	if (use->transfer_count)
		qsort(use->transfers, use->transfer_count, sizeof(*use->transfers), transfer_compare);
	for (size_t i = 1; is_kept && i < use->transfer_count; i++) {
		const struct transfer *back = &use->transfers[i - 1], *again = &use->transfers[i];

		if (back->buffer != again->buffer || !back->is_back || again->is_back)
			continue;
		found[count++] = (struct finding){.kind = FINDING_ROUND_TRIP,
			.context = again->context,
			.stream = again->stream,
			.count = 1,
			.time_ns = back->time_ns + again->time_ns,
			.bytes = back->bytes + again->bytes};
	}
	if (is_kept && count)
		qsort(found, count, sizeof(*found), case_compare);
	for (size_t i = 0, next; is_kept && i < count; i = next) {
		struct finding *finding = &found[i];

		for (next = i + 1; next < count && found[next].context == finding->context; next++) {
			finding->count++;
			finding->time_ns += found[next].time_ns;
			finding->bytes += found[next].bytes;
		}
		finding->save_ns = finding->time_ns;
		is_kept = findings_put(search, finding);
	}
	free(found);
	return is_kept;
}

static bool judge_arguments(struct findings_search *search)
{
	const struct findings_use *use = search->use;

	for (uint32_t i = 0; i < use->kernels.count; i++) {
		const struct kernel_case *of = &use->cases[i];

		if (!of->is_aliased && !findings_put(search, &(struct finding){.kind = FINDING_NOT_ALIASED,
								     .context = of->context,
								     .stream = of->stream,
								     .count = of->count,
								     .time_ns = of->time_ns}))
			return false;
	}
	return true;
}

/* At most all kernels of a queue run beside its longest. */
static bool judge_queues(struct findings_search *search)
{
	const struct findings_use *use = search->use;

	for (uint32_t i = 0; i < use->queue_count; i++) {
		const struct queue_case *queue = &use->queues[i];

		if (queue->is_in_order && queue->kernels > 1 &&
			!findings_put(search, &(struct finding){.kind = FINDING_IN_ORDER,
						      .stream = queue->stream,
						      .count = queue->kernels,
						      .time_ns = queue->kernel_ns,
						      .save_ns = queue->kernel_ns - queue->longest_ns}))
			return false;
	}
	return true;
}

static uint64_t devices_used(const struct findings_search *search, uint64_t *kernel_ns, uint32_t *stream)
{
	const struct findings_use *use = search->use;
	uint64_t count = 0;

	for (uint32_t i = 0; i < use->queue_count; i++) {
		uint32_t device = run_stream(search->run, use->queues[i].stream)->s.device;
		bool is_new = use->queues[i].kernels != 0;

		for (uint32_t j = 0; j < i; j++)
			is_new &= !use->queues[j].kernels ||
				  run_stream(search->run, use->queues[j].stream)->s.device != device;
		count += is_new;
		*kernel_ns += use->queues[i].kernel_ns;
	}
	*stream = use->queue_count ? use->queues[0].stream : 0;
	return count;
}

static bool judge_devices(struct findings_search *search)
{
	const struct findings_use *use = search->use;
	uint64_t kernel_ns = 0, used;
	uint32_t stream;

	used = devices_used(search, &kernel_ns, &stream);
	if (used && use->devices_there > used &&
		!findings_put(search, &(struct finding){.kind = FINDING_UNUSED_DEVICES,
					      .stream = stream,
					      .count = use->devices_there - used,
					      .time_ns = kernel_ns,
					      .save_ns = kernel_ns - kernel_ns / use->devices_there * used}))
		return false;
	return used != 1 || !use->compile_ns ||
	       findings_put(search, &(struct finding){.kind = FINDING_SINGLE_DEVICE,
					    .context = use->compile_context,
					    .stream = use->compile_stream,
					    .count = use->compiles,
					    .time_ns = use->compile_ns,
					    .save_ns = use->compile_ns});
}

/* A kernel that runs in more than one context of a device is compiled for each. */
static bool judge_contexts(struct findings_search *search)
{
	const struct findings_use *use = search->use;
	struct numbering kernels;
	uint32_t again = 0;

	numbering_init(&kernels, 2 * sizeof(uint32_t));
	for (uint32_t i = 0; i < use->homes.count; i++) {
		const struct kernel_home *home = numbering_key(&use->homes, i);
		const uint32_t kernel[2] = {home->function, home->device};
		bool is_new = true;

		numbering_put(&kernels, kernel, &is_new);
		again += !is_new;
	}
	numbering_fini(&kernels);
	return !again || findings_put(search, &(struct finding){.kind = FINDING_MANY_CONTEXTS,
						      .stream = use->queues[0].stream,
						      .count = again});
}

/* Memory and kernels, but no copy: what fills the memory was not seen. */
static bool judge_implicit(struct findings_search *search)
{
	const struct findings_use *use = search->use;
	uint64_t kernel_ns = 0;
	uint32_t stream;

	if (!use->allocs || use->copies || !devices_used(search, &kernel_ns, &stream))
		return true;
	return findings_put(search, &(struct finding){.kind = FINDING_IMPLICIT_COPIES,
					    .stream = stream,
					    .count = use->allocs,
					    .bytes = use->alloc_bytes});
}

bool findings_use_judge(struct findings_search *search)
{
	return judge_round_trips(search) && judge_arguments(search) && judge_queues(search) &&
	       judge_devices(search) && judge_contexts(search) && judge_implicit(search);
}
