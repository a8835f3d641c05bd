/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_findings.c - each finding with a case that has it and one that has not, and what it could save.
 */
#include "tests/unit/blame_trace.h"

#include "blame/base/time_slices.h"
#include "blame/findings/findings.h"

struct asked {
	struct small_run small;
	struct store_writer *writer;
	uint32_t thread, queue, other;
	struct findings findings;
	struct arena arena;
};

/* A thread and two queues of one device, a window of 10000 ns. */
static void begin(struct asked *asked)
{
	*asked = (struct asked){0};
	small_begin(&asked->small);
	asked->writer = asked->small.writer;
	asked->thread = trace_thread(asked->writer, 1, 0, 10000);
	asked->queue = trace_queue(asked->writer, 1, 1, 10000);
	asked->other = trace_queue(asked->writer, 1, 2, 10000);
	trace_run(asked->writer, asked->thread, 0, "main");
}

static void ask(struct asked *asked)
{
	uint32_t streams[3] = {0, 1, 2};
	struct idle_question question = {.streams = streams, .stream_count = 3, .end_ns = 10000};
	struct error error = {0};

	small_ready(&asked->small);
	assert_int_equal(
		findings_make(&asked->findings, asked->small.run, &question, &asked->arena, &error), 0);
}

static void end(struct asked *asked)
{
	arena_fini(&asked->arena);
	small_end(&asked->small);
}

static const struct finding *find(const struct asked *asked, enum finding_kind kind)
{
	for (size_t i = 0; i < asked->findings.count; i++)
		if (asked->findings.list[i].kind == kind)
			return &asked->findings.list[i];
	return NULL;
}

/* The first waits for a kernel, the second and third for nothing. */
static void test_needless_sync(void **unused)
{
	struct asked asked;
	const struct finding *finding;

	(void)unused;
	begin(&asked);
	trace_span(asked.writer, asked.queue, 100, 200, STORE_OP_KERNEL, "main;k", 0);
	trace_span(asked.writer, asked.thread, 50, 210, STORE_OP_SYNC, "main;sync", 0);
	trace_span(asked.writer, asked.thread, 220, 250, STORE_OP_SYNC, "main;sync", 0);
	trace_span(asked.writer, asked.thread, 300, 320, STORE_OP_SYNC, "main;sync", 0);
	ask(&asked);
	finding = find(&asked, FINDING_NEEDLESS_SYNC);
	assert_non_null(finding);
	assert_int_equal(finding->count, 2);
	assert_int_equal(finding->save_ns, 50);
	assert_string_equal(
		run_context_path(asked.small.run, finding->context, UINT32_MAX, &asked.arena), "main;sync");
	end(&asked);
}

/* A kernel that is queued, though it begins only after the synchronization was called. */
static void test_needed_sync(void **unused)
{
	struct asked asked;

	(void)unused;
	begin(&asked);
	trace_span(asked.writer, asked.thread, 10, 20, STORE_OP_LAUNCH, "main;launch", 3);
	trace_span(asked.writer, asked.queue, 400, 500, STORE_OP_KERNEL, "main;k", 3);
	trace_span(asked.writer, asked.thread, 50, 300, STORE_OP_SYNC, "main;sync", 0);
	ask(&asked);
	assert_null(find(&asked, FINDING_NEEDLESS_SYNC));
	end(&asked);
}

enum fetch { FETCH_NOTHING, FETCH_BEFORE, FETCH_EARLIER, SEND_INPUT, SEND_BY_MPI, MORE_WORK };

/*
 *   thread  |launch|sync~~~~~~|.......|launch|sync~~~~~~|.......     three rounds of 1000 ns
 *   queue          |##kernel##|              |##kernel##|            sync [100, 400), next launch at 900
 */
