/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_rows.c - rows of streams that lie in their order already, and of such that do not: each stream has one,
 * where a slow twin finds that it belongs, under the label that it finds; and of a run whose streams lie in
 * order only one of each process is kept for that. HPCT_SEED repeats one. Then the tree of processes, and
 * what rows are called.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/report/program_role.h"
#include "timeline/run/run_internal.h"
#include "tui/timeline/rows.h"
#include "tui/timeline/rows_tree.h"

#define PROCESSES 40u
#define MANY 1200u /* threads of the last one: their names are not compared */
#define HOSTS 3u

static struct store_stream draw_stream(struct store_writer *writer, uint32_t number, bool is_ranked)
{
	struct store_stream stream = {.rank = is_ranked ? (int32_t)number : -1,
		.pid = 100 + number,
		.begin_ns = 1000 + small_below(1000),
		.end_ns = 5000};
	char text[32];

	/* by rank hosts take turns, and the run's own order is by host */
	snprintf(text, sizeof text, "host %u", is_ranked ? number % HOSTS : number * HOSTS / PROCESSES);
	stream.host = small_text(writer, text);
	snprintf(text, sizeof text, "name %u", (unsigned)small_below(3));
	stream.name = small_below(4) ? small_text(writer, text) : 0;
	return stream;
}

static void put_stream(struct store_writer *writer, const struct store_stream *stream)
{
	uint32_t id = store_writer_stream(writer, stream);

	for (uint64_t i = small_below(3); i; i--)
		small_sample(writer, id, 2500 + i, STORE_CONTEXT_PROGRAM_ROOT, 0, 1);
}

/* Every fifth process has a single thread, some have queues. */
static void put_process(struct store_writer *writer, uint32_t number, bool is_ranked)
{
	uint32_t threads = number % 5 ? 1 + (uint32_t)small_below(6) : 1;
	uint32_t queues = number % 3 == 1 ? (uint32_t)small_below(5) : 0;

	if (number == PROCESSES - 1)
		threads = MANY;
	for (uint32_t i = 0; i < threads; i++) {
		struct store_stream stream = draw_stream(writer, number, is_ranked);

		stream.kind = STORE_STREAM_CPU;
		stream.thread = i;
		put_stream(writer, &stream);
	}
	for (uint32_t i = 0; i < queues; i++) {
		struct store_stream stream = draw_stream(writer, number, is_ranked);

		stream.kind = STORE_STREAM_GPU;
		stream.device = i / 2;
		stream.queue = i;
		put_stream(writer, &stream);
	}
}

/* ---- the twin ---- */

static bool is_of_process(const struct run_stream *a, const struct run_stream *b)
{
	return a->s.rank == b->s.rank && a->s.pid == b->s.pid && !strcmp(a->host, b->host);
}

static uint32_t place(const struct run_stream *s)
{
	return s->s.kind == STORE_STREAM_CPU ? s->s.thread : MANY + s->s.queue;
}

/* Ranks, or pids where there are none, are those of the processes in their order. */
static bool is_before(const struct run_stream *a, const struct run_stream *b)
{
	return a->s.pid != b->s.pid ? a->s.pid < b->s.pid : place(a) < place(b);
}

static void expect_thread_label(const struct run *run, const struct run_stream *s, const char *label)
{
	uint32_t threads = 0, same = 0;
	char text[64];

	for (uint32_t i = 0; i < run_stream_count(run); i++) {
		const struct run_stream *other = run_stream(run, i);

		if (!is_of_process(s, other))
			continue;
		threads++;
		same += !strcmp(other->name, s->name);
	}
	if (s->s.thread == 0)
		snprintf(text, sizeof text, "main");
	else if (!s->name[0])
		snprintf(text, sizeof text, "thread %u", s->s.thread);
	else if (same > 1 || threads >= 1000)
		snprintf(text, sizeof text, "%s %u", s->name, s->s.thread);
	else
		snprintf(text, sizeof text, "%s", s->name);
	assert_string_equal(label, text);
}

static void expect_sums(const struct rows *rows, uint32_t group)
{
	uint64_t begin_ns = UINT64_MAX, records = 0;

	for (uint32_t i = group + 1; i < rows->nodes[group].next; i++) {
		const struct rows_node *node = &rows->nodes[i];

		if (rows_is_group(node))
			continue;
		begin_ns = node->begin_ns < begin_ns ? node->begin_ns : begin_ns;
		records += node->records;
	}
	assert_int_equal(rows->nodes[group].begin_ns, begin_ns);
	assert_int_equal(rows->nodes[group].records, records);
}

