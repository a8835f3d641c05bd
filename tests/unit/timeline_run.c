/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_run.c - runs that are none, streams in order, contexts of several stores as one, and frames
 * expanded to scopes: inlining, call sites, names that come late or never.
 */
#include "tests/unit/timeline_small_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "timeline/run/run_find.h"
#include "timeline/run/run_function.h"
#include "timeline/run/run_internal.h"

/* ---- what is no run ---- */

static void expect_refused(const char *path, const char *word)
{
	struct error error = {0};
	struct run *run;

	assert_int_equal(run_open(&run, path, NULL, &error), -ERROR_RUN);
	assert_null(run);
	if (!strstr(error.text, word))
		fail_msg("'%s' says nothing of '%s'", error.text, word);
}

static void put_file(const char *directory, const char *name, const char *bytes, size_t size)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void test_no_run(void **unused)
{
	struct small_run small;
	char path[256];

	(void)unused;
	small_begin(&small);
	store_writer_abort(small.writer);
	small.writer = NULL;
	expect_refused("/nowhere/at/all.hpct", "no such run");
	snprintf(path, sizeof path, "%s/node-1.mdb", small.path);
	expect_refused(path, "name its directory, /");
	truncate(path, 100);
	expect_refused(small.path, "node-1.mdb");
	unlink(path);
	expect_refused(small.path, "no recording");
	/* Neither of these is a store. */
	put_file(small.path, "cache.mdb", "x", 1);
	put_file(small.path, "marks.tsv", "x", 1);
	expect_refused(small.path, "no recording");
	put_file(small.path, "node-1.mdb", "no store at all", 15);
	expect_refused(small.path, "node-1.mdb");
	small_end(&small);
}

