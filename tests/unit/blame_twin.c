/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_twin.c - blame for idle GPUs on random traces against a twin that looks at every single nanosecond;
 * and the laws: the parts of the window sum to it, and halves of a window to the whole.
 */
#include "tests/unit/blame_trace.h"

#include <dirent.h>
#include <limits.h>

#include "blame/base/time_slices.h"
#include "blame/idle/idle.h"
#include "blame/idle/idle_cache.h"
#include "store/base/attribute.h"
#include "store/base/avx2.h"

#define ROUNDS 300
#define LENGTH 240u /* ns */
#define STREAMS 14u
#define RECORDS 80u
#define CONTEXTS 16u
#define UNIT 360360u /* of a ns: what 1 to 14 threads share without a rest */

enum { WAITED, BLAMED };

struct trace {
	struct small_run small;
	struct run *run;
	uint32_t stream_count;
	uint32_t streams[STREAMS];
	struct wait_functions *waits;
};

struct span {
	uint64_t begin_ns, end_ns, link;
	uint32_t op, stream;
	bool is_comm;
};

struct answer {
	uint64_t busy_ns, unknown_ns, unused_ns, ended_ns, lost_ns, blamed_ns, all_idle_ns, unexplained_ns;
	uint64_t no_core_ns;
	uint64_t kernel_ns, comm_ns, copy_ns;
	uint64_t share[2][CONTEXTS]; /* in UNITs, by run context */
};

static struct span spans[STREAMS * RECORDS];
static bool says_first_use[STREAMS]; /* by stream of the store */
static size_t span_count;
static struct extent lines[STREAMS][LENGTH + 20]; /* of the run's streams, at every moment */
static bool has_lines;

/* ---- a random trace ---- */

static const char *const paths[] = {"main;a", "main;b", "main;b;c", "main;MPI_Wait;poll", "main;d"};

static void put_span(struct store_writer *writer, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	uint32_t op, const char *path, uint64_t link)
{
	trace_span(writer, stream, begin_ns, end_ns, op, path, link);
	spans[span_count++] = (struct span){begin_ns, end_ns, link, op, stream, !strcmp(path, "ncclKernel")};
}

/* Pieces of a thread's life one after the other, so that no sample falls into a blocked stretch. */
static void put_thread(struct store_writer *writer, uint32_t stream)
{
	uint64_t now_ns = small_below(30);

	while (now_ns < LENGTH) {
		uint64_t end_ns = now_ns + 1 + small_below(30), what = small_below(12);
		const char *path = paths[small_below(5)];

		if (what < 5)
			trace_run(writer, stream, now_ns, path);
		else if (what < 7)
			put_span(writer, stream, now_ns, end_ns, STORE_OP_BLOCKED, small_below(2) ? path : "",
				0);
		else if (what == 7)
			put_span(writer, stream, now_ns, end_ns, STORE_OP_RUNNABLE, path, 0);
		else if (what == 8)
			put_span(writer, stream, now_ns, end_ns, STORE_OP_LOST, "", 0);
		else if (what == 9)
			put_span(writer, stream, now_ns, end_ns, STORE_OP_LAUNCH, path, 1 + small_below(40));
		else
			put_span(writer, stream, now_ns, end_ns, STORE_OP_SYNC, path, small_below(41));
		now_ns = end_ns + small_below(3);
	}
}

static void put_queue(struct store_writer *writer, uint32_t stream)
{
	uint64_t now_ns = small_below(60);

	while (now_ns < LENGTH) {
		uint64_t end_ns = now_ns + 1 + small_below(25), what = small_below(20);
		uint32_t op = what < 12	   ? STORE_OP_KERNEL
			      : what < 17  ? STORE_OP_COPY
			      : what == 17 ? STORE_OP_LOST
			      : what == 18 ? STORE_OP_UNMONITORED
					   : STORE_OP_SYNC;

		put_span(writer, stream, now_ns, end_ns, op, small_below(4) ? "main;kernel" : "ncclKernel",
			op == STORE_OP_KERNEL || op == STORE_OP_COPY ? small_below(41) : 0);
		now_ns += small_below(60);
	}
}