static void expect_process_label(const struct run_stream *first, const char *label)
{
	char text[64];

	if (first->s.rank >= 0)
		snprintf(text, sizeof text, "rank %d", first->s.rank);
	else
		snprintf(text, sizeof text, "%s %u", first->name[0] ? first->name : "process", first->s.pid);
	assert_string_equal(label, text);
}

static void expect_node(const struct rows *rows, const struct run *run, uint32_t i)
{
	const struct rows_node *node = &rows->nodes[i];
	const struct run_stream *s = run_stream(run, node->stream);
	char text[128];

	if (!node->level)
		expect_process_label(s, rows_long_label(rows, i));
	if (rows_is_group(node)) {
		expect_sums(rows, i);
		return;
	}
	assert_int_equal(node->begin_ns, s->s.begin_ns);
	assert_int_equal(node->records, s->s.count[STORE_SAMPLES]);
	if (node->kind != ROWS_THREAD || !node->level)
		return;
	expect_thread_label(run, s, rows_label(rows, i));
	snprintf(text, sizeof text, "%s %s", rows_long_label(rows, node->parent), rows_label(rows, i));
	assert_string_equal(rows_long_label(rows, i), text);
}

static void expect_rows(const struct rows *rows, const struct run *run, bool is_ranked)
{
	const struct run_stream *last = NULL;
	uint32_t streams = 0;

	for (uint32_t i = 0; i < rows->node_count; i++) {
		const struct run_stream *s = run_stream(run, rows->nodes[i].stream);

		expect_node(rows, run, i);
		if (rows_is_group(&rows->nodes[i]))
			continue;
		assert_true(!last || is_before(last, s));
		last = s;
		streams++;
	}
	assert_int_equal(streams, run_stream_count(run));
	assert_int_equal(rows->process_count, PROCESSES);
	assert_int_equal(rows->rank_count, is_ranked ? PROCESSES : 0);
	assert_int_equal(rows->host_count, HOSTS);
}

static void check(bool is_ranked)
{
	struct small_run small;
	struct error error = {0};
	struct rows rows;

	small_begin(&small);
	store_writer_metric(small.writer, "CPUTIME", "ns", false);
	for (uint32_t number = 0; number < PROCESSES; number++)
		put_process(small.writer, number, is_ranked);
	small_ready(&small);
	assert_int_equal(rows_init(&rows, small.run, &error), 0);
	if (!is_ranked)
		assert_true(small.run->met_count <= PROCESSES); /* that are asked who started them */
	expect_rows(&rows, small.run, is_ranked);
	assert_int_equal(rows_renew(&rows, small.run, &error), 0); /* of streams that were asked for */
	expect_rows(&rows, small.run, is_ranked);
	rows_fini(&rows);
	small_end(&small);
}

static void test_in_order(void **unused)
{
	(void)unused;
	small_seed(__func__);
	check(false);
}

static void test_in_disorder(void **unused)
{
	(void)unused;
	small_seed(__func__);
	check(true);
}

/* ---- the tree ---- */

static uint32_t put_thread(struct store_writer *writer, uint32_t pid, uint32_t thread, uint64_t begin_ns,
	const char *name, const char *attributes)
{
	struct store_stream stream = {.kind = STORE_STREAM_CPU,
		.host = small_text(writer, "host"),
		.rank = -1,
		.pid = pid,
		.thread = thread,
		.name = small_text(writer, name),
		.begin_ns = begin_ns,
		.end_ns = 5000};
	uint32_t id = store_writer_stream(writer, &stream);

	small_span(writer, id, begin_ns, 5000, STORE_OP_MONITORED, 0, attributes);
	return id;
}

static void expect_labels(const struct rows *rows, const char *const *labels)
{
	uint32_t count = 0;

	for (; labels[count]; count++) {
		assert_true(count < rows->shown_count);
		assert_string_equal(rows_label(rows, rows->shown[count]), labels[count]);
	}
	assert_int_equal(rows->shown_count, count);
}

/* make (900) starts two compilers, whose pids are smaller: each starts a program, and one has two threads. */
static void put_make(struct store_writer *writer)
{
	put_thread(writer, 900, 0, 10, "make", "command=make -j2,parent=1");
	put_thread(writer, 40, 0, 100, "g++", "command=g++ -O2 -c b.cc -o b.o,parent=900");
	put_thread(writer, 30, 0, 200, "g++", "command=g++ -O2 -c a.cc -o a.o,parent=900");
	put_thread(writer, 50, 0, 300, "as", "command= /usr/bin/as --64 -o b.o /tmp/x.s,parent=40");
	put_thread(writer, 20, 0, 400, "writer", "command=postgres -D /data,parent=30");
	put_thread(writer, 20, 1, 400, "writer", "");
	store_writer_stream(writer, &(struct store_stream){.kind = STORE_STREAM_GAUGES, /* no process's */
					    .host = small_text(writer, "host"),
					    .rank = -1,
					    .end_ns = 5000});
}

