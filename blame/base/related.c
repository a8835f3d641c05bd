/* SPDX-License-Identifier: Apache-2.0 */
/* related.c - see related.h: a mark per process of what kinds were chosen of it. */
#include "blame/base/related.h"

#include <string.h>

#include "blame/base/process.h"

/* *has_thread becomes true where a thread is chosen. */
static void mark_process(
	const struct run *run, const struct process *process, uint8_t *bits, bool *has_thread)
{
	bool has_kind[2] = {false, false};

	for (uint32_t i = 0; i < process->stream_count; i++) {
		uint32_t stream = process->streams[i];

		if (bits[stream] & RELATED_REPORTED)
			has_kind[run_stream(run, stream)->s.kind == STORE_STREAM_GPU] = true;
	}
	for (uint32_t i = 0; i < process->stream_count && (has_kind[0] || has_kind[1]); i++) {
		uint32_t stream = process->streams[i];

		bits[stream] |= RELATED_PROCESS;
		if (!has_kind[run_stream(run, stream)->s.kind == STORE_STREAM_GPU])
			bits[stream] |= RELATED_REPORTED;
	}
	*has_thread |= has_kind[0];
}

int related_find(struct related *related, const struct run *run, const uint32_t *chosen, uint32_t count,
	bool all, struct arena *arena, struct error *error)
{
	uint32_t run_count = run_stream_count(run), process_count = 0, *streams;
	bool has_thread = false;
	struct process *processes;
	uint8_t *bits;
	int result;

	*related = (struct related){chosen, count, NULL};
	if (count == run_count)
		return 0;
	streams = arena_calloc(arena, (size_t)run_count + 1, sizeof *streams);
	bits = arena_calloc(arena, (size_t)run_count + 1, 1);
	if (!streams || !bits)
		return error_memory(error);
	for (uint32_t i = 0; i < run_count; i++)
		streams[i] = i;
	for (uint32_t i = 0; i < count; i++)
		bits[chosen[i]] = RELATED_REPORTED;
	result = process_list(&processes, &process_count, run, streams, run_count, arena, error);
	if (result)
		return result;
	for (uint32_t p = 0; p < process_count; p++)
		mark_process(run, &processes[p], bits, &has_thread);
	related->streams = streams;
	related->bits = bits;
	related->count = 0;
	for (uint32_t i = 0; i < run_count; i++) {
		bool is_thread = run_stream(run, i)->s.kind == STORE_STREAM_CPU;

		if (!all && !(bits[i] & RELATED_PROCESS))
			continue;
		if (is_thread && !has_thread)
			bits[i] |= RELATED_REPORTED;
		streams[related->count++] = i;
	}
	return 0;
}
