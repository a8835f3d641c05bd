/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_label.c - names made to fit (tui/SCREEN.md, "Names"), hostile names made harmless, and for any name and
 * any width: never wider than asked for, never a byte that a terminal would obey.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/seed.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"

#define KERNEL                                                                              \
	"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, " \
	"std::array<char*, 3ul>>(int, at::native::AddFunctor<float>, std::array<char*, 3ul>)"
#define ELLIPSIS "\xe2\x80\xa6"

static const struct {
	const char *name;
	int cells;
	enum label_place place;
	const char *want;
} cases[] = {
	{KERNEL, 200, LABEL_TABLE,
		"at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, "
		"std::array<char*, 3ul>>"},
	{KERNEL, 60, LABEL_TABLE, "at::native::vectorized_elementwise_kernel<4, " ELLIPSIS ">"},
	{KERNEL, 46, LABEL_TABLE, "at::native::vectorized_elementwise_kernel<" ELLIPSIS ">"},
	{KERNEL, 41, LABEL_TABLE, "native::vectorized_elementwise_kernel<" ELLIPSIS ">"},
	{KERNEL, 33, LABEL_TABLE, "vectorized_elementwise_kernel<" ELLIPSIS ">"},
	{KERNEL, 30, LABEL_TABLE, "vectorized_elementwise_kernel"},
	{KERNEL, 24, LABEL_TABLE, "vectorized_ele" ELLIPSIS "se_kernel"},
	{KERNEL, 12, LABEL_TABLE, "vectori" ELLIPSIS "rnel"},
	{KERNEL, 8, LABEL_TABLE, "vectoriz"},
	{KERNEL, 0, LABEL_TABLE, ""},
	{KERNEL, 60, LABEL_CELL, "at::native::vectorized_elementwise_kernel"},
	{KERNEL, 39, LABEL_CELL, "vectorized_elementwise_kernel"},
	{KERNEL, 60, LABEL_STACK, "vectorized_elementwise_kernel<" ELLIPSIS ">"},
	{"Solver::step<double, 32>", 30, LABEL_TABLE, "Solver::step<double, 32>"},
	{"Solver::step<double, 32>", 22, LABEL_TABLE, "Solver::step<" ELLIPSIS ">"},
	{"Solver::step<double, 32>", 40, LABEL_CELL, "Solver::step"},
	{"Solver::step<double, 32>", 11, LABEL_CELL, "step"},
	{"Solver::step<double, 32>", 3, LABEL_CELL, "ste"},
	{"main", 10, LABEL_CELL, "main"},
	{"py::Net.forward:/opt/site-packages/nn/linear.py", 60, LABEL_TABLE,
		"py::Net.forward:/opt/site-packages/nn/linear.py"},
	{"py::Net.forward:/opt/site-packages/nn/linear.py", 40, LABEL_TABLE, "py::Net.forward:linear.py"},
	{"py::Net.forward:/opt/site-packages/nn/linear.py", 20, LABEL_TABLE, "py::Net.forward"},
	{"py::Net.forward:/opt/site-packages/nn/linear.py", 60, LABEL_CELL, "py::Net.forward"},
	{"py::Net.forward:/opt/site-packages/nn/linear.py", 12, LABEL_CELL, "Net.forward"},
	{"py::Net.forward:/opt/site-packages/nn/linear.py", 7, LABEL_CELL, "Net.for"},
	{"py::<module>:<frozen os>", 20, LABEL_STACK, "py::<module>"},
	{"py::buffer<int>", 10, LABEL_CELL, "py::buffer"},
	{"operator new", 20, LABEL_STACK, "operator new"},
	{"operator new(unsigned long)", 20, LABEL_STACK, "operator new"},
	{"std::operator<< <char>(std::ostream&, char const*)", 40, LABEL_CELL, "std::operator<<"},
	{"bool std::operator<(Foo const&, Foo const&)", 40, LABEL_CELL, "std::operator<"},
	{"Foo::operator()(int) const", 40, LABEL_CELL, "Foo::operator()"},
	{"Foo::operator->() const", 40, LABEL_CELL, "Foo::operator->"},
	{"a::Foo<int>::Foo(int)", 8, LABEL_CELL, "Foo::Foo"},
	{"a::Foo<int>::~Foo()", 9, LABEL_CELL, "Foo::~Foo"},
	{"outer(int)::{lambda(int)#2}::operator()(int) const", 40, LABEL_CELL, "outer{lambda 2}"},
	{"a::outer(int)::{lambda()#1}::operator()() const", 18, LABEL_CELL, "a::outer{lambda 1}"},
	{"main._omp_fn.0", 40, LABEL_CELL, "main{omp 0}"},
	{"core::ptr::drop::h0123456789abcdef", 40, LABEL_CELL, "core::ptr::drop"},
	{"(anonymous namespace)::helper(int)", 40, LABEL_CELL, "(anonymous namespace)::helper"},
	{"(anonymous namespace)::helper(int)", 10, LABEL_CELL, "helper"},
	{"<program root>", 20, LABEL_TABLE, "<program root>"},
	{"<copy host to device>", 30, LABEL_TABLE, "<copy host to device>"},
	{"libc.so.6+0x1234", 30, LABEL_TABLE, "libc.so.6+0x1234"},
	{"", 10, LABEL_TABLE, ""},
	{"::", 10, LABEL_CELL, "::"},
	{"<", 10, LABEL_CELL, "<"},
	{"a<b<c", 10, LABEL_CELL, "a"},
	{"evil\x1b[2Jname", 40, LABEL_TABLE, "evil\\x1B[2Jname"},
	{"line\nbreak\ttab", 40, LABEL_TABLE, "line\\x0Abreak\\x09tab"},
	{"bad\xff\xfe utf", 40, LABEL_TABLE, "bad\\xFF\\xFE utf"},
	{"\xc2\x9b"
	 "31m",
		40, LABEL_TABLE, "\\xC2\\x9B31m"},
};

