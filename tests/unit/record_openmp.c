/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_openmp.c - call paths of OpenMP's threads, made of frames as the unwinder leaves them and of the
 * records that the runtimes' wrappers keep.
 *
 *   stack   leaf 100  body 200  [runtime 300]  record 250      frames by their stack pointers, inner ones
 * first
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/openmp/openmp.h"
#include "record/agent/process/process.h"
#include "store/ring/ring.h"

#define CODE 2 /* slots */
#define LIBC 3
#define MOST 32
#define BEGIN_NS 1000 /* of the open region */

static struct context_tree tree;
static uint64_t epoch = 7;
static struct openmp_thread thread;
static struct unwind_frame frames[MOST];
static unsigned count;
static uint32_t root;
static bool is_whole;

static void add(uint64_t address, uint64_t sp, uint16_t slot)
{
	frames[count++] = (struct unwind_frame){.address = address, .sp = sp, .slot = slot};
}

/* <program root>;10;20 in the tree of some thread. */
static struct openmp_origin origin_make(void)
{
	uint32_t node = context_tree_child_add(&tree, EVENT_NODE_PROGRAM_ROOT, CODE, 10);

	node = context_tree_child_add(&tree, node, CODE, 20);
	return (struct openmp_origin){.tree = &tree, .epoch_at = &epoch, .epoch = epoch, .node = node};
}

static int begin(void **state)
{
	static uint64_t memory[64 * (CONTEXT_TREE_NODE_BYTES / 8 + 1)];

	(void)state;
	memset(memory, 0, sizeof memory);
	context_tree_init(&tree, memory, 64);
	openmp_thread_init(&thread);
	atomic_store(&thread.teams[0].generation, 1);
	atomic_store(&thread.teams[0].begin_ns, BEGIN_NS);
	memset(frames, 0, sizeof frames);
	count = 0;
	epoch = 7;
	root = EVENT_NODE_THREAD_ROOT;
	is_whole = true;
	return 0;
}

static struct openmp_record *open_record(enum openmp_kind kind, uint64_t address)
{
	struct openmp_record record = {.address = address, .team = &thread.teams[0], .kind = kind}, *opened;

	if (kind <= OPENMP_TASK)
		record.origin = origin_make();
	record.begin_ns = BEGIN_NS + 50;
	opened = openmp_push(&thread, &record);
	assert_non_null(opened);
	return opened;
}

static void join(void)
{
	count = openmp_join(&thread, frames, count, MOST, &root, &is_whole);
}

/* Addresses from the inner end; of constructs the number of their frame. */
static void expect(uint32_t want_root, const uint64_t *want, unsigned want_count)
{
	assert_int_equal(root, want_root);
	assert_int_equal(count, want_count);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(frames[i].address, want[i]);
		assert_int_equal(frames[i].slot == UNWIND_RESERVED_SLOT,
			want[i] >= EVENT_FRAME_OMP_REGION && want[i] <= EVENT_FRAME_OMP_TASKWAIT);
	}
}
#define EXPECT(root, ...)                             \
	expect(root, (const uint64_t[]){__VA_ARGS__}, \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void stack_of_body(void)
{
	add(1000, 100, CODE);
	add(1001, 200, CODE);
	add(2000, 300, LIBC);
	add(2001, 400, LIBC);
}

/* The frames outside the body are dropped, whoever runs it; the path begins at the opener's root. */
static void test_region(void **state)
{
	(void)state;
	stack_of_body();
	open_record(OPENMP_REGION, 250);
	join();
	EXPECT(EVENT_NODE_PROGRAM_ROOT, 1000, 1001, EVENT_FRAME_OMP_REGION, 20, 10);
	assert_true(is_whole);
}

/* The stack's outer end need not be known. */
static void test_partial(void **state)
{
	(void)state;
	add(1000, 100, CODE);
	open_record(OPENMP_REGION, 250);
	is_whole = false;
	join();
	EXPECT(EVENT_NODE_PROGRAM_ROOT, 1000, EVENT_FRAME_OMP_REGION, 20, 10);
	assert_true(is_whole);
}

/* A whole stack that does not pass the body is another one, a coroutine's. */
static void test_other_stack(void **state)
{
	(void)state;
	add(1000, 100, CODE);
	add(1001, 200, CODE);
	open_record(OPENMP_REGION, 250);
	join();
	EXPECT(EVENT_NODE_THREAD_ROOT, 1000, 1001);
}

static void test_waits(void **state)
{
	(void)state;
	stack_of_body();
	open_record(OPENMP_REGION, 250);
	open_record(OPENMP_BARRIER, 150);
	join();
	EXPECT(EVENT_NODE_PROGRAM_ROOT, 1000, EVENT_FRAME_OMP_BARRIER, 1001, EVENT_FRAME_OMP_REGION, 20, 10);
	openmp_pop(&thread);
	begin(NULL);
	stack_of_body();
	open_record(OPENMP_LOCK, 50); /* all its frames are the runtime's or ours, and left out */
	join();
	EXPECT(EVENT_NODE_THREAD_ROOT, EVENT_FRAME_OMP_LOCK, 1000, 1001, 2000, 2001);
}

/* LLVM's runtime tells a worker late that its region is over: its team is closed, or has the next one open.
 */
static void test_over(void **state)
{
	struct openmp_team *team = &thread.teams[0];

	(void)state;
	for (unsigned next = 0; next < 2; next++) {
		begin(NULL);
		stack_of_body();
		open_record(OPENMP_REGION, 250);
		atomic_store(&team->generation, 2 + next);
		atomic_store(&team->begin_ns, next ? BEGIN_NS + 1000 : BEGIN_NS);
		join();
		EXPECT(EVENT_NODE_THREAD_ROOT, 1000, 1001, 2000, 2001);
	}
}

/* By the time at which a member was in the region, as its own clock says. */
static void test_team_over(void **state)
{
	struct openmp_team *team = &thread.teams[0];

	(void)state;
	assert_false(openmp_team_is_over(team, BEGIN_NS + 5));
	assert_false(openmp_team_is_over(team, BEGIN_NS - 5));
	assert_true(openmp_team_is_over(team, BEGIN_NS - 500));
	atomic_store(&team->generation, 2);
	assert_true(openmp_team_is_over(team, BEGIN_NS + 5));
}

/* Of a task that runs in a barrier nothing outside it is part of its path. */
static void test_task(void **state)
{
	(void)state;
	stack_of_body();
	open_record(OPENMP_REGION, 350);
	open_record(OPENMP_BARRIER, 250);
	open_record(OPENMP_TASK, 150);
	join();
	EXPECT(EVENT_NODE_PROGRAM_ROOT, 1000, EVENT_FRAME_OMP_TASK, 20, 10);
}

/* Outside the body, in the call that opens the region, and in its wait for the others. */
static void test_opener(void **state)
{
	struct openmp_record *record;

	(void)state;
	add(1000, 100, CODE);
	add(2000, 300, LIBC);
	record = open_record(OPENMP_OPEN, 250);
	join();
	EXPECT(EVENT_NODE_PROGRAM_ROOT, 1000, EVENT_FRAME_OMP_REGION, 20, 10);
	record->kind = OPENMP_JOIN;
	count = 0;
	add(1000, 100, CODE);
	add(2000, 300, LIBC);
	join();
	EXPECT(EVENT_NODE_PROGRAM_ROOT, 1000, EVENT_FRAME_OMP_BARRIER, EVENT_FRAME_OMP_REGION, 20, 10);
}

/* The thread of the origin has ended: its tree is another's. */
static void test_gone(void **state)
{
	(void)state;
	stack_of_body();
	open_record(OPENMP_REGION, 250);
	epoch++;
	join();
	EXPECT(EVENT_NODE_THREAD_ROOT, 1000, 1001, EVENT_FRAME_OMP_REGION, 2000, 2001);
}

static void test_no_room(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MOST - 1; i++)
		add(1000 + i, 100 + i, CODE);
	open_record(OPENMP_REGION, 250);
	is_whole = false;
	join();
	assert_true(count <= MOST);
	assert_int_equal(root, EVENT_NODE_THREAD_ROOT);
	assert_false(is_whole);
	for (unsigned i = 0; openmp_push(&thread, &(struct openmp_record){.address = 1, .kind = OPENMP_LOCK});
		i++)
		assert_true(i < OPENMP_RECORDS);
	assert_int_equal(atomic_load(&thread.depth), OPENMP_RECORDS);
}

