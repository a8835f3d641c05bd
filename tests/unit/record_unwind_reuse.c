/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_unwind_reuse.c - walks that go on as the last one did, against walks that know of none: on a made
 * stack whose inner frames come and go, and where words change anywhere. And that they need no rules for what
 * they know.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/unwind/unwind_step.h"
#include "tests/unit/seed.h"
#include "tests/unit/unwind_blind.h"

#define STACK_WORDS 8192
#define SITES 40
#define DEEP 60
#define WALKS 20000
#define SITE_PC(site) (UINT64_C(0x7f0000000000) + 64 * (uint64_t)(site))
#define END_PC SITE_PC(SITES)

static struct unwinder keeping, plain;
static struct unwind_frame keeping_frames[UNWIND_FRAMES_MAX], plain_frames[UNWIND_FRAMES_MAX];
static uint64_t stack[STACK_WORDS];
static uint64_t chance;

/* What is called from a site; sizes are words, the return address is the outermost. */
static struct site {
	struct unwind_rule rule;
	unsigned words;
} sites[SITES];

static unsigned path[DEEP], depth; /* sites, outermost first */
static struct arch_registers start;

static uint64_t draw(uint64_t below)
{
	uint64_t z = chance += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return (z ^ z >> 27) % below;
}

static void rules_put(struct unwinder *u)
{
	for (unsigned i = 0; i < SITES; i++)
		*unwind_cache_entry(u, SITE_PC(i)) = sites[i].rule;
	*unwind_cache_entry(u, END_PC) = (struct unwind_rule){.pc = END_PC, .kind = RULE_FENCE};
}

static void unwinder_init(struct unwinder *u, struct unwind_frame *frames)
{
	memset(u, 0, sizeof(*u));
	u->space.memory.read = no_memory;
	u->space.memory.low = (uintptr_t)stack;
	u->space.memory.high = (uintptr_t)(stack + STACK_WORDS);
	u->space.module_find = no_module;
	u->frames = frames;
	u->most = UNWIND_FRAMES_MAX;
	rules_put(u);
}

/* Every third has a frame pointer; of the others some save it all the same. */
static void sites_draw(void)
{
	for (unsigned i = 0; i < SITES; i++) {
		bool has_fp = i % 3 == 0;

		sites[i].words = 3 + (unsigned)draw(12);
		sites[i].rule = (struct unwind_rule){.pc = SITE_PC(i),
			.kind = has_fp ? RULE_FP : RULE_SP,
			.cfa_offset = has_fp ? 16 : 8 * (int32_t)sites[i].words,
			.slot = (uint16_t)(i % 4),
			.fp_words = has_fp	 ? -2
				    : i % 3 == 1 ? -3
						 : 0,
			.ra_words = -1,
			.flags = draw(12) ? 0 : RULE_HIDDEN,
			.function = (uint32_t)draw(9)};
	}
}

static int set_up(void **state)
{
	(void)state;
	sites_draw();
	unwinder_init(&keeping, keeping_frames);
	unwinder_init(&plain, plain_frames);
	memset(stack, 0, sizeof(stack));
	depth = 0;
	return 0;
}

/* The stack of `path`, and the registers of the innermost frame. */
static void stack_make(void)
{
	uint64_t *cfa = stack + STACK_WORDS - 8, fp = 0, pc = END_PC + 1;

	for (unsigned i = 0; i < depth; i++) {
		const struct site *site = &sites[path[i]];

		cfa[-1] = pc;
		if (site->rule.fp_words)
			cfa[site->rule.fp_words] = fp;
		if (site->rule.kind == RULE_FP)
			fp = (uintptr_t)(cfa - 2);
		cfa -= site->words;
		pc = SITE_PC(path[i]) + 1;
	}
	start = (struct arch_registers){.known = ARCH_ALL_KNOWN};
	start.value[ARCH_PC] = pc - 1; /* the pc itself: it has not called */
	start.value[ARCH_SP] = (uintptr_t)cfa;
	start.value[ARCH_FP] = fp;
}

