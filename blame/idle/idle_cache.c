/* SPDX-License-Identifier: Apache-2.0 */
/* idle_cache.c - see idle_cache.h: when sums are used and made, and what they depend on. */
#include "blame/idle/idle_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/base/runtime_calls.h"
#include "blame/idle/idle_cache_file.h"
#include "store/base/hash.h"
#include "timeline/run/names_run_cache_file.h"

#define STRETCH_RECORDS (idle_cache_records_least / 8) /* about */
#define STRETCHES_MAX 65536u
#define TOGETHER 64u /* stretches in a sweep */

uint64_t idle_cache_records_least = 2097152;

struct idle_cache {
	const struct group *start;
	const struct process *process;
	struct idle_cache_grid grid;
	struct store_hash of;
	char *path;
};

/* ---- is it for this question? ---- */

static uint64_t record_count(const struct run *run, const struct process *process)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < process->stream_count; i++) {
		const struct store_stream *s = &run_stream(run, process->streams[i])->s;

		count += s->count[STORE_SPANS] + s->count[STORE_SAMPLES];
	}
	return count;
}

/* Whether the streams are all that the process has. */
static bool is_whole(const struct run *run, const struct process *process)
{
	const struct run_stream *of = run_stream(run, process->streams[0]);
	uint32_t count = 0;

	for (uint32_t i = 0; i < run_stream_count(run); i++) {
		const struct run_stream *r = run_stream(run, i);

		count += r->s.kind != STORE_STREAM_GAUGES && r->s.pid == of->s.pid &&
			 r->s.generation == of->s.generation && r->s.rank == of->s.rank &&
			 !strcmp(r->host, of->host);
	}
	return count == process->stream_count;
}

static bool is_for(const struct group *start, const struct process *process)
{
	const struct idle_question *question = start->question;

	return question->busy == IDLE_BUSY_ANY && question->group == IDLE_GROUP_PROCESS && !question->gaps &&
	       !question->is_sampled && !wait_functions_are_own(question->waits) &&
	       !run_is_live(start->run) && run_sums_rollups(start->run) &&
	       record_count(start->run, process) >= idle_cache_records_least && is_whole(start->run, process);
}

/* ---- what they are of ---- */

/* Hash of the functions that mark the end of a synchronization, independent of their order. All contexts
 * have been expanded before. */
static uint64_t calls_hash(const struct run *run)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < run_function_count(run); i++)
		if (runtime_calls_is_call(run_function(run, i)))
			sum += run_function(run, i)->hash;
	return sum;
}

/* All that the answer depends on: the streams, which contexts wait, and which functions are calls. */
static bool hash_make(struct store_hash *of, const struct group *start, const struct process *process)
{
	struct store_bytes bytes = {0};
	uint32_t contexts = run_context_count(start->run);
	uint64_t calls;
	bool is_made;

	for (uint32_t i = 0; i < process->stream_count; i++) {
		const struct run_stream *r = run_stream(start->run, process->streams[i]);

		store_bytes_put(&bytes, r->text, strlen(r->text) + 1);
		store_bytes_put(&bytes, &r->s.begin_ns, sizeof r->s.begin_ns);
		store_bytes_put(&bytes, &r->s.end_ns, sizeof r->s.end_ns);
		store_bytes_put(&bytes, &r->s.thinned_ns, sizeof r->s.thinned_ns);
		store_bytes_put(&bytes, r->s.count, sizeof r->s.count);
	}
	for (uint32_t context = 0; context < contexts; context++) {
		uint8_t waits = (uint8_t)wait_functions_target(start->question->waits, context);

		store_bytes_put(&bytes, &waits, 1);
		store_bytes_put(&bytes, &run_context(start->run, context)->hash, sizeof(struct store_hash));
	}
	calls = calls_hash(start->run);
	store_bytes_put(&bytes, &calls, sizeof calls);
	is_made = !bytes.failed;
	if (is_made)
		*of = store_hash128(bytes.data, bytes.size);
	store_bytes_fini(&bytes);
	return is_made;
}

/* Beside the run's other cache: RUN/cache-idle-PROCESS. */
static char *path_make(const struct group *start, const struct process *process)
{
	const char *text = run_stream(start->run, process->streams[0])->text;
	char *cache = names_run_cache_path(run_path(start->run), true), *path = NULL;
	size_t length = cache ? strlen(cache) : 0;
	int size = -1;

	if (length > strlen(STORE_SUFFIX))
		size = asprintf(&path, "%.*s-idle-%016llx", (int)(length - strlen(STORE_SUFFIX)), cache,
			(unsigned long long)store_hash64(text, strlen(text), 0));
	free(cache);
	return size < 0 ? NULL : path;
}