#ifdef __x86_64__
static unsigned looks, torn;

/* After each instruction of the test. */
static void look(int number)
{
	uint32_t depth = atomic_load(&thread.depth);
	const struct openmp_record *record = &thread.records[depth ? depth - 1 : 0];

	(void)number;
	looks++;
	torn += depth && (record->kind != OPENMP_REGION || record->address != 250 || !record->team ||
				 !record->origin.tree);
}

/* A sample may come anywhere while a record is opened, and sees a whole one or none. */
static void test_interrupted(void **state)
{
	const struct sigaction action = {.sa_handler = look};
	const struct openmp_record record = {
		.address = 250, .origin = origin_make(), .team = &thread.teams[0], .kind = OPENMP_REGION};
	struct sigaction before;

	(void)state;
	looks = torn = 0;
	memset(thread.records, 0, sizeof thread.records);
	assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc"); /* single steps */
	openmp_push(&thread, &record);
	__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
	sigaction(SIGTRAP, &before, NULL);
	assert_true(looks > 5);
	assert_int_equal(torn, 0);
	assert_int_equal(atomic_load(&thread.depth), 1);
}
#endif

/* What the cache of paths goes by: equal where the path is, and only there. */
static void test_hash(void **state)
{
	uint64_t region, barrier;

	(void)state;
	assert_int_equal(openmp_hash(&thread), 0);
	open_record(OPENMP_REGION, 250);
	region = openmp_hash(&thread);
	open_record(OPENMP_BARRIER, 150);
	barrier = openmp_hash(&thread);
	openmp_pop(&thread);
	assert_int_equal(openmp_hash(&thread), region);
	assert_true(region && barrier && region != barrier);
	thread.records[0].origin.node++;
	assert_true(openmp_hash(&thread) != region);
	assert_int_equal(atomic_load(&thread.depth), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_region, begin),
		cmocka_unit_test_setup(test_partial, begin), cmocka_unit_test_setup(test_other_stack, begin),
		cmocka_unit_test_setup(test_waits, begin), cmocka_unit_test_setup(test_task, begin),
		cmocka_unit_test_setup(test_over, begin), cmocka_unit_test_setup(test_team_over, begin),
		cmocka_unit_test_setup(test_opener, begin), cmocka_unit_test_setup(test_gone, begin),
#ifdef __x86_64__
		cmocka_unit_test_setup(test_interrupted, begin),
#endif
		cmocka_unit_test_setup(test_no_room, begin), cmocka_unit_test_setup(test_hash, begin)};
	static struct event_module modules[8];

	process.modules = modules;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