static void make_run(const char *name, time_t written)
{
	struct timespec times[2] = {{.tv_sec = written}, {.tv_sec = written}};
	struct store_writer *writer;
	struct error error = {0};
	char path[128];

	assert_int_equal(mkdir(name, 0700), 0);
	snprintf(path, sizeof path, "%s/n.mdb", name);
	assert_int_equal(store_writer_create(&writer, path, &error), 0);
	store_writer_abort(writer);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_newest(void **unused)
{
	char directory[] = "/tmp/hpct-test-XXXXXX";
	struct error error = {0};
	int back = open(".", O_RDONLY | O_DIRECTORY);
	struct run *run;
	char *found;

	(void)unused;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(run_find(NULL, &found, &error), -ERROR_RUN);
	make_run("b.hpct", 2000000);
	make_run("c.hpct", 1000000);
	make_run("a.hpct", 1500000);
	/* A cache that a reader left behind makes no run newer. */
	put_file("c.hpct", "cache.mdb", "x", 1);
	assert_int_equal(run_open(&run, NULL, NULL, &error), 0);
	assert_string_equal(run_path(run), "b.hpct");
	run_close(run);
	assert_int_equal(run_find("a.hpct//", &found, &error), 0);
	assert_string_equal(found, "a.hpct");
	free(found);
	small_remove("a.hpct");
	small_remove("b.hpct");
	small_remove("c.hpct");
	assert_int_equal(fchdir(back), 0);
	close(back);
	small_remove(directory);
}

/* ---- streams ---- */

static void test_streams(void **unused)
{
	static const char *const wanted[] = {"cpu:a/-/100.0/0", "gpu:a/-/100.0/0/0/2", "gpu:a/-/100.0/0/0/10",
		"cpu:node/-/9.0/0", "cpu:node/-/100.0/2", "cpu:node/-/100.0/10", "gpu:node/-/100.0/0/0/0",
		"cpu:node/1/7.2/0", "gpu:-/3/-.-/-/-/-"};
	struct store_stream odd = {.kind = STORE_STREAM_GPU,
		.rank = 3,
		.pid = UINT32_MAX,
		.generation = UINT32_MAX,
		.device = UINT32_MAX,
		.context = UINT32_MAX,
		.queue = UINT32_MAX};
	struct store_stream ranked = {.rank = 1, .pid = 7, .generation = 2},
			    small_pid = {.rank = -1, .pid = 9};
	struct small_run small;
	size_t count = sizeof wanted / sizeof *wanted, matched = 0;

	(void)unused;
	small_begin(&small);
	ranked.host = small_pid.host = small_text(small.writer, "node");
	small_cpu(small.writer, 10, 0, 9);
	small_gpu(small.writer, 0, 0, 9);
	small_cpu(small.writer, 2, 0, 9);
	store_writer_stream(small.writer, &ranked);
	store_writer_stream(small.writer, &small_pid);
	store_writer_stream(small.writer, &odd);
	for (uint32_t queue = 10; queue; queue = queue == 10 ? 2 : 0) {
		uint32_t stream = small_gpu(small.writer, queue, 0, 9);

		store_writer_stream_edit(small.writer, stream)->host = small_text(small.writer, "a");
	}
	store_writer_stream_edit(small.writer, small_cpu(small.writer, 0, 0, 9))->host =
		small_text(small.writer, "a");
	small_commit(&small);
	small_open(&small);
	assert_int_equal(run_stream_count(small.run), count);
	/* "" sorts first. */
	assert_string_equal(run_stream(small.run, 0)->text, wanted[count - 1]);
	for (uint32_t i = 1; i < count; i++) {
		assert_string_equal(run_stream(small.run, i)->text, wanted[i - 1]);
		matched++;
	}
	assert_int_equal(matched, count - 1);
	assert_null(run_stream(small.run, (uint32_t)count));
	small_end(&small);
}

static void expect_streams(struct run *run, const char *const *wanted, uint32_t count)
{
	assert_int_equal(run_stream_count(run), count);
	for (uint32_t i = 0; i < count; i++)
		assert_string_equal(run_stream(run, i)->text, wanted[i]);
}

/* Streams of gauges, whose order the list of a finished store does not tell, stand where they did before. */
static void test_gauges_in_order(void **unused)
{
	static const char *const wanted[] = {"cpu:node/-/100.0/0", "cpu:node/-/100.0/1",
		"gauges:node/-/100.0/-", "cpu:node/-/200.0/0", "gauges:node/-/-.-/-"};
	struct store_stream gauges = {.kind = STORE_STREAM_GAUGES,
		.rank = -1,
		.pid = UINT32_MAX,
		.generation = UINT32_MAX,
		.device = UINT32_MAX,
		.end_ns = 9};
	struct small_run small;

	(void)unused;
	small_begin(&small);
	gauges.host = small_text(small.writer, "node");
	store_writer_stream(small.writer, &gauges);
	small_cpu(small.writer, 0, 0, 9);
	gauges.pid = 100;
	gauges.generation = 0;
	store_writer_stream(small.writer, &gauges);
	small_cpu(small.writer, 1, 0, 9);
	store_writer_stream_edit(small.writer, small_cpu(small.writer, 0, 0, 9))->pid = 200;
	small_commit(&small);
	small_open(&small);
	assert_null(store_reader_stream_list(small.run->parts[0].reader));
	expect_streams(small.run, wanted, sizeof wanted / sizeof *wanted);
	run_close(small.run);
	small_ready(&small);
	assert_non_null(store_reader_stream_list(small.run->parts[0].reader));
	expect_streams(small.run, wanted, sizeof wanted / sizeof *wanted);
	small_end(&small);
}

static void test_renew_keeps_numbers(void **unused)
{
	struct small_run small;
	struct error error = {0};
	bool changed;

	(void)unused;
	small_begin(&small);
	small_cpu(small.writer, 5, 0, STORE_OPEN_NS);
	small_commit(&small);
	small_open(&small);
	assert_int_equal(run_renew(small.run, &changed, &error), 0);
	assert_false(changed);
	small_cpu(small.writer, 1, 0, STORE_OPEN_NS);
	store_writer_stream_edit(small.writer, 0)->name = small_text(small.writer, "late");
	small_commit(&small);
	assert_string_equal(run_stream(small.run, 0)->name, "");
	assert_int_equal(run_renew(small.run, &changed, &error), 0);
	assert_true(changed);
	assert_int_equal(run_stream_count(small.run), 2);
	assert_string_equal(run_stream(small.run, 0)->text, "cpu:node/-/100.0/5");
	assert_string_equal(run_stream(small.run, 0)->name, "late");
	assert_string_equal(run_stream(small.run, 1)->text, "cpu:node/-/100.0/1");
	small_end(&small);
}

static void expect_same(const struct run_stream *a, const struct run_stream *b)
{
	assert_string_equal(a->text, b->text);
	assert_string_equal(a->host, b->host);
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->device_name, b->device_name);
	assert_int_equal(a->store, b->store);
	assert_int_equal(a->id_in_store, b->id_in_store);
	assert_memory_equal(&a->s, &b->s, sizeof a->s);
}