/* What queues.h takes: within its life, no states. What overlaps is alike, or anything. */
static void put_simple_queue(
	struct store_writer *writer, uint32_t stream, uint64_t begin_ns, uint64_t life_end_ns)
{
	uint64_t now_ns = begin_ns + 1 + small_below(40);
	bool is_mixed = small_below(2);

	while (now_ns < life_end_ns) {
		uint32_t op = small_below(3) ? STORE_OP_KERNEL : STORE_OP_COPY;
		const char *path = small_below(4) ? "main;kernel" : "ncclKernel";
		uint64_t busy_ns = 0;

		for (uint64_t i = small_below(3); i < 3 && now_ns < life_end_ns; i++) {
			uint64_t end_ns = now_ns + 1 + small_below(25);

			end_ns = end_ns < life_end_ns ? end_ns : life_end_ns;
			if (is_mixed)
				op = small_below(2) ? STORE_OP_KERNEL : STORE_OP_COPY;
			put_span(writer, stream, now_ns, end_ns, op,
				is_mixed && small_below(2) ? "ncclKernel" : path, small_below(41));
			busy_ns = end_ns > busy_ns ? end_ns : busy_ns;
			now_ns += small_below(10);
		}
		now_ns = (busy_ns > now_ns ? busy_ns : now_ns) + small_below(40);
	}
}

static uint64_t begin_below = 40; /* of streams */

static void put_any_queue(struct store_writer *writer, uint32_t pid, uint32_t number, bool is_simple)
{
	uint64_t begin_ns = small_below(begin_below), end_ns = LENGTH - small_below(40);
	bool is_said = small_below(2);
	uint32_t stream = trace_stream_said(writer, STORE_STREAM_GPU, pid, number, begin_ns, end_ns,
		is_said ? "name=queue,since=first-use" : "name=queue");

	says_first_use[stream] = is_said;
	if (is_simple)
		put_simple_queue(writer, stream, begin_ns, end_ns);
	else
		put_queue(writer, stream);
}

static void trace_begin(struct trace *trace)
{
	bool is_simple = small_below(2);
	uint32_t processes = 1 + (uint32_t)small_below(2), in_store = 0;
	struct error error = {0};

	*trace = (struct trace){0};
	span_count = 0;
	has_lines = false;
	small_begin(&trace->small);
	for (uint32_t pid = 1; pid <= processes; pid++) {
		uint32_t threads = 1 + (uint32_t)small_below(4), queues = 1 + (uint32_t)small_below(3);

		for (uint32_t i = 0; i < threads; i++, in_store++)
			put_thread(trace->small.writer,
				trace_stream(trace->small.writer, STORE_STREAM_CPU, pid, i,
					small_below(begin_below), LENGTH - small_below(40)));
		for (uint32_t i = 0; i < queues; i++, in_store++)
			put_any_queue(trace->small.writer, pid, i + 1, is_simple);
	}
	small_ready(&trace->small);
	trace->run = trace->small.run;
	trace->stream_count = run_stream_count(trace->run);
	for (uint32_t i = 0; i < trace->stream_count; i++)
		trace->streams[i] = i;
	assert_int_equal(wait_functions_new(&trace->waits, trace->run, NULL, &error), 0);
}

static void trace_end(struct trace *trace)
{
	wait_functions_free(trace->waits);
	small_end(&trace->small);
}

/* ---- the twin ---- */

static uint32_t process_of(const struct trace *trace, uint32_t stream)
{
	return run_stream(trace->run, stream)->s.pid;
}

static uint32_t span_process(const struct trace *trace, const struct span *span)
{
	for (uint32_t i = 0; i < trace->stream_count; i++)
		if (run_stream(trace->run, i)->id_in_store == span->stream)
			return process_of(trace, i);
	fail();
	return 0;
}

static bool span_is_gpu(const struct trace *trace, const struct span *span)
{
	for (uint32_t i = 0; i < trace->stream_count; i++)
		if (run_stream(trace->run, i)->id_in_store == span->stream)
			return run_stream(trace->run, i)->s.kind == STORE_STREAM_GPU;
	return false;
}

