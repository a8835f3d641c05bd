// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.dwarf - functions, inline chains and lines at random addresses of optimized programs,
 * compiled here, against addr2line: the same depth and lines everywhere, the same names but where
 * addr2line prints a function's symbol for what is inlined into it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <gelf.h>

#include "store/store.h"
#include "tests/unit/seed.h"
#include "timeline/names/names.h"

#define ADDRESSES 3000
#define DEPTH_MAX 64

static char directory[] = "/tmp/hpct-test-XXXXXX";

static const char c_source[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"static inline unsigned mix(unsigned x) { x ^= x << 13; x ^= x >> 17;\n"
	"	return x ^ x << 5; }\n"
	"static inline unsigned mix2(unsigned x)\n"
	"{ return mix(x) + mix(x + 1); }\n"
	"static inline unsigned mix4(unsigned x) { unsigned a = mix2(x);\n"
	"	unsigned b = mix2(x * 3);\n"
	"	return a ^ b; }\n"
	"struct item { unsigned key, value; };\n"
	"static int compare(const void *a, const void *b) { const struct item *x = a, *y = b;\n"
	"	return x->key < y->key ? -1 : x->key > y->key; }\n"
	"__attribute__((noinline)) unsigned fill(struct item *items, int n, unsigned seed)\n"
	"{ unsigned sum = 0;\n"
	"	for (int i = 0; i < n; i++) { items[i].key = mix4(seed + i);\n"
	"		items[i].value = mix2(items[i].key);\n"
	"		if (!items[i].value) { fprintf(stderr, \"zero at %d\\n\", i); abort(); }\n"
	"		sum += items[i].value; }\n"
	"	qsort(items, n, sizeof *items, compare); return sum; }\n"
	"__attribute__((noinline)) static unsigned walk(const struct item *items, int n)\n"
	"{ unsigned h = 1; while (n--) h = mix4(h ^ items[n].key); return h; }\n"
	"int main(int argc, char **argv) { static struct item items[1000]; unsigned s = argc;\n"
	"	for (int r = 0; r < 3; r++) s += fill(items, 1000, s) ^ walk(items, 1000);\n"
	"	printf(\"%u\\n\", s + (argv[0][0] == 0)); return 0; }\n";

static const char cxx_source[] =
	"#include <algorithm>\n"
	"#include <cstdio>\n"
	"#include <map>\n"
	"#include <string>\n"
	"#include <vector>\n"
	"namespace lin { template <class T, int B> struct Csr { std::vector<T> v;\n"
	"	T dot(const Csr &o) const { T s = 0; for (size_t i = 0; i < v.size(); i++) s += v[i] * "
	"o.v[i];\n"
	"		return s; } };\n"
	"namespace { int hidden(int x) { return x * 3 + (x >> 2); } }\n"
	"static inline int deep(int x) { return hidden(x) + 1; } }\n"
	"struct Base { virtual ~Base() {} virtual int go(int) = 0; };\n"
	"int work(int n) { struct Local : Base { int go(int x) override {\n"
	"	auto f = [&](int a) { return lin::deep(a + x); };\n"
	"	int s = 0; for (int i = 0; i < x; i++) s += f(i); return s; } };\n"
	"	Local l; return l.go(n); }\n"
	"int main(int argc, char **) { lin::Csr<double, 32> a, b; std::map<std::string, int> m;\n"
	"	for (int i = 0; i < 100; i++) { a.v.push_back(i * argc); b.v.push_back(i + argc); }\n"
	"	std::sort(a.v.begin(), a.v.end(), [](double x, double y) { return x > y; });\n"
	"	for (int i = 0; i < argc * 10; i++) m[std::to_string(i)] = work(i);\n"
	"	printf(\"%g %d %zu\\n\", a.dot(b), work(argc * 100), m.size()); }\n";

static const char fortran_source[] = "module heat\n"
				     "contains\n"
				     "  subroutine step(a, b, n)\n"
				     "    integer, intent(in) :: n\n"
				     "    real(8), intent(in) :: a(n)\n"
				     "    real(8), intent(out) :: b(n)\n"
				     "    integer :: i\n"
				     "    do i = 2, n - 1\n"
				     "      b(i) = a(i) + 0.1d0 * (a(i-1) - 2 * a(i) + a(i+1))\n"
				     "    end do\n"
				     "  end subroutine\n"
				     "  real(8) function total(a)\n"
				     "    real(8), intent(in) :: a(:)\n"
				     "    total = sum(a)\n"
				     "  end function\n"
				     "end module\n"
				     "program main\n"
				     "  use heat\n"
				     "  real(8) :: a(1000), b(1000)\n"
				     "  call random_number(a)\n"
				     "  b = a\n"
				     "  call step(a, b, 1000)\n"
				     "  call step(b, a, 1000)\n"
				     "  print *, total(a), inner(3)\n"
				     "contains\n"
				     "  integer function inner(k)\n"
				     "    integer, intent(in) :: k\n"
				     "    inner = k * k\n"
				     "  end function\n"
				     "end program\n";

static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *format, ...)
{
	char command[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof command, format, arguments);
	va_end(arguments);
	return system(command);
}

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fputs(text, file) < 0, 0);
	assert_int_equal(fclose(file), 0);
}

