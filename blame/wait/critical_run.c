/* SPDX-License-Identifier: Apache-2.0 */
/* critical_run.c - see critical_run.h: from the run to the graph, and from the path to code. */
#include "blame/wait/critical_run.h"

#include <stdlib.h>
#include <string.h>

#include "blame/base/related.h"
#include "store/base/array.h"
#include "timeline/report/process_tree.h"

#define EXTENTS 256

/* ---- the graph ---- */

static bool is_main(const struct run_stream *stream)
{
	return stream->s.kind == STORE_STREAM_CPU && !stream->s.thread;
}

/* By the main thread of its process, or of the process above. */
static uint32_t creator_of(const struct run *run, const struct process_tree *tree, uint32_t stream)
{
	const struct process_tree_node *node;

	/* Those of a host's counters are nobody's. */
	if (tree->node_of[stream] == PROCESS_TREE_NONE)
		return CRITICAL_NONE;
	node = &tree->nodes[tree->node_of[stream]];
	if (!is_main(run_stream(run, stream)))
		return node->stream == stream ? CRITICAL_NONE : node->stream;
	return node->parent == PROCESS_TREE_NONE ? CRITICAL_NONE : tree->nodes[node->parent].stream;
}

/* The wait for nobody known in which a moment lies; NULL: none. */
static const struct wait_cause *unknown_wait(
	const struct critical_graph *graph, uint32_t stream, uint64_t at_ns)
{
	size_t count;
	const struct wait_cause *causes = wait_causes_of(graph->causes, graph->cause_count, stream, &count);

	while (count && causes[count - 1].begin_ns >= at_ns)
		count--;
	return count && causes[count - 1].end_ns >= at_ns && causes[count - 1].party == CAUSE_NOBODY
		       ? &causes[count - 1]
		       : NULL;
}

#define EXIT_NS UINT64_C(100000000) /* what exit() still does, at most: destructors wake and join threads */

/* When it was last not in a wait that leads to nobody: one that is killed in a wait, as threads are when
 * their process ends, is not what the end waited for; nor one that the exit of the main thread wakes, of
 * which there are no records any more. */
static uint64_t last_work(const struct critical_graph *graph, const struct run *run, uint32_t stream)
{
	uint64_t end_ns = graph->streams[stream].end_ns, main_ns;
	uint32_t first = is_main(run_stream(run, stream)) ? CRITICAL_NONE : graph->streams[stream].creator;
	const struct wait_cause *wait;

	end_ns = end_ns < graph->end_ns ? end_ns : graph->end_ns;
	wait = unknown_wait(graph, stream, end_ns);
	if (!wait && first != CRITICAL_NONE) {
		main_ns = graph->streams[first].end_ns;
		if (main_ns <= end_ns && end_ns - main_ns <= EXIT_NS)
			wait = unknown_wait(graph, stream, main_ns);
	}
	return wait ? wait->begin_ns : end_ns;
}

static void find_last(struct critical_graph *graph, const struct run *run)
{
	uint64_t last_ns = graph->begin_ns;

	graph->last = CRITICAL_NONE;
	for (uint32_t s = 0; s < graph->stream_count; s++) {
		uint64_t work_ns = last_work(graph, run, s);

		if (run_stream(run, s)->s.kind == STORE_STREAM_CPU && graph->streams[s].begin_ns < work_ns &&
			work_ns > last_ns) {
			graph->last = s;
			last_ns = work_ns;
		}
	}
}

static int make_graph(struct critical_run *critical, struct arena *arena, struct error *error)
{
	struct critical_graph *graph = &critical->graph;
	struct critical_stream *streams;
	struct process_tree tree;
	int result = process_tree_make(&tree, critical->run, arena, error);

	if (result)
		return result;
	graph->stream_count = run_stream_count(critical->run);
	streams = arena_calloc(arena, graph->stream_count + 1, sizeof(*streams));
	if (!streams)
		return error_memory(error);
	for (uint32_t s = 0; s < graph->stream_count; s++) {
		const struct store_stream *stream = &run_stream(critical->run, s)->s;

		streams[s] = (struct critical_stream){
			stream->begin_ns, stream->end_ns, creator_of(critical->run, &tree, s)};
	}
	graph->streams = streams;
	graph->causes = critical->causes.list;
	graph->cause_count = critical->causes.count;
	graph->begin_ns = critical->question->begin_ns;
	graph->end_ns = critical->question->end_ns;
	find_last(graph, critical->run);
	return 0;
}

/* ---- code on the path ---- */

static uint32_t context_of(const struct extent *piece)
{
	if (piece->state == EXTENT_ABSENT || piece->state == EXTENT_UNKNOWN || piece->state == EXTENT_LOST ||
		piece->state == EXTENT_UNMONITORED)
		return 0;
	return piece->context;
}