/* What is looked at once is what is kept, and keeps nothing. */
static void test_streams_once(void **unused)
{
	enum { COUNT = 3000, EVERY = 7 };
	struct small_run small;
	struct error error = {0};
	struct run *kept;

	(void)unused;
	small_begin(&small);
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t id = i % 3 ? small_cpu(small.writer, i, 10, 20 + i)
				    : small_gpu(small.writer, i, 5, 900 + i);
		struct store_stream *stream = store_writer_stream_edit(small.writer, id);
		char name[32];

		snprintf(name, sizeof name, "name of %u", i);
		stream->name = i % 5 ? small_text(small.writer, name) : 0;
		stream->device_name = i % 3 ? 0 : small_text(small.writer, i % 2 ? "big one" : "small one");
		stream->host = small_text(small.writer, i % 11 ? "node" : i % 2 ? "other" : "");
	}
	small_commit(&small);
	small_open(&small);
	assert_int_equal(run_open(&kept, small.path, NULL, &error), 0);
	for (uint32_t i = 0, at = 0; i < COUNT; i++, at = (at + 1001) % COUNT) {
		const struct run_stream *stream = at % EVERY ? NULL : run_stream(small.run, at);

		if (stream)
			assert_ptr_equal(run_stream_peek(small.run, at), stream);
		expect_same(run_stream_peek(small.run, at), run_stream(kept, at));
	}
	assert_int_equal(small.run->met_count, (COUNT + EVERY - 1) / EVERY);
	run_close(kept);
	small_end(&small);
}

/* What nobody asks for is not put together; what somebody did stays where it is, and as it is in the store.
 */
static void test_streams_as_asked(void **unused)
{
	enum { COUNT = 10000, ASKED = 50, LATE = 20000 };
	struct small_run small;
	struct error error = {0};
	const struct run_stream *asked[ASKED];
	char text[64];
	bool changed;

	(void)unused;
	small_begin(&small);
	for (uint32_t i = 0; i < COUNT; i++)
		small_cpu(small.writer, COUNT - 1 - i, 10, 20 + i);
	small_commit(&small);
	small_open(&small);
	assert_int_equal(run_end_ns(small.run), 20 + COUNT - 1);
	for (uint32_t i = 0; i < ASKED; i++)
		asked[i] = run_stream(small.run, i * 200);
	assert_int_equal(small.run->met_count, ASKED);
	for (uint32_t i = 0; i < COUNT; i++)
		store_writer_stream_edit(small.writer, i)->tid = i;
	for (uint32_t i = COUNT; i < LATE; i++)
		small_cpu(small.writer, LATE - 1 + COUNT - i, 10, 20 + i);
	small_commit(&small);
	assert_int_equal(run_renew(small.run, &changed, &error), 0);
	assert_int_equal(run_stream_count(small.run), LATE);
	for (uint32_t i = 0; i < ASKED; i++)
		assert_int_equal(asked[i]->s.tid, COUNT - 1 - i * 200);
	assert_int_equal(small.run->met_count, ASKED);
	for (uint32_t i = 0; i < LATE; i++) {
		const struct run_stream *stream = run_stream(small.run, i);

		snprintf(text, sizeof text, "cpu:node/-/100.0/%u", i);
		assert_string_equal(stream->text, text);
		assert_string_equal(stream->host, "node");
		assert_int_equal(stream->s.thread, i);
		if (i < COUNT)
			assert_int_equal(stream->s.tid, COUNT - 1 - i);
		if (i < COUNT && i % 200 == 0)
			assert_ptr_equal(stream, asked[i / 200]);
		assert_ptr_equal(stream, run_stream(small.run, i));
	}
	small_end(&small);
}

