// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.symbol_stretch - the addresses around one that are said to have the same answer have it: each
 * address of code with inlined calls, templates, loops, assembly and functions without a line is asked for
 * by itself and compared. Files may be given as arguments instead.
 */
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"
#include "timeline/debug/debug_files.h"
#include "timeline/names/names.h"

#define TEXT_BYTES 16384

static char directory[] = "/tmp/hpct-test-XXXXXX";

static const char c_source[] =
	"#include <stdio.h>\n"
	"static inline unsigned mix(unsigned x) { x ^= x << 13; return x ^ x >> 17; }\n"
	"static inline unsigned mix2(unsigned x)\n"
	"{ return mix(x) + mix(x + 1); }\n"
	"__attribute__((noinline)) unsigned rows(unsigned *a, int n, int m)\n"
	"{ unsigned s = 0;\n"
	"	for (int i = 0; i < n; i++)\n"
	"		for (int j = 0; j < m; j++)\n"
	"			s += mix2(a[i * m + j]);\n"
	"	return s; }\n"
	"__attribute__((noinline, cold)) void rare(int x) { printf(\"%d\\n\", x); }\n"
	"__asm__(\".text\\n.globl bare\\n.type bare,@function\\nbare:\\nnop\\nnop\\nret\\n"
	".size bare,.-bare\\n.globl loose\\nloose:\\nnop\\nret\\n\");\n"
	"void bare(void), loose(void);\n"
	"int main(int c, char **v) { unsigned a[64] = {c}; (void)v; bare(); loose();\n"
	"	for (int i = 0; i < c; i++) if (rows(a, 8, 8) == 7) rare(i);\n"
	"	return rows(a, c, 4); }\n";

static const char cxx_source[] =
	"#include <algorithm>\n"
	"#include <map>\n"
	"#include <string>\n"
	"#include <vector>\n"
	"template <class T> struct Csr { std::vector<T> v;\n"
	"	T dot(const Csr &o) const { T s = 0; for (size_t i = 0; i < v.size(); i++) s += v[i] * "
	"o.v[i];\n"
	"		return s; } };\n"
	"int main(int argc, char **) { Csr<double> a, b; std::map<std::string, int> m;\n"
	"	for (int i = 0; i < 100; i++) { a.v.push_back(i * argc); b.v.push_back(i + argc); }\n"
	"	std::sort(a.v.begin(), a.v.end());\n"
	"	for (int i = 0; i < argc; i++) m[std::to_string(i)] = i;\n"
	"	return a.dot(b) + m.size(); }\n";

/* All of the answer but where it was asked for. */
static void answer_text(const struct symbol_answer *answer, char *text)
{
	size_t at = (size_t)snprintf(text, TEXT_BYTES, "%u", answer->source);

	for (uint32_t i = 0; i < answer->scope_count && at < TEXT_BYTES; i++) {
		const struct names_scope *scope = &answer->scopes[i];

		at += (size_t)snprintf(text + at, TEXT_BYTES - at, "\n%u %s (%s) %s:%u %s:%u %llx",
			scope->kind, scope->name, scope->linkage, scope->file, scope->line, scope->decl_file,
			scope->decl_line, (unsigned long long)scope->start);
	}
}

static struct symbol_answer answer;
static char now[TEXT_BYTES], said[TEXT_BYTES];

struct walk {
	struct names_module *module;
	struct symbol_stretch stretch; /* of the address before */
	unsigned addresses, answers;
};

static void step(struct walk *walk, uint64_t address)
{
	assert_int_equal(names_find(walk->module, address, &answer, NULL), 0);
	answer_text(&answer, now);
	assert_true(answer.stretch.begin <= address && address < answer.stretch.end);
	if (address < walk->stretch.begin || address >= walk->stretch.end)
		walk->answers++;
	else if (strcmp(now, said) != 0)
		fail_msg("0x%llx is said to have\n%s\nand has\n%s", (unsigned long long)address, said, now);
	walk->addresses++;
	walk->stretch = answer.stretch;
	memcpy(said, now, sizeof said);
}

/* Up and down, so that both ends of each stretch are tried. */
static void section_walk(struct walk *walk, uint64_t begin, uint64_t end)
{
	walk->stretch = (struct symbol_stretch){0, 0};
	for (uint64_t address = begin; address < end; address++)
		step(walk, address);
	walk->stretch = (struct symbol_stretch){0, 0};
	for (uint64_t address = end; address-- > begin;)
		step(walk, address);
}