/* Whether the process has work on its queues, queued or running. */
static bool has_work(const struct trace *trace, uint32_t process, uint64_t time_ns)
{
	for (size_t i = 0; i < span_count; i++) {
		uint64_t from_ns = spans[i].begin_ns, launched_ns = spans[i].link ? 0 : UINT64_MAX;

		if ((spans[i].op != STORE_OP_KERNEL && spans[i].op != STORE_OP_COPY) ||
			!span_is_gpu(trace, &spans[i]) || span_process(trace, &spans[i]) != process)
			continue;
		for (size_t j = 0; j < span_count; j++)
			if (spans[i].link && spans[j].link == spans[i].link &&
				spans[j].op == STORE_OP_LAUNCH && span_process(trace, &spans[j]) == process &&
				spans[j].end_ns > launched_ns)
				launched_ns = spans[j].end_ns;
		if (launched_ns < from_ns)
			from_ns = launched_ns;
		if (from_ns <= time_ns && time_ns < spans[i].end_ns)
			return true;
	}
	return false;
}

/* Where a thread was before it was switched out: found with an extent that is sample's. */
static uint32_t last_sample(const struct trace *trace, uint32_t stream, uint64_t time_ns)
{
	const struct run_stream *r = run_stream(trace->run, stream);
	struct store_record sample;
	struct error error = {0};
	int found = store_reader_sample_before(
		run_store(trace->run, r->store), r->id_in_store, time_ns + 1, &sample, &error);

	assert_true(found >= 0);
	return found ? run_context_of(trace->run, r->store, sample.context) : 0;
}

/* The synchronization that the thread's last sample was taken in; 0: none. */
static uint32_t sampled_sync(const struct trace *trace, uint32_t stream, uint64_t time_ns)
{
	const struct run_stream *r = run_stream(trace->run, stream);
	struct store_record sample = {0};
	struct error error = {0};
	int found = store_reader_sample_before(
		run_store(trace->run, r->store), r->id_in_store, time_ns + 1, &sample, &error);

	assert_true(found >= 0);
	return found && lines[stream][sample.begin_ns].state == EXTENT_SYNC
		       ? lines[stream][sample.begin_ns].context
		       : 0;
}

/* A sample of a call that is over: the caller of its outermost MPI function; there is no other runtime. */
static uint32_t after_call(const struct trace *trace, uint32_t context, uint32_t wait)
{
	static const char *const after[][3] = {/* sampled, waited, is */
		{"main;b;c", "main;b", "main;b"}, {"main;MPI_Wait;poll", "main;MPI_Wait;poll", "main"}};
	struct arena arena = {0};
	const char *sampled = run_context_path(trace->run, context, UINT32_MAX, &arena);
	const char *waited = run_context_path(trace->run, wait, UINT32_MAX, &arena);
	uint32_t is = context;

	for (int i = 0; wait && i < 2; i++)
		if (!strcmp(sampled, after[i][0]) && !strcmp(waited, after[i][1]))
			for (is = 1;
				strcmp(run_context_path(trace->run, is, UINT32_MAX, &arena), after[i][2]);)
				is++;
	arena_fini(&arena);
	return is;
}

struct moment {
	uint32_t active[STREAMS], active_count, waiting[STREAMS], waiting_count;
	bool kernel, comm, copy, lost, unmonitored, alive, runnable;
};

/* All operations that run, also those below the line's owner. */
static void look_at_queue(const struct trace *trace, struct moment *m, uint32_t stream, uint64_t time_ns,
	const struct extent *extent)
{
	for (size_t i = 0; i < span_count && extent_state_is_busy(extent->state); i++) {
		if (spans[i].stream != run_stream(trace->run, stream)->id_in_store ||
			time_ns < spans[i].begin_ns || time_ns >= spans[i].end_ns)
			continue;
		m->copy |= spans[i].op == STORE_OP_COPY;
		m->comm |= spans[i].op == STORE_OP_KERNEL && spans[i].is_comm;
		m->kernel |= spans[i].op == STORE_OP_KERNEL && !spans[i].is_comm;
	}
	m->lost |= extent->state == EXTENT_LOST;
	m->unmonitored |= extent->state == EXTENT_UNMONITORED;
}

