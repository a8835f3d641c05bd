/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_java_blobs.c - a machine made by hand: where its code is and how large its frames are, in both forms
 * in which versions publish it; then one whose tables are damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/java/java_blobs.h"

#define SEGMENT 64u /* bytes */
#define SEGMENTS 64u

struct space {
	uint64_t low, high;
};
struct code_heap {
	uint64_t other;
	struct space memory, map;
	int32_t shift;
};
struct blob {
	uint64_t other;
	int32_t size, frame;
	uint64_t begin;
	int16_t complete_short, offset_pad;
	int32_t complete, offset;
};
struct array {
	int32_t count, most;
	uint64_t data;
};
struct queue {
	uint64_t other, buffer;
	int32_t limit;
};

static _Alignas(64) uint8_t memory[SEGMENT * SEGMENTS];
static uint8_t map[SEGMENTS];
static struct code_heap heap;
static uint64_t objects[1];
static struct array array;
static struct queue queue;
static uint64_t heaps_at, queue_at; /* the machine's variables */
static uint8_t interpreter[256];
static struct java_field fields[32];
static unsigned field_count;
static uint64_t field_bytes;

static void field(const char *type, const char *name, const char *kind, uint64_t offset, const void *address)
{
	fields[field_count++] = (struct java_field){.type = type,
		.name = name,
		.kind = kind,
		.is_static = address != NULL,
		.offset = offset,
		.address = (uintptr_t)address};
}

static unsigned block_bytes = 16; /* of the head of a block, before its blob */

static struct blob *blob_at(unsigned segment)
{
	return (struct blob *)(memory + segment * SEGMENT + block_bytes);
}

/* A block of some segments, and its blob. */
static void block(unsigned segment, unsigned count, int32_t frame_words)
{
	struct blob *blob = blob_at(segment);

	for (unsigned i = 0; i < count; i++)
		map[segment + i] = (uint8_t)(i < 5 ? i : 5);
	*blob = (struct blob){.size = (int32_t)(count * SEGMENT - block_bytes),
		.frame = frame_words,
		.begin = (uintptr_t)blob + 80,
		.complete = 11,
		.complete_short = 11,
		.offset = 80};
}

