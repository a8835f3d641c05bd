/* SPDX-License-Identifier: Apache-2.0 */
/* record_preload.c - LD_PRELOAD of the next program, and of the one behind it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/process/preload.h"

#define AGENT "/nowhere/agent.so"

static void expect(const char *wanted, const char *others, bool is_wanted, const char *first)
{
	const struct preload ours = {
		.agent = AGENT, .is_wanted = is_wanted, .with_mpi = true, .first = first};
	char word[4096];

	if (preload_write(word, sizeof(word), others, &ours))
		assert_string_equal(word, wanted);
	else
		assert_null(wanted);
}

static void others_stay_behind(void **state)
{
	(void)state;
	expect("LD_PRELOAD=" AGENT, NULL, true, "");
	expect("LD_PRELOAD=" AGENT ":a.so:/b.so", "a.so /b.so", true, "");
	expect("LD_PRELOAD=" AGENT ":a.so", "a.so:" AGENT ":/nowhere/agent-mpi.so", true, "");
	expect("LD_PRELOAD=a.so", AGENT "::a.so", false, "");
	expect(NULL, "/nowhere/agent-mpi.so:" AGENT, false, "");
}

/* Ours has a blank behind it, and is there for one program alone. */
static void sanitizers_stay_first(void **state)
{
	(void)state;
	expect("LD_PRELOAD=libasan.so.8 " AGENT ":a.so", "a.so", true, "libasan.so.8");
	expect("LD_PRELOAD=" AGENT ":a.so", "libasan.so.8 " AGENT ":a.so", true, "");
	expect("LD_PRELOAD=libasan.so.8 " AGENT, "libasan.so.8 " AGENT, true, "libasan.so.8");
	expect(NULL, "libasan.so.8 " AGENT, false, "");
	expect("LD_PRELOAD=libasan.so.8:" AGENT ":a.so", "a.so:libasan.so.8", true, "");
	expect("LD_PRELOAD=/x/libclang_rt.asan-x.so:" AGENT ":a.so", AGENT ":/x/libclang_rt.asan-x.so:a.so",
		true, "libasan.so.8");
	expect("LD_PRELOAD=libasan.so.8:a.so", "libasan.so.8:" AGENT ":a.so", false, "");
	expect("LD_PRELOAD=" AGENT ":/libasan.so/b.so", "/libasan.so/b.so", true, "");
}

static void what_is_too_long_is_refused(void **state)
{
	const struct preload ours = {.agent = AGENT, .is_wanted = true, .first = ""};
	char word[sizeof("LD_PRELOAD=" AGENT) + 8];

	(void)state;
	assert_true(preload_write(word, sizeof(word), "a.so", &ours));
	assert_false(preload_write(word, sizeof(word), "a-very-long-name.so", &ours));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_stay_behind),
		cmocka_unit_test(sanitizers_stay_first),
		cmocka_unit_test(what_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
