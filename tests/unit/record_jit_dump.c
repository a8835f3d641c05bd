/* SPDX-License-Identifier: Apache-2.0 */
/* record_jit_dump.c - tests of record/modules/jit_dump.h: what a program says in its dump, whole records
 * alone, and nothing of a damaged one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/modules/jit_dump.h"

struct record {
	uint32_t kind, bytes;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, address, second, third;
};

static char got[512];
static struct jit_dump dump;
static FILE *file;

static void take(void *own, const struct jit_dump_code *code)
{
	size_t used = strlen(got);

	(void)own;
	snprintf(got + used, sizeof(got) - used, "%llx+%llx<%llx %.*s;", (unsigned long long)code->begin,
		(unsigned long long)code->size, (unsigned long long)code->from, (int)code->name_bytes,
		code->name ? code->name : "");
}

static const char *look(void)
{
	fflush(file);
	got[0] = '\0';
	jit_dump_read(&dump, take, NULL);
	return got;
}

/* `bytes`: of what follows the fields; said: more or less than there is. */
static void put(uint32_t kind, uint64_t address, uint64_t second, const char *text, size_t bytes, int said)
{
	struct record record = {kind, (uint32_t)((int)(sizeof(record) + bytes) + said), 1, 1, 1, 0, address,
		second, kind == 1 ? 16 : 1};

	fwrite(&record, sizeof(record), 1, file);
	fwrite(text, 1, bytes, file);
}

static int setup(void **state)
{
	uint32_t header[10] = {0x4a695444, 1, sizeof(header)};

	(void)state;
	file = tmpfile();
	if (!file)
		return -1;
	fwrite(header, sizeof(header), 1, file);
	fflush(file);
	dump = (struct jit_dump){.file = dup(fileno(file)) + 1};
	return dump.file ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	jit_dump_fini(&dump);
	return fclose(file);
}

static void test_records(void **state)
{
	(void)state;
	assert_string_equal(look(), "");
	put(0, 0x1000, 16, "one\0code", 8, 0);
	put(2, 0, 0, "debug information", 17, 0);
	put(1, 0x1000, 0x2000, "12345678", 8, 0);
	assert_string_equal(look(), "1000+10<0 one;2000+10<1000 ;");
	assert_string_equal(look(), "");
	put(0, 0x3000, 16, "name without end", 16, 0);
	put(0, 0x4000, 0, "no code", 8, 0);
	put(0, UINT64_MAX - 4, 16, "beyond", 7, 0);
	put(77, 0, 0, "unknown", 7, 0);
	put(0, 0x5000, 32, "last", 5, 0);
	assert_string_equal(look(), "3000+10<0 name without end;5000+20<0 last;");
}

/* A record that is being written is not taken before it is whole. */
static void test_half(void **state)
{
	(void)state;
	put(0, 0x1000, 16, "half", 4, 5);
	assert_string_equal(look(), "");
	fwrite("\0rest", 1, 5, file);
	assert_string_equal(look(), "1000+10<0 half;");
}

/* More code than is read of a record at once. */
static void test_long(void **state)
{
	static char text[20000] = "long";

	(void)state;
	put(0, 0x1000, 16, text, sizeof(text), 0);
	put(0, 0x2000, 16, "next", 5, 0);
	assert_string_equal(look(), "1000+10<0 long;2000+10<0 next;");
}

static void test_damage(void **state)
{
	uint32_t small[4] = {0, 12, 0, 0}, huge[4] = {0, UINT32_MAX, 0, 0};

	(void)state;
	put(0, 0x1000, 16, "one", 4, 0);
	fwrite(small, sizeof(small), 1, file);
	put(0, 0x2000, 16, "two", 4, 0);
	assert_string_equal(look(), "1000+10<0 one;");
	assert_true(dump.is_bad);
	assert_string_equal(look(), "");
	jit_dump_fini(&dump);
	fclose(file);
	assert_int_equal(setup(NULL), 0); /* opens it again */
	// cppcheck-suppress useClosedFile
	fwrite(huge, sizeof(huge), 1, file);
	assert_string_equal(look(), "");
	assert_true(dump.is_bad);
}

/* Fields cut short by the record's own size. */
static void test_short(void **state)
{
	uint32_t brief[6] = {0, 24, 0, 0, 1, 1};

	(void)state;
	fwrite(brief, sizeof(brief), 1, file);
	put(0, 0x2000, 16, "two", 4, 0);
	assert_string_equal(look(), "2000+10<0 two;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_records, setup, teardown),
		cmocka_unit_test_setup_teardown(test_half, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_short, setup, teardown)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
