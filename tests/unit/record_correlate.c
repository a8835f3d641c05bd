/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_correlate.c - operations and launches in every order: which join, which wait, which give up; the
 * table of launches against its bound, the map against a plain list, both with keys that mean harm, and a
 * ring that holds nonsense.
 */
#include <time.h>

#include "tests/unit/record_correlate_world.h"

#define KEYS_CHOSEN 20000u

static void test_launch_first_and_operation_first(void **state)
{
	struct fixture *f = *state;
	uint64_t one = launch(f, 7, 2000), two;

	operation(f, STORE_OP_KERNEL, 7, 3000, 4000, 1);
	operation(f, STORE_OP_COPY, 8, 4000, 5000, 1);
	drain(f, 0);
	assert_int_equal(f->process.operations, 1);
	two = launch(f, 8, 2500);
	drain(f, 0);
	assert_int_equal(f->process.operations, 2);
	assert_int_equal(f->process.unmatched, 0);
	assert_true(one && two && one != two);
	assert_int_equal(spans(f, 1), 2);
	assert_int_equal(spans(f, 0), 0);
}

static void test_one_launch_may_have_many_operations(void **state)
{
	struct fixture *f = *state;

	launch(f, 7, 2000);
	for (uint32_t i = 0; i < 100; i++)
		operation(f, STORE_OP_KERNEL, 7, 3000 + i, 3001 + i, 1 + i % 4);
	drain(f, 0);
	assert_int_equal(f->process.operations, 100);
	assert_int_equal(f->process.launches, 1);
	assert_int_equal(f->process.unmatched, 0);
	for (uint32_t stream = 1; stream <= 4; stream++)
		assert_int_equal(spans(f, stream), 25);
}

static void test_what_has_no_launch_gives_up_at_the_end(void **state)
{
	struct fixture *f = *state;

	launch(f, 7, 2000);
	operation(f, STORE_OP_KERNEL, 9, 3000, 4000, 1);
	operation(f, STORE_OP_KERNEL, 0, 3000, 4000, 1); /* the runtime knows of none */
	operation(f, STORE_OP_NONE, 7, 3000, 4000, 1);	 /* no operation */
	drain(f, 0);
	assert_int_equal(f->process.operations, 1);
	drain(f, UINT64_MAX);
	assert_int_equal(f->process.operations, 2);
	assert_int_equal(f->process.unmatched, 2);
	assert_int_equal(spans(f, 1), 2);
}

static void test_what_the_host_does_is_on_its_thread(void **state)
{
	struct fixture *f = *state;

	launch(f, 7, 2000);
	operation(f, STORE_OP_ALLOC, 7, 3000, 4000, 1);
	operation(f, STORE_OP_SYNC, 7, 3000, 4000, 1);
	operation(f, STORE_OP_FREE, 9, 3000, 4000, 1);
	drain(f, UINT64_MAX);
	assert_int_equal(spans(f, 0), 2);
	assert_int_equal(spans(f, 1), 1);
}

static void test_impossible_times_are_counted(void **state)
{
	struct fixture *f = *state;

	launch(f, 7, 2000);
	operation(f, STORE_OP_KERNEL, 7, 0, 0, 1);
	operation(f, STORE_OP_KERNEL, 7, 4000, 3000, 1);
	operation(f, STORE_OP_KERNEL, 7, 3000, UINT64_MAX, 1);
	operation(f, STORE_OP_KERNEL, 7, 3000, 3000, 1);
	drain(f, 0);
	assert_int_equal(f->process.operations, 4);
	assert_int_equal(f->process.untimed, 3);
}

static void test_nonsense_in_the_ring(void **state)
{
	struct fixture *f = *state;
	struct event_text *text;

	srand((unsigned)seed_take(__func__, 5));
	launch(f, 7, 2000);
	operation(f, STORE_OP_KERNEL, 7, 3000, 4000, 1);
	ring_begin(&f->ring, 64, 64, 1);
	text = ring_put(&f->ring, EVENT_TEXT, 0, 1000000, 64); /* longer than its record */
	text->id = 1;
	ring_commit(&f->ring);
	operation(f, STORE_OP_KERNEL, 7, 3000, 4000, 1);
	drain(f, 0);
	assert_int_equal(f->process.operations, 1);
	assert_int_equal(f->ring.shared->tail, f->ring.shared->head);
	for (uint64_t *at = (uint64_t *)f->ring.data; at < (uint64_t *)(f->ring.data + 100000); at++)
		*at = (uint64_t)rand() << 32 | (uint64_t)rand();
	f->ring.shared->head += 100000;
	drain(f, UINT64_MAX);
	assert_int_equal(f->ring.shared->tail, f->ring.shared->head);
}