/* The first stretch that begins then or later. */
static uint64_t stretch_from(uint64_t time_ns, uint32_t shift)
{
	return time_ns ? ((time_ns - 1) >> shift) + 1 : 0;
}

static void grid_make(struct idle_cache *idle_cache, uint64_t since_ns)
{
	struct run *run = idle_cache->start->run;
	uint64_t begin_ns = UINT64_MAX, end_ns = 0, stretches;
	struct idle_cache_grid *grid = &idle_cache->grid;

	for (uint32_t i = 0; i < idle_cache->process->stream_count; i++) {
		const struct store_stream *s = &run_stream(run, idle_cache->process->streams[i])->s;

		begin_ns = s->begin_ns < begin_ns ? s->begin_ns : begin_ns;
		if (s->end_ns != STORE_OPEN_NS && s->end_ns > end_ns)
			end_ns = s->end_ns;
	}
	begin_ns = since_ns > begin_ns ? since_ns : begin_ns;
	stretches = record_count(run, idle_cache->process) / STRETCH_RECORDS + 1;
	stretches = stretches < STRETCHES_MAX ? stretches : STRETCHES_MAX;
	*grid = (struct idle_cache_grid){0};
	if (begin_ns >= end_ns)
		return;
	while ((end_ns - begin_ns) >> grid->shift > 2 * stretches)
		grid->shift++;
	grid->first = stretch_from(begin_ns, grid->shift);
	grid->last = end_ns >> grid->shift;
}

/* ---- sweeping ---- */

static int sweep_between(const struct idle_cache *idle_cache, struct idle_cache_sums *sums, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	struct idle_question question = *idle_cache->start->question;
	struct group group = *idle_cache->start;

	if (begin_ns >= end_ns)
		return 0;
	question.begin_ns = begin_ns;
	question.end_ns = end_ns;
	question.is_brief = false;
	group.question = &question;
	group.idle = &sums->idle;
	group.blamed = &sums->blamed;
	group.waited = &sums->waited;
	return group_sweep_used(&group, idle_cache->process, 1, error);
}

static bool shares_move(struct exact_share_sums *to, const struct exact_share_sums *from)
{
	for (uint32_t context = 0; context < from->count; context++)
		if (from->amount[context] && !exact_share_sums_add(to, context, from->amount[context]))
			return false;
	return true;
}

struct maker {
	const struct idle_cache *idle_cache;
	struct idle_cache_writer writer;
	struct idle_cache_sums *whole; /* all together */
};

static bool take_part(void *own, const struct idle *idle, const struct exact_share_sums *blamed,
	const struct exact_share_sums *waited)
{
	struct maker *maker = own;
	const struct idle_cache_sums sums = {*idle, *blamed, *waited};

	idle_cache_writer_add(&maker->writer, &sums);
	idle_cache_sums_add_idle(&maker->whole->idle, idle);
	return shares_move(&maker->whole->blamed, blamed) && shares_move(&maker->whole->waited, waited);
}

/* Stretches one by one: whatever the queues are like. */
static int make_each(struct maker *maker, uint64_t from, uint64_t to, struct error *error)
{
	uint32_t shift = maker->idle_cache->grid.shift;
	struct idle_cache_sums sums = {0};
	int result = 0;

	for (uint64_t i = from; i < to && !result; i++) {
		idle_cache_sums_clear(&sums);
		result = sweep_between(maker->idle_cache, &sums, i << shift, (i + 1) << shift, error);
		if (!result && !take_part(maker, &sums.idle, &sums.blamed, &sums.waited))
			result = error_memory(error);
	}
	idle_cache_sums_fini(&sums);
	return result;
}

/* All at once, in one sweep. 1: done; 0: the queues are not simple. */
static int make_together(struct maker *maker, uint64_t from, uint64_t to, struct error *error)
{
	struct idle_question question = *maker->idle_cache->start->question;
	struct group group = *maker->idle_cache->start;
	uint32_t shift = maker->idle_cache->grid.shift, count = 0;
	uint64_t cuts_ns[TOGETHER];
	const struct group_parts parts = {cuts_ns, (uint32_t)(to - from - 1), take_part, maker};

	for (uint64_t i = from + 1; i < to; i++)
		cuts_ns[count++] = i << shift;
	question.begin_ns = from << shift;
	question.end_ns = to << shift;
	question.is_brief = false;
	group.question = &question;
	return group_sweep_parts(&group, maker->idle_cache->process, &parts, error);
}

/* What was made of a sweep that is void. */
struct checkpoint {
	struct idle_cache_sums whole;
	size_t nodes, places;
};

