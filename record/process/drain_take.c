/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain_take.c - takes the records of a thread's ring, one function per type: nodes and texts become store
 * ids, samples and values become records of the stream. An invalid record ends the reading of its ring; a
 * time in the future becomes now.
 */
#include "record/process/drain_internal.h"

#include <stdlib.h>
#include <string.h>

#include "record/base/clock.h"
#include "record/kernel/kernel.h"
#include "record/process/switches.h"

#define NODES_MAX (1u << 22) /* of one thread, the agent's maximum */

void drain_discard(struct drain *drain, uint64_t count)
{
	struct store_stream *stream = store_writer_stream_edit(drain->writer, drain->ring->stream);

	drain->process->lost += count;
	if (stream)
		stream->lost += count;
}

void drain_samples_flush(struct drain *drain)
{
	struct batch *samples = drain->samples;

	if (drain->process->is_discarded)
		drain_discard(drain, samples->count);
	else
		store_writer_append(
			drain->writer, drain->ring->stream, STORE_SAMPLES, samples->record, samples->count);
	samples->count = 0;
}

static uint32_t context_partial(struct store_writer *writer, uint32_t root)
{
	return store_writer_context(writer, root, STORE_MODULE_RESERVED, STORE_FRAME_PARTIAL);
}

uint32_t drain_context_reserved(const struct drain *drain, uint32_t node)
{
	switch (node) {
	case EVENT_NODE_PROGRAM_ROOT:
		return STORE_CONTEXT_PROGRAM_ROOT;
	case EVENT_NODE_THREAD_ROOT:
		return STORE_CONTEXT_THREAD_ROOT;
	case EVENT_NODE_PARTIAL_PROGRAM:
		return context_partial(drain->writer, STORE_CONTEXT_PROGRAM_ROOT);
	case EVENT_NODE_PARTIAL_THREAD:
		return context_partial(drain->writer, STORE_CONTEXT_THREAD_ROOT);
	default:
		return STORE_CONTEXT_NONE;
	}
}

/* The place of a process's module, by its store module. */
static struct event_place place_find(struct drain *drain, uint32_t module, uint64_t offset)
{
	const struct event_place unknown = {STORE_FRAME_UNKNOWN, STORE_MODULE_RESERVED, 0};

	if (module == EVENT_MODULE_RESERVED)
		return offset < STORE_FRAME_COUNT
			       ? (struct event_place){.offset = offset, .module = STORE_MODULE_RESERVED}
			       : unknown;
	module = modules_find(&drain->process->modules, drain->writer,
		(struct event_module *)((char *)drain->process->shared + EVENT_MODULES_AT), module,
		measured_process_proc_pid(drain->process), drain->process->executable);
	if (module != MODULES_NONE && module == drain->process->modules.python)
		offset = python_place(&drain->process->python,
			drain->process->names_at ? (char *)drain->process->shared + drain->process->names_at
						 : NULL,
			drain->writer, offset);
	return module == MODULES_NONE ? unknown : (struct event_place){.offset = offset, .module = module};
}

/* Node ids count up; anything else is invalid. */
static bool is_next(const struct drain *drain, uint32_t id)
{
	return id == EVENT_NODE_FIRST + drain->ring->contexts.count;
}

static bool node_take(struct drain *drain, const struct event_node_record *node)
{
	uint32_t parent = drain_context_of(drain, node->parent);
	struct event_place place;

	if (!is_next(drain, node->h.node) || !parent)
		return false;
	place = place_find(drain, node->module, node->offset);
	return ring_ids_add(&drain->ring->contexts,
		store_writer_context(drain->writer, parent, place.module, place.offset), NODES_MAX);
}

static bool nodes_take(struct drain *drain, const struct event_nodes_record *nodes)
{
	struct event_place places[EVENT_PLACES_MAX];
	uint32_t context = drain_context_of(drain, nodes->parent);

	if (!is_next(drain, nodes->h.node) || !context || !nodes->place_count ||
		nodes->place_count > EVENT_PLACES_MAX || nodes->count > EVENT_NODES_MAX ||
		nodes->h.words * 8u < sizeof(*nodes) + nodes->place_count * sizeof(*places))
		return false;
	for (uint32_t i = 0; i < nodes->place_count; i++)
		places[i] = place_find(drain, nodes->places[i].module, nodes->places[i].offset);
	for (uint32_t i = 0, at = 0; i < nodes->count; i++) {
		context = store_writer_context(drain->writer, context, places[at].module, places[at].offset);
		if (!context || !ring_ids_add(&drain->ring->contexts, context, NODES_MAX))
			return false;
		at = at + 1 < nodes->place_count ? at + 1 : 0;
	}
	return true;
}