static void figures(struct fixture *f, uint64_t time_ns, uint32_t mask, uint32_t count)
{
	struct event_gpu_values *record;
	uint64_t bytes = sizeof(*record) + count * sizeof(record->value[0]);

	ring_begin(&f->ring, bytes, bytes, 1);
	record = ring_put(&f->ring, EVENT_GPU_VALUES, 0, 0, bytes);
	record->time_ns = time_ns;
	record->device = 0;
	record->figures = mask;
	for (uint32_t i = 0; i < count; i++)
		record->value[i] = 100 + i;
	ring_commit(&f->ring);
}

/* A device's figures are a stream beside the queues, which has no spans; a record that says more than it
 * holds, or is older than its process, says nothing. */
static void test_figures_of_a_device(void **state)
{
	struct fixture *f = *state;
	const struct store_stream *stream;

	figures(f, 3000, 0x35, 4);
	figures(f, 4000, 0xff, 8);
	figures(f, 5000, 0xffffff00, 2); /* none that we know */
	figures(f, 6000, 0xff, 7);
	figures(f, 0, 0xff, 8);
	operation(f, STORE_OP_KERNEL, 7, 3000, 4000, 1);
	launch(f, 7, 2000);
	f->ring.shared->lost_full = 5;
	drain(f, UINT64_MAX);
	stream = store_writer_stream_edit(f->writer, 1);
	assert_int_equal(stream->kind, STORE_STREAM_GAUGES);
	assert_int_equal(stream->device, 0);
	assert_int_equal(stream->count[STORE_VALUES], 12);
	assert_int_equal(spans(f, 1), 0);
	assert_int_equal(stream->lost, 0); /* losses are those of a queue */
	assert_int_equal(store_writer_stream_edit(f->writer, 2)->lost, 5);
}

static void test_losses_go_to_a_queue(void **state)
{
	struct fixture *f = *state;

	f->ring.shared->lost_full = 5;
	drain(f, 0);
	assert_int_equal(f->process.lost_operations, 0); /* no queue yet that could tell */
	launch(f, 7, 2000);
	operation(f, STORE_OP_KERNEL, 7, 3000, 4000, 1);
	drain(f, 0);
	f->ring.shared->lost_full = 9;
	drain(f, UINT64_MAX);
	assert_int_equal(f->process.lost_operations, 9);
	assert_int_equal(store_writer_stream_edit(f->writer, 1)->lost, 9);
}

/* Two without times run between the end of the one before them and the begin of the one behind; the last one
 * until the queue's end. */
static void test_time_of_operations_without_times_is_not_known(void **state)
{
	struct store_record found[16];
	struct fixture *f = *state;
	struct store_reader *reader;
	size_t count, size = 0, gaps = 0, marked = 0;

	for (uint64_t i = 1; i <= 5; i++)
		launch(f, i, 2000 + 100 * i);
	operation(f, STORE_OP_KERNEL, 1, 3000, 3100, 1);
	operation(f, STORE_OP_KERNEL, 2, 0, 0, 1);
	operation(f, STORE_OP_KERNEL, 3, 4000, 3900, 1);
	operation(f, STORE_OP_KERNEL, 4, 5000, 5100, 1);
	operation(f, STORE_OP_KERNEL, 5, 0, 0, 1);
	drain(f, UINT64_MAX);
	correlate_finish(&f->process, f->writer, f->host, 9000);
	assert_int_equal(f->process.untimed, 3);
	reader = committed(f);
	count = spans_read(reader, 1, found, 16);
	store_reader_close(reader);
	for (size_t i = 0; i < count; i++) {
		const char *text = store_writer_text_at(f->writer, found[i].attributes, &size);

		marked += found[i].what == STORE_OP_KERNEL && size == 9 && !memcmp(text, "untimed=1", 9);
		if (found[i].what != STORE_OP_UNMONITORED)
			continue;
		assert_int_equal(found[i].begin_ns, gaps ? 5100 : 3100);
		assert_int_equal(found[i].end_ns, gaps ? 9000 : 5000);
		gaps++;
	}
	assert_int_equal(gaps, 2);
	assert_int_equal(marked, 3);
}

static uint64_t kernel_launch(struct fixture *f, uint64_t correlation, uint64_t time_ns)
{
	struct store_record call = {.begin_ns = time_ns, .end_ns = time_ns + 10, .context = f->path};

	return correlate_launch(&f->process, correlation, f->thread, CORRELATE_KERNEL, &call);
}