static void test_steps(void **state)
{
	char out[LABEL_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		label_fit(out, cases[i].name, cases[i].cells, cases[i].place, false);
		if (strcmp(out, cases[i].want) != 0)
			print_error("%s at %d: '%s', not '%s'\n", cases[i].name, cases[i].cells, out,
				cases[i].want);
		assert_string_equal(out, cases[i].want);
	}
}

/* Any bytes, any width: the result fits, and holds nothing but printable text. */
static void test_hostile(void **state)
{
	static const char alphabet[] = "ab:<>(){}[]~,# \x1b\n\xc3\xa9\xff-_operator";
	unsigned seed = (unsigned)seed_take(__func__, 12345);
	char name[64], out[LABEL_BYTES];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		size_t size = (size_t)rand_r(&seed) % sizeof(name);
		int cells = rand_r(&seed) % 40;
		for (size_t j = 0; j < size; j++)
			name[j] = alphabet[(size_t)rand_r(&seed) % (sizeof(alphabet) - 1)];
		name[size ? size - 1 : 0] = '\0';
		label_fit(out, name, cells, (enum label_place)(i % 3), i & 4);
		assert_true(text_cells(out) <= cells);
		for (const char *at = out; *at; at++)
			assert_true((unsigned char)*at >= 0x20 && (unsigned char)*at != 0x7f &&
				    (!(i & 4) || (unsigned char)*at < 0x80));
	}
}

static void test_long(void **state)
{
	char *name = malloc(100001), out[LABEL_BYTES];

	(void)state;
	memset(name, '<', 100000);
	name[100000] = '\0';
	label_fit(out, name, 30, LABEL_TABLE, false);
	assert_true(text_cells(out) <= 30);
	for (int i = 0; i < 100000; i += 4)
		memcpy(name + i, "a<b:", 4);
	label_fit(out, name, 30, LABEL_TABLE, false);
	assert_true(text_cells(out) <= 30);
	label_stream(out, name, 2000, true);
	assert_true(text_cells(out) <= 2000);
	free(name);
}

static void test_ends(void **state)
{
	char out[LABEL_BYTES];

	(void)state;
	label_stream(out, "node07/rank 17 worker 3", 17, false);
	assert_int_equal(text_cells(out), 17);
	assert_non_null(strstr(out, "17 worker 3"));
	label_stream(out, "worker 12", 7, false);
	assert_string_equal(out, "work 12");
	label_stream(out, "rank 0", 5, false);
	assert_string_equal(out, "ran 0");
	label_file(out, "/home/u/src/csr/matrix.cc", 203, 20, false);
	assert_string_equal(out, "csr/matrix.cc:203");
	label_file(out, "/home/u/src/csr/matrix.cc", 203, 40, false);
	assert_string_equal(out, "/home/u/src/csr/matrix.cc:203");
	label_file(out, "matrix.cc", 0, 40, false);
	assert_string_equal(out, "matrix.cc");
}

