/* SPDX-License-Identifier: Apache-2.0 */
/* related.c - see related.h: a mark per process of what kinds were chosen of it. */
#include "blame/base/related.h"

#include <string.h>

#include "blame/base/process.h"

/* Kinds of which streams are chosen, of a process and of those that count to it. */
struct kinds {
	bool has[2]; /* threads, queues */
};

static void find_kinds(
	const struct run *run, const struct process *process, const uint8_t *bits, struct kinds *kinds)
{
	for (uint32_t i = 0; i < process->stream_count; i++)
		if (bits[process->streams[i]] & RELATED_REPORTED)
			kinds->has[run_stream(run, process->streams[i])->s.kind == STORE_STREAM_GPU] = true;
}

static void mark_process(
	const struct run *run, const struct process *process, const struct kinds *kinds, uint8_t *bits)
{
	for (uint32_t i = 0; i < process->stream_count && (kinds->has[0] || kinds->has[1]); i++) {
		uint32_t stream = process->streams[i];

		bits[stream] |= RELATED_PROCESS;
		if (!kinds->has[run_stream(run, stream)->s.kind == STORE_STREAM_GPU])
			bits[stream] |= RELATED_REPORTED;
	}
}

/* *has_thread becomes true where a thread is chosen. */
static int mark_all(struct run *run, const struct process *processes, uint32_t count, uint8_t *bits,
	bool *has_thread, struct arena *arena, struct error *error)
{
	uint32_t *owner_of = arena_calloc(arena, (size_t)count + 1, sizeof(*owner_of));
	struct kinds *kinds = arena_calloc(arena, (size_t)count + 1, sizeof(*kinds));
	int result = owner_of && kinds ? process_owners(owner_of, processes, count, run, error)
				       : error_memory(error);

	if (result)
		return result;
	for (uint32_t p = 0; p < count; p++)
		find_kinds(run, &processes[p], bits, &kinds[owner_of[p]]);
	for (uint32_t p = 0; p < count; p++) {
		mark_process(run, &processes[p], &kinds[owner_of[p]], bits);
		*has_thread |= kinds[p].has[0];
	}
	return 0;
}

int related_find(struct related *related, struct run *run, const uint32_t *chosen, uint32_t count, bool all,
	struct arena *arena, struct error *error)
{
	uint32_t run_count = run_stream_count(run), all_count = 0, process_count = 0, *streams;
	bool has_thread = false;
	struct process *processes;
	uint8_t *bits;
	int result;

	*related = (struct related){chosen, count, NULL};
	streams = arena_calloc(arena, (size_t)run_count + 1, sizeof *streams);
	bits = arena_calloc(arena, (size_t)run_count + 1, 1);
	if (!streams || !bits)
		return error_memory(error);
	for (uint32_t i = 0; i < run_count; i++)
		if (store_stream_has_states(run_stream(run, i)->s.kind))
			streams[all_count++] = i;
	if (count == all_count)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		bits[chosen[i]] = RELATED_REPORTED;
	result = process_list(&processes, &process_count, run, streams, all_count, arena, error);
	if (!result)
		result = mark_all(run, processes, process_count, bits, &has_thread, arena, error);
	if (result)
		return result;
	related->streams = streams;
	related->bits = bits;
	related->count = 0;
	for (uint32_t n = 0; n < all_count; n++) {
		uint32_t i = streams[n];
		bool is_thread = run_stream(run, i)->s.kind == STORE_STREAM_CPU;

		if (!all && !(bits[i] & RELATED_PROCESS))
			continue;
		if (is_thread && !has_thread)
			bits[i] |= RELATED_REPORTED;
		streams[related->count++] = i;
	}
	return 0;
}