static void put_round(struct asked *asked, uint64_t at_ns, enum fetch fetch)
{
	struct store_record copy = {.begin_ns = at_ns + 380,
		.end_ns = at_ns + 395,
		.context = small_path(asked->writer, "main;copy"),
		.what = STORE_OP_COPY,
		.bytes = 1 << 20,
		.attributes = small_text(asked->writer, fetch == SEND_INPUT ? "kind=H2D" : "kind=D2H")};

	trace_span(asked->writer, asked->thread, at_ns + 10, at_ns + 20, STORE_OP_LAUNCH, "main;launch",
		at_ns + 1);
	trace_span(
		asked->writer, asked->queue, at_ns + 50, at_ns + 370, STORE_OP_KERNEL, "main;k", at_ns + 1);
	if (fetch == FETCH_EARLIER) {
		copy.begin_ns = at_ns + 30;
		copy.end_ns = at_ns + 45;
	}
	if (fetch == FETCH_BEFORE || fetch == SEND_INPUT || fetch == FETCH_EARLIER)
		store_writer_append(asked->writer, asked->queue, STORE_SPANS, &copy, 1);
	if (fetch == MORE_WORK)
		trace_kernel(asked->writer, asked->other, at_ns + 50, at_ns + 1000);
	trace_span(asked->writer, asked->thread, at_ns + 100, at_ns + 400, STORE_OP_SYNC, "main;sync", 0);
	if (fetch == SEND_BY_MPI)
		trace_span(asked->writer, asked->thread, at_ns + 500, at_ns + 600, STORE_OP_MPI,
			"main;MPI_Send", 0);
}

/* What it could save; 0: not found. */
static uint64_t early(enum fetch fetch)
{
	struct asked asked;
	const struct finding *finding;
	uint64_t save_ns = 0;

	begin(&asked);
	for (uint64_t round = 0; round < 3; round++)
		put_round(&asked, 1000 * round, fetch);
	ask(&asked);
	finding = find(&asked, FINDING_EARLY_SYNC);
	if (finding) {
		save_ns = finding->save_ns;
		assert_int_equal(finding->count, 2);
		assert_string_equal(
			run_context_path(asked.small.run, finding->context, UINT32_MAX, &asked.arena),
			"main;sync");
	}
	assert_null(find(&asked, FINDING_NEEDLESS_SYNC));
	end(&asked);
	return save_ns;
}

/* The last is followed by nothing; of the others the wait of 300 ns is shorter than the gap. */
static void test_early_sync(void **unused)
{
	(void)unused;
	assert_int_equal(early(FETCH_NOTHING), 2 * 300);
	assert_int_equal(early(FETCH_BEFORE), 0);
	assert_int_equal(early(FETCH_EARLIER), 0);
	assert_int_equal(early(SEND_INPUT), 0);
	assert_int_equal(early(SEND_BY_MPI), 0);
	assert_int_equal(early(MORE_WORK), 0);
}

static void put_queues(struct asked *asked, uint64_t shift_ns)
{
	for (uint64_t i = 0; i < 5; i++) {
		trace_kernel(asked->writer, asked->queue, 1000 * i, 1000 * i + 400);
		trace_kernel(asked->writer, asked->other, 1000 * i + shift_ns, 1000 * i + shift_ns + 300);
	}
}

static void test_serial_queues(void **unused)
{
	struct asked asked;
	const struct finding *finding;

	(void)unused;
	begin(&asked);
	put_queues(&asked, 500);
	ask(&asked);
	finding = find(&asked, FINDING_SERIAL_QUEUES);
	assert_non_null(finding);
	assert_int_equal(finding->count, 2);
	assert_int_equal(finding->time_ns, 5 * 700);
	assert_int_equal(finding->save_ns, 5 * 300);
	end(&asked);
	begin(&asked);
	put_queues(&asked, 200);
	ask(&asked);
	assert_null(find(&asked, FINDING_SERIAL_QUEUES));
	end(&asked);
}

static void put_copies(struct asked *asked, uint64_t count, uint64_t bytes)
{
	for (uint64_t i = 0; i < count; i++) {
		struct store_record record = {.begin_ns = 100 * i,
			.end_ns = 100 * i + 10,
			.context = small_path(asked->writer, "main;copy"),
			.what = STORE_OP_COPY,
			.bytes = bytes};

		store_writer_append(asked->writer, asked->queue, STORE_SPANS, &record, 1);
	}
}

static void test_small_copies(void **unused)
{
	struct asked asked;
	const struct finding *finding;

	(void)unused;
	begin(&asked);
	put_copies(&asked, 16, 4096);
	ask(&asked);
	finding = find(&asked, FINDING_SMALL_COPIES);
	assert_non_null(finding);
	assert_int_equal(finding->bytes, 16 * 4096);
	assert_int_equal(finding->save_ns, 150);
	end(&asked);
	begin(&asked);
	put_copies(&asked, 15, 4096);
	ask(&asked);
	assert_null(find(&asked, FINDING_SMALL_COPIES));
	end(&asked);
	begin(&asked);
	put_copies(&asked, 20, 1 << 20);
	ask(&asked);
	assert_null(find(&asked, FINDING_SMALL_COPIES));
	end(&asked);
}