/* ---- times ---- */

static void test_times(void **unused)
{
	struct small_run small;
	struct error error = {0};
	uint32_t stream, context;
	bool changed;

	(void)unused;
	small_begin(&small);
	store_writer_meta_number(small.writer, "origin_ns", 50);
	small_cpu(small.writer, 0, 100, 700);
	stream = small_cpu(small.writer, 1, 200, STORE_OPEN_NS);
	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		store_writer_stream_edit(small.writer, stream)->complete_ns[track] = 600 + (uint64_t)track;
	small_commit(&small);
	small_open(&small);
	/* It was written a moment ago: what is complete everywhere counts. */
	assert_true(run_is_live(small.run));
	assert_int_equal(run_origin_ns(small.run), 50);
	assert_int_equal(run_begin_ns(small.run), 100);
	assert_int_equal(run_end_ns(small.run), 600);
	/* Its collector is gone: what there is counts. */
	store_writer_meta_number(small.writer, "collector_pid", 0x7ffffff0);
	store_writer_meta(small.writer, "boot", "");
	store_writer_meta(small.writer, "state", "complete");
	/* A stream that says nothing of its life: its records do. */
	context = small_path(small.writer, "main");
	store_writer_metric(small.writer, "CPUTIME", "ns", false);
	stream = small_cpu(small.writer, 2, 0, 0);
	small_sample(small.writer, stream, 80, context, 0, 1);
	small_sample(small.writer, stream, 900, context, 0, 1);
	small_commit(&small);
	assert_int_equal(run_renew(small.run, &changed, &error), 0);
	assert_false(run_is_live(small.run));
	assert_int_equal(run_begin_ns(small.run), 80);
	assert_int_equal(run_end_ns(small.run), 900);
	small_end(&small);
}

static bool is_live_now(struct small_run *small)
{
	struct error error = {0};
	bool changed;

	assert_int_equal(run_renew(small->run, &changed, &error), 0);
	return run_is_live(small->run);
}

