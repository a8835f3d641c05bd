/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - see process.h: numbers the processes, then sorts the streams by number. */
#include "blame/base/process.h"

#include <string.h>

#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/report/process_tree.h"

struct identity {
	struct store_hash host;
	uint32_t pid, generation;
	int64_t rank;
};

static struct identity identity_of(const struct run *run, uint32_t stream)
{
	const struct run_stream *r = run_stream(run, stream);

	return (struct identity){
		store_hash128(r->host, strlen(r->host)), r->s.pid, r->s.generation, r->s.rank};
}

/* Numbers the process of each stream; returns how many, KEY_IDS_NONE: no memory. */
static uint32_t number_streams(
	const struct run *run, const uint32_t *streams, uint32_t stream_count, uint32_t *process_of)
{
	struct key_ids identities;
	uint32_t count;

	key_ids_init(&identities, sizeof(struct identity));
	for (uint32_t i = 0; i < stream_count; i++) {
		struct identity identity = identity_of(run, streams[i]);

		process_of[i] = key_ids_put(&identities, &identity, NULL);
		if (process_of[i] == KEY_IDS_NONE)
			break;
	}
	count = stream_count && process_of[stream_count - 1] == KEY_IDS_NONE ? KEY_IDS_NONE
									     : identities.count;
	key_ids_fini(&identities);
	return count;
}

int process_list(struct process **processes, uint32_t *count, const struct run *run, const uint32_t *streams,
	uint32_t stream_count, struct arena *arena, struct error *error)
{
	uint32_t *process_of = arena_calloc(arena, stream_count + 1, sizeof(*process_of));
	uint32_t *sorted = arena_calloc(arena, stream_count + 1, sizeof(*sorted));
	uint32_t at = 0;

	if (!process_of || !sorted)
		return error_memory(error);
	memset(process_of, 0xff, stream_count * sizeof(*process_of));
	*count = number_streams(run, streams, stream_count, process_of);
	*processes = *count == KEY_IDS_NONE ? NULL : arena_calloc(arena, *count + 1, sizeof(**processes));
	if (!*processes)
		return error_memory(error);
	for (uint32_t i = 0; i < stream_count; i++) {
		struct process *process = &(*processes)[process_of[i]];

		process->stream_count++;
		process->gpu_count += run_stream(run, streams[i])->s.kind == STORE_STREAM_GPU;
	}
	for (uint32_t p = 0; p < *count; p++) {
		(*processes)[p].streams = sorted + at;
		at += (*processes)[p].stream_count;
		(*processes)[p].stream_count = 0;
	}
	for (uint32_t i = 0; i < stream_count; i++) {
		struct process *process = &(*processes)[process_of[i]];

		sorted[process->streams - sorted + process->stream_count++] = streams[i];
	}
	return 0;
}

/* ---- below which GPU ---- */

static bool is_mixed(const struct process *processes, uint32_t count)
{
	bool has_gpu = false, has_none = false;

	for (uint32_t p = 0; p < count; p++)
		*(processes[p].gpu_count ? &has_gpu : &has_none) = true;
	return has_gpu && has_none;
}

static uint32_t find_owner(const struct process_tree *tree, const struct process *processes,
	const uint32_t *process_of, uint32_t process)
{
	uint32_t node = tree->node_of[processes[process].streams[0]];

	if (processes[process].gpu_count)
		return process;
	for (node = tree->nodes[node].parent; node != PROCESS_TREE_NONE; node = tree->nodes[node].parent)
		if (process_of[node] != PROCESS_TREE_NONE && processes[process_of[node]].gpu_count)
			return process_of[node];
	return process;
}

int process_owners(uint32_t *owner_of, const struct process *processes, uint32_t count, struct run *run,
	struct error *error)
{
	struct process_tree tree;
	struct arena arena = {0};
	uint32_t *process_of;
	int result;

	for (uint32_t p = 0; p < count; p++)
		owner_of[p] = p;
	if (!is_mixed(processes, count))
		return 0;
	result = process_tree_make(&tree, run, &arena, error);
	process_of = result ? NULL : arena_alloc(&arena, ((size_t)tree.count + 1) * sizeof(*process_of));
	if (!result && !process_of)
		result = error_memory(error);
	if (!result) {
		memset(process_of, 0xff, tree.count * sizeof(*process_of)); /* PROCESS_TREE_NONE */
		for (uint32_t p = 0; p < count; p++)
			process_of[tree.node_of[processes[p].streams[0]]] = p;
		for (uint32_t p = 0; p < count; p++)
			owner_of[p] = find_owner(&tree, processes, process_of, p);
	}
	arena_fini(&arena);
	return result;
}