/* Two that never came lie between the first one's launch and the end of the kernel behind them, one until the
 * process's end. What was dropped on the way, or came without a launch, may be they. */
static void test_kernels_that_never_come_are_lost(void **state)
{
	struct store_record lost[4];
	struct store_reader *reader;
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= 7; i++)
		kernel_launch(f, i, 2000 + 100 * i);
	launch(f, 8, 2900); /* what brings no operation for certain */
	operation(f, STORE_OP_KERNEL, 1, 3000, 3100, 1);
	operation(f, STORE_OP_KERNEL, 4, 3200, 3300, 1);
	operation(f, STORE_OP_KERNEL, 5, 3300, 3400, 1);
	operation(f, STORE_OP_KERNEL, 5, 3400, 3500, 1);
	operation(f, STORE_OP_KERNEL, 6, 3500, 3600, 1);
	drain(f, UINT64_MAX);
	assert_int_equal(f->process.lost_operations, 0);
	correlate_finish(&f->process, f->writer, f->host, 9000);
	assert_int_equal(f->process.lost_operations, 3);
	assert_int_equal(f->lost, 3);
	assert_int_equal(store_writer_stream_edit(f->writer, 2)->lost, 3);
	assert_int_equal(store_writer_stream_edit(f->writer, 2)->queue, UINT32_MAX);
	reader = committed(f);
	assert_int_equal(spans_read(reader, 2, lost, 4), 3);
	store_reader_close(reader);
	assert_int_equal(lost[1].what, STORE_OP_LOST);
	assert_int_equal(lost[1].begin_ns, 2200);
	assert_int_equal(lost[1].end_ns, 3300);
	assert_int_equal(lost[1].amount, 2);
	assert_int_equal(lost[2].begin_ns, 2700);
	assert_int_equal(lost[2].end_ns, 9000);
	assert_int_equal(lost[2].amount, 1);
}

static void test_kernels_are_lost_once(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= 9; i++)
		kernel_launch(f, i, 2000 + i);
	f->ring.shared->lost_full = 3;
	operation(f, STORE_OP_KERNEL, 1, 3000, 3100, 1);
	operation(f, STORE_OP_KERNEL, 77, 3000, 3100, 1);
	drain(f, UINT64_MAX);
	correlate_finish(&f->process, f->writer, f->host, 9000);
	assert_int_equal(f->process.lost_operations, 7); /* 3 dropped, 4 missing; the one of 77 is there */
}

static void unmonitored(struct fixture *f, uint64_t time_ns, uint32_t reason)
{
	struct event_gpu_unmonitored *said;

	ring_begin(&f->ring, sizeof(*said), sizeof(*said), 1);
	said = ring_put(&f->ring, EVENT_GPU_UNMONITORED, 0, 0, sizeof(*said));
	said->time_ns = time_ns;
	said->reason = reason;
	ring_commit(&f->ring);
}

/* Said before there is a queue, it is known of those that come later. */
static void test_unwatched_time_is_on_every_queue(void **state)
{
	struct fixture *f = *state;
	struct event_text *text;

	ring_begin(&f->ring, 32, 32, 1);
	text = ring_put(&f->ring, EVENT_TEXT, 0, 5, sizeof(*text) + 5);
	text->id = 1;
	memcpy(text->bytes, "other", 5);
	ring_commit(&f->ring);
	unmonitored(f, 5000, 1);
	unmonitored(f, 6000, 0);
	drain(f, 0);
	launch(f, 7, 2000);
	operation(f, STORE_OP_KERNEL, 7, 3000, 4000, 1);
	operation(f, STORE_OP_KERNEL, 7, 3000, 4000, 2);
	drain(f, 0);
	assert_int_equal(spans(f, 1), 2);
	assert_int_equal(spans(f, 2), 2);
	unmonitored(f, 7000, 1);
	drain(f, 0);
	correlate_finish(&f->process, f->writer, f->host, 9000); /* closes it, and `monitored` */
	assert_int_equal(spans(f, 1), 4);
	assert_int_equal(spans(f, 2), 4);
}

static uint64_t complete_at(struct fixture *f, uint64_t now_ns)
{
	drain(f, 0);
	correlate_complete(&f->process, f->writer, now_ns);
	return store_writer_stream_edit(f->writer, 1)->complete_ns[STORE_SPANS];
}

