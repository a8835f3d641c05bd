/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_context_tree.c - the thread's calling context tree against a plain array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/unwind/context_tree.h"
#include "store/ring/ring.h"
#include "tests/unit/seed.h"

#define CAPACITY 3000u

struct child {
	uint32_t parent, slot;
	uint64_t offset;
};

static struct child children[CAPACITY];

static uint32_t naive_find(uint32_t count, struct child wanted)
{
	for (uint32_t i = 0; i < count; i++)
		if (children[i].parent == wanted.parent && children[i].slot == wanted.slot &&
			children[i].offset == wanted.offset)
			return EVENT_NODE_FIRST + i;
	return 0;
}

static struct child random_child(uint32_t count)
{
	uint32_t parent =
		count && rand() % 8 ? EVENT_NODE_FIRST + (uint32_t)rand() % count : EVENT_NODE_PROGRAM_ROOT;

	return (struct child){parent, (uint32_t)rand() % 3, (uint64_t)rand() % 16 * 8};
}

static void fill_and_compare(struct context_tree *tree)
{
	uint32_t count = 0;

	while (context_tree_nodes_left(tree)) {
		struct child child = random_child(count);
		uint32_t known = naive_find(count, child);

		assert_int_equal(
			context_tree_child_find(tree, child.parent, child.slot, child.offset), known);
		if (known)
			continue;
		children[count++] = child;
		assert_int_equal(context_tree_child_add(tree, child.parent, child.slot, child.offset),
			EVENT_NODE_FIRST + count - 1);
	}
	assert_int_equal(count, CAPACITY);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(context_tree_child_find(
					 tree, children[i].parent, children[i].slot, children[i].offset),
			EVENT_NODE_FIRST + i);
}

static void test_tree_equals_a_plain_array(void **state)
{
	struct context_tree tree;
	void *memory = calloc(CAPACITY, CONTEXT_TREE_NODE_BYTES);

	(void)state;
	srand((unsigned)seed_take(__func__, 21));
	context_tree_init(&tree, memory, CAPACITY);
	assert_int_equal(context_tree_child_find(&tree, EVENT_NODE_PROGRAM_ROOT, 0, 0), 0);
	fill_and_compare(&tree);
	free(memory);
}

static void test_cleared_tree_is_as_new(void **state)
{
	struct context_tree tree;
	char *memory = calloc(CAPACITY, CONTEXT_TREE_NODE_BYTES);

	(void)state;
	srand((unsigned)seed_take(__func__, 22));
	context_tree_init(&tree, memory, CAPACITY);
	fill_and_compare(&tree);
	context_tree_clear(&tree);
	for (size_t i = 0; i < CAPACITY * CONTEXT_TREE_NODE_BYTES; i++)
		assert_int_equal(memory[i], 0);
	assert_int_equal(
		context_tree_child_find(&tree, children[0].parent, children[0].slot, children[0].offset), 0);
	fill_and_compare(&tree);
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree_equals_a_plain_array),
		cmocka_unit_test(test_cleared_tree_is_as_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