static uint64_t overlap(uint64_t a_begin, uint64_t a_end, uint64_t b_begin, uint64_t b_end)
{
	uint64_t begin_ns = a_begin > b_begin ? a_begin : b_begin, end_ns = a_end < b_end ? a_end : b_end;

	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* Adds a piece's parts in segments [*first, count) of its stream. */
static bool piece_add(struct critical_run *critical, struct exact_share_sums *sums,
	const struct extent *piece, const struct critical_segment *const *segments, size_t count,
	size_t *first)
{
	uint32_t context = context_of(piece);

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the list has count segments */
	while (*first < count && segments[*first]->end_ns <= piece->begin_ns)
		(*first)++;
	for (size_t i = *first; i < count && segments[i]->begin_ns < piece->end_ns; i++) {
		uint64_t time_ns =
			overlap(piece->begin_ns, piece->end_ns, segments[i]->begin_ns, segments[i]->end_ns);

		if (piece->state == EXTENT_RUNNABLE)
			critical->core_ns += time_ns;
		else if (!context)
			critical->unknown_ns += time_ns;
		else if (!exact_share_sums_add(sums, context, exact_share_of(time_ns, 1)))
			return false;
	}
	return true;
}

static bool piece_keep(struct critical_run *critical, uint32_t stream, const struct extent *piece)
{
	struct critical_piece *last =
		critical->piece_count ? &critical->pieces[critical->piece_count - 1] : NULL;

	if (!critical->keeps_work || !extent_state_is_busy(piece->state) || !piece->context)
		return true;
	if (last && last->stream == stream && last->context == piece->context &&
		last->end_ns == piece->begin_ns) {
		last->end_ns = piece->end_ns;
		return true;
	}
	if (!array_widen(&critical->pieces, &critical->piece_capacity, critical->piece_count,
		    sizeof(*critical->pieces)))
		return false;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it was widened */
	critical->pieces[critical->piece_count++] =
		(struct critical_piece){piece->begin_ns, piece->end_ns, stream, piece->context};
	return true;
}

/* `count` segments of the stream, perhaps none. */
static int stream_add(struct critical_run *critical, struct exact_share_sums *sums, uint32_t stream,
	const struct critical_segment *const *segments, size_t count, struct error *error)
{
	static struct extent pieces[EXTENTS];
	const struct critical_graph *graph = &critical->graph;
	struct extent_walk *walk;
	size_t first = 0;
	long read = 0;
	int result = extent_open(&walk, critical->run, stream,
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no list without segments */
		critical->keeps_work ? graph->begin_ns : segments[0]->begin_ns,
		critical->keeps_work ? graph->end_ns : segments[count - 1]->end_ns, error);

	if (result)
		return result;
	while (!result && (read = extent_next(walk, pieces, EXTENTS, error)) > 0)
		for (long i = 0; i < read && !result; i++)
			if (!piece_add(critical, sums, &pieces[i], segments, count, &first) ||
				!piece_keep(critical, stream, &pieces[i]))
				result = error_memory(error);
	extent_close(walk);
	return result ? result : (int)read;
}

/* Counts a segment; false: its code is not asked about. */
static bool segment_count(struct critical_run *critical, const struct critical_segment *segment)
{
	uint64_t time_ns = segment->end_ns - segment->begin_ns;

	critical->wait_ns += segment->is_wait ? time_ns : 0;
	if (segment->is_absent)
		critical->absent_ns += time_ns;
	else if (!critical->is_reported[segment->stream])
		critical->others_ns += time_ns;
	else
		critical->code_count++;
	return !segment->is_absent && critical->is_reported[segment->stream];
}

/* The segments of each stream, by time as the path's are: of stream s from first[s] on. */
static const struct critical_segment **by_stream(struct critical_run *critical, size_t *first)
{
	const struct critical_path *path = &critical->path;
	const struct critical_segment **segments = malloc((path->count + 1) * sizeof(const void *));
	uint32_t count = critical->graph.stream_count;

	if (!segments)
		return NULL;
	for (size_t i = 0; i < path->count; i++)
		if (segment_count(critical, &path->segments[i]))
			first[path->segments[i].stream + 1]++;
	for (uint32_t s = 0; s < count; s++)
		first[s + 1] += first[s];
	for (size_t i = path->count; i-- > 0;) {
		const struct critical_segment *segment = &path->segments[i];

		if (!segment->is_absent && critical->is_reported[segment->stream])
			segments[--first[segment->stream + 1]] = segment;
	}
	return segments;
}

/* by_stream() leaves in first[s + 1] where stream s begins. */
static int path_add(struct critical_run *critical, struct exact_share_sums *sums, struct error *error)
{
	uint32_t count = critical->graph.stream_count;
	size_t *first = calloc(count + 2u, sizeof(*first));
	const struct critical_segment **segments = first ? by_stream(critical, first) : NULL;
	int result = segments ? 0 : error_memory(error);

	for (uint32_t s = 0; s < count && !result; s++) {
		size_t end = s + 1 < count ? first[s + 2] : critical->code_count;
		bool is_kept =
			critical->keeps_work && store_stream_has_states(run_stream(critical->run, s)->s.kind);

		if (end > first[s + 1] || is_kept)
			result = stream_add(
				critical, sums, s, &segments[first[s + 1]], end - first[s + 1], error);
	}
	free(segments);
	free(first);
	return result;
}

static int all_streams(
	struct idle_question *question, const struct run *run, struct arena *arena, struct error *error)
{
	uint32_t *streams = arena_calloc(arena, run_stream_count(run) + 1, sizeof(*streams));

	if (!streams)
		return error_memory(error);
	question->stream_count = 0;
	for (uint32_t s = 0; s < run_stream_count(run); s++)
		if (store_stream_has_states(run_stream(run, s)->s.kind))
			streams[question->stream_count++] = s;
	question->streams = streams;
	return 0;
}

int critical_run_find(struct critical_run *critical, struct run *run, const struct idle_question *question,
	size_t work_most, struct arena *arena, struct error *error)
{
	struct idle_question all = *question;
	struct exact_share_sums sums = {0};
	int result = all_streams(&all, run, arena, error);

	*critical = (struct critical_run){.run = run, .question = question};
	critical->is_reported = arena_calloc(arena, run_stream_count(run) + 1, 1);
	if (!result && !critical->is_reported)
		result = error_memory(error);
	for (uint32_t i = 0; i < question->stream_count && !result; i++)
		critical->is_reported[question->streams[i]] = 1;
	if (!result)
		result = wait_causes_find(&critical->causes, run, &all, arena, error);
	if (!result)
		result = make_graph(critical, arena, error);
	if (!result)
		result = critical_path_walk(&critical->path, &critical->graph, error);
	critical->keeps_work = critical->graph.cause_count + critical->graph.stream_count <= work_most;
	if (!result)
		result = path_add(critical, &sums, error);
	if (!result)
		result =
			exact_share_sums_list(&sums, &critical->shares, &critical->share_count, arena, error);
	exact_share_sums_fini(&sums);
	return result;
}

void critical_run_fini(struct critical_run *critical)
{
	wait_causes_fini(&critical->causes);
	critical_path_fini(&critical->path);
	free(critical->pieces);
}

/* ---- of one segment ---- */

int critical_run_context(struct critical_run *critical, const struct critical_segment *segment,
	uint32_t *context, struct error *error)
{
	struct extent pieces[16];
	struct exact_share_sums sums = {0};
	struct extent_walk *walk;
	exact_share_fixed most = 0;
	long count = 0;
	int result = segment->is_absent ? 0
					: extent_open(&walk, critical->run, segment->stream,
						  segment->begin_ns, segment->end_ns, error);

	*context = 0;
	if (result || segment->is_absent)
		return result;
	while (!result && (count = extent_next(walk, pieces, 16, error)) > 0)
		for (long i = 0; i < count && !result; i++) {
			uint32_t here = context_of(&pieces[i]);

			if (here && !exact_share_sums_add(&sums, here,
					    exact_share_of(pieces[i].end_ns - pieces[i].begin_ns, 1)))
				result = error_memory(error);
			if (here && !result && sums.amount[here] > most) {
				most = sums.amount[here];
				*context = here;
			}
		}
	extent_close(walk);
	exact_share_sums_fini(&sums);
	return result ? result : (int)count;
}

/* ---- work that may be shorter ---- */

static bool work_put(struct critical_work *work, const struct critical_piece *piece)
{
	struct critical_change *last = work->count ? &work->list[work->count - 1] : NULL;

	if (last && last->stream == piece->stream && last->end_ns == piece->begin_ns) {
		last->end_ns = piece->end_ns;
		return true;
	}
	if (!array_widen(&work->list, &work->capacity, work->count, sizeof(*work->list)))
		return false;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it was widened */
	work->list[work->count++] = (struct critical_change){piece->begin_ns, piece->end_ns, piece->stream};
	return true;
}

int critical_run_work(struct critical_run *critical, struct critical_work *works, uint32_t rows,
	uint32_t (*row_of)(void *own, uint32_t context), void *own, struct error *error)
{
	memset(works, 0, rows * sizeof(*works));
	for (size_t i = 0; i < critical->piece_count; i++) {
		uint32_t row = row_of(own, critical->pieces[i].context);

		if (row != CRITICAL_NO_ROW && !work_put(&works[row], &critical->pieces[i]))
			return error_memory(error);
	}
	return 0;
}
