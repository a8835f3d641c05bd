/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_correlate_spans.c - what becomes of each operation on its way through batches and what is known of
 * others like it: where it is in the store, with which launch, path and attributes; the table of launches
 * against a plain list.
 */
#include "tests/unit/record_correlate_world.h"

#define MANY 1500u /* paths, names, shapes */
#define QUEUES 3u
#define COUNT 9000u
#define EACH_NS 10u

/* What the n-th operation is: on queues in turn, some of the host's own. Of each three one has a path of its
 * own, one a name, one a shape: of more than are kept in mind at once, each twice or so. */
struct sent {
	uint32_t path, operation, name, said;
	uint64_t link;
};

static uint32_t draw(uint32_t number, uint32_t which)
{
	return number % 3 == which ? (uint32_t)rand() % MANY : 0;
}

static void sent_make(struct fixture *f, struct sent *sent)
{
	static const uint32_t what[] = {STORE_OP_KERNEL, STORE_OP_COPY, STORE_OP_GRAPH, STORE_OP_SYNC};
	uint32_t module = store_writer_text_module(f->writer);

	for (uint32_t i = 0; i < COUNT; i++) {
		char name[16];

		snprintf(name, sizeof(name), "main%u", draw(i, 0));
		sent[i] = (struct sent){.path = store_writer_context(f->writer, STORE_CONTEXT_PROGRAM_ROOT,
						module, store_writer_text(f->writer, name, strlen(name))),
			.operation = what[rand() % 4],
			.name = 1 + draw(i, 1),
			.said = 1 + MANY + draw(i, 2)};
	}
}

static void sent_launch(struct fixture *f, struct sent *sent, uint32_t number)
{
	struct store_record call = {.begin_ns = 2000, .end_ns = 2010, .context = sent->path};

	sent->link = correlate_launch(&f->process, 1 + number, f->thread, CORRELATE_QUEUED, &call);
	assert_true(sent->link);
}

static void texts_send(struct fixture *f)
{
	for (uint32_t i = 0; i < 2 * MANY; i++) {
		char bytes[16];

		snprintf(bytes, sizeof(bytes), i < MANY ? "kernel%u" : "grid=%u", 1 + i);
		text(f, 1 + i, bytes);
	}
}

static bool is_text(struct fixture *f, uint32_t id, const char *wanted)
{
	size_t size = 0;
	const char *bytes = store_writer_text_at(f->writer, id, &size);

	return size == strlen(wanted) && !memcmp(bytes, wanted, size);
}

static void sent_check(struct fixture *f, const struct sent *sent, const struct store_record *span)
{
	struct store_context node = store_writer_context_at(f->writer, span->context), over;
	char wanted[16];

	over = store_writer_context_at(f->writer, node.parent);
	assert_int_equal(span->what, sent->operation);
	assert_int_equal(span->link, sent->link);
	snprintf(wanted, sizeof(wanted), "kernel%u", sent->name);
	assert_true(is_text(f, (uint32_t)node.offset, wanted));
	snprintf(wanted, sizeof(wanted), "grid=%u", sent->said);
	assert_true(is_text(f, span->attributes, wanted));
	assert_int_equal(over.parent, sent->path);
	assert_int_equal(over.offset, sent->operation == STORE_OP_KERNEL  ? STORE_FRAME_GPU_KERNEL
				      : sent->operation == STORE_OP_COPY  ? STORE_FRAME_GPU_COPY
				      : sent->operation == STORE_OP_GRAPH ? STORE_FRAME_GPU_GRAPH
									  : STORE_FRAME_GPU_SYNC);
}

/* More than any batch holds, of queues in turn, what the host does in between, launches after operations:
 * each span is on its stream once, with its own launch's link and path, and with what was said of it. */
static void test_each_operation_is_where_its_launch_says(void **state)
{
	static struct store_record spans[COUNT];
	static struct sent sent[COUNT];
	static bool is_found[COUNT];
	struct fixture *f = *state;
	struct store_reader *reader;
	size_t all = 0;

	srand((unsigned)seed_take(__func__, 7));
	sent_make(f, sent);
	texts_send(f);
	for (uint32_t i = 0; i < COUNT; i++) {
		if (i % 5)
			sent_launch(f, &sent[i], i);
		operation_put(f, &(struct event_gpu){.begin_ns = 3000 + EACH_NS * i,
					 .end_ns = 3005 + EACH_NS * i,
					 .correlation = 1 + i,
					 .operation = sent[i].operation,
					 .queue = i % QUEUES,
					 .name = sent[i].name,
					 .attributes = sent[i].said});
		if (i % 3000 == 2999)
			drain(f, 0);
	}
	for (uint32_t i = 0; i < COUNT; i += 5)
		sent_launch(f, &sent[i], i);
	drain(f, 0);
	assert_int_equal(f->process.operations, COUNT);
	assert_int_equal(f->process.unmatched, 0);
	reader = committed(f);
	for (uint32_t stream = 0; stream <= QUEUES; stream++) {
		size_t count = spans_read(reader, stream, spans, COUNT);

		for (size_t k = 0; k < count; k++, all++) {
			uint32_t i = (uint32_t)(spans[k].begin_ns - 3000) / EACH_NS;

			assert_false(is_found[i]);
			is_found[i] = true;
			sent_check(f, &sent[i], &spans[k]);
			assert_int_equal(stream == 0, sent[i].operation == STORE_OP_SYNC);
			assert_true(
				stream == 0 || i % QUEUES == (spans[0].begin_ns - 3000) / EACH_NS % QUEUES);
		}
	}
	assert_int_equal(all, COUNT);
	store_reader_close(reader);
}