static void test_tree(void **unused)
{
	static const char *const all[] = {"make 900", "g++ b.cc 40", "as x.s 50", "g++ a.cc 30",
		"postgres: writer 20", "main", "writer 1", NULL};
	static const char *const folded[] = {
		"make 900", "g++ b.cc 40", "g++ a.cc 30", "postgres: writer 20", "main", "writer 1", NULL};
	struct small_run small;
	struct error error = {0};
	struct rows rows;
	uint32_t node;

	(void)unused;
	small_begin(&small);
	put_make(small.writer);
	small_ready(&small);
	assert_int_equal(rows_init(&rows, small.run, &error), 0);
	expect_labels(&rows, all);
	assert_string_equal(rows_short_label(&rows, rows.shown[1]), "g++ b.cc");
	assert_int_equal(rows.nodes[rows.shown[4]].depth, 2);
	assert_int_equal(rows.nodes[rows.shown[6]].depth, 2);
	assert_true(rows_has_branch(&rows, rows.shown[0]));
	assert_false(rows_has_branch(&rows, rows.shown[2]));
	assert_false(rows_has_branch(&rows, rows.shown[4])); /* threads are no processes */
	node = rows.shown[2];
	rows.nodes[rows.shown[1]].is_branch_folded = true;
	rows_update(&rows);
	expect_labels(&rows, folded);
	assert_int_equal(rows_find(&rows, node), 1); /* the row that it is folded into */
	assert_int_equal(rows_streams(&rows, NULL), 6);
	rows.order = ROWS_BY_NAME; /* a list: nothing is folded away */
	rows_update(&rows);
	assert_int_equal(rows.shown_count, 7);
	rows.order = ROWS_BY_IDENTITY;
	assert_int_equal(rows_renew(&rows, small.run, &error), 0);
	expect_labels(&rows, folded);
	rows.nodes[0].is_branch_folded = true;
	rows_update(&rows);
	assert_int_equal(rows.shown_count, 1);
	rows_fini(&rows);
	small_end(&small);
}

/* Containers: a host each, and the same pid in all. */
static void test_many_hosts(void **unused)
{
	struct small_run small;
	struct error error = {0};
	struct rows rows;
	char host[32];

	(void)unused;
	small_begin(&small);
	for (uint32_t i = 0; i <= ROWS_TREE_PROCESSES; i++) {
		struct store_stream stream = {
			.kind = STORE_STREAM_CPU, .rank = -1, .pid = 1, .begin_ns = 10, .end_ns = 5000};

		snprintf(host, sizeof(host), "host%u", i);
		stream.host = small_text(small.writer, host);
		small_span(small.writer, store_writer_stream(small.writer, &stream), 10, 5000,
			STORE_OP_MONITORED, 0, "command=serve");
	}
	small_ready(&small);
	assert_int_equal(rows_init(&rows, small.run, &error), 0);
	assert_int_equal(rows.process_count, ROWS_TREE_PROCESSES + 1);
	assert_null(rows.tree);
	rows_fini(&rows);
	small_end(&small);
}

static void test_roles(void **unused)
{
	static const struct {
		const char *command, *program, *role;
	} cases[] = {{"make -j2", "make", ""}, {"g++ -O2 -c foo.cc -o foo.o", "g++", "foo.cc"},
		{" /usr/lib/gcc/12/cc1plus -quiet -imultiarch x86_64-linux-gnu foo.cc -o /tmp/x.s", "cc1plus",
			"foo.cc"},
		{"/usr/bin/python3 -u train.py --lr 0.1", "python3", "train.py"},
		{"python3 -m torch.distributed.run t.py", "python3", "-m torch.distributed.run"},
		{"sh -c /opt/job --all", "sh", "job"}, {"postgres", "postgres", ""}, {"-bash", "bash", ""},
		{"mpirun -np 4 ./solve", "mpirun", "solve"}, {"tar xf a.tar.gz", "tar", "a.tar.gz"},
		{"git status", "git", "status"}, {"server --port 80", "server", ""},
		{"postgres -D data -k /run -p 54", "postgres", ""},
		{"mpirun -n 2 ./solve -v", "mpirun", "solve"}, {"", "", ""}, {"ls /a/b/", "ls", "b/"}};
	char program[PROGRAM_ROLE_BYTES], role[PROGRAM_ROLE_BYTES];

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		program_role_of(cases[i].command, program, role);
		assert_string_equal(program, cases[i].program);
		assert_string_equal(role, cases[i].role);
	}
}