/* At most so many answers for an address. */
static void compare(const char *path, enum names_level level, double most)
{
	struct names_options options = {.cpu_ns = 0};
	struct symbol_request request = {.kind = STORE_MODULE_ELF, .path = path, .real_path = path};
	struct walk walk = {0};
	struct module_elf file;
	Elf_Scn *section = NULL;
	struct names *names;

	assert_int_equal(module_elf_open(&file, path, NULL), 0);
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, level, &walk.module, NULL), 0);
	while ((section = elf_nextscn(file.elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR)
			section_walk(&walk, header.sh_addr, header.sh_addr + header.sh_size);
	}
	names_close(names);
	module_elf_close(&file);
	print_message("%s: %u answers for %u addresses\n", path, walk.answers, walk.addresses);
	assert_true(walk.answers < walk.addresses * most); /* an instruction has several bytes */
}

static void compile(const char *compiler, const char *source, const char *text)
{
	char command[512], path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, source);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
	snprintf(command, sizeof command, "cd %s && %s %s -o program 2>log", directory, compiler, source);
	if (system(command))
		fail_msg("%s cannot compile the sample, see %s/log", compiler, directory);
}

static void compare_compiled(const char *compiler, const char *source, const char *text, double most)
{
	char path[256];

	compile(compiler, source, text);
	snprintf(path, sizeof path, "%s/program", directory);
	compare(path, NAMES_ALL, most);
	compare(path, NAMES_SYMBOLS, most);
}

static void test_c(void **state)
{
	(void)state;
	compare_compiled("cc -O2 -g", "sample.c", c_source, 0.7);
	compare_compiled("cc -O3 -gdwarf-4 -no-pie -gno-column-info", "sample.c", c_source, 0.7);
	compare_compiled("cc -O1 -s", "sample.c", c_source, 2);
}

static void test_cxx(void **state)
{
	(void)state;
	if (system("c++ --version >/dev/null 2>&1")) {
		print_message("skipped: no C++ compiler\n");
		skip();
	}
	compare_compiled("c++ -O2 -g", "sample.cc", cxx_source, 0.7);
}

/* Asks for the addresses [begin, end) by a resolver of its own. */
static void ask(uint64_t begin, uint64_t end, uint64_t ahead_ns)
{
	char path[256], cache[256];
	struct names_options options = {.shared = cache, .ahead_ns = ahead_ns};
	struct symbol_request request = {.kind = STORE_MODULE_ELF, .path = path, .real_path = path};
	struct names_module *module;
	struct names *names;

	snprintf(path, sizeof path, "%s/program", directory);
	snprintf(cache, sizeof cache, "%s/cache", directory);
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	for (uint64_t offset = begin; offset < end; offset++) {
		assert_int_equal(names_find(module, offset, &answer, NULL), 0);
		assert_string_equal(answer.scopes[0].name, "rows");
	}
	names_prefetch(names);
	names_close(names);
}

/* The file is replaced by whoever found something anew. */
static unsigned long kept_file(void)
{
	char command[256];
	unsigned long inode = 0;
	FILE *out;

	snprintf(command, sizeof command, "find %s/cache -type f -printf %%i", directory);
	out = popen(command, "r");
	assert_non_null(out);
	assert_int_equal(fscanf(out, "%lu", &inode), 1);
	assert_int_equal(pclose(out), 0);
	return inode;
}

/* One address was asked for; the next run is asked for all others of the function. */
static void ask_ahead(const char *compiler)
{
	unsigned long begin, size, kept;
	char command[256];
	FILE *out;

	snprintf(command, sizeof command, "rm -rf %s/cache", directory);
	assert_int_equal(system(command), 0);
	compile(compiler, "sample.c", c_source);
	snprintf(command, sizeof command, "nm -S %s/program | awk '$4 == \"rows\" { print $1, $2 }'",
		directory);
	out = popen(command, "r");
	assert_non_null(out);
	assert_int_equal(fscanf(out, "%lx %lx", &begin, &size), 2);
	assert_int_equal(pclose(out), 0);
	ask(begin + 1, begin + 2, 0);
	kept = kept_file();
	ask(begin, begin + size, 0);
	assert_int_not_equal(kept_file(), kept);

	snprintf(command, sizeof command, "rm -rf %s/cache", directory);
	assert_int_equal(system(command), 0);
	ask(begin + 1, begin + 2, 60000000000);
	kept = kept_file();
	ask(begin, begin + size, 0);
	assert_int_equal(kept_file(), kept);
}

static void test_ahead(void **state)
{
	(void)state;
	ask_ahead("cc -O2 -g -Wl,--build-id");
	ask_ahead("cc -O2 -Wl,--build-id");
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_ahead),
	};

	for (int i = 1; i < argc; i++)
		compare(argv[i], NAMES_ALL, 2);
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, setup, teardown);
}