bool drain_counter_take(struct drain *drain, const struct event_sample *sample, uint64_t time_ns)
{
	struct store_record record = {.begin_ns = time_ns,
		.end_ns = time_ns,
		.amount = sample->weight,
		.context = drain_context_of(drain, sample->h.node)};

	if (sample->metric > drain->process->counter_count)
		return false;
	record.what = drain->process->counters[sample->metric - 1];
	if (drain->process->is_discarded)
		drain_discard(drain, 1);
	else
		store_writer_append(drain->writer, drain->ring->stream, STORE_VALUES, &record, 1);
	return true;
}

static bool value_take(struct drain *drain, const struct event_value *value)
{
	struct event_sample sample = {.h = value->h, .weight = value->value, .metric = value->metric};

	return value->metric && drain_counter_take(drain, &sample, drain_credible(drain, value->time_ns));
}

/* True for nodes without a frame, from the agent's own start. Kernel frames there are not the program's. */
static bool is_agents(uint32_t node)
{
	return node == EVENT_NODE_PROGRAM_ROOT || node == EVENT_NODE_THREAD_ROOT;
}

static inline void sample_put(struct drain *drain, const struct event_sample *sample, uint64_t time_ns,
	uint64_t weight, const struct kernel_callchain *callchain)
{
	struct store_record *record;
	uint32_t context = drain_context_of(drain, sample->h.node);

	if (callchain && callchain->depth && context &&
		(drain->process->is_outside || !is_agents(sample->h.node)))
		context = kernel_context(drain->writer, context, callchain->address, callchain->depth);
	if (drain->samples->count == BATCH)
		drain_samples_flush(drain);
	record = &drain->samples->record[drain->samples->count++];
	*record = (struct store_record){.begin_ns = time_ns,
		.end_ns = time_ns,
		.amount = weight,
		.context = context,
		.what = drain->process->metric,
		.flags = sample->h.flags & EVENT_F_EXTENT ? STORE_RECORD_EXTENT : 0};
	drain->process->weight_ns += weight;
	drain->ring->weight_ns += weight;
	drain->ring->last_context = context;
}

/* Takes the perf samples that one agent sample stands for: those inside one system call come as one signal
 * at its end. Each gets its share of the weight, at its own time, but not before the watermark. */
static void callchains_take(struct drain *drain, const struct event_sample *sample, uint64_t time_ns)
{
	struct ring *ring = drain->ring;
	const struct store_stream *stream = store_writer_stream_edit(drain->writer, ring->stream);
	uint64_t known_ns = stream ? stream->complete_ns[STORE_SAMPLES] : 0, part;
	struct kernel_callchain last = {0};
	uint32_t count;

	switches_read_until(drain->process, time_ns);
	count = kernel_callchains_until(&ring->callchains, time_ns);
	if (count > 1 && sample->h.flags & EVENT_F_SAVED) { /* the paths of the others are unknown */
		kernel_callchains_drop(&ring->callchains, count - 1);
		count = 1;
	}
	part = count ? sample->weight / count : 0;
	drain->process->extra_samples += count > 1 ? count - 1 : 0;
	for (uint32_t i = 0; i + 1 < count; i++) {
		const struct kernel_callchain callchain = kernel_callchains_at(&ring->callchains, i);

		if (callchain.time_ns >= known_ns && callchain.time_ns >= ring->last_ns) {
			sample_put(drain, sample, callchain.time_ns, part, &callchain);
			ring->last_ns = callchain.time_ns;
		} else {
			sample_put(drain, sample, time_ns, part, &callchain);
		}
	}
	if (count)
		last = kernel_callchains_at(&ring->callchains, count - 1);
	sample_put(drain, sample, time_ns, sample->weight - part * (count ? count - 1 : 0), &last);
	kernel_callchains_drop(&ring->callchains, count);
}

static bool sample_take(struct drain *drain, const struct event_sample *sample)
{
	uint64_t time_ns = drain_credible(drain, sample->time_ns);

	if (!sample->metric && drain->process->trap == EVENT_TRAP_SAMPLES &&
		!(sample->h.flags & (EVENT_F_FIRST | EVENT_F_LAST | EVENT_F_UNPUBLISHED)))
		callchains_take(drain, sample, time_ns);
	else if (!sample->metric)
		sample_put(drain, sample, time_ns, sample->weight, NULL);
	if (time_ns > drain->ring->last_ns)
		drain->ring->last_ns = time_ns;
	if (!sample->metric && !(sample->h.flags & (EVENT_F_FIRST | EVENT_F_LAST)))
		drain->ring->sampled_ns = time_ns;
	return !sample->metric || drain_counter_take(drain, sample, time_ns);
}

