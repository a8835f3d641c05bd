// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.loops - the loop nests of optimized kernels, compiled here, as their authors would tell them.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/store.h"
#include "timeline/code/decode.h"
#include "timeline/names/names.h"

static char directory[] = "/tmp/hpct-test-XXXXXX";

static const char kernels_c[] =
	"#include <stddef.h>\n"						   /* 1 */
	"double a[512][512], b[512][512], c[512][512];\n"		   /* 2 */
	"#define APART __attribute__((noinline, noclone))\n"		   /* 3 */
	"APART void product(int n)\n"					   /* 4 */
	"{\n"								   /* 5 */
	"	for (int i = 0; i < n; i++)\n"				   /* 6 */
	"		for (int j = 0; j < n; j++) {\n"		   /* 7 */
	"			double s = 0;\n"			   /* 8 */
	"			for (int k = 0; k < n; k++)\n"		   /* 9 */
	"				s += a[i][k] * b[k][j];\n"	   /* 10 */
	"			c[i][j] = s;\n"				   /* 11 */
	"		}\n"						   /* 12 */
	"}\n"								   /* 13 */
	"static inline double row(const double *x, int n)\n"		   /* 14 */
	"{\n"								   /* 15 */
	"	double s = 0;\n"					   /* 16 */
	"	for (int i = 0; i < n; i++)\n"				   /* 17 */
	"		s += x[i] * x[i];\n"				   /* 18 */
	"	return s;\n"						   /* 19 */
	"}\n"								   /* 20 */
	"APART double rows(int n)\n"					   /* 21 */
	"{\n"								   /* 22 */
	"	double s = 0;\n"					   /* 23 */
	"	for (int j = 0; j < n; j++)\n"				   /* 24 */
	"		s += row(a[j], n);\n"				   /* 25 */
	"	return s;\n"						   /* 26 */
	"}\n"								   /* 27 */
	"APART int machine(const unsigned char *p, size_t n)\n"		   /* 28 */
	"{\n"								   /* 29 */
	"	int x = 1;\n"						   /* 30 */
	"	for (size_t i = 0; i < n; i++) {\n"			   /* 31 */
	"		switch (p[i]) {\n"				   /* 32 */
	"		case 0: x += 3; break;\n"			   /* 33 */
	"		case 1: x *= 3; break;\n"			   /* 34 */
	"		case 2: x ^= 77; break;\n"			   /* 35 */
	"		case 3: x -= p[i + 1]; break;\n"		   /* 36 */
	"		case 4: x = x >> 1; break;\n"			   /* 37 */
	"		case 5: x |= 8; break;\n"			   /* 38 */
	"		case 6: while (x & 3) x += p[x & 7]; break;\n"	   /* 39 */
	"		case 7: return x;\n"				   /* 40 */
	"		default: x = -x;\n"				   /* 41 */
	"		}\n"						   /* 42 */
	"	}\n"							   /* 43 */
	"	return x;\n"						   /* 44 */
	"}\n"								   /* 45 */
	"APART int tangled(int n, int way)\n"				   /* 46 */
	"{\n"								   /* 47 */
	"	int x = 0;\n"						   /* 48 */
	"	if (way)\n"						   /* 49 */
	"		goto middle;\n"					   /* 50 */
	"top:\n"							   /* 51 */
	"	x += n * way;\n"					   /* 52 */
	"	if (x > 1000000)\n"					   /* 53 */
	"		return x;\n"					   /* 54 */
	"middle:\n"							   /* 55 */
	"	x ^= n;\n"						   /* 56 */
	"	n--;\n"							   /* 57 */
	"	if (n > 0)\n"						   /* 58 */
	"		goto top;\n"					   /* 59 */
	"	return x;\n"						   /* 60 */
	"}\n"								   /* 61 */
	"APART void pair(double *restrict x, double *restrict y, int n)\n" /* 62 */
	"{\n"								   /* 63 */
	"	for (int i = 0; i < n; i++)\n"				   /* 64 */
	"		x[i] = x[i] * 2 + y[i];\n"			   /* 65 */
	"	for (int i = 0; i < n; i++)\n"				   /* 66 */
	"		y[i] = x[i] + y[i] * y[i];\n"			   /* 67 */
	"}\n"								   /* 68 */
	"int main(int argc, char **v)\n"				   /* 69 */
	"{\n"								   /* 70 */
	"	product(argc);\n"					   /* 71 */
	"	pair(a[0], b[0], argc);\n"				   /* 72 */
	"	return (int)rows(argc) + machine((unsigned char *)v[0], 4) + tangled(argc, argc - 1);\n"
	"}\n";