static void test_the_watermark_waits_for_launches(void **state)
{
	const uint64_t now_ns = CORRELATE_UNMATCHED_NS * 10;
	struct fixture *f = *state;

	launch(f, 1, now_ns - CORRELATE_UNMATCHED_NS * 2); /* given up */
	launch(f, 2, now_ns - 5000000000);
	launch(f, 3, now_ns - 4000000000);
	operation(f, STORE_OP_KERNEL, 3, 3000, 4000, 1);
	assert_int_equal(complete_at(f, now_ns), now_ns - 5000000000);
	operation(f, STORE_OP_KERNEL, 2, 3000, 4000, 1);
	assert_int_equal(complete_at(f, now_ns), now_ns - CORRELATE_LATE_NS);
}

/* An allocation, which may be served from a pool and then has no record, does not keep a run's present from
 * its readers. */
static void test_the_watermark_does_not_wait_for_what_is_not_queued(void **state)
{
	const uint64_t now_ns = CORRELATE_UNMATCHED_NS * 10;
	struct store_record call = {.begin_ns = now_ns - 5000000000, .end_ns = now_ns - 5000000000};
	struct fixture *f = *state;

	assert_true(correlate_launch(&f->process, 1, f->thread, CORRELATE_UNQUEUED, &call));
	launch(f, 2, now_ns - 4000000000);
	launch(f, 3, now_ns - 3000000000);
	operation(f, STORE_OP_KERNEL, 3, 3000, 4000, 1);
	assert_int_equal(complete_at(f, now_ns), now_ns - 4000000000);
	operation(f, STORE_OP_KERNEL, 2, 3000, 4000, 1);
	assert_int_equal(complete_at(f, now_ns), now_ns - CORRELATE_LATE_NS);
}

static void test_old_launches_make_room(void **state)
{
	struct correlate_launches launches = {0};
	const uint64_t many = 3 * (uint64_t)CORRELATE_LAUNCHES_MAX / 2;

	(void)state;
	for (uint64_t n = 1; n <= many; n++)
		launch_add(&launches, n, n);
	assert_null(correlate_launches_find(&launches, many - CORRELATE_LAUNCHES_MAX));
	assert_int_equal(correlate_launches_find(&launches, many - CORRELATE_LAUNCHES_MAX + 1)->link,
		many - CORRELATE_LAUNCHES_MAX + 1);
	assert_int_equal(correlate_launches_find(&launches, many)->link, many);
	assert_null(correlate_launches_find(&launches, 0));
	/* A number that comes again is the new one's. */
	launch_add(&launches, many, 1);
	assert_int_equal(correlate_launches_find(&launches, many)->link, 1);
	assert_int_equal(launches.next - launches.first, CORRELATE_LAUNCHES_MAX);
	correlate_launches_fini(&launches);
}

/* CPU time of what a program makes of its keys. */
static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t map_fill_ns(uint64_t step)
{
	struct u64_map map = {0};
	uint64_t begin_ns = cpu_ns();

	/* Keys of queues: without a secret those of devices and queues of the same number fell together. */
	for (uint64_t i = 0; i < KEYS_CHOSEN; i++)
		assert_true(u64_map_put(&map, (struct u64_map_key){i << 32, i * step}, 1));
	u64_map_fini(&map);
	return cpu_ns() - begin_ns;
}

static uint64_t launches_ask_ns(uint64_t step)
{
	struct correlate_launches launches = {0};
	uint64_t begin_ns;

	for (uint64_t i = 1; i <= KEYS_CHOSEN; i++)
		launch_add(&launches, i * step, i);
	begin_ns = cpu_ns();
	for (uint64_t i = 1; i <= KEYS_CHOSEN; i++)
		assert_non_null(correlate_launches_find(&launches, i * step));
	correlate_launches_fini(&launches);
	return cpu_ns() - begin_ns;
}

/* Whoever chooses the keys does not choose their places: 50 times as long is not what they take. */
static void test_keys_that_are_chosen(void **state)
{
	(void)state;
	assert_true(map_fill_ns(1) < 50 * map_fill_ns(3));
	assert_true(launches_ask_ns(UINT64_C(1) << 47) < 50 * launches_ask_ns(1));
}