static void look_at_thread(const struct trace *trace, struct moment *m, uint32_t stream, uint64_t time_ns,
	const struct extent *extent)
{
	uint32_t context = extent->context;
	bool is_out = extent->state == EXTENT_BLOCKED || extent->state == EXTENT_RUNNABLE;
	bool is_sampled = extent->state == EXTENT_WORK && extent->op == STORE_OP_NONE;

	m->runnable |= extent->state == EXTENT_RUNNABLE;
	if (is_out && !context) {
		context = last_sample(trace, stream, time_ns);
		is_sampled = context != 0;
	}
	if (is_sampled)
		context = after_call(trace, context, sampled_sync(trace, stream, time_ns));
	if (is_out ? context != 0
		   : (extent->state == EXTENT_WORK || extent->state == EXTENT_SYNC) &&
				wait_functions_match(trace->waits, context))
		m->waiting[m->waiting_count++] = context;
	else if (extent->state == EXTENT_SYNC && has_work(trace, process_of(trace, stream), time_ns))
		m->waiting[m->waiting_count++] = context;
	else if (extent->state == EXTENT_SYNC || extent->state == EXTENT_WORK)
		m->active[m->active_count++] = context;
}

static void find_lines(const struct trace *trace)
{
	struct error error = {0};

	for (uint32_t i = 0; i < trace->stream_count && !has_lines; i++)
		for (uint64_t t = 0; t < LENGTH + 20; t++)
			assert_int_equal(extent_at(trace->run, i, t, &lines[i][t], &error), 0);
	has_lines = true;
}

static void look(const struct trace *trace, struct moment *m, uint32_t process, uint64_t time_ns)
{
	*m = (struct moment){0};
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		const struct extent *extent = &lines[i][time_ns];

		if (process && process_of(trace, i) != process)
			continue;
		m->alive |= extent->state != EXTENT_ABSENT && extent->state != EXTENT_UNMONITORED;
		if (run_stream(trace->run, i)->s.kind == STORE_STREAM_GPU)
			look_at_queue(trace, m, i, time_ns, extent);
		else
			look_at_thread(trace, m, i, time_ns, extent);
	}
}

static void charge(struct answer *answer, const struct moment *m, const struct idle_question *question)
{
	bool is_kernel = m->kernel || m->comm;

	answer->kernel_ns += m->kernel;
	answer->comm_ns += !m->kernel && m->comm;
	answer->copy_ns += !is_kernel && m->copy;
	if (is_kernel || (m->copy && question->busy == IDLE_BUSY_ANY)) {
		answer->busy_ns++;
	} else if (m->lost || m->unmonitored || !m->alive) {
		answer->unknown_ns++;
		answer->lost_ns += m->lost;
	} else if (m->active_count) {
		answer->blamed_ns++;
		for (uint32_t i = 0; i < m->active_count; i++)
			answer->share[BLAMED][m->active[i]] += UNIT / m->active_count;
	} else {
		answer->all_idle_ns++;
		answer->unexplained_ns += !m->waiting_count;
		answer->no_core_ns += m->runnable;
		for (uint32_t i = 0; i < m->waiting_count; i++)
			answer->share[WAITED][m->waiting[i]] += UNIT / m->waiting_count;
	}
}

/* When the group's first queue was born, if that is said to be its first use of a GPU. Of queues born
 * together the run's first counts. */
static uint64_t used_since(const struct trace *trace, uint32_t process)
{
	const struct run_stream *first = NULL;

	for (uint32_t i = 0; i < trace->stream_count; i++) {
		const struct run_stream *r = run_stream(trace->run, i);

		if (r->s.kind == STORE_STREAM_GPU && (!process || process_of(trace, i) == process) &&
			(!first || r->s.begin_ns < first->s.begin_ns))
			first = r;
	}
	return first && says_first_use[first->id_in_store] ? first->s.begin_ns : 0;
}

/* When the group's last stream ended. */
static uint64_t used_until(const struct trace *trace, uint32_t process)
{
	uint64_t until_ns = 0;

	for (uint32_t i = 0; i < trace->stream_count; i++) {
		const struct run_stream *r = run_stream(trace->run, i);

		if ((!process || process_of(trace, i) == process) && r->s.end_ns > until_ns)
			until_ns = r->s.end_ns;
	}
	return until_ns;
}