static bool checkpoint_save(struct checkpoint *checkpoint, const struct maker *maker)
{
	checkpoint->whole.idle = maker->whole->idle;
	checkpoint->nodes = maker->writer.nodes.size;
	checkpoint->places = maker->writer.places.size;
	idle_cache_sums_clear(&checkpoint->whole);
	checkpoint->whole.idle = maker->whole->idle;
	return shares_move(&checkpoint->whole.blamed, &maker->whole->blamed) &&
	       shares_move(&checkpoint->whole.waited, &maker->whole->waited);
}

static bool checkpoint_restore(const struct checkpoint *checkpoint, struct maker *maker)
{
	idle_cache_sums_clear(maker->whole);
	maker->whole->idle = checkpoint->whole.idle;
	maker->writer.nodes.size = checkpoint->nodes;
	maker->writer.places.size = checkpoint->places;
	return shares_move(&maker->whole->blamed, &checkpoint->whole.blamed) &&
	       shares_move(&maker->whole->waited, &checkpoint->whole.waited);
}

/* Sweeps and keeps every stretch, some at a time: what a sweep has to remember is bounded. */
static int make(const struct idle_cache *idle_cache, struct idle_cache_sums *whole, struct error *error)
{
	struct maker maker = {.idle_cache = idle_cache, .writer = {.grid = idle_cache->grid}, .whole = whole};
	struct checkpoint checkpoint = {0};
	int result = 0;

	for (uint64_t from = idle_cache->grid.first, to; from < idle_cache->grid.last && result >= 0;
		from = to) {
		to = idle_cache->grid.last - from > TOGETHER ? from + TOGETHER : idle_cache->grid.last;
		result = checkpoint_save(&checkpoint, &maker) ? make_together(&maker, from, to, error)
							      : error_memory(error);
		if (!result)
			result = checkpoint_restore(&checkpoint, &maker) ? make_each(&maker, from, to, error)
									 : error_memory(error);
	}
	if (result >= 0)
		idle_cache_writer_finish(&maker.writer, &idle_cache->of, idle_cache->path);
	idle_cache_writer_fini(&maker.writer);
	idle_cache_sums_fini(&checkpoint.whole);
	return result < 0 ? result : 0;
}

/* The whole stretches of the window by their sums, or made now; 0: neither. */
static int take_stretches(const struct idle_cache *idle_cache, uint64_t from, uint64_t to,
	struct idle_cache_sums *sums, struct error *error)
{
	struct idle_cache_file *file = idle_cache_file_open(idle_cache->path, &idle_cache->grid,
		&idle_cache->of, run_context_count(idle_cache->start->run));
	bool is_there = file && idle_cache_file_add(file, from, to, sums);
	int result = is_there;

	idle_cache_file_close(file);
	if (!is_there && from == idle_cache->grid.first && to == idle_cache->grid.last) {
		idle_cache_sums_clear(sums);
		result = make(idle_cache, sums, error);
		result = result ? result : 1;
	}
	return result;
}

static int sweep(struct idle_cache *idle_cache, struct idle_cache_sums *sums, struct error *error)
{
	const struct idle_question *question = idle_cache->start->question;
	const struct idle_cache_grid *grid = &idle_cache->grid;
	uint64_t from = stretch_from(question->begin_ns, grid->shift), to = question->end_ns >> grid->shift;
	int result;

	from = from > grid->first ? from : grid->first;
	to = to < grid->last ? to : grid->last;
	if (from >= to)
		return 0;
	result = take_stretches(idle_cache, from, to, sums, error);
	if (result <= 0)
		return result;
	result = sweep_between(idle_cache, sums, question->begin_ns, from << grid->shift, error);
	if (!result)
		result = sweep_between(idle_cache, sums, to << grid->shift, question->end_ns, error);
	return result ? result : 1;
}

int idle_cache_sweep(
	const struct group *start, const struct process *process, uint64_t since_ns, struct error *error)
{
	struct idle_cache idle_cache = {.start = start, .process = process};
	struct idle_cache_sums sums = {0};
	int result = 0;

	if (!is_for(start, process))
		return 0;
	grid_make(&idle_cache, since_ns);
	idle_cache.path = idle_cache.grid.first < idle_cache.grid.last ? path_make(start, process) : NULL;
	if (idle_cache.path && hash_make(&idle_cache.of, start, process))
		result = sweep(&idle_cache, &sums, error);
	if (result > 0) {
		idle_cache_sums_add_idle(start->idle, &sums.idle);
		start->idle->groups++;
		if (!shares_move(start->blamed, &sums.blamed) || !shares_move(start->waited, &sums.waited))
			result = error_memory(error);
	}
	idle_cache_sums_fini(&sums);
	free(idle_cache.path);
	return result;
}