/* One that was killed is no collector, even where nobody takes its body away. */
static void test_killed_collector(void **unused)
{
	struct small_run small;
	siginfo_t info;
	char boot[64] = "", word;
	int ends[2];
	pid_t child;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	(void)unused;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "hpct-record");
		if (write(ends[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ends[0], &word, 1), 1);
	assert_non_null(file);
	assert_non_null(fgets(boot, sizeof boot, file));
	fclose(file);
	boot[strcspn(boot, "\n")] = '\0';
	small_begin(&small);
	store_writer_meta_number(small.writer, "collector_pid", (uint64_t)child);
	store_writer_meta(small.writer, "boot", boot);
	small_cpu(small.writer, 0, 100, STORE_OPEN_NS);
	small_commit(&small);
	small_open(&small);
	assert_true(is_live_now(&small));
	kill(child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_false(is_live_now(&small));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(is_live_now(&small));
	close(ends[0]);
	close(ends[1]);
	small_end(&small);
}

/* ---- contexts ---- */

static void expect_path(struct run *run, uint32_t context, uint32_t depth, const char *wanted)
{
	struct arena arena = {0};

	assert_string_equal(run_context_path(run, context, depth, &arena), wanted);
	arena_fini(&arena);
}

static uint32_t elf(struct store_writer *writer, const char *path, uint8_t build_id)
{
	struct store_module module = {.kind = STORE_MODULE_ELF,
		.build_id_bytes = build_id ? 4 : 0,
		.build_id = {build_id, 2, 3, 4},
		.path = small_text(writer, path)};

	return store_writer_module(writer, &module);
}

/* main calls solve from two lines; solve inlines step, which inlines kernel. */
static void name_solve(struct store_writer *writer, uint32_t module)
{
	uint32_t file = small_text(writer, "solve.c"), line_file = small_text(writer, "main.c");
	struct store_scope main_10 = {.name = small_text(writer, "main"), .file = line_file, .line = 10};
	struct store_scope main_20 = {.name = small_text(writer, "main"), .file = line_file, .line = 20};
	struct store_scope solve[3] = {{.name = small_text(writer, "solve"),
					       .file = file,
					       .line = 5,
					       .decl_file = file,
					       .decl_line = 3,
					       .start = 0x200},
		{.kind = STORE_SCOPE_INLINE, .name = small_text(writer, "step"), .file = file, .line = 6},
		{.kind = STORE_SCOPE_INLINE, .name = small_text(writer, "kernel"), .file = file, .line = 7}};

	store_writer_symbol(writer, module, 0x110, &main_10, 1);
	store_writer_symbol(writer, module, 0x120, &main_20, 1);
	store_writer_symbol(writer, module, 0x210, solve, 3);
	/* No symbol, but the function's begin is known. */
	solve[0].name = 0;
	store_writer_symbol(writer, module, 0x220, solve, 1);
}

/* The function of a context whose frame is `work`, defined there. */
static uint32_t work_at(
	struct small_run *small, uint32_t module, uint64_t offset, const char *file, uint32_t line)
{
	struct store_scope scope = {.name = small_text(small->writer, "work"),
		.decl_file = *file ? small_text(small->writer, file) : 0,
		.decl_line = line,
		.start = offset & ~(uint64_t)0xf};

	store_writer_symbol(small->writer, module, offset, &scope, 1);
	return store_writer_context(small->writer, STORE_CONTEXT_PROGRAM_ROOT, module, offset);
}

static const struct run_function *function_of(const struct small_run *small, uint32_t context)
{
	return run_function(
		small->run, run_scope(small->run, run_context(small->run, context)->scope)->function);
}

/* Static functions of one name in two files are two; one file has two spellings, and may not be known. */
static void test_one_name_in_two_files(void **unused)
{
	struct small_run small;
	uint32_t module, context[5];

	(void)unused;
	small_begin(&small);
	module = elf(small.writer, "/usr/lib/libx.so", 1);
	context[0] = work_at(&small, module, 0x110, "/b/one.c", 3);
	context[1] = work_at(&small, module, 0x210, "/b/two.c", 7);
	context[2] = work_at(&small, module, 0x120, "/b/src/../one.c", 3);
	context[3] = work_at(&small, module, 0x220, "/b/two.c", 7);
	context[4] = work_at(&small, module, 0x310, "", 0);
	small_ready(&small);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(function_of(&small, context[i])->line, i % 2 ? 7 : 3);
		assert_ptr_equal(function_of(&small, context[i]), function_of(&small, context[i % 2]));
	}
	assert_string_equal(function_of(&small, context[1])->file, "/b/two.c");
	assert_ptr_equal(function_of(&small, context[4]), function_of(&small, context[0]));
	small_end(&small);
}