static void twin(const struct trace *trace, struct answer *answer, const struct idle_question *question)
{
	uint32_t last = 0;
	struct moment m;

	*answer = (struct answer){0};
	find_lines(trace);
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		uint32_t process = question->group == IDLE_GROUP_ALL ? 0 : process_of(trace, i);

		if ((process == last && i) || (!process && i))
			continue;
		last = process;
		for (uint64_t t = question->begin_ns; t < question->end_ns; t++) {
			if (t < used_since(trace, process)) {
				answer->unknown_ns++;
				answer->unused_ns++;
				continue;
			}
			if (t >= used_until(trace, process)) {
				answer->unknown_ns++;
				answer->ended_ns++;
				continue;
			}
			look(trace, &m, process, t);
			charge(answer, &m, question);
		}
	}
}

/* ---- against each other ---- */

static void units(const struct exact_share *shares, size_t count, uint64_t sums[CONTEXTS])
{
	memset(sums, 0, CONTEXTS * sizeof(*sums));
	for (size_t i = 0; i < count; i++) {
		assert_true(shares[i].context < CONTEXTS);
		/* Whole ns apart, so that the product fits. */
		sums[shares[i].context] = (uint64_t)(shares[i].amount >> 64) * UNIT +
					  (uint64_t)(((exact_share_fixed)(uint64_t)shares[i].amount * UNIT +
							     ((exact_share_fixed)1 << 63)) >>
						     64);
	}
}

static bool sweep(const struct trace *trace, const struct idle_question *question, struct answer *answer)
{
	struct arena arena = {0};
	struct error error = {0};
	struct idle idle;
	int result = idle_sweep(&idle, trace->run, question, &arena, &error);

	*answer = (struct answer){.busy_ns = idle.busy_ns,
		.unknown_ns = idle.unknown_ns,
		.unused_ns = idle.unused_ns,
		.ended_ns = idle.ended_ns,
		.lost_ns = idle.lost_ns,
		.blamed_ns = idle.blamed_ns,
		.all_idle_ns = idle.all_idle_ns,
		.unexplained_ns = idle.unexplained_ns,
		.no_core_ns = idle.no_core_ns,
		.kernel_ns = idle.kernel_ns,
		.comm_ns = idle.comm_ns,
		.copy_ns = idle.copy_ns};
	assert_true(!result || result == -ERROR_EMPTY);
	assert_true(!result || !(idle.busy_ns + idle.idle_ns));
	if (!result) {
		units(idle.blamed, idle.blamed_count, answer->share[BLAMED]);
		units(idle.waited, idle.waited_count, answer->share[WAITED]);
		assert_int_equal(idle.busy_ns + idle.unknown_ns + idle.blamed_ns + idle.all_idle_ns,
			idle.groups * (question->end_ns - question->begin_ns));
	}
	arena_fini(&arena);
	return !result;
}

static struct idle_question random_question(const struct trace *trace)
{
	uint64_t a = small_below(LENGTH), b = small_below(LENGTH + 20);

	if (a == b)
		b++;
	return (struct idle_question){.streams = trace->streams,
		.stream_count = trace->stream_count,
		.begin_ns = a < b ? a : b,
		.end_ns = a < b ? b : a,
		.busy = (enum idle_busy)small_below(2),
		.group = (enum idle_group)small_below(2),
		.is_brief = !small_below(3),
		.waits = trace->waits};
}

/* Nobody asked what GPUs were busy with. */
static void forget_kinds(struct answer *answer)
{
	answer->kernel_ns = answer->comm_ns = answer->copy_ns = 0;
}

