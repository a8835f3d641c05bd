/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_no_return.c - calls that do not come back, by the names that this program has for its own
 * functions: those of C, of C++, of Rust by both manglings, and names that only look like them. */
#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "timeline/code/no_return.h"

#define NAMED(number, name)                                                         \
	__attribute__((used, noinline)) void function_##number(void) __asm__(name); \
	void function_##number(void)                                                \
	{                                                                           \
		__asm__ volatile("");                                               \
	}

NAMED(0, "_ZSt20__throw_length_errorPKc")
NAMED(1, "_ZN4core9panicking5panic17h0123456789abcdefE")
NAMED(2, "_RNvNtCs1234_4core9panicking9panic_fmt")
NAMED(3, "__rust_begin_panic_handler")
NAMED(4, "_ZN4core6result13unwrap_failed17h0123456789abcdefE.llvm.77")
NAMED(5, "_gfortran_os_error_at")
NAMED(6, "_ZN6engine11begin_panicEv")
NAMED(7, "_ZN4core9panicking_not_so17g0123456789abcdefE")
NAMED(8, "_gfortran_os_error_atx")
NAMED(9, "begin_panic")

static bool comes_back(const struct no_return *known, void (*function)(void))
{
	GElf_Ehdr header;
	Dl_info info;

	assert_true(dladdr((void *)(uintptr_t)function, &info));
	assert_non_null(gelf_getehdr(known->elf, &header));
	return no_return_comes_back(known,
		(uint64_t)((uintptr_t)function - (header.e_type == ET_DYN ? (uintptr_t)info.dli_fbase : 0)),
		0);
}

static void test_names_that_do_not_come_back(void **state)
{
	static void (*const gone[])(void) = {
		function_0, function_1, function_2, function_3, function_4, function_5};
	static void (*const back[])(void) = {function_6, function_7, function_8, function_9};
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct no_return known = {0};
	Elf *elf;

	(void)state;
	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
	assert_non_null(elf);
	assert_int_equal(no_return_init(&known, elf, EM_X86_64), 0);
	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
		assert_false(comes_back(&known, gone[i]));
	for (size_t i = 0; i < sizeof back / sizeof *back; i++)
		assert_true(comes_back(&known, back[i]));
	no_return_fini(&known);
	elf_end(elf);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names_that_do_not_come_back)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