static void test_scopes(void **unused)
{
	struct small_run small;
	uint32_t module, first, second, again, start;
	const struct run_scope *kernel, *step, *solve;

	(void)unused;
	small_begin(&small);
	module = elf(small.writer, "/usr/lib/libx.so", 1);
	name_solve(small.writer, module);
	first = store_writer_context(small.writer, STORE_CONTEXT_PROGRAM_ROOT, module, 0x110);
	second = store_writer_context(small.writer, STORE_CONTEXT_PROGRAM_ROOT, module, 0x120);
	again = store_writer_context(small.writer, first, module, 0x210);
	start = store_writer_context(small.writer, second, module, 0x220);
	second = store_writer_context(small.writer, second, module, 0x210);
	small_ready(&small);
	expect_path(small.run, again, UINT32_MAX, "main;solve;step;kernel");
	expect_path(small.run, again, 2, "main;solve");
	expect_path(small.run, again, 0, "");
	expect_path(small.run, start, UINT32_MAX, "main;libx.so+0x200");
	expect_path(small.run, first, UINT32_MAX, "main");
	expect_path(small.run, STORE_CONTEXT_NONE, UINT32_MAX, "");
	expect_path(small.run, STORE_CONTEXT_PROGRAM_ROOT, UINT32_MAX, "");
	expect_path(small.run, STORE_CONTEXT_THREAD_ROOT, UINT32_MAX, "<thread root>");

	kernel = run_scope(small.run, run_context(small.run, again)->scope);
	assert_int_equal(kernel->kind, RUN_SCOPE_INLINE);
	assert_int_equal(kernel->depth, 4);
	assert_string_equal(kernel->call_file, "solve.c");
	assert_int_equal(kernel->call_line, 6);
	assert_int_equal(run_context(small.run, again)->line, 7);
	step = run_scope(small.run, kernel->parent);
	solve = run_scope(small.run, step->parent);
	assert_int_equal(step->call_line, 5);
	assert_int_equal(solve->kind, RUN_SCOPE_FUNCTION);
	assert_string_equal(solve->call_file, "main.c");
	assert_int_equal(solve->call_line, 10);
	assert_int_equal(run_function(small.run, solve->function)->line, 3);
	assert_string_equal(run_function(small.run, solve->function)->module, "/usr/lib/libx.so");
	assert_int_equal(run_scope(small.run, solve->parent)->parent, RUN_SCOPE_PROGRAM_ROOT);
	/* main is one function and one scope; its two call sites make two scopes of solve. */
	assert_int_equal(run_scope_at(small.run, run_context(small.run, again)->scope, 1),
		run_scope_at(small.run, run_context(small.run, second)->scope, 1));
	assert_int_not_equal(run_scope_at(small.run, run_context(small.run, again)->scope, 2),
		run_scope_at(small.run, run_context(small.run, second)->scope, 2));
	small_end(&small);
}

static void test_names_come_late(void **unused)
{
	struct small_run small;
	struct error error = {0};
	uint32_t module, first, leaf;
	bool changed;

	(void)unused;
	small_begin(&small);
	module = elf(small.writer, "/opt/a.out", 0);
	first = store_writer_context(small.writer, STORE_CONTEXT_PROGRAM_ROOT, module, 0x110);
	leaf = store_writer_context(small.writer, first, module, 0x210);
	small_commit(&small);
	small_open(&small);
	expect_path(small.run, leaf, UINT32_MAX, "a.out+0x110;a.out+0x210");
	name_solve(small.writer, module);
	small_commit(&small);
	assert_int_equal(run_renew(small.run, &changed, &error), 0);
	expect_path(small.run, leaf, UINT32_MAX, "main;solve;step;kernel");
	expect_path(small.run, first, UINT32_MAX, "main");
	small_end(&small);
}

static void test_odd_frames(void **unused)
{
	struct small_run small;
	uint32_t text, odd, partial, unknown;
	const char name[] = "a;b\\c\td\0e\n";

	(void)unused;
	small_begin(&small);
	text = store_writer_text_module(small.writer);
	odd = store_writer_context(small.writer, STORE_CONTEXT_PROGRAM_ROOT, text,
		store_writer_text(small.writer, name, sizeof name - 1));
	odd = store_writer_context(small.writer, odd, text, 0);
	partial = store_writer_context(
		small.writer, STORE_CONTEXT_THREAD_ROOT, STORE_MODULE_RESERVED, STORE_FRAME_PARTIAL);
	partial = store_writer_context(small.writer, partial, text, small_text(small.writer, "f"));
	unknown =
		store_writer_context(small.writer, STORE_CONTEXT_PROGRAM_ROOT, STORE_MODULE_RESERVED, 12345);
	small_ready(&small);
	expect_path(small.run, odd, UINT32_MAX, "a\\;b\\\\c\\td\\x00e\\n;");
	expect_path(small.run, partial, UINT32_MAX, "<thread root>;<partial>;f");
	expect_path(small.run, unknown, UINT32_MAX, "<unknown>");
	assert_true(run_context(small.run, partial)->is_partial);
	assert_false(run_context(small.run, odd)->is_partial);
	/* Ids that are not there are no context. */
	assert_int_equal(run_context(small.run, 999999)->scope, UINT32_MAX);
	assert_int_equal(run_context_of(small.run, 0, 999999), 0);
	assert_int_equal(run_context_of(small.run, 7, 1), 0);
	small_end(&small);
}

