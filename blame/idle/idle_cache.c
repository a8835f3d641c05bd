/* SPDX-License-Identifier: Apache-2.0 */
/* idle_cache.c - see idle_cache.h: when sums are used and made, and what they are of. */
#include "blame/idle/idle_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/base/runtime_calls.h"
#include "blame/idle/idle_cache_file.h"
#include "store/base/hash.h"
#include "timeline/run/names_run_cache_file.h"

#define STRETCH_RECORDS (rolled_records_least / 8) /* about */
#define STRETCHES_MAX 65536u
#define TOGETHER 64u /* stretches in a sweep */

uint64_t rolled_records_least = 2097152;

struct rolled {
	const struct group *start;
	const struct process *process;
	struct rolled_grid grid;
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

		count += r->s.pid == of->s.pid && r->s.generation == of->s.generation &&
			 r->s.rank == of->s.rank && !strcmp(r->host, of->host);
	}
	return count == process->stream_count;
}

static bool is_for(const struct group *start, const struct process *process)
{
	const struct idle_question *question = start->question;

	return question->busy == IDLE_BUSY_ANY && question->group == IDLE_GROUP_PROCESS && !question->gaps &&
	       !question->is_sampled && !waits_are_own(question->waits) && !run_is_live(start->run) &&
	       run_sums_rollups(start->run) && record_count(start->run, process) >= rolled_records_least &&
	       is_whole(start->run, process);
}

/* ---- what they are of ---- */

/* Of the functions that a synchronization is left through; in whatever order they came to be known. All
 * contexts were asked for before, which makes them. */
static uint64_t calls_hash(const struct run *run)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < run_function_count(run); i++)
		if (calls_is_call(run_function(run, i)))
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
		uint8_t waits = (uint8_t)waits_for(start->question->waits, context);

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
	char *cache = names_cache_path(run_path(start->run), true), *path = NULL;
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

static void grid_make(struct rolled *rolled, uint64_t since_ns)
{
	struct run *run = rolled->start->run;
	uint64_t begin_ns = UINT64_MAX, end_ns = 0, stretches;
	struct rolled_grid *grid = &rolled->grid;

	for (uint32_t i = 0; i < rolled->process->stream_count; i++) {
		const struct store_stream *s = &run_stream(run, rolled->process->streams[i])->s;

		begin_ns = s->begin_ns < begin_ns ? s->begin_ns : begin_ns;
		if (s->end_ns != STORE_OPEN_NS && s->end_ns > end_ns)
			end_ns = s->end_ns;
	}
	begin_ns = since_ns > begin_ns ? since_ns : begin_ns;
	stretches = record_count(run, rolled->process) / STRETCH_RECORDS + 1;
	stretches = stretches < STRETCHES_MAX ? stretches : STRETCHES_MAX;
	*grid = (struct rolled_grid){0};
	if (begin_ns >= end_ns)
		return;
	while ((end_ns - begin_ns) >> grid->shift > 2 * stretches)
		grid->shift++;
	grid->first = stretch_from(begin_ns, grid->shift);
	grid->last = end_ns >> grid->shift;
}

/* ---- sweeping ---- */

static int sweep_between(const struct rolled *rolled, struct rolled_sums *sums, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	struct idle_question question = *rolled->start->question;
	struct group group = *rolled->start;

	if (begin_ns >= end_ns)
		return 0;
	question.begin_ns = begin_ns;
	question.end_ns = end_ns;
	question.is_brief = false;
	group.question = &question;
	group.idle = &sums->idle;
	group.blamed = &sums->blamed;
	group.waited = &sums->waited;
	return group_sweep_used(&group, rolled->process, 1, error);
}

static bool shares_move(struct share_sums *to, const struct share_sums *from)
{
	for (uint32_t context = 0; context < from->count; context++)
		if (from->amount[context] && !share_sums_add(to, context, from->amount[context]))
			return false;
	return true;
}

struct maker {
	const struct rolled *rolled;
	struct rolled_making making;
	struct rolled_sums *whole; /* all together */
};

static bool take_part(
	void *own, const struct idle *idle, const struct share_sums *blamed, const struct share_sums *waited)
{
	struct maker *maker = own;
	const struct rolled_sums sums = {*idle, *blamed, *waited};

	rolled_making_add(&maker->making, &sums);
	rolled_sums_add_idle(&maker->whole->idle, idle);
	return shares_move(&maker->whole->blamed, blamed) && shares_move(&maker->whole->waited, waited);
}

/* Stretches one by one: whatever the queues are like. */
static int make_each(struct maker *maker, uint64_t from, uint64_t to, struct error *error)
{
	uint32_t shift = maker->rolled->grid.shift;
	struct rolled_sums sums = {0};
	int result = 0;

	for (uint64_t i = from; i < to && !result; i++) {
		rolled_sums_clear(&sums);
		result = sweep_between(maker->rolled, &sums, i << shift, (i + 1) << shift, error);
		if (!result && !take_part(maker, &sums.idle, &sums.blamed, &sums.waited))
			result = error_memory(error);
	}
	rolled_sums_fini(&sums);
	return result;
}