static uint32_t attributes_read(struct fixture *f, uint32_t stream, size_t place)
{
	struct store_reader *reader = committed(f);
	struct store_record spans[16];

	assert_true(spans_read(reader, stream, spans, 16) > place);
	store_reader_close(reader);
	return spans[place].attributes;
}

/* What is known of a kernel's launches is not that of another's, nor that of a time when less was known. */
static void test_kinds_of_launches_are_told_apart(void **state)
{
	static const struct event_gpu kinds[] = {
		{.operation = STORE_OP_KERNEL, .name = 1, .attributes = 2},
		{.operation = STORE_OP_KERNEL, .name = 1, .attributes = 3},
		{.operation = STORE_OP_KERNEL, .name = 2, .attributes = 2},
		{.operation = STORE_OP_COPY, .name = 1, .attributes = 2},
		{.operation = STORE_OP_KERNEL, .name = 4, .attributes = 2}, /* not there yet */
	};
	static const char *const one[] = {".text.axpy", ""};
	struct fixture *f = *state;
	struct store_reader *reader;
	struct store_record spans[16];
	char image[1024];

	text(f, 1, "axpy");
	text(f, 2, "grid=1");
	text(f, 3, "grid=2");
	launch(f, 7, 2000);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5; i++) {
			struct event_gpu gpu = kinds[i];

			gpu.correlation = 7;
			gpu.begin_ns = 3000 + round * 1000 + i * 10;
			gpu.end_ns = gpu.begin_ns + 5;
			operation_put(f, &gpu);
		}
	drain(f, 0);
	reader = committed(f);
	assert_int_equal(spans_read(reader, 1, spans, 16), 10);
	store_reader_close(reader);
	for (uint32_t i = 0; i < 10; i++) {
		struct store_context node = store_writer_context_at(f->writer, spans[i].context);
		uint32_t name = i % 5 == 4 ? 0 : kinds[i % 5].name;

		assert_true(is_text(f, spans[i].attributes, i % 5 == 1 ? "grid=2" : "grid=1"));
		if (name)
			assert_true(is_text(f, (uint32_t)node.offset, name == 1 ? "axpy" : "grid=1"));
		else
			assert_int_equal(node.offset, STORE_FRAME_GPU_KERNEL);
		if (name)
			node = store_writer_context_at(f->writer, node.parent);
		assert_int_equal(node.offset,
			spans[i].what == STORE_OP_COPY ? STORE_FRAME_GPU_COPY : STORE_FRAME_GPU_KERNEL);
		assert_int_equal(node.parent, f->path);
	}

	text(f, 4, "later");
	operation_put(f, &(struct event_gpu){.operation = STORE_OP_KERNEL,
				 .name = 4,
				 .attributes = 2,
				 .correlation = 7,
				 .begin_ns = 6000,
				 .end_ns = 6001});
	drain(f, 0);
	reader = committed(f);
	assert_int_equal(spans_read(reader, 1, spans, 16), 11);
	store_reader_close(reader);
	assert_true(
		is_text(f, (uint32_t)store_writer_context_at(f->writer, spans[10].context).offset, "later"));

	gpu_module_note(&f->process.kernels, image, image_of(image, one), 0xabc);
	operation_put(f, &(struct event_gpu){.operation = STORE_OP_KERNEL,
				 .name = 1,
				 .attributes = 2,
				 .correlation = 7,
				 .begin_ns = 7000,
				 .end_ns = 7001});
	drain(f, 0);
	assert_true(is_text(f, attributes_read(f, 1, 11), "grid=1,module=0000000000000abc"));
	gpu_module_fini(&f->process.kernels);
}

/* Correlations as runtimes have them (counted up), and as they might have: addresses, few numbers again and
 * again. The newest of those there are is the one that is meant. */
static void test_the_launches_against_a_list(void **state)
{
	enum { LAUNCHES = 20000 };
	static uint64_t list[LAUNCHES];
	struct correlate_launches launches = {0};

	(void)state;
	srand((unsigned)seed_take(__func__, 3));
	for (uint64_t n = 0; n < LAUNCHES; n++) {
		const uint64_t kinds[] = {n + 1, n * 4096 + 64, 1 + (uint64_t)rand() % 500,
			UINT64_C(1) << 32 | (n / 3 + 1), (n << 32) + 77};
		struct correlate_launch *found;

		list[n] = kinds[rand() % 5];
		launch_add(&launches, list[n], n);
		for (uint64_t other = (uint64_t)rand() % (n + 1), last = n; last + 1 > 0; last--) {
			if (list[last] != list[other])
				continue;
			found = correlate_launches_find(&launches, list[other]);
			assert_non_null(found);
			assert_int_equal(found->link, last);
			break;
		}
		found = correlate_launches_find(&launches, (uint64_t)rand() << 40 | 13);
		assert_null(found);
	}
	correlate_launches_fini(&launches);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_operation_is_where_its_launch_says),
		TEST(test_kinds_of_launches_are_told_apart),
		cmocka_unit_test(test_the_launches_against_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