static void put_calls(struct asked *asked, uint32_t op, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		trace_span(asked->writer, asked->thread, 100 * i, 100 * i + 10 + i, op, "main;call", 0);
}

static void test_repeated_alloc(void **unused)
{
	struct asked asked;

	(void)unused;
	begin(&asked);
	put_calls(&asked, STORE_OP_ALLOC, 8);
	ask(&asked);
	assert_non_null(find(&asked, FINDING_REPEATED_ALLOC));
	assert_int_equal(find(&asked, FINDING_REPEATED_ALLOC)->save_ns, 7 * 10 + 21);
	end(&asked);
	begin(&asked);
	put_calls(&asked, STORE_OP_ALLOC, 7);
	ask(&asked);
	assert_null(find(&asked, FINDING_REPEATED_ALLOC));
	end(&asked);
}

/* Variables of the binaries that a program loads one by one, host's and device's. */
static void test_static_memory(void **unused)
{
	struct asked asked;

	(void)unused;
	begin(&asked);
	for (uint64_t i = 0; i < 16; i++)
		small_span(asked.writer, asked.thread, 100 * i, 100 * i + 10, STORE_OP_ALLOC,
			small_path(asked.writer, "main;call"), i % 2 ? "kind=DST" : "kind=MST");
	ask(&asked);
	assert_null(find(&asked, FINDING_REPEATED_ALLOC));
	end(&asked);
}

static void test_compile(void **unused)
{
	struct asked asked;

	(void)unused;
	begin(&asked);
	put_calls(&asked, STORE_OP_COMPILE, 2);
	ask(&asked);
	assert_int_equal(find(&asked, FINDING_REPEATED_COMPILE)->save_ns, 10);
	assert_int_equal(find(&asked, FINDING_COMPILE)->save_ns, 11); /* 21 in all */
	assert_int_equal(asked.findings.list[0].kind, FINDING_COMPILE);
	end(&asked);
	begin(&asked);
	put_calls(&asked, STORE_OP_COMPILE, 1);
	ask(&asked);
	assert_null(find(&asked, FINDING_REPEATED_COMPILE));
	assert_non_null(find(&asked, FINDING_COMPILE));
	end(&asked);
	begin(&asked);
	ask(&asked);
	assert_int_equal(asked.findings.count, 0);
	end(&asked);
}

/* A module that is loaded, not compiled: 9 of 10000 ns, for the only device that works. */
static void test_module_load(void **unused)
{
	struct asked asked;

	(void)unused;
	for (uint64_t time_ns = 9; time_ns <= 10; time_ns++) {
		begin(&asked);
		trace_span(asked.writer, asked.thread, 100, 100 + time_ns, STORE_OP_COMPILE, "main;load", 0);
		trace_kernel(asked.writer, asked.queue, 500, 900);
		ask(&asked);
		assert_int_equal(asked.findings.count, time_ns < 10 ? 0 : 1);
		assert_null(find(&asked, FINDING_COMPILE)); /* no ns is in two findings */
		assert_int_equal(find(&asked, FINDING_SINGLE_DEVICE) != NULL, time_ns == 10);
		end(&asked);
	}
}

/* ---- in blocks: the same ---- */

#define BLOCK_ROUNDS 80
#define BLOCK_SPANS 120u