static void test_twin(void **unused)
{
	uint64_t records = time_slices_records;

	(void)unused;
	small_seed("blame.twin");
	for (int round = 0; round < ROUNDS; round++) {
		struct answer fast, slow;
		struct idle_question question;
		struct trace trace;

		trace_begin(&trace);
		question = random_question(&trace);
		time_slices_records = 8 + small_below(200);
		store_is_plain = small_below(2);
		sweep(&trace, &question, &fast);
		twin(&trace, &slow, &question);
		if (question.is_brief)
			forget_kinds(&fast), forget_kinds(&slow);
		assert_memory_equal(&fast, &slow, sizeof fast);
		trace_end(&trace);
	}
	store_is_plain = false;
	time_slices_records = records;
}

static void rolled_path(const struct trace *trace, char path[PATH_MAX])
{
	DIR *directory = opendir(run_path(trace->run));
	const struct dirent *entry;

	path[0] = '\0';
	assert_non_null(directory);
	while ((entry = readdir(directory)))
		if (!strncmp(entry->d_name, "cache-idle-", 11))
			snprintf(path, PATH_MAX, "%s/%s", run_path(trace->run), entry->d_name);
	closedir(directory);
}

/* Inverts a byte somewhere in it. */
static void damage(const char *path)
{
	FILE *file = fopen(path, "r+");
	long size, at;
	int byte;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	at = (long)small_below((uint64_t)size);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	byte = fgetc(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	fputc(~byte & 0xff, file);
	fclose(file);
}

static void compare_rolled(const struct trace *trace)
{
	struct idle_question question = random_question(trace);
	struct answer fast, slow;

	question.busy = IDLE_BUSY_ANY;
	question.group = IDLE_GROUP_PROCESS;
	sweep(trace, &question, &fast);
	twin(trace, &slow, &question);
	if (question.is_brief)
		forget_kinds(&fast), forget_kinds(&slow);
	assert_memory_equal(&fast, &slow, sizeof fast);
}

/* Sums of stretches that were kept: made by a question about all, used by others, refused when damaged. */
static void test_rolled(void **unused)
{
	uint64_t least = idle_cache_records_least;
	int kept[2] = {0, 0};

	(void)unused;
	small_seed("blame.rolled");
	idle_cache_records_least = 16;
	for (int round = 0; round < ROUNDS / 6; round++) {
		char path[PATH_MAX];
		struct idle_question all;
		struct answer answer;
		struct trace trace;

		begin_below = round % 2 ? 1 : 40; /* an imported run begins at 0 */
		trace_begin(&trace);
		all = (struct idle_question){.streams = trace.streams,
			.stream_count = trace.stream_count,
			.end_ns = LENGTH + 20,
			.is_brief = small_below(2), /* what is kept tells all the same */
			.waits = trace.waits};
		sweep(&trace, &all, &answer);
		rolled_path(&trace, path);
		kept[round % 2] += path[0] != '\0';
		for (int i = 0; i < 3; i++)
			compare_rolled(&trace);
		if (path[0])
			damage(path);
		for (int i = 0; i < 3; i++)
			compare_rolled(&trace);
		trace_end(&trace);
	}
	idle_cache_records_least = least;
	begin_below = 40;
	assert_true(kept[0] > ROUNDS / 24);
	assert_true(kept[1] > ROUNDS / 24);
}

/* Halves of a window sum to the whole, to the last fraction of a ns. */
static void test_partition(void **unused)
{
	(void)unused;
	small_seed("blame.partition");
	for (int round = 0; round < ROUNDS; round++) {
		struct idle_question question, left, right;
		struct answer whole, parts[2];
		struct trace trace;

		trace_begin(&trace);
		question = random_question(&trace);
		question.is_brief = false;
		left = right = question;
		left.end_ns = right.begin_ns =
			question.begin_ns + small_below(question.end_ns - question.begin_ns);
		if (left.end_ns > left.begin_ns) {
			uint64_t *sums[3] = {
				(uint64_t *)&whole, (uint64_t *)&parts[0], (uint64_t *)&parts[1]};

			sweep(&trace, &question, &whole);
			sweep(&trace, &left, &parts[0]);
			sweep(&trace, &right, &parts[1]);
			for (size_t i = 0; i < sizeof(whole) / sizeof(uint64_t); i++)
				assert_int_equal(sums[0][i], sums[1][i] + sums[2][i]);
		}
		trace_end(&trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twin), cmocka_unit_test(test_rolled), cmocka_unit_test(test_partition)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
