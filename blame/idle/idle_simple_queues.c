/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_simple_queues.c - see idle_simple_queues.h: time passes from one change of the threads to the next.
 * Whole gaps in between that are too small for the list are summed as columns; a gap that a change cuts is
 * passed in parts.
 */
#include "blame/idle/idle_simple_queues.h"

#include "store/base/avx2.h"

/* ---- the list of gaps ---- */

uint32_t idle_simple_queues_first(const struct idle_simple_queues *simple, const struct process *process)
{
	for (uint32_t i = 0; i < process->stream_count; i++)
		if (run_stream(simple->group.run, process->streams[i])->s.kind == STORE_STREAM_GPU)
			return process->streams[i];
	return 0;
}

/* Closes the gap returned before, unless this one continues it. */
static bool close_before(struct idle_simple_queues *simple, const struct queues_gap *before)
{
	const struct idle_question *question = simple->group.question;

	if (simple->is_counted || (simple->has_gap && simple->gap.begin_ns == before->end_ns))
		return true;
	if (before->end_ns < question->end_ns)
		return gaps_close_at(simple->gaps, before->stream, before->context);
	return simple->group.is_cut || gaps_close_at(simple->gaps, simple->first_queue, 0);
}

/* One that does not touch the window's ends and is too small for the list. */
static bool is_small(const struct idle_simple_queues *simple)
{
	const struct idle_question *question = simple->group.question;
	const struct queues_gap *gap = &simple->gap;

	return simple->has_gap && gap->is_whole && gap->is_alive && gap->begin_ns > question->begin_ns &&
	       gap->end_ns < question->end_ns && gap->end_ns - gap->begin_ns < gaps_least_ns(simple->gaps);
}

/* A stretch in which no thread changes, in two parts as the process has no work queued or has. */
static bool pass_moments(
	struct idle_simple_queues *simple, uint64_t begin_ns, uint64_t queued_ns, uint64_t end_ns)
{
	struct group *group = &simple->group;

	if (queued_ns > begin_ns) {
		group_set_working(group, group->owners, false);
		if (!gaps_pass(simple->gaps, group, begin_ns, queued_ns))
			return false;
	}
	group_set_working(group, group->owners, true);
	return queued_ns >= end_ns || gaps_pass(simple->gaps, group, queued_ns, end_ns);
}

/* A gap that was open when the window began, and does not go on in it. */
int idle_simple_queues_close_open(
	struct idle_simple_queues *simple, const struct process *process, struct error *error)
{
	uint64_t begin_ns = simple->group.question->begin_ns;
	uint32_t stream = simple->first_queue, context = 0;

	if (!gaps_are_open(simple->gaps) || (simple->has_gap && simple->gap.begin_ns == begin_ns))
		return 0;
	for (uint32_t i = 0; i < process->stream_count; i++) {
		struct extent extent;
		int result;

		if (run_stream(simple->group.run, process->streams[i])->s.kind != STORE_STREAM_GPU)
			continue;
		result = extent_at(simple->group.run, process->streams[i], begin_ns, &extent, error);
		if (result)
			return result;
		if (!extent_state_is_busy(extent.state))
			continue;
		stream = process->streams[i];
		context = extent.context;
		break;
	}
	return gaps_close_at(simple->gaps, stream, context) ? 0 : error_memory(error);
}

/* ---- gaps and threads ---- */

/* How many end till then and are too small for the list. */
static size_t count_ready(
	struct idle_simple_queues *simple, const struct queues_columns *gaps, size_t count, uint64_t to_ns)
{
	const struct idle_question *question = simple->group.question;
	uint64_t least_ns = gaps_least_ns(simple->gaps);
	size_t i;

	to_ns = to_ns < question->end_ns ? to_ns : to_ns - 1;
	for (i = 0; i < count; i++) {
		uint64_t begin_ns = gaps->begin_ns[i], end_ns = gaps->end_ns[i];

		if (end_ns > to_ns || begin_ns <= question->begin_ns || end_ns - begin_ns >= least_ns)
			break;
		gaps_count(simple->gaps, end_ns - begin_ns);
	}
	return i;
}

/* Gaps as a whole, up to the first that ends behind that time: how many. */
static size_t sum_until(
	const struct queues_columns *gaps, size_t count, uint64_t to_ns, struct passed *passed)
{
	uint64_t free_ns = 0, all_ns = 0;
	size_t row;

	for (row = 0; row < count && gaps->end_ns[row] <= to_ns; row++) {
		uint64_t begin_ns = gaps->begin_ns[row], end_ns = gaps->end_ns[row];
		uint64_t queued_ns = gaps->queued_ns[row];

		queued_ns = queued_ns > begin_ns ? queued_ns : begin_ns;
		queued_ns = queued_ns < end_ns ? queued_ns : end_ns;
		free_ns += queued_ns - begin_ns;
		all_ns += end_ns - begin_ns;
	}
	passed->free_ns += free_ns;
	passed->queued_ns += all_ns - free_ns;
	return row;
}

#ifdef STORE_HAS_AVX2
#include <immintrin.h>

#define LOAD(column, row) _mm256_loadu_si256((const __m256i *)((column) + (row)))

__attribute__((target("avx2"))) static inline uint64_t sum_of(__m256i sums)
{
	__m128i two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));

	return (uint64_t)_mm_cvtsi128_si64(two) + (uint64_t)_mm_extract_epi64(two, 1);
}

/* In groups of four, because branches on the number of gaps that end by then, or on the last one, could not
 * be predicted. Highest bits are flipped, because vector comparisons are signed. */