static void put_random(struct asked *asked, uint64_t unit_ns, uint64_t copies)
{
	static const uint32_t calls[] = {STORE_OP_SYNC, STORE_OP_SYNC, STORE_OP_MPI, STORE_OP_ALLOC,
		STORE_OP_COMPILE, STORE_OP_LAUNCH, STORE_OP_LAUNCH, STORE_OP_LAUNCH};
	static const char *const ways[] = {"kind=H2D,buffer=1", "kind=D2H,buffer=1", "kind=D2D", ""};
	static const char *const paths[] = {"main;a", "main;b"};
	struct trace_links links = {.count = 0};
	uint64_t begins_ns[3] = {0};

	for (uint64_t i = 0; i < BLOCK_SPANS; i++) {
		uint64_t line = small_below(3), length_ns = small_below(150);
		uint64_t begin_ns = begins_ns[line] + small_below(150);
		struct store_record record = {.begin_ns = begin_ns * unit_ns,
			.end_ns = (begin_ns + length_ns) * unit_ns,
			.context = small_path(asked->writer, paths[small_below(2)]),
			.what = calls[small_below(8)]};

		if (line)
			record.link =
				small_below(unit_ns == 1 ? 20 : 6) ? 0 : trace_link_any(&links, begin_ns);
		else
			record.link = record.what == STORE_OP_LAUNCH ? trace_link_new(&links, begin_ns)
								     : small_below(links.count + 1);
		if (line) {
			bool is_copy = !small_below(copies);

			record.what = is_copy ? STORE_OP_COPY : STORE_OP_KERNEL;
			record.bytes = is_copy ? 100 : 0;
			record.attributes = is_copy ? small_text(asked->writer, ways[small_below(4)]) : 0;
		}
		/* Some overlap, and there are stretches without any. */
		begins_ns[line] = begin_ns + (small_below(4) ? length_ns : 0) + (small_below(9) ? 0 : 800);
		store_writer_append(asked->writer,
			line == 0   ? asked->thread
			: line == 1 ? asked->queue
				    : asked->other,
			STORE_SPANS, &record, 1);
	}
}

static void ask_again(struct asked *asked, const struct idle_question *question, uint64_t records,
	struct findings *findings)
{
	uint64_t before = time_slices_records;
	struct error error = {0};

	time_slices_records = records;
	assert_int_equal(findings_make(findings, asked->small.run, question, &asked->arena, &error), 0);
	time_slices_records = before;
}

static void check_same(const struct findings *whole, const struct findings *blocks)
{
	assert_int_equal(whole->count, blocks->count);
	for (size_t i = 0; i < whole->count; i++) {
		const struct finding *a = &whole->list[i], *b = &blocks->list[i];

		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->context, b->context);
		assert_int_equal(a->stream, b->stream);
		assert_int_equal(a->count, b->count);
		assert_int_equal(a->time_ns, b->time_ns);
		assert_int_equal(a->save_ns, b->save_ns);
		assert_int_equal(a->bytes, b->bytes);
	}
}

/* Units of 20 ms, too, so that work is queued for longer than a second, and launched some blocks before. */
static void test_blocks(void **unused)
{
	size_t found[FINDING_COUNT] = {0};

	(void)unused;
	small_seed("blame.findings");
	for (int round = 0; round < BLOCK_ROUNDS; round++) {
		uint64_t unit_ns = small_below(2) ? 1 : 20000000;
		uint32_t streams[3] = {0, 1, 2};
		struct idle_question question = {.streams = streams, .stream_count = 3};
		struct asked asked;
		struct findings whole, blocks;

		question.begin_ns = small_below(2) ? 0 : small_below(3000) * unit_ns;
		question.end_ns = question.begin_ns + (1 + small_below(12000)) * unit_ns;
		asked = (struct asked){0};
		small_begin(&asked.small);
		asked.writer = asked.small.writer;
		asked.thread = trace_thread(asked.writer, 1, 0, 20000 * unit_ns);
		asked.queue = trace_queue(asked.writer, 1, 1, 20000 * unit_ns);
		asked.other = trace_queue(asked.writer, 1, 2, 20000 * unit_ns);
		put_random(&asked, unit_ns, round % 2 ? 2 : 40);
		small_ready(&asked.small);
		ask_again(&asked, &question, UINT64_MAX / 2, &whole);
		for (uint64_t records = 1; records < 100; records = 3 * records + 1) {
			ask_again(&asked, &question, records, &blocks);
			check_same(&whole, &blocks);
		}
		for (size_t i = 0; i < whole.count; i++)
			found[whole.list[i].kind]++;
		end(&asked);
	}
	assert_true(found[FINDING_NEEDLESS_SYNC] && found[FINDING_EARLY_SYNC] && found[FINDING_ROUND_TRIP]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_needless_sync),
		cmocka_unit_test(test_needed_sync),
		cmocka_unit_test(test_early_sync),
		cmocka_unit_test(test_serial_queues),
		cmocka_unit_test(test_small_copies),
		cmocka_unit_test(test_repeated_alloc),
		cmocka_unit_test(test_static_memory),
		cmocka_unit_test(test_compile),
		cmocka_unit_test(test_module_load),
		cmocka_unit_test(test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