/* ---- what addr2line says ---- */

struct reference {
	char *name, *place; /* "file:line" */
};

struct reference_chain {
	struct reference level[DEPTH_MAX]; /* innermost first */
	unsigned count;
};

static char *line_read(FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length = getline(&line, &size, file);

	if (length <= 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static struct reference_chain *reference_ask(const char *binary, const uint64_t *offsets, unsigned count)
{
	struct reference_chain *chains = calloc(count, sizeof *chains), *at = chains - 1;
	char command[1024], path[256], *line;
	FILE *file;

	snprintf(path, sizeof path, "%s/offsets", directory);
	file = fopen(path, "w");
	assert_non_null(file);
	for (unsigned i = 0; i < count; i++)
		fprintf(file, "%lx\n", (unsigned long)offsets[i]);
	assert_int_equal(fclose(file), 0);
	snprintf(command, sizeof command, "addr2line -a -i -f -C -e %s <%s", binary, path);
	file = popen(command, "r");
	assert_non_null(file);
	while ((line = line_read(file))) {
		if (!strncmp(line, "0x", 2)) {
			free(line);
			at++;
			continue;
		}
		assert_true(at->count < DEPTH_MAX);
		at->level[at->count].name = line;
		at->level[at->count].place = line_read(file);
		assert_non_null(at->level[at->count].place);
		at->count++;
	}
	assert_int_equal(pclose(file), 0);
	assert_int_equal(at - chains, count - 1);
	return chains;
}

static void reference_free(struct reference_chain *chains, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < chains[i].count; k++) {
			free(chains[i].level[k].name);
			free(chains[i].level[k].place);
		}
	free(chains);
}

/* ---- comparison ---- */

/* The own name in a qualified one: behind the last "::" outside of brackets, up to its template arguments. */
static void own_name(const char *name, char *own, size_t own_bytes)
{
	int depth = 0;
	size_t size;

	for (const char *at = name; *at; at++) {
		if (!strncmp(at, "operator", 8))
			break;
		depth += *at == '<' || *at == '(' || *at == '{';
		depth -= *at == '>' || *at == ')' || *at == '}';
		if (!depth && !strncmp(at, "::", 2))
			name = at + 2;
	}
	size = !strncmp(name, "operator", 8) ? 9 : strcspn(name, "<(");
	snprintf(own, own_bytes, "%.*s", (int)size, name);
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool line_equal(const struct names_scope *scope, const struct reference *reference)
{
	const char *colon = strrchr(reference->place, ':');

	return (uint32_t)strtoul(colon + 1, NULL, 10) == scope->line;
}

static bool file_equal(const struct names_scope *scope, const struct reference *reference)
{
	const char *file = base(scope->file), *other = base(reference->place);

	return !strncmp(file[0] ? file : "??", other, strcspn(other, ":"));
}

struct tally {
	unsigned debug, inlined, chains, names, lines, files;
};

static void compare_chain(
	const struct symbol_answer *answer, const struct reference_chain *chain, struct tally *tally)
{
	bool names = true, lines = true, files = true;

	tally->debug++;
	tally->inlined += answer->scope_count > 1;
	tally->chains += answer->scope_count == chain->count;
	for (unsigned i = 0; i < chain->count && answer->scope_count == chain->count; i++) {
		const struct names_scope *scope = &answer->scopes[answer->scope_count - 1 - i];
		char own[1024];

		own_name(scope->name, own, sizeof own);
		names = names && strstr(chain->level[i].name, own);
		lines = lines && line_equal(scope, &chain->level[i]);
		files = files && file_equal(scope, &chain->level[i]);
	}
	tally->names += names;
	tally->lines += lines;
	tally->files += files;
}

static unsigned offsets_draw(const char *binary, uint64_t *offsets)
{
	struct module_elf file;
	Elf_Scn *section = NULL;
	size_t names;
	unsigned count = 0;

	assert_int_equal(module_elf_open(&file, binary, NULL), 0);
	assert_int_equal(elf_getshdrstrndx(file.elf, &names), 0);
	while ((section = elf_nextscn(file.elf, section))) {
		GElf_Shdr header;

		assert_non_null(gelf_getshdr(section, &header));
		if (!strcmp(elf_strptr(file.elf, names, header.sh_name), ".text"))
			for (; count < ADDRESSES; count++)
				offsets[count] = header.sh_addr + (uint64_t)rand() % header.sh_size;
	}
	module_elf_close(&file);
	return count;
}

static struct tally compare(const char *binary)
{
	static struct symbol_answer answer;
	static uint64_t offsets[ADDRESSES];
	struct names_options options = {.no_loops = true};
	struct symbol_request request = {.kind = STORE_MODULE_ELF, .path = binary, .real_path = ""};
	struct reference_chain *chains;
	struct names_module *module;
	struct names *names;
	struct tally tally = {0};
	unsigned count = offsets_draw(binary, offsets);

	assert_true(count > 0);
	chains = reference_ask(binary, offsets, count);
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(names_find(module, offsets[i], &answer, NULL), 0);
		if (answer.source == NAMES_FROM_DEBUG)
			compare_chain(&answer, &chains[i], &tally);
	}
	names_close(names);
	reference_free(chains, count);
	print_message("%s: %u in functions, %u inlined; equal: %u depths, %u lines, %u names, %u files\n",
		base(binary), tally.debug, tally.inlined, tally.chains, tally.lines, tally.names,
		tally.files);
	return tally;
}

/* `loose`: names and files that may differ, in percent, by addr2line's own doing. */
static void compare_compiled(const char *compiler, const char *source, const char *text, unsigned loose)
{
	struct tally tally;
	char binary[256];

	write_file(source, text);
	snprintf(binary, sizeof binary, "%s/%s.bin", directory, source);
	if (shell("cd %s && %s %s -o %s 2>%s/log", directory, compiler, source, binary, directory))
		fail_msg("%s cannot compile the sample, see %s/log", compiler, directory);
	tally = compare(binary);
	assert_true(tally.debug > ADDRESSES / 4);
	assert_int_equal(tally.chains, tally.debug);
	assert_int_equal(tally.lines, tally.debug);
	assert_true(tally.names * 100 >= tally.debug * (100 - loose));
	assert_true(tally.files * 100 >= tally.debug * (100 - loose));
}

static void test_c(void **state)
{
	(void)state;
	compare_compiled("cc -O2 -g", "sample.c", c_source, 0);
	compare_compiled("cc -O3 -gdwarf-4", "sample.c", c_source, 0);
	compare_compiled("cc -O0 -g -no-pie", "sample.c", c_source, 0);
	compare_compiled("cc -O2 -g -gz -ffunction-sections -Wl,--gc-sections", "sample.c", c_source, 0);
}

static void test_cxx(void **state)
{
	(void)state;
	if (shell("c++ --version >/dev/null 2>&1")) {
		print_message("skipped: no C++ compiler\n");
		skip();
	}
	compare_compiled("c++ -O2 -g", "sample.cc", cxx_source, 10);
	compare_compiled("c++ -O2 -gdwarf-4", "sample.cc", cxx_source, 10);
	compare_compiled("c++ -O1 -g -flto", "sample.cc", cxx_source, 10);
}

static void test_fortran(void **state)
{
	(void)state;
	if (shell("gfortran --version >/dev/null 2>&1")) {
		print_message("skipped: no gfortran\n");
		skip();
	}
	compare_compiled("gfortran -O2 -g", "sample.f90", fortran_source, 0);
}

/* addr2line finds nothing in split debug information: the same program not split is the reference. */
static void test_split(void **state)
{
	static struct symbol_answer answer;
	char binary[256];
	struct names_options options = {.no_loops = true};
	struct symbol_request request = {.kind = STORE_MODULE_ELF, .path = binary, .real_path = ""};
	static uint64_t offsets[ADDRESSES];
	struct names_module *module;
	struct names *names;
	unsigned inlined = 0, with_lines = 0, debug = 0;

	(void)state;
	write_file("split.c", c_source);
	snprintf(binary, sizeof binary, "%s/split.bin", directory);
	if (shell("cd %s && cc -O2 -g -gsplit-dwarf split.c -o split.bin 2>log", directory))
		fail_msg("the compiler cannot split, see %s/log", directory);
	assert_int_equal(offsets_draw(binary, offsets), ADDRESSES);
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	for (unsigned i = 0; i < ADDRESSES; i++) {
		assert_int_equal(names_find(module, offsets[i], &answer, NULL), 0);
		if (answer.source != NAMES_FROM_DEBUG)
			continue;
		debug++;
		inlined += answer.scope_count > 1 && !strncmp(answer.scopes[1].name, "mix", 3);
		with_lines += answer.scopes[answer.scope_count - 1].line > 0 &&
			      !strcmp(base(answer.scopes[0].decl_file), "split.c");
	}
	names_close(names);
	assert_true(debug > ADDRESSES / 4);
	assert_true(inlined > debug / 4);
	assert_true(with_lines > debug * 9 / 10);
}

static int setup(void **state)
{
	(void)state;
	srand((unsigned)seed_take(__func__, 3));
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return shell("rm -rf %s", directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_fortran),
		cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