static const char kernels_f[] = "subroutine arrays(a, b, c, n)\n"	/* 1 */
				"  integer :: n\n"			/* 2 */
				"  real(8) :: a(n,n), b(n,n), c(n,n)\n" /* 3 */
				"  c = a + b * 2\n"			/* 4 */
				"  where (a > 0)\n"			/* 5 */
				"    c = sqrt(a)\n"			/* 6 */
				"  end where\n"				/* 7 */
				"end subroutine\n"			/* 8 */
				"program main\n"			/* 9 */
				"  real(8) :: a(8,8), b(8,8), c(8,8)\n" /* 10 */
				"  a = 1; b = 2\n"			/* 11 */
				"  call arrays(a, b, c, 8)\n"		/* 12 */
				"  print *, c(1,1)\n"			/* 13 */
				"end program\n";			/* 14 */

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static bool symbol_extent(const char *binary, const char *symbol, uint64_t *begin, uint64_t *size)
{
	char command[512];
	unsigned long values[2] = {0, 0};
	FILE *file;

	snprintf(command, sizeof command, "nm -S %s/%s | awk '$4 == \"%s\" {print $1, $2}'", directory,
		binary, symbol);
	file = popen(command, "r");
	assert_non_null(file);
	if (fscanf(file, "%lx %lx", &values[0], &values[1]) != 2)
		values[1] = 0;
	pclose(file);
	*begin = values[0];
	*size = values[1];
	return values[1] > 0;
}

/* "[6 [7 [9" for loops, "row(" for what is inlined: the scopes of one place below the function. */
static void nest_text(const struct symbol_answer *answer, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 1; i < answer->scope_count && used + 64 < size; i++)
		used += (size_t)(answer->scopes[i].kind == NAMES_LOOP
					 ? snprintf(text + used, size - used, "[%u ",
						   answer->scopes[i].decl_line)
					 : snprintf(text + used, size - used, "%s(", answer->scopes[i].name));
}

#define NESTS 64
struct nests {
	char text[NESTS][256];
	unsigned count;
};

static void nests_add(struct nests *nests, const char *text)
{
	for (unsigned i = 0; i < nests->count; i++)
		if (!strcmp(nests->text[i], text))
			return;
	assert_true(nests->count < NESTS);
	snprintf(nests->text[nests->count++], sizeof nests->text[0], "%s", text);
}

/* Every nest of a function's addresses is among the expected, and the needed ones (before the NULL) are
 * there; behind it stand those that a compiler may leave or not. */
static void assert_nests(const char *binary, const char *function, const char *const *wanted)
{
	const struct names_options options = {.cpu_ns = 0};
	struct symbol_request request = {.kind = STORE_MODULE_ELF, .real_path = ""};
	static struct symbol_answer answer;
	struct nests nests = {.count = 0};
	struct names_module *module;
	char path[256], text[256];
	struct names *names;
	uint64_t begin, size;
	unsigned needed = 0;

	assert_true(symbol_extent(binary, function, &begin, &size));
	snprintf(path, sizeof path, "%s/%s", directory, binary);
	request.path = path;
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	for (uint64_t at = begin; at < begin + size; at++) {
		assert_int_equal(names_find(module, at, &answer, NULL), 0);
		nest_text(&answer, text, sizeof text);
		nests_add(&nests, text);
	}
	names_close(names);
	for (unsigned i = 0; i < nests.count; i++) {
		bool found = !nests.text[i][0], past = false;

		for (unsigned w = 0; !found && (wanted[w] || !past); w++) {
			past |= !wanted[w];
			found = wanted[w] && !strcmp(wanted[w], nests.text[i]);
		}
		if (!found)
			print_message("%s %s: '%s' is not expected\n", binary, function, nests.text[i]);
		assert_true(found);
	}
	for (; wanted[needed]; needed++) {
		bool found = false;

		for (unsigned i = 0; i < nests.count; i++)
			found |= !strcmp(wanted[needed], nests.text[i]);
		if (!found)
			print_message("%s %s: '%s' is missing\n", binary, function, wanted[needed]);
		assert_true(found);
	}
}