static bool kernel_take(struct drain *drain, const struct event_kernel *kernel)
{
	const struct kernel_callchain callchain = {.time_ns = drain_credible(drain, kernel->time_ns),
		.tid = drain->ring->tid,
		.depth = kernel->h.node,
		.address = kernel->address};

	if (callchain.depth > KERNEL_CALLCHAIN_DEPTH_MAX ||
		kernel->h.words * 8u < sizeof(*kernel) + callchain.depth * sizeof(*kernel->address))
		return false;
	kernel_callchains_add(&drain->ring->callchains, &callchain);
	return true;
}

static bool switch_take(struct drain *drain, const struct event_switch *event)
{
	const struct switch_event told = {.time_ns = drain_credible(drain, event->time_ns),
		.tid = drain->ring->tid,
		.kind = event->kind == EVENT_SWITCH_IN	  ? SWITCH_IN
			: event->kind == EVENT_SWITCH_OUT ? SWITCH_OUT
							  : SWITCH_PREEMPTED};

	switches_put(drain->process->switches, &told);
	return event->kind <= EVENT_SWITCH_PREEMPTED;
}

static bool name_take(struct drain *drain, const struct event_text *text)
{
	size_t room = text->h.words * 8u - sizeof(*text);
	struct store_stream *stream = store_writer_stream_edit(drain->writer, drain->ring->stream);

	if (text->h.node > room)
		return false;
	if (stream)
		stream->name =
			store_writer_text(drain->writer, text->bytes, strnlen(text->bytes, text->h.node));
	return true;
}

static void child_add(struct measured_process *process, struct measured_process_child child)
{
	if (process->child_count == process->child_capacity) {
		uint32_t room = process->child_capacity ? 2 * process->child_capacity : 16;
		struct measured_process_child *grown = realloc(process->children, room * sizeof(*grown));

		if (!grown)
			return;
		process->children = grown;
		process->child_capacity = room;
	}
	process->children[process->child_count++] = child;
}

static bool fork_take(struct drain *drain, const struct event_fork *fork)
{
	struct measured_process *process = drain->process;

	if (fork->kind == EVENT_FORK_EXEC)
		return true;
	if (fork->kind == EVENT_FORK_EXEC_UNMONITORED) {
		process->unmonitored_ns = drain_credible(drain, fork->time_ns);
		return true;
	}
	child_add(process, (struct measured_process_child){
				   fork->child_pid, fork->kind, drain_credible(drain, fork->time_ns)});
	return true;
}

/* In order: one that is just writing its place is waited for, one that died there is passed over at the end.
 */
void drain_unheard_take(struct measured_process *process, bool is_end)
{
	struct event_process *shared = process->shared;
	uint32_t count = atomic_load_explicit(&shared->unheard_count, memory_order_acquire);
	uint64_t now_ns = clock_now_ns();

	for (; process->unheard_seen < count && process->unheard_seen < EVENT_UNHEARD_MAX;
		process->unheard_seen++) {
		struct event_unheard *unheard = &shared->unheard[process->unheard_seen];
		uint32_t pid = atomic_load_explicit(&unheard->pid, memory_order_acquire);
		uint64_t since_ns = unheard->since_ns;

		if (!pid && !is_end)
			return;
		if (pid && pid != EVENT_UNHEARD_UNDONE && since_ns >= process->begin_ns && since_ns <= now_ns)
			child_add(process,
				(struct measured_process_child){pid, EVENT_FORK_SPAWN_UNMONITORED, since_ns});
	}
}

bool drain_record_take(void *context, const struct event_header *h)
{
	struct drain *drain = context;

	drain->records++;
	switch (h->type) {
	case EVENT_NODE:
		return node_take(drain, (const void *)h);
	case EVENT_NODES:
		return nodes_take(drain, (const void *)h);
	case EVENT_SAMPLE:
		return sample_take(drain, (const void *)h);
	case EVENT_VALUE:
		return value_take(drain, (const void *)h);
	case EVENT_SPAN:
	case EVENT_OPEN:
	case EVENT_CLOSE:
		return drain_span_take(drain, (const void *)h);
	case EVENT_LOST:
		return drain_lost_take(drain, (const void *)h);
	case EVENT_NAME:
		return name_take(drain, (const void *)h);
	case EVENT_TEXT:
		return ring_texts_add(&drain->ring->texts, drain->writer, (const void *)h);
	case EVENT_FORK:
		return fork_take(drain, (const void *)h);
	case EVENT_KERNEL:
		return kernel_take(drain, (const void *)h);
	case EVENT_SWITCH:
		return switch_take(drain, (const void *)h);
	case EVENT_LAUNCH:
		return drain_launch_take(drain, (const void *)h);
	default:
		return true;
	}
}