__attribute__((target("avx2"))) static size_t sum_until_wide(
	const struct queues_columns *gaps, size_t count, uint64_t to_ns, struct passed *passed)
{
	const __m256i highest = _mm256_set1_epi64x(INT64_MIN);
	const __m256i to = _mm256_xor_si256(_mm256_set1_epi64x((long long)to_ns), highest);
	__m256i free_ns = _mm256_setzero_si256(), all_ns = free_ns;
	struct queues_columns rest;
	unsigned behind = 0;
	size_t row = 0;

	for (; row + 4 <= count && !behind; row += 4) {
		__m256i begin_ns = _mm256_xor_si256(LOAD(gaps->begin_ns, row), highest);
		__m256i end_ns = _mm256_xor_si256(LOAD(gaps->end_ns, row), highest);
		__m256i queued_ns = _mm256_xor_si256(LOAD(gaps->queued_ns, row), highest);
		__m256i is_behind = _mm256_cmpgt_epi64(end_ns, to);

		queued_ns = _mm256_blendv_epi8(queued_ns, begin_ns, _mm256_cmpgt_epi64(begin_ns, queued_ns));
		queued_ns = _mm256_blendv_epi8(queued_ns, end_ns, _mm256_cmpgt_epi64(queued_ns, end_ns));
		queued_ns = _mm256_sub_epi64(queued_ns, begin_ns);
		end_ns = _mm256_sub_epi64(end_ns, begin_ns);
		free_ns = _mm256_add_epi64(free_ns, _mm256_andnot_si256(is_behind, queued_ns));
		all_ns = _mm256_add_epi64(all_ns, _mm256_andnot_si256(is_behind, end_ns));
		behind = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(is_behind));
	}
	passed->free_ns += sum_of(free_ns);
	passed->queued_ns += sum_of(_mm256_sub_epi64(all_ns, free_ns));
	if (behind)
		return row - (size_t)__builtin_popcount(behind);
	rest = (struct queues_columns){gaps->begin_ns + row, gaps->end_ns + row, gaps->queued_ns + row};
	return row + sum_until(&rest, count - row, to_ns, passed);
}
#endif

static size_t sum_until_best(
	const struct queues_columns *gaps, size_t count, uint64_t to_ns, struct passed *passed)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2())
		return sum_until_wide(gaps, count, to_ns, passed);
#endif
	return sum_until(gaps, count, to_ns, passed);
}

/* Gaps that end till then. */
static void pass_ready(struct idle_simple_queues *simple, uint64_t to_ns, struct passed *passed)
{
	struct queues_columns gaps;
	size_t count = queues_ready(simple->queues, &gaps);

	if (simple->gaps)
		count = count_ready(simple, &gaps, count, to_ns);
	if (count)
		queues_pass(simple->queues, sum_until_best(&gaps, count, to_ns, passed));
}

/* Time has passed up to there. */
int idle_simple_queues_next_gap(
	struct idle_simple_queues *simple, uint64_t to_ns, struct passed *passed, struct error *error)
{
	const struct queues_gap before = simple->gap;
	bool had_gap = simple->has_gap;
	int more;

	pass_ready(simple, to_ns, passed);
	more = queues_next(simple->queues, &simple->gap, error);
	simple->has_gap = more > 0;
	if (more < 0 || !simple->gaps)
		return more < 0 ? more : 0;
	if (had_gap && !close_before(simple, &before))
		return error_memory(error);
	simple->is_counted = is_small(simple);
	if (simple->is_counted)
		gaps_count(simple->gaps, simple->gap.end_ns - simple->gap.begin_ns);
	return 0;
}

/* False: no memory. */
static bool pass_gap(
	struct idle_simple_queues *simple, uint64_t begin_ns, uint64_t end_ns, struct passed *passed)
{
	struct group *group = &simple->group;
	const struct queues_gap *gap = &simple->gap;
	uint64_t queued_ns = gap->queued_ns > begin_ns ? gap->queued_ns : begin_ns;

	if (!gap->is_alive && !group->alive) {
		group->idle->unknown_ns += end_ns - begin_ns;
		return !simple->gaps || gaps_close_at(simple->gaps, simple->first_queue, 0);
	}
	queued_ns = queued_ns < end_ns ? queued_ns : end_ns;
	passed->free_ns += queued_ns - begin_ns;
	passed->queued_ns += end_ns - queued_ns;
	return !simple->gaps || simple->is_counted || pass_moments(simple, begin_ns, queued_ns, end_ns);
}

/* Counts the gaps until then. */
int idle_simple_queues_pass(struct idle_simple_queues *simple, uint64_t to_ns, struct error *error)
{
	struct group *group = &simple->group;
	uint64_t now_ns = group->now_ns;
	struct passed passed = {0, 0};
	bool is_counted = true;

	group->now_ns = to_ns;
	while (simple->has_gap && simple->gap.begin_ns < to_ns) {
		uint64_t begin_ns = simple->gap.begin_ns > now_ns ? simple->gap.begin_ns : now_ns;
		uint64_t end_ns = simple->gap.end_ns < to_ns ? simple->gap.end_ns : to_ns;
		int result;

		if (!pass_gap(simple, begin_ns, end_ns, &passed))
			return error_memory(error);
		if (simple->gap.end_ns > to_ns)
			break;
		result = idle_simple_queues_next_gap(simple, to_ns, &passed, error);
		if (result)
			return result;
	}
	if (passed.free_ns) {
		group_set_working(group, group->owners, false);
		is_counted = group_pass_idle(group, passed.free_ns);
	}
	if (passed.queued_ns && is_counted) {
		group_set_working(group, group->owners, true);
		is_counted = group_pass_idle(group, passed.queued_ns);
	}
	return is_counted ? 0 : error_memory(error);
}
