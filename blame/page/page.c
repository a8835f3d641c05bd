/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - see page.h. */
#include "blame/page/page.h"

#include "blame/base/process.h"
#include "blame/base/related.h"
#include "blame/base/runtime_calls.h"
#include "blame/idle/idle_shared.h"

#include <string.h>

static void put_part(struct page *page, const char *key, const char *text, uint64_t time_ns)
{
	page->parts[page->part_count++] = (struct page_part){key, text, time_ns};
}

static const char *nobody_text(const struct page *page, const struct idle_question *question)
{
	if (!page->threads)
		return "idle, and no CPU thread among the streams";
	if (page->idle.unexplained_ns * 2 > page->idle.all_idle_ns)
		return "idle, and no thread is known to work";
	return question->group == IDLE_GROUP_PROCESS ? "idle, every thread of the process waits"
						     : "idle, every thread waits";
}

static void put_parts(struct page *page, const struct idle_question *question)
{
	const struct idle *idle = &page->idle;
	bool is_any = question->busy == IDLE_BUSY_ANY;

	put_part(page, "kernel", "kernels running", idle->kernel_ns);
	put_part(page, "communicating", "communication not hidden by a kernel", idle->comm_ns);
	if (is_any)
		put_part(page, "copy", "copies not hidden by a kernel", idle->copy_ns);
	put_part(page, "blamed",
		question->group == IDLE_GROUP_PROCESS ? "idle while CPU code of the same process runs"
						      : "idle while CPU code runs",
		idle->blamed_ns);
	put_part(page, "nobody", nobody_text(page, question), idle->all_idle_ns);
	put_part(page, "unknown", "lost or unmonitored", idle->unknown_ns - idle->unused_ns - idle->ended_ns);
	if (idle->unused_ns)
		put_part(page, "unused", "before the first use of a GPU", idle->unused_ns);
	if (idle->ended_ns)
		put_part(page, "ended", "after the process has ended", idle->ended_ns);
}

/* Queues that are reported, threads that may be blamed. */
static void count_streams(struct page *page, const struct run *run, const struct related *related)
{
	for (uint32_t i = 0; i < related->count; i++) {
		uint32_t stream = related->streams[i];

		if (run_stream(run, stream)->s.kind != STORE_STREAM_GPU)
			page->threads++;
		else
			page->queues += related_is_reported(related->bits, stream);
	}
}

/* The largest gap whose main context has the row's key, among the `limit` largest. */
static const struct gap *find_gap(struct page *page, const struct run *run, const char *row_key,
	enum row_key_by by, uint32_t depth, size_t limit)
{
	struct store_bytes key = {0};
	const struct gap *found = NULL;
	size_t count;
	const struct gap *list = gaps_list(page->gaps, &count);

	for (size_t i = 0; i < count && i < limit && !found && !key.failed; i++) {
		if (list[i].cause != GAP_CPU)
			continue;
		key.size = 0;
		if (row_key_put(&key, run,
			    by == ROW_KEY_FUNCTION || by == ROW_KEY_SCRIPT
				    ? runtime_calls_context(run, list[i].context)
				    : list[i].context,
			    by, depth) &&
			key.size == strlen(row_key) && memcmp(key.data, row_key, key.size) == 0)
			found = &list[i];
	}
	store_bytes_fini(&key);
	return found;
}

#define GAPS_LOOKED_AT 4096

/* When the last stream of a queue's group ended. */
static uint64_t group_until(const struct run *run, const struct idle_question *question,
	const struct related *related, uint32_t queue)
{
	const struct run_stream *of = run_stream(run, queue);
	uint64_t until_ns = 0;

	for (uint32_t i = 0; i < related->count; i++) {
		const struct run_stream *r = run_stream(run, related->streams[i]);
		bool is_same = question->group == IDLE_GROUP_ALL ||
			       (r->s.pid == of->s.pid && r->s.generation == of->s.generation &&
				       r->s.rank == of->s.rank && strcmp(r->host, of->host) == 0);

		if (is_same && r->s.end_ns > until_ns)
			until_ns = r->s.end_ns;
	}
	return until_ns;
}

/* What a program does after its last work, to its exit, keeps no work waiting. */
static void find_largest(struct page *page, const struct run *run, const struct idle_question *question,
	const struct related *related)
{
	size_t count;
	const struct gap *list = gaps_list(page->gaps, &count);

	for (size_t i = 0; i < count && !page->largest; i++)
		if (list[i].end_ns < group_until(run, question, related, list[i].stream))
			page->largest = &list[i];
	if (!page->largest)
		page->largest = count ? list : NULL;
	else if (page->largest != list)
		page->end = list;
}