/* All at once, in one sweep. 1: done; 0: the queues are not simple. */
static int make_together(struct maker *maker, uint64_t from, uint64_t to, struct error *error)
{
	struct idle_question question = *maker->rolled->start->question;
	struct group group = *maker->rolled->start;
	uint32_t shift = maker->rolled->grid.shift, count = 0;
	uint64_t cuts_ns[TOGETHER];
	const struct group_parts parts = {cuts_ns, (uint32_t)(to - from - 1), take_part, maker};

	for (uint64_t i = from + 1; i < to; i++)
		cuts_ns[count++] = i << shift;
	question.begin_ns = from << shift;
	question.end_ns = to << shift;
	question.is_brief = false;
	group.question = &question;
	return group_sweep_parts(&group, maker->rolled->process, &parts, error);
}

/* What was made of a sweep that is void. */
struct made {
	struct rolled_sums whole;
	size_t nodes, places;
};

static bool made_keep(struct made *made, const struct maker *maker)
{
	made->whole.idle = maker->whole->idle;
	made->nodes = maker->making.nodes.size;
	made->places = maker->making.places.size;
	rolled_sums_clear(&made->whole);
	made->whole.idle = maker->whole->idle;
	return shares_move(&made->whole.blamed, &maker->whole->blamed) &&
	       shares_move(&made->whole.waited, &maker->whole->waited);
}

static bool made_restore(const struct made *made, struct maker *maker)
{
	rolled_sums_clear(maker->whole);
	maker->whole->idle = made->whole.idle;
	maker->making.nodes.size = made->nodes;
	maker->making.places.size = made->places;
	return shares_move(&maker->whole->blamed, &made->whole.blamed) &&
	       shares_move(&maker->whole->waited, &made->whole.waited);
}

/* Sweeps and keeps every stretch, some at a time: what a sweep has to remember is bounded. */
static int make(const struct rolled *rolled, struct rolled_sums *whole, struct error *error)
{
	struct maker maker = {.rolled = rolled, .making = {.grid = rolled->grid}, .whole = whole};
	struct made made = {0};
	int result = 0;

	for (uint64_t from = rolled->grid.first, to; from < rolled->grid.last && result >= 0; from = to) {
		to = rolled->grid.last - from > TOGETHER ? from + TOGETHER : rolled->grid.last;
		result = made_keep(&made, &maker) ? make_together(&maker, from, to, error)
						  : error_memory(error);
		if (!result)
			result = made_restore(&made, &maker) ? make_each(&maker, from, to, error)
							     : error_memory(error);
	}
	if (result >= 0)
		rolled_making_finish(&maker.making, &rolled->of, rolled->path);
	rolled_making_fini(&maker.making);
	rolled_sums_fini(&made.whole);
	return result < 0 ? result : 0;
}

/* The whole stretches of the window by their sums, or made now; 0: neither. */
static int take_stretches(const struct rolled *rolled, uint64_t from, uint64_t to, struct rolled_sums *sums,
	struct error *error)
{
	struct rolled_file *file = rolled_file_open(
		rolled->path, &rolled->grid, &rolled->of, run_context_count(rolled->start->run));
	bool is_there = file && rolled_file_add(file, from, to, sums);
	int result = is_there;

	rolled_file_close(file);
	if (!is_there && from == rolled->grid.first && to == rolled->grid.last) {
		rolled_sums_clear(sums);
		result = make(rolled, sums, error);
		result = result ? result : 1;
	}
	return result;
}

static int sweep(struct rolled *rolled, struct rolled_sums *sums, struct error *error)
{
	const struct idle_question *question = rolled->start->question;
	const struct rolled_grid *grid = &rolled->grid;
	uint64_t from = stretch_from(question->begin_ns, grid->shift), to = question->end_ns >> grid->shift;
	int result;

	from = from > grid->first ? from : grid->first;
	to = to < grid->last ? to : grid->last;
	if (from >= to)
		return 0;
	result = take_stretches(rolled, from, to, sums, error);
	if (result <= 0)
		return result;
	result = sweep_between(rolled, sums, question->begin_ns, from << grid->shift, error);
	if (!result)
		result = sweep_between(rolled, sums, to << grid->shift, question->end_ns, error);
	return result ? result : 1;
}

int rolled_sweep(
	const struct group *start, const struct process *process, uint64_t since_ns, struct error *error)
{
	struct rolled rolled = {.start = start, .process = process};
	struct rolled_sums sums = {0};
	int result = 0;

	if (!is_for(start, process))
		return 0;
	grid_make(&rolled, since_ns);
	rolled.path = rolled.grid.first < rolled.grid.last ? path_make(start, process) : NULL;
	if (rolled.path && hash_make(&rolled.of, start, process))
		result = sweep(&rolled, &sums, error);
	if (result > 0) {
		rolled_sums_add_idle(start->idle, &sums.idle);
		start->idle->groups++;
		if (!shares_move(start->blamed, &sums.blamed) || !shares_move(start->waited, &sums.waited))
			result = error_memory(error);
	}
	rolled_sums_fini(&sums);
	free(rolled.path);
	return result;
}