static void test_path(void **state)
{
	static const char *const frames[] = {"main", "Solver::run", "Solver::step<double, 3>",
		"build_matrix<Csr>", "insert_row", "_M_insert_unique_", "operator new", "_int_malloc"};
	static const char *const lone[] = {"main"};
	char out[LABEL_BYTES];

	(void)state;
	label_path(out, frames, 8, 3, 200, false);
	assert_string_equal(out, "main/Solver::run/Solver::step/[build_matrix]/insert_row/_M_insert_unique_/"
				 "operator new/_int_malloc");
	label_path(out, frames, 8, 3, 80, false);
	assert_string_equal(
		out, "main/Solver::run/Solver::step/[build_matrix]/insert_row/" ELLIPSIS "/_int_malloc");
	label_path(out, frames, 8, 3, 80, true);
	assert_string_equal(out, "main/Solver::run/Solver::step/[build_matrix]/insert_row/../_int_malloc");
	label_path(out, frames, 8, 3, 40, false);
	assert_string_equal(out, "main/" ELLIPSIS "/[build_matrix]/" ELLIPSIS "/_int_malloc");
	for (int cells = 1; cells < 120; cells++)
		for (size_t at = 0; at < 10; at++) {
			label_path(out, frames, 8, at, cells, cells & 1);
			assert_true(text_cells(out) <= cells);
		}
	label_path(out, lone, 1, 0, 20, false);
	assert_string_equal(out, "[main]");
	label_path(out, lone, 0, 0, 20, false);
	assert_string_equal(out, "");
}

static void test_program(void **state)
{
	char out[LABEL_BYTES];

	(void)state;
	label_program(out, "cc1plus foo.cc", 20, false);
	assert_string_equal(out, "cc1plus foo.cc");
	label_program(out, "cc1plus foo.cc", 11, false);
	assert_string_equal(out, "cc1p foo.cc");
	label_program(out, "cc1plus foo.cc", 9, false);
	assert_string_equal(out, "cc foo.cc");
	label_program(out, "cc1plus foo.cc", 6, false);
	assert_string_equal(out, "foo.cc"); /* what tells it from its neighbours */
	label_program(out, "postgres", 6, false);
	assert_true(text_cells(out) <= 6);
	for (int cells = 1; cells < 20; cells++) {
		label_program(out, "cc1plus a_long_name_of_a_file.cc", cells, cells & 1);
		assert_true(text_cells(out) <= cells);
	}
}

static void test_quantities(void **state)
{
	char out[FORMAT_NUMBER_BYTES];

	(void)state;
	format_number_time(out, 1335886000, 2097152);
	assert_string_equal(out, "1.335 886 s");
	format_number_time(out, -1335886214, 10);
	assert_string_equal(out, "-1.335 886 214 s");
	format_number_duration(out, 142606336, 1);
	assert_string_equal(out, "142.6 ms");
	format_number_duration(out, 999, 1);
	assert_string_equal(out, "999 ns");
	format_number_duration(out, 0, 1);
	assert_string_equal(out, "0 ns");
	format_number_duration(out, 4100000000, 3);
	assert_string_equal(out, "4.100 s");
	format_number_short(out, 2097152);
	assert_string_equal(out, "2.10 ms");
	format_number_short(out, 12582912);
	assert_string_equal(out, "12.6 ms");
	format_number_in(out, 436207616, format_number_unit_for(436207616));
	assert_string_equal(out, "436.2 ms");
	format_number_duration(out, UINT64_MAX, 3);
	assert_string_equal(out, "18446744073.709 s");
	format_number_share(out, 1, 1000000, 1);
	assert_string_equal(out, "<0.1 %");
	format_number_share(out, 999999, 1000000, 0);
	assert_string_equal(out, "99 %");
	format_number_share(out, 0, 10, 1);
	assert_string_equal(out, "0.0 %");
	format_number_share(out, 10, 10, 0);
	assert_string_equal(out, "100 %");
	format_number_share(out, 0, 0, 0);
	assert_string_equal(out, "0 %");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_quantities),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