/* Leaves some frames, and enters others. */
static void path_move(void)
{
	unsigned left = (unsigned)draw(draw(8) ? 4 : DEEP);

	depth -= left < depth ? left : depth;
	for (unsigned more = (unsigned)draw(draw(8) ? 5 : DEEP); more && depth < DEEP; more--)
		path[depth++] = (unsigned)draw(SITES);
}

static void word_change(void)
{
	uint64_t *word = &stack[STACK_WORDS - 1 - draw(400)];

	switch (draw(3)) {
	case 0:
		*word = SITE_PC(draw(SITES)) + 1;
		break;
	case 1:
		*word = (uintptr_t)&stack[STACK_WORDS - 1 - draw(400)];
		break;
	default:
		*word ^= 1u << draw(8);
	}
}

static void walks_agree(void)
{
	enum unwind_result known, truth;

	rules_put(&keeping); /* what was met by chance may have taken the place of some */
	rules_put(&plain);
	plain.reuse.count = 0;
	known = unwind_walk(&keeping, &start);
	truth = unwind_walk(&plain, &start);
	assert_int_equal(known, truth);
	assert_int_equal(keeping.count, plain.count);
	assert_int_equal(keeping.walked, plain.walked);
	assert_int_equal(keeping.unreadable, plain.unreadable);
	assert_memory_equal(&keeping.registers, &plain.registers, sizeof(plain.registers));
	for (unsigned i = 0; i < plain.count; i++) {
		assert_true(keeping_frames[i].address == plain_frames[i].address);
		assert_int_equal(keeping_frames[i].slot, plain_frames[i].slot);
		assert_int_equal(keeping_frames[i].exact, plain_frames[i].exact);
		assert_int_equal(keeping_frames[i].function, plain_frames[i].function);
	}
}

static void test_walks_are_as_without(void **state)
{
	unsigned full = 0;

	(void)state;
	for (unsigned i = 0; i < WALKS; i++) {
		path_move();
		stack_make();
		if (!draw(4))
			word_change();
		keeping.folds = plain.folds = draw(8);
		if (!draw(16))
			keeping.space.memory.high = plain.space.memory.high =
				(uintptr_t)(stack + STACK_WORDS - draw(draw(4) ? 8 : 200));
		walks_agree();
		full += keeping.registers.value[ARCH_PC] == END_PC + 1;
	}
	assert_true(full > WALKS / 2);
}

static void path_draw(void)
{
	for (depth = 0; depth < DEEP;)
		path[depth++] = (unsigned)draw(SITES);
	stack_make();
}

/* Two innermost frames are others. */
static void test_what_is_kept_needs_no_rules(void **state)
{
	(void)state;
	asked = 0;
	path_draw();
	unwind_walk(&keeping, &start);
	assert_int_equal(asked, 0);
	path[DEEP - 1] = (path[DEEP - 1] + 3) % SITES;
	path[DEEP - 2] = (path[DEEP - 2] + 3) % SITES;
	stack_make();
	for (unsigned i = 0; i < SITES; i++)
		if (i != path[DEEP - 1] && i != path[DEEP - 2])
			unwind_cache_entry(&keeping, SITE_PC(i))->kind = RULE_EMPTY;
	assert_int_equal(unwind_walk(&keeping, &start), UNWIND_FULL);
	assert_int_equal(asked, 0);
}

static void test_a_module_that_goes_takes_it_along(void **state)
{
	(void)state;
	path_draw();
	unwind_walk(&keeping, &start);
	unwind_cache_clear(&keeping);
	asked = 0;
	assert_int_equal(unwind_walk(&keeping, &start), UNWIND_PARTIAL);
	assert_int_not_equal(asked, 0);
	assert_int_equal(keeping.reuse.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_walks_are_as_without, set_up),
		cmocka_unit_test_setup(test_what_is_kept_needs_no_rules, set_up),
		cmocka_unit_test_setup(test_a_module_that_goes_takes_it_along, set_up),
	};

	chance = seed_take("kept", 29);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
