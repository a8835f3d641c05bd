// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.capstone - a machine on which capstone is not installed: x86-64 code has no loops, which is
 * said, names are found all the same, and are not kept for runs that may have it.
 */
#include <dlfcn.h>
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"
#include "timeline/code/decode.h"
#include "timeline/names/names.h"

static char directory[] = "/tmp/hpct-test-XXXXXX";

/* In place of libc's: this program loads nothing else. */
void *dlopen(const char *name, int flags)
{
	(void)name, (void)flags;
	return NULL;
}

static void test_missing(void **state)
{
	struct decoder *decoder;

	(void)state;
	assert_non_null(decoder_lacks(EM_X86_64));
	assert_int_equal(decoder_open(&decoder, EM_X86_64), 1);
	assert_null(decoder);
	assert_null(decoder_lacks(EM_AARCH64));
	assert_false(decoder_may_come(EM_AARCH64));
	assert_false(decoder_may_come(EM_RISCV));
#ifdef HPCT_HAS_CAPSTONE
	assert_string_equal(decoder_lacks(EM_X86_64), "capstone is not installed: no loops");
	assert_true(decoder_may_come(EM_X86_64));
#else
	assert_false(decoder_may_come(EM_X86_64));
#endif
}

/* How many files the cache has. */
static int kept(void)
{
	char command[256];
	int count = -1;
	FILE *out;

	snprintf(command, sizeof command, "find %s/cache -type f | wc -l", directory);
	out = popen(command, "r");
	assert_non_null(out);
	assert_int_equal(fscanf(out, "%d", &count), 1);
	assert_int_equal(pclose(out), 0);
	return count;
}

static void test_names(void **state)
{
	static struct symbol_answer answer;
	char path[256], cache[256], command[512];
	struct names_options options = {.shared = cache};
	struct symbol_request request = {.kind = STORE_MODULE_ELF, .path = path, .real_path = path};
	struct names_module *module;
	unsigned long begin;
	struct names *names;
	FILE *out;

	(void)state;
#ifndef __x86_64__
	skip(); /* its own compiler makes other code */
#endif
	if (!decoder_may_come(EM_X86_64)) {
		print_message("skipped: hpct was built without capstone\n");
		skip();
	}
	snprintf(path, sizeof path, "%s/program", directory);
	snprintf(cache, sizeof cache, "%s/cache", directory);
	snprintf(command, sizeof command,
		"cd %s && mkdir cache && echo 'int main(void) { return 3; }' >program.c && "
		"cc -O1 -g -Wl,--build-id program.c -o program && nm program | awk '$3 == \"main\" { print "
		"$1 }'",
		directory);
	out = popen(command, "r");
	assert_non_null(out);
	assert_int_equal(fscanf(out, "%lx", &begin), 1);
	assert_int_equal(pclose(out), 0);
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	assert_int_equal(names_find(module, begin, &answer, NULL), 0);
	assert_string_equal(answer.scopes[0].name, "main");
	assert_int_equal(answer.source, NAMES_FROM_DEBUG);
	assert_non_null(strstr(names_module_note(module), "no loops"));
	names_close(names);
	assert_int_equal(kept(), 0);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
