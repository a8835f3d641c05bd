// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.slice_files - of the GPU binaries that a run keeps a part of it has those that its kernels
 * and its contexts come from, byte for byte, and no other.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/select/select.h"
#include "timeline/slice/slice.h"

enum { LAUNCHED = 0x1234, LATER = 0x5678, SAMPLED = 0x9abc, UNUSED = 0xdef0 };

static uint8_t binary[1 << 17];
static size_t binary_size;

static void binary_read(void)
{
	FILE *file = fopen(GPU_BINARIES "/flow-sm90.cubin", "rb");

	assert_non_null(file);
	binary_size = fread(binary, 1, sizeof binary, file);
	fclose(file);
	assert_true(binary_size > 1000);
}

/* One kernel at 100, one at 900, and a sample of GPU code that is known by its binary alone. */
static void run_make(struct small_run *small)
{
	const uint64_t keys[] = {LAUNCHED, LATER, SAMPLED, UNUSED};
	struct store_module gpu = {.kind = STORE_MODULE_GPU, .build_id_bytes = 8};
	uint32_t queue, kernel, thread, context;

	small_begin(small);
	for (unsigned i = 0; i < 4; i++)
		store_writer_blob(small->writer, keys[i], binary, binary_size - i);
	queue = small_gpu(small->writer, 0, 0, 1000);
	thread = small_cpu(small->writer, 0, 0, 1000);
	kernel = store_writer_op(small->writer, "kernel", 6);
	context = small_path(small->writer, "main");
	small_span(small->writer, queue, 100, 200, kernel, context, "grid=1:1:1,module=1234");
	small_span(small->writer, queue, 900, 950, kernel, context, "module=5678");
	gpu.build_id[6] = SAMPLED >> 8;
	gpu.build_id[7] = SAMPLED & 0xff;
	gpu.path = small_text(small->writer, "flow.cubin");
	context = store_writer_context(
		small->writer, context, store_writer_module(small->writer, &gpu), 0x7380);
	small_sample(small->writer, thread, 150, context,
		store_writer_metric(small->writer, "CPUTIME", "", false), 1);
	small_ready(small);
}

static bool has(struct run *run, uint64_t key, size_t want_size)
{
	struct error error = {0};
	void *bytes = NULL;
	size_t size = 0;
	int found = store_reader_blob(run_store(run, 0), key, &bytes, &size, &error);

	assert_true(found >= 0);
	if (!found)
		return false;
	assert_int_equal(size, want_size);
	assert_memory_equal(bytes, binary, size);
	free(bytes);
	return true;
}

static void test_binaries(void **state)
{
	char path[64];
	struct small_run small;
	struct select *select = NULL;
	struct error error = {0};
	struct run *copy = NULL;

	(void)state;
	binary_read();
	run_make(&small);
	sprintf(path, "/tmp/hpct-test-files-%d", (int)getpid());
	small_remove(path);
	assert_int_equal(select_new(&select, &error), 0);
	assert_int_equal(select_option(select, "time", "50ns..500ns", &error), 0);
	assert_int_equal(select_bind(select, small.run, &error), 0);
	if (slice_copy(small.run, select, path, &error) || run_open(&copy, path, NULL, &error))
		fail_msg("%s", error.text);
	assert_true(has(copy, LAUNCHED, binary_size));
	assert_true(has(copy, SAMPLED, binary_size - 2));
	assert_false(has(copy, LATER, 0));
	assert_false(has(copy, UNUSED, 0));
	select_free(select);
	run_close(copy);
	small_remove(path);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_binaries)};

	return cmocka_run_group_tests_name("timeline_slice_files", tests, NULL, NULL);
}