/* A path of many frames costs no recursion, and any depth is near. */
static void test_deep(void **unused)
{
	const uint32_t depth = 100000;
	struct small_run small;
	uint32_t text, context = STORE_CONTEXT_PROGRAM_ROOT, scope;

	(void)unused;
	small_seed("run.deep");
	small_begin(&small);
	text = store_writer_text_module(small.writer);
	for (uint32_t i = 0; i < depth; i++)
		context = store_writer_context(small.writer, context, text, small_text(small.writer, "f"));
	small_ready(&small);
	scope = run_context(small.run, context)->scope;
	assert_int_equal(run_scope(small.run, scope)->depth, depth);
	for (int i = 0; i < 1000; i++) {
		uint32_t at = (uint32_t)small_below(depth + 1);

		assert_int_equal(run_scope(small.run, run_scope_at(small.run, scope, at))->depth, at);
	}
	assert_int_equal(run_scope_at(small.run, scope, 0), RUN_SCOPE_PROGRAM_ROOT);
	assert_int_equal(run_scope_at(small.run, scope, depth + 5), scope);
	small_end(&small);
}

/* Stores of two hosts: equal paths are one context, whatever their ids; a name known to one serves both. */
static void test_two_stores(void **unused)
{
	struct store_writer *other;
	struct small_run small;
	uint32_t module, mine, leaf, theirs, metric;

	(void)unused;
	small_begin(&small);
	other = small_store(&small, "node-2");
	module = elf(small.writer, "/a/libx.so", 1);
	mine = store_writer_context(small.writer, STORE_CONTEXT_PROGRAM_ROOT, module, 0x110);
	leaf = store_writer_context(small.writer, mine, module, 0x210);
	elf(other, "/other", 9);
	module = elf(other, "/b/libx.so", 1);
	name_solve(other, module);
	theirs = store_writer_context(other, STORE_CONTEXT_THREAD_ROOT, module, 0x999);
	theirs = store_writer_context(other, STORE_CONTEXT_PROGRAM_ROOT, module, 0x110);
	store_writer_context(other, theirs, module, 0x120);
	store_writer_metric(small.writer, "CPUTIME", "ns", false);
	store_writer_metric(other, "CYCLES", "1", false);
	metric = store_writer_metric(other, "CPUTIME", "ns", false);
	small_close_writer(other);
	small_ready(&small);
	assert_int_equal(run_store_count(small.run), 2);
	assert_int_not_equal(mine, theirs);
	assert_int_equal(run_context_of(small.run, 0, mine), run_context_of(small.run, 1, theirs));
	/* 3 that every store has, 2 of the first, 2 only of the second. */
	assert_int_equal(run_context_count(small.run), 7);
	expect_path(small.run, run_context_of(small.run, 0, leaf), UINT32_MAX, "main;solve;step;kernel");
	assert_int_equal(run_metric_of(small.run, 1, metric), run_metric_of(small.run, 0, 0));
	assert_int_equal(run_metric_count(small.run), 2);
	small_end(&small);
}