static void fields_put(bool is_new)
{
	field_count = 0;
	memset(fields, 0, sizeof(fields));
	field("CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 0, &heaps_at);
	field("GrowableArrayBase", "_len", "int", offsetof(struct array, count), NULL);
	field("GrowableArray<int>", "_data", "int*", offsetof(struct array, data), NULL);
	field("CodeHeap", "_memory", "VirtualSpace", offsetof(struct code_heap, memory), NULL);
	field("CodeHeap", "_segmap", "VirtualSpace", offsetof(struct code_heap, map), NULL);
	field("CodeHeap", "_log2_segment_size", "int", offsetof(struct code_heap, shift), NULL);
	field("HeapBlock::Header", "_length", is_new ? "uint32_t" : "size_t", 0, NULL);
	field("VirtualSpace", "_low", "char*", offsetof(struct space, low), NULL);
	field("VirtualSpace", "_high", "char*", offsetof(struct space, high), NULL);
	field("CodeBlob", "_size", "int", offsetof(struct blob, size), NULL);
	field("CodeBlob", "_frame_size", "int", offsetof(struct blob, frame), NULL);
	if (is_new) {
		field("CodeBlob", "_frame_complete_offset", "int16_t", offsetof(struct blob, complete_short),
			NULL);
		field("CodeBlob", "_code_offset", "int", offsetof(struct blob, offset), NULL);
	} else {
		field("CodeBlob", "_frame_complete_offset", "int", offsetof(struct blob, complete), NULL);
		field("CodeBlob", "_code_begin", "address", offsetof(struct blob, begin), NULL);
	}
	field("AbstractInterpreter", "_code", "StubQueue*", 0, &queue_at);
	field("StubQueue", "_stub_buffer", "address", offsetof(struct queue, buffer), NULL);
	field("StubQueue", "_buffer_limit", "int", offsetof(struct queue, limit), NULL);
}

static void machine_open(void)
{
	java_blobs_open(fields, 1, UINT64_MAX, &field_bytes);
}

static int set_up(void **state)
{
	(void)state;
	java_blobs_init();
	field_bytes = sizeof(*fields);
	fields_put(false);
	block_bytes = 16;
	memset(memory, 0, sizeof(memory));
	memset(map, 0xff, sizeof(map));
	heap = (struct code_heap){.memory = {(uintptr_t)memory, (uintptr_t)memory + sizeof(memory)},
		.map = {(uintptr_t)map, (uintptr_t)map + sizeof(map)},
		.shift = 6};
	objects[0] = (uintptr_t)&heap;
	array = (struct array){.count = 1, .most = 1, .data = (uintptr_t)objects};
	queue = (struct queue){.buffer = (uintptr_t)interpreter, .limit = sizeof(interpreter)};
	heaps_at = (uintptr_t)&array;
	queue_at = (uintptr_t)&queue;
	block(2, 20, 6);
	block(40, 8, 0);
	return 0;
}

static void finds_blobs(void **state)
{
	struct unwind_told told;

	for (int is_new = 0; is_new < 2; is_new++) {
		set_up(state);
		fields_put(is_new);
		block_bytes = is_new ? 8 : 16;
		block(2, 20, 6);
		block(40, 8, 0);
		machine_open();
		assert_true(java_blobs_find((uintptr_t)memory + 2 * SEGMENT + 200, &told));
		assert_int_equal(told.begin, (uintptr_t)blob_at(2) + 80);
		assert_int_equal(told.frame_bytes, 48);
		assert_int_equal(told.complete, 11);
		assert_false(told.is_interpreter);
		assert_true(java_blobs_find((uintptr_t)memory + 22 * SEGMENT - 1, &told));
		assert_int_equal(told.frame_bytes, 48);
		assert_true(java_blobs_find((uintptr_t)memory + 41 * SEGMENT, &told));
		assert_int_equal(told.frame_bytes, 0);
		assert_true(java_blobs_find((uintptr_t)interpreter + 255, &told));
		assert_true(told.is_interpreter);
		assert_false(java_blobs_find((uintptr_t)interpreter + 256, &told));
		assert_false(java_blobs_find((uintptr_t)memory + 30 * SEGMENT, &told)); /* free */
		assert_false(java_blobs_find((uintptr_t)memory - 1, &told));
		assert_false(java_blobs_find((uintptr_t)memory + sizeof(memory), &told));
	}
}

/* The machine makes its heaps after its library is loaded. */
static void waits_for_heaps(void **state)
{
	uint64_t pc = (uintptr_t)memory + 2 * SEGMENT + 200;
	struct unwind_told told;

	(void)state;
	heaps_at = queue_at = 0;
	fields[2].offset = 0; /* filled by a constructor, later */
	machine_open();
	assert_false(java_blobs_find(pc, &told));
	heaps_at = (uintptr_t)&array;
	assert_false(java_blobs_find(pc, &told));
	queue_at = (uintptr_t)&queue;
	fields[2].offset = offsetof(struct array, data);
	field_bytes = 0;
	assert_false(java_blobs_find(pc, &told));
	field_bytes = sizeof(*fields);
	assert_true(java_blobs_find(pc, &told));
}

static void leaves_others_alone(void **state)
{
	struct unwind_told told;

	(void)state;
	fields[9].name = "_length";
	machine_open();
	assert_false(java_blobs_find((uintptr_t)memory + 200, &told));
	set_up(state);
	array.count = 9;
	machine_open();
	assert_false(java_blobs_find((uintptr_t)memory + 2 * SEGMENT + 200, &told));
	set_up(state);
	heaps_at = 8; /* unreadable */
	machine_open();
	assert_false(java_blobs_find((uintptr_t)memory + 2 * SEGMENT + 200, &told));
}

/* Other threads make and free code meanwhile. */
static void stays_inside(void **state)
{
	struct unwind_told told;
	uint64_t pc;

	(void)state;
	machine_open();
	pc = (uintptr_t)memory + 2 * SEGMENT + 200;
	map[5] = 200; /* further back than there are segments */
	assert_false(java_blobs_find(pc, &told));
	map[5] = 3;
	assert_true(java_blobs_find(pc, &told));
	blob_at(2)->size = (int32_t)sizeof(memory);
	assert_false(java_blobs_find(pc, &told));
	blob_at(2)->size = -1;
	assert_false(java_blobs_find(pc, &told));
	block(2, 20, 1 << 20);
	assert_true(java_blobs_find(pc, &told));
	assert_int_equal(told.frame_bytes, 0);
	blob_at(2)->begin = 8;
	assert_false(java_blobs_find(pc, &told));
	block(2, 20, 6);
	heap.memory.high = (uintptr_t)blob_at(2) + 100; /* its head is not mapped */
	assert_false(java_blobs_find((uintptr_t)blob_at(2) + 90, &told));
	heap.memory.high = (uintptr_t)memory + sizeof(memory);
	heap.map.high = (uintptr_t)map + 3;
	assert_false(java_blobs_find(pc, &told));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(finds_blobs, set_up),
		cmocka_unit_test_setup(waits_for_heaps, set_up),
		cmocka_unit_test_setup(leaves_others_alone, set_up),
		cmocka_unit_test_setup(stays_inside, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
