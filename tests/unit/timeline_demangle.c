// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.demangle - symbols become the names people know, and no symbol is too odd.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/seed.h"
#include "timeline/debug/demangle.h"

static const struct {
	const char *symbol, *name;
	bool mangled;
} cases[] = {
	{"main", "main", false},
	{"", "", false},
	{"_Z", "_Z", false},
	{".L1", ".L1", false},
	{"_ZN3foo3barIiEEvT_", "foo::bar<int>", true},
	{"_ZN3foo3barIiEEvT_.constprop.0", "foo::bar<int>", true},
	{"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo", true},
	{"_ZZ4workiENKUlvE_clEv", "work(int)::{lambda()#1}::operator()", true},
	{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back", true},
	{"foo.isra.0.part.3", "foo", false},
	{"foo.cold", "foo", false},
	{"foo.clone.4", "foo", false},
	{"runtime.clone", "runtime.clone", false}, /* Go */
	{"foo.lto_priv.12", "foo", false},
	{"inner.0", "inner", false},
	{"main._omp_fn.0", "main._omp_fn.0", false},
	{"_Z4workv._omp_fn.1.cold", "work._omp_fn.1", true},
	{"main.main.func1.1", "main.main.func1.1", false},
	{"__heat_MOD_solve", "heat::solve", true},
	{"_MOD_", "_MOD_", false},
	{"___MOD_x", "___MOD_x", false},
	{"_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place", true},
	{"_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE.llvm.123",
		"<alloc::string::String as core::fmt::Display>::fmt", true},
	{"_RNvC6_123foo3bar", "123foo::bar", true},
};

static void test_known(void **state)
{
	char name[DEMANGLE_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(demangle_symbol(cases[i].symbol, name, sizeof name), cases[i].mangled);
		assert_string_equal(name, cases[i].name);
	}
}

/* A short symbol that stands for 2^40 bytes, one as deep as it is long, and one longer than any buffer. */
static void test_bombs(void **state)
{
	char symbol[20000], name[DEMANGLE_MAX];
	size_t size = 0;

	(void)state;
	size += (size_t)sprintf(symbol, "_Z1fI1aI1bS_S_E");
	for (int i = 0; i < 40; i++)
		size += (size_t)sprintf(symbol + size, "1cIS%c_S%c_E", '0' + i % 8, '0' + i % 8);
	strcpy(symbol + size, "EvT_");
	demangle_symbol(symbol, name, sizeof name);
	assert_true(strlen(name) < DEMANGLE_MAX);
	memset(symbol, 'P', 8000);
	memcpy(symbol, "_Z1fP", 5);
	strcpy(symbol + 8000, "i");
	demangle_symbol(symbol, name, sizeof name);
	assert_string_equal(name, "f");
	memset(symbol, 'N', sizeof symbol);
	memcpy(symbol, "_ZN", 3);
	symbol[sizeof symbol - 1] = '\0';
	assert_false(demangle_symbol(symbol, name, sizeof name));
	assert_int_equal(strlen(name), DEMANGLE_MAX - 1);
}

/* Small buffers cut, and never overrun. */
static void test_small(void **state)
{
	(void)state;
	for (size_t size = 1; size < 40; size++) {
		char *name = malloc(size);

		demangle_symbol("_ZN3foo3barIiEEvT_._omp_fn.0", name, size);
		assert_true(strlen(name) < size);
		demangle_symbol("__heat_MOD_solve.cold", name, size);
		assert_true(strlen(name) < size);
		free(name);
	}
}

static void test_random(void **state)
{
	static const char alphabet[] = "_ZRNSKIEJTL0123456789abcvif.$PO";
	char symbol[200], name[DEMANGLE_MAX];

	(void)state;
	srand((unsigned)seed_take(__func__, 2));
	for (int i = 0; i < 200000; i++) {
		size_t size = (size_t)rand() % (sizeof symbol - 3);

		memcpy(symbol, rand() % 4 ? "_Z" : "_R", 2);
		for (size_t k = 2; k < size + 2; k++)
			symbol[k] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
		symbol[size + 2] = '\0';
		demangle_symbol(symbol, name, sizeof name);
		assert_true(strlen(name) < sizeof name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