/* A second host joins a run that is open already: ids stay. */
static void test_store_joins(void **unused)
{
	struct store_writer *other;
	struct small_run small;
	struct error error = {0};
	uint32_t mine, theirs;
	bool changed;

	(void)unused;
	small_begin(&small);
	mine = small_path(small.writer, "main;a");
	small_commit(&small);
	small_open(&small);
	expect_path(small.run, mine, UINT32_MAX, "main;a");
	other = small_store(&small, "node-2");
	small_path(other, "main;b");
	theirs = small_path(other, "main;a");
	small_close_writer(other);
	small_path(small.writer, "main;c");
	small_commit(&small);
	assert_int_equal(run_renew(small.run, &changed, &error), 0);
	assert_true(changed);
	assert_int_equal(run_context_of(small.run, 0, mine), mine);
	assert_int_equal(run_context_of(small.run, 1, theirs), mine);
	expect_path(small.run, mine, UINT32_MAX, "main;a");
	for (uint32_t i = 0; i < run_context_count(small.run); i++)
		assert_non_null(run_context(small.run, i));
	small_end(&small);
}

/* ---- operations ---- */

static void test_ops(void **unused)
{
	struct small_run small;
	uint32_t mine, kernel;

	(void)unused;
	small_begin(&small);
	mine = store_writer_op(small.writer, "my op", 5);
	kernel = store_writer_op(small.writer, "kernel", 6);
	small_ready(&small);
	assert_int_equal(run_op_of(small.run, 0, kernel), STORE_OP_KERNEL);
	assert_string_equal(run_op_name(small.run, run_op_of(small.run, 0, mine)), "my op");
	assert_int_equal(run_op_of(small.run, 0, mine), run_op_of(small.run, 0, mine));
	assert_string_equal(run_op_name(small.run, STORE_OP_COPY), "copy");
	assert_string_equal(run_op_name(small.run, 4000000000u), "");
	small_end(&small);
}

/* ---- colours ---- */

static void expect_key(const char *name, const char *wanted)
{
	char key[256];
	size_t size = run_function_key(name, strlen(name), key, sizeof key - 1);

	key[size] = '\0';
	assert_string_equal(key, wanted);
}

static void test_function_key(void **unused)
{
	(void)unused;
	expect_key("solve", "solve");
	expect_key("at::native::kernel<4, at::AddFunctor<float>, std::array<char*, 3ul> >",
		"at::native::kernel");
	expect_key("ns::Foo<int>::bar<(Kind)3>", "ns::Foo::bar");
	expect_key("ns::operator<< <char>", "ns::operator<<");
	expect_key("A<int>::operator()", "A::operator()");
	expect_key("A::operator->", "A::operator->");
	expect_key("A::operator<=><B>", "A::operator<=>");
	expect_key("my_operator<int>", "my_operator");
	expect_key("(anonymous namespace)::f<int>(int)", "(anonymous namespace)::f");
	expect_key("f.constprop.0", "f");
	expect_key("f.isra.0.cold", "f");
	expect_key("main._omp_fn.0", "main._omp_fn.0");
	expect_key("outer{lambda(int)#1}", "outer{lambda(int)#1}");
	expect_key("core::ptr::drop::h0123456789abcdef", "core::ptr::drop");
	expect_key("<program root>", "<program root>");
	expect_key("<T as Trait>::run", "<T as Trait>::run");
	expect_key("f<a<b", "f");
	expect_key("libx.so+0x1234", "libx.so+0x1234");
	expect_key("", "");
	assert_int_equal(run_function_hash("f<int>", 6), run_function_hash("f<long>", 7));
	assert_int_not_equal(run_function_hash("f", 1), run_function_hash("g", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_run), cmocka_unit_test(test_newest),
		cmocka_unit_test(test_streams), cmocka_unit_test(test_gauges_in_order),
		cmocka_unit_test(test_renew_keeps_numbers), cmocka_unit_test(test_streams_once),
		cmocka_unit_test(test_streams_as_asked), cmocka_unit_test(test_times),
		cmocka_unit_test(test_killed_collector), cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_one_name_in_two_files), cmocka_unit_test(test_names_come_late),
		cmocka_unit_test(test_odd_frames), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_two_stores), cmocka_unit_test(test_store_joins),
		cmocka_unit_test(test_ops), cmocka_unit_test(test_function_key)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