static bool compile(const char *compiler, const char *options, const char *source, const char *binary)
{
	char command[1024];

	snprintf(command, sizeof command, "cd %s && %s -g %s -o %s %s 2>compile.log", directory, compiler,
		options, binary, source);
	return system(command) == 0;
}

static void test_kernels(void **state)
{
	static const char *const builds[][2] = {{"-O1", "o1"}, {"-O2", "o2"}, {"-O3", "o3"},
		{"-O3 -march=x86-64-v3 -funroll-loops", "v3"}, {"-O2 -no-pie -fno-pie", "plain"}};
	static const char *const product[] = {
		"[6 ", "[6 [7 ", "[6 [7 [9 ", NULL, "[6 [9 ", NULL}; /* loops may be exchanged */
	static const char *const rows[] = {"[24 ", "[24 row(", "[24 row([17 ", NULL, NULL};
	static const char *const machine[] = {"[31 ", "[31 [39 ", NULL, NULL};
	static const char *const tangled[] = {"[53 ", NULL, NULL};
	static const char *const pair[] = {"[64 ", "[66 ", NULL, NULL};

	(void)state;
	if (decoder_lacks(EM_X86_64) || sizeof(void *) != 8)
		skip();
	write_file("kernels.c", kernels_c);
	for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
		if (!compile("gcc", builds[i][0], "kernels.c", builds[i][1]))
			continue; /* another machine's compiler */
		assert_nests(builds[i][1], "product", product);
		assert_nests(builds[i][1], "rows", rows);
		assert_nests(builds[i][1], "machine", machine);
		assert_nests(builds[i][1], "tangled", tangled);
		assert_nests(builds[i][1], "pair", pair);
	}
}

/* Loops that the compiler made: array notation has no `do`. */
static void test_fortran(void **state)
{
	static const char *const arrays[] = {"[4 ", "[5 ", NULL, "[6 ", NULL};

	(void)state;
	write_file("kernels.f90", kernels_f);
	if (decoder_lacks(EM_X86_64) || !compile("gfortran", "-O2", "kernels.f90", "fortran"))
		skip();
	assert_nests("fortran", "arrays_", arrays);
}

/* Without debug information and symbols: found by the unwind entry, named by place. */
static void test_stripped(void **state)
{
	const struct names_options options = {.cpu_ns = 0};
	struct symbol_request request = {.kind = STORE_MODULE_ELF, .real_path = ""};
	static struct symbol_answer answer;
	struct names_module *module;
	struct names *names;
	uint64_t begin, size;
	unsigned deepest = 0;
	char path[256];

	(void)state;
	write_file("kernels.c", kernels_c);
	if (decoder_lacks(EM_X86_64) || !compile("gcc", "-O2", "kernels.c", "bare"))
		skip();
	assert_true(symbol_extent("bare", "product", &begin, &size));
	snprintf(path, sizeof path, "strip %s/bare", directory);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof path, "%s/bare", directory);
	request.path = path;
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	for (uint64_t at = begin; at < begin + size; at++) {
		assert_int_equal(names_find(module, at, &answer, NULL), 0);
		assert_int_equal(answer.source, NAMES_FROM_FRAME);
		if (answer.scope_count > deepest)
			deepest = answer.scope_count;
		for (uint32_t i = 1; i < answer.scope_count; i++) {
			assert_int_equal(answer.scopes[i].kind, NAMES_LOOP);
			assert_int_equal(answer.scopes[i].decl_line, 0);
			assert_in_range(answer.scopes[i].start, begin, begin + size - 1);
		}
	}
	assert_int_equal(deepest, 4);
	names_close(names);
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_fortran),
		cmocka_unit_test(test_stripped),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