/* A process is called by its title; one that others have, too, keeps its pid where there is no room. */
static void test_title(void **unused)
{
	static const char *const shorts[] = {"postgres 10", "postgres: checkpointer", "postgres: bob shop 12",
		"postgres: bob shop 13", "python3 worker.py 14", "python3 worker.py 15", "python3: loader"};
	struct small_run small;
	struct error error = {0};
	struct rows rows;

	(void)unused;
	small_begin(&small);
	put_thread(small.writer, 10, 0, 10, "postgres", "command=postgres -D /data,parent=1");
	put_thread(small.writer, 11, 0, 11, "postgres",
		"command=postgres -D /data,title=postgres: checkpointer,parent=10");
	put_thread(small.writer, 12, 0, 12, "postgres",
		"command=postgres -D /data,title=/usr/bin/postgres: bob shop,parent=10");
	put_thread(small.writer, 13, 0, 13, "postgres",
		"command=postgres -D /data,title=/usr/bin/postgres: bob shop,parent=10");
	put_thread(small.writer, 14, 0, 14, "python3", "command=python3 worker.py,parent=10");
	put_thread(small.writer, 15, 0, 15, "python3", "command=python3 worker.py,parent=10");
	put_thread(small.writer, 16, 0, 16, "loader", "command=python3 worker.py,parent=10");
	small_ready(&small);
	assert_int_equal(rows_init(&rows, small.run, &error), 0);
	for (uint32_t i = 0; i < 7; i++)
		assert_string_equal(rows_short_label(&rows, rows.shown[i]), shorts[i]);
	rows_fini(&rows);
	small_end(&small);
}

/* Threads that share their program's name are called by what they were started for. */
static void test_routines(void **unused)
{
	static const char *const paths[] = {"main;work", "std::thread::run;client(int);burn",
		"std::thread::run", "main;GOMP_parallel;work", "main._omp_fn.0;work"};
	static const char *const all[] = {
		"solve 7", "main", "client 1", "solve 2", "solve 3", "omp 4", "reader", NULL};
	struct small_run small;
	struct error error = {0};
	struct rows rows;

	(void)unused;
	small_begin(&small);
	store_writer_metric(small.writer, "CPUTIME", "ns", false);
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t id = put_thread(small.writer, 7, i, 10, "solve", "");

		small_sample(small.writer, id, 20, small_path(small.writer, paths[i]), 0, 5);
	}
	put_thread(small.writer, 7, 5, 10, "reader", "");
	small_ready(&small);
	assert_int_equal(rows_init(&rows, small.run, &error), 0);
	expect_labels(&rows, all);
	rows_fini(&rows);
	small_end(&small);
}

/* Losses of a run that is still recorded: the same streams, one of which has lost some since. */
static void test_lost(void **unused)
{
	struct small_run small;
	struct rows rows;
	struct error error = {0};
	uint32_t streams[2], context;
	bool changed;

	(void)unused;
	small_begin(&small);
	store_writer_metric(small.writer, "CPUTIME", "ns", false);
	context = small_path(small.writer, "main");
	for (uint32_t i = 0; i < 2; i++) {
		small_cpu(small.writer, i, 0, STORE_OPEN_NS);
		small_sample(small.writer, i, 10, context, 0, 5);
	}
	small_commit(&small);
	assert_int_equal(run_open(&small.run, small.path, NULL, &error), 0);
	assert_int_equal(rows_init(&rows, small.run, &error), 0);
	assert_int_equal(rows_lost_streams(&rows, streams), 0);
	store_writer_stream_edit(small.writer, 1)->lost += 3;
	small_sample(small.writer, 1, 30, context, 0, 5);
	small_commit(&small);
	assert_int_equal(run_renew(small.run, &changed, &error), 0);
	assert_true(changed);
	rows_renew_lost(&rows, small.run);
	assert_int_equal(rows_lost_streams(&rows, streams), 1);
	assert_int_equal(streams[0], 1);
	rows_fini(&rows);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_in_disorder),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_many_hosts),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_title),
		cmocka_unit_test(test_routines),
		cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