static void test_the_map_against_a_list(void **state)
{
	enum { KEYS = 300 };
	uint32_t list[KEYS];
	struct u64_map map = {0};

	(void)state;
	srand((unsigned)seed_take(__func__, 11));
	memset(list, 0xff, sizeof(list));
	for (int turn = 0; turn < 200000; turn++) {
		unsigned k = (unsigned)rand() % KEYS;
		struct u64_map_key key = {k % 3, k / 3 * UINT64_C(64)};

		if (rand() % 2) {
			list[k] = (uint32_t)turn;
			assert_true(u64_map_put(&map, key, list[k]));
		} else {
			list[k] = U64_MAP_NONE;
			u64_map_remove(&map, key);
		}
		k = (unsigned)rand() % KEYS;
		assert_int_equal(
			u64_map_get(&map, (struct u64_map_key){k % 3, k / 3 * UINT64_C(64)}), list[k]);
	}
	u64_map_fini(&map);
}

/* ---- GPU binaries ---- */

static int memory_of(const char *content, int seals)
{
	int memory = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(write(memory, content, strlen(content)), (ssize_t)strlen(content));
	assert_int_equal(fcntl(memory, F_ADD_SEALS, seals), 0);
	return memory;
}

static void test_binaries_are_taken_only_if_they_cannot_change(void **state)
{
	struct fixture *f = *state;
	size_t before = store_writer_pending_bytes(f->writer);

	gpu_module_take(f->writer, memory_of("binary", F_SEAL_SHRINK), 1, NULL);
	gpu_module_take(f->writer, memory_of("binary", F_SEAL_WRITE), 1, NULL);
	gpu_module_take(f->writer, memory_of("", F_SEAL_SHRINK | F_SEAL_WRITE), 1, NULL);
	assert_int_equal(store_writer_pending_bytes(f->writer), before);
	gpu_module_take(f->writer, memory_of("binary", F_SEAL_SHRINK | F_SEAL_WRITE), 1, NULL);
	assert_true(store_writer_pending_bytes(f->writer) > before);
}

static void test_a_kernel_s_binary_is_known_by_its_name(void **state)
{
	static const char *const one[] = {".text.axpy", ".nv.info", ".text.relax", ""}, *const two[] = {
												".text.relax",
												".text.", ""};
	struct gpu_module_kernels kernels = {0};
	char image[1024];
	size_t bytes = image_of(image, one);

	(void)state;
	assert_true(gpu_module_of(&kernels, "axpy", 4) == 0);
	gpu_module_note(&kernels, image, bytes, 11);
	gpu_module_note(&kernels, image, bytes, 11); /* loaded twice */
	assert_true(gpu_module_of(&kernels, "axpy", 4) == 11);
	assert_true(gpu_module_of(&kernels, "relax", 5) == 11);
	assert_true(gpu_module_of(&kernels, "axp", 3) == 0);
	gpu_module_note(&kernels, image, image_of(image, two), 22);
	assert_true(gpu_module_of(&kernels, "axpy", 4) == 11);
	assert_true(gpu_module_of(&kernels, "relax", 5) == 0); /* of two */
	assert_true(gpu_module_of(&kernels, "", 0) == 0);
	gpu_module_fini(&kernels);

	/* Any image may come: cut short, or with any byte changed. The sanitizers look on. */
	bytes = image_of(image, one);
	for (size_t size = 0; size <= bytes; size++) {
		char *cut = malloc(size + 1);

		memcpy(cut, image, size);
		gpu_module_note(&kernels, cut, size, 1);
		free(cut);
	}
	for (size_t i = 0; i < bytes; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			char *odd = malloc(bytes);

			memcpy(odd, image, bytes);
			odd[i] = (char)(odd[i] ^ 1 << bit);
			gpu_module_note(&kernels, odd, bytes, 1);
			free(odd);
		}
	gpu_module_fini(&kernels);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_launch_first_and_operation_first),
		TEST(test_one_launch_may_have_many_operations),
		TEST(test_what_has_no_launch_gives_up_at_the_end),
		TEST(test_what_the_host_does_is_on_its_thread),
		TEST(test_impossible_times_are_counted),
		TEST(test_nonsense_in_the_ring),
		TEST(test_figures_of_a_device),
		TEST(test_losses_go_to_a_queue),
		TEST(test_unwatched_time_is_on_every_queue),
		TEST(test_the_watermark_waits_for_launches),
		TEST(test_the_watermark_does_not_wait_for_what_is_not_queued),
		TEST(test_binaries_are_taken_only_if_they_cannot_change),
		TEST(test_kernels_that_never_come_are_lost),
		TEST(test_kernels_are_lost_once),
		TEST(test_time_of_operations_without_times_is_not_known),
		cmocka_unit_test(test_a_kernel_s_binary_is_known_by_its_name),
		cmocka_unit_test(test_old_launches_make_room),
		cmocka_unit_test(test_keys_that_are_chosen),
		cmocka_unit_test(test_the_map_against_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