/* What start-up is not, repeats itself: so a gap of it has no peer later. */
static void find_steady(struct page *page, const struct run *run, const struct idle_question *question,
	const struct related *related)
{
	const struct idle *idle = &page->idle;
	uint64_t begin_ns = question->begin_ns + idle->unused_ns / (idle->groups ? idle->groups : 1);
	uint64_t window_ns = question->end_ns - begin_ns, least_ns = window_ns / PAGE_START_LEAST;
	size_t count;
	const struct gap *list = gaps_list(page->gaps, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t time_ns = list[i].end_ns - list[i].begin_ns;

		if (list[i].begin_ns >= begin_ns + window_ns / 2 && 2 * time_ns > least_ns &&
			list[i].end_ns < group_until(run, question, related, list[i].stream))
			least_ns = 2 * time_ns;
	}
	for (size_t i = 0; i < count; i++)
		if (list[i].begin_ns < begin_ns + window_ns / 2 &&
			list[i].end_ns - list[i].begin_ns > least_ns && list[i].end_ns > page->steady_ns &&
			list[i].end_ns < question->end_ns)
			page->steady_ns = list[i].end_ns;
}

/* Processes without a GPU that count to none. */
static int count_feeders(struct page *page, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error)
{
	struct process *processes;
	uint32_t count = 0, *owner_of = NULL;
	int result;

	if (question->group != IDLE_GROUP_PROCESS)
		return 0;
	result = process_list(
		&processes, &count, run, question->streams, question->stream_count, arena, error);
	if (!result) {
		owner_of = arena_calloc(arena, (size_t)count + 1, sizeof(*owner_of));
		result = owner_of ? process_owners(owner_of, processes, count, run, error)
				  : error_memory(error);
	}
	for (uint32_t p = 0; p < count && !result; p++)
		page->feeders += !processes[p].gpu_count && owner_of[p] == p;
	return result;
}

static int put_causes(struct page *page, const struct run *run, enum row_key_by by, uint32_t depth,
	uint64_t top, struct arena *arena, struct error *error)
{
	if (top > PAGE_CAUSES)
		top = PAGE_CAUSES;
	for (size_t i = 0; i < page->rows.count && i < top; i++) {
		const struct exact_share_row *row = &page->rows.rows[i];
		struct page_cause *cause = &page->causes[page->cause_count];

		if (i && row->time_ns < page->idle.idle_ns / PAGE_CAUSE_LEAST)
			break;
		page->cause_count++;
		cause->row = row;
		cause->path = run_context_path(run, row->context, UINT32_MAX, arena);
		if (!cause->path)
			return error_memory(error);
		cause->largest = find_gap(page, run, row->key, by, depth, GAPS_LOOKED_AT);
	}
	return 0;
}

static int fill(struct page *page, struct run *run, const struct select *select,
	const struct idle_question *question, struct arena *arena, struct error *error)
{
	const struct idle *idle = &page->idle;
	const enum row_key_by by = page->by;
	uint32_t depth = select_depth(select);
	struct related related;
	int result;

	page->others_ns = idle_others_ns(idle->blamed, idle->blamed_count, idle->blamed_ns);
	runtime_calls_fold(run, idle->blamed, idle->blamed_count, select, by);
	result = exact_share_rows_make(
		&page->rows, run, idle->blamed, idle->blamed_count, select, by, depth, NULL, arena, error);

	if (!result)
		result = exact_share_rows_make(&page->waited, run, idle->waited, idle->waited_count, NULL, by,
			depth, NULL, arena, error);
	if (!result && question->group == IDLE_GROUP_PROCESS)
		result = last_arrival_sweep(&page->late, run, question, arena, error);
	if (!result)
		result = findings_make(&page->findings, run, question, arena, error);
	if (!result)
		result = related_find(&related, run, question->streams, question->stream_count,
			question->group == IDLE_GROUP_ALL, arena, error);
	if (result)
		return result;
	page->known = (double)(idle->busy_ns + idle->idle_ns) / (double)idle_used_ns(idle);
	count_streams(page, run, &related);
	put_parts(page, question);
	find_largest(page, run, question, &related);
	find_steady(page, run, question, &related);
	result = count_feeders(page, run, question, arena, error);
	if (result)
		return result;
	if (page->known < PAGE_COVERAGE_CAUSES)
		return 0;
	return put_causes(page, run, by, depth, select_top(select), arena, error);
}

int page_make(struct page *page, struct run *run, const struct select *select,
	const struct idle_question *asked, const enum row_key_by *by, struct arena *arena,
	struct error *error)
{
	struct idle_question question = *asked;
	int result;

	*page = (struct page){0};
	result = gaps_new(&page->gaps, 0, GAPS_LOOKED_AT, error);
	question.gaps = page->gaps;
	if (!result)
		result = idle_sweep(&page->idle, run, &question, arena, error);
	if (!result) /* all ranks add to it */
		result = coverage_compute(&page->coverage, run, select, error);
	page->is_part = idle_shared_is_part(&question);
	if (!result && !page->is_part) {
		page->by = by ? *by
			   : exact_share_is_script(run, page->idle.blamed, page->idle.blamed_count)
				   ? ROW_KEY_SCRIPT
				   : ROW_KEY_FUNCTION;
		result = fill(page, run, select, &question, arena, error);
	}
	return result;
}

void page_fini(struct page *page)
{
	gaps_free(page->gaps);
}
