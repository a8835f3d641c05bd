// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.names_fill - a run is named after its recording: what is missing is found and cached, what
 * was found stays when the binary is gone, and what the run knew itself is not asked again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/base/arena.h"
#include "store/write/writer.h"
#include "timeline/names/names_fill.h"
#include "timeline/names_calls.h"
#include "timeline/run/names_run_cache.h"
#include "timeline/run/run.h"

static char directory[] = "/tmp/hpct-test-XXXXXX";

static const char source[] = "__attribute__((noinline)) int inner(int x) { return x * 3; }\n"
			     "int outer(int x) { return inner(x) + 1; }\n"
			     "int main(int c, char **v) { (void)v; return outer(c); }\n";

static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *format, ...)
{
	char command[2048];
	va_list arguments;
	int size = snprintf(command, sizeof command, "cd %s && ", directory);

	va_start(arguments, format);
	vsnprintf(command + size, sizeof command - (size_t)size, format, arguments);
	va_end(arguments);
	return system(command);
}

static const char *path_of(const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s", directory, name);
	return path;
}

static uint64_t address_of(const char *symbol)
{
	unsigned long address = 0;
	FILE *file;
	char command[512];

	snprintf(command, sizeof command, "nm %s/program | awk '$3 == \"%s\" {print $1}'", directory, symbol);
	file = popen(command, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lx", &address), 1);
	assert_int_equal(pclose(file), 0);
	return address;
}

static struct store_module module;

/* A run whose store has three frames, of which it could name `main` only. */
static void make_run(const char *name)
{
	struct store_writer *writer;
	struct store_scope scope = {.kind = STORE_SCOPE_FUNCTION, .line = 3};
	char path[512];
	uint32_t id, at;

	assert_int_equal(shell("mkdir %s", name), 0);
	snprintf(path, sizeof path, "%s/host.mdb", path_of(name));
	assert_int_equal(store_writer_create(&writer, path, NULL), 0);
	module.kind = STORE_MODULE_ELF;
	module.path = store_writer_text(writer, path_of("program"), strlen(path_of("program")));
	id = store_writer_module(writer, &module);
	at = store_writer_context(writer, STORE_CONTEXT_PROGRAM_ROOT, id, address_of("main"));
	at = store_writer_context(writer, at, id, address_of("outer"));
	store_writer_context(writer, at, id, address_of("inner"));
	scope.name = store_writer_text(writer, "main", 4);
	scope.file = store_writer_text(writer, "program.c", 9);
	store_writer_symbol(writer, id, address_of("main"), &scope, 1);
	assert_int_equal(store_writer_close(writer, NULL), 0);
}

static void assert_cached(const char *run, const char *symbol, unsigned line)
{
	struct store_scope scopes[STORE_SCOPE_MAX];
	struct names_run_cache *cache;
	int count;

	assert_int_equal(names_run_cache_open(&cache, path_of(run), NULL), 0);
	assert_non_null(cache);
	count = names_run_cache_find(cache, &module, path_of("program"), address_of(symbol), scopes);
	assert_int_equal(count, line ? 1 : 0);
	if (line) {
		assert_string_equal(names_run_cache_text(cache, scopes[0].name, NULL), symbol);
		assert_int_equal(scopes[0].line, line);
	}
	names_run_cache_close(cache);
}

static struct names_fill fill(const char *run)
{
	const struct names_options options = {0};
	struct names_fill result;
	struct error error;

	assert_int_equal(names_fill(path_of(run), &options, &result, NULL, &error), 0);
	return result;
}

static void test_fill(void **state)
{
	struct names_run_cache *cache;
	struct names_fill result;

	(void)state;
	make_run("a.hpct");
	assert_int_equal(names_run_cache_open(&cache, path_of("a.hpct"), NULL), 0);
	assert_null(cache);
	assert_int_equal(names_run_cache_find(cache, &module, "", 0, NULL), 0);
	result = fill("a.hpct");
	assert_int_equal(result.missing, 2);
	assert_int_equal(result.found, 2);
	assert_int_equal(result.modules, 1);
	assert_cached("a.hpct", "inner", 1);
	assert_cached("a.hpct", "outer", 2);
	assert_cached("a.hpct", "main", 0);
	result = fill("a.hpct");
	assert_int_equal(result.missing, 0);
	assert_cached("a.hpct", "inner", 1);
	assert_int_equal(shell("test $(ls a.hpct | grep -vc -e -lock$) = 2"), 0);
}

/* Who opens the run reads the names found later; without the cache it reads what the recording knew. */
static void test_run_reads_cache(void **state)
{
	struct run_options options = {.no_cache = true};
	uint64_t inner = address_of("inner"), outer = address_of("outer");
	struct arena arena = {0};
	struct run *run;
	char wanted[256];

	(void)state;
	make_run("r.hpct");
	assert_int_equal(fill("r.hpct").found, 2);
	assert_int_equal(run_open(&run, path_of("r.hpct"), &options, NULL), 0);
	snprintf(wanted, sizeof wanted, "main;program+0x%llx;program+0x%llx", (unsigned long long)outer,
		(unsigned long long)inner);
	assert_string_equal(run_context_path(run, run_context_count(run) - 1, UINT32_MAX, &arena), wanted);
	run_close(run);
	options.no_cache = false;
	assert_int_equal(run_open(&run, path_of("r.hpct"), &options, NULL), 0);
	assert_string_equal(
		run_context_path(run, run_context_count(run) - 1, UINT32_MAX, &arena), "main;outer;inner");
	run_close(run);
	arena_fini(&arena);
}

/* The binary is deleted, one name is asked for again: nothing is found and nothing is lost. */
static void test_without_binary(void **state)
{
	struct names_fill result;

	(void)state;
	make_run("b.hpct");
	assert_int_equal(fill("b.hpct").found, 2);
	make_run("c.hpct");
	assert_int_equal(shell("cp program program.copy && strip program && mv program program.moved && "
			       "cp b.hpct/cache.mdb c.hpct/cache.mdb && mv program.copy program.kept"),
		0);
	result = fill("c.hpct");
	assert_int_equal(result.found, 0);
	assert_int_equal(shell("cp program.kept program"), 0);
	assert_cached("c.hpct", "inner", 1);
}

static void test_nothing_found(void **state)
{
	struct names_run_cache *cache;
	struct names_fill result;

	(void)state;
	make_run("d.hpct");
	assert_int_equal(shell("mv program program.away"), 0);
	result = fill("d.hpct");
	assert_int_equal(shell("mv program.away program"), 0);
	assert_int_equal(result.missing, 2);
	assert_int_equal(result.found, 0);
	assert_int_equal(names_run_cache_open(&cache, path_of("d.hpct"), NULL), 0);
	assert_null(cache);
	assert_int_equal(shell("test $(ls d.hpct | grep -vc -e -lock$) = 1"), 0);
}

static void test_no_run(void **state)
{
	const struct names_options options = {0};
	struct names_fill result;
	struct error error = {0};

	(void)state;
	assert_int_equal(names_fill(path_of("none.hpct"), &options, &result, NULL, &error), -(int)ERROR_RUN);
	assert_int_equal(error.code, ERROR_RUN);
	assert_int_equal(shell("test ! -e none.hpct"), 0);
}

/* A cache that is no store is replaced. */
static void test_damaged_cache(void **state)
{
	(void)state;
	make_run("e.hpct");
	assert_int_equal(shell("head -c 9000 /dev/zero >e.hpct/cache.mdb"), 0);
	assert_int_equal(fill("e.hpct").found, 2);
	assert_cached("e.hpct", "inner", 1);
}

/* A sample in a loop of a GPU's code, whose binary is in the store alone. */
static void test_gpu(void **state)
{
	const uint8_t id[8] = {0, 0, 0, 0, 0, 0, 0x12, 0x34};
	struct store_module gpu = {.kind = STORE_MODULE_GPU, .build_id_bytes = sizeof id};
	struct store_scope scopes[STORE_SCOPE_MAX];
	struct names_run_cache *cache;
	struct store_writer *writer;
	static uint8_t bytes[1 << 17];
	uint64_t offset = 0x7100 + 0x280; /* the load in row_sum, as tests/gpu/flow-sm90.listing has it */
	FILE *file = fopen(GPU_BINARIES "/flow-sm90.cubin", "rb");
	size_t size;
	int count;

	(void)state;
	assert_non_null(file);
	size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	assert_int_equal(shell("mkdir gpu.hpct"), 0);
	assert_int_equal(store_writer_create(&writer, path_of("gpu.hpct/host.mdb"), NULL), 0);
	store_writer_blob(writer, 0x1234, bytes, size);
	memcpy(gpu.build_id, id, sizeof id);
	gpu.path = store_writer_text(writer, "flow.cubin", 10);
	store_writer_context(writer, STORE_CONTEXT_PROGRAM_ROOT, store_writer_module(writer, &gpu), offset);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_int_equal(fill("gpu.hpct").found, 1);
	assert_int_equal(names_run_cache_open(&cache, path_of("gpu.hpct"), NULL), 0);
	assert_non_null(cache);
	count = names_run_cache_find(cache, &gpu, "flow.cubin", offset, scopes);
	assert_int_equal(count, 4);
	assert_string_equal(names_run_cache_text(cache, scopes[0].name, NULL), "nest");
	assert_int_equal(scopes[1].kind, STORE_SCOPE_LOOP);
	assert_int_equal(scopes[1].decl_line, 37);
	assert_string_equal(names_run_cache_text(cache, scopes[2].name, NULL), "row_sum");
	assert_int_equal(scopes[3].kind, STORE_SCOPE_LOOP);
	assert_int_equal(scopes[3].decl_line, 21);
	names_run_cache_close(cache);
}

/* More binaries in a run than a process may have open at once. */
static void test_gpu_many(void **state)
{
	struct store_module gpu = {.kind = STORE_MODULE_GPU, .build_id_bytes = 8};
	static uint8_t bytes[1 << 17];
	FILE *file = fopen(GPU_BINARIES "/flow-sm90.cubin", "rb");
	struct store_writer *writer;
	struct rlimit before, few;
	size_t size;

	(void)state;
	assert_non_null(file);
	size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	assert_int_equal(shell("mkdir many.hpct"), 0);
	assert_int_equal(store_writer_create(&writer, path_of("many.hpct/host.mdb"), NULL), 0);
	for (unsigned i = 1; i <= 100; i++) {
		gpu.build_id[7] = (uint8_t)i;
		gpu.path = store_writer_text(writer, "flow.cubin", 10);
		store_writer_blob(writer, i, bytes, size);
		store_writer_context(
			writer, STORE_CONTEXT_PROGRAM_ROOT, store_writer_module(writer, &gpu), 0x7100);
	}
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){80, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(fill("many.hpct").found, 100);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static char noted[256];

static void note_keep(const char *sentence)
{
	snprintf(noted, sizeof noted, "%s", sentence);
}

/* Calls in the code that the run of test_gpu() keeps, and in a binary that was cut. */
static void test_calls(void **state)
{
	char *text = NULL, head[512] = {0};
	struct store_writer *writer;
	size_t size;
	FILE *file = fopen(GPU_BINARIES "/flow-sm90.cubin", "rb"), *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(file);
	assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
	fclose(file);
	assert_int_equal(names_calls_print(path_of("gpu.hpct"), out, note_keep, NULL), 0);
	fclose(out);
	assert_non_null(strstr(
		text, "0000000000001234\t0x7280\tkernel\tnest\t\t/usr/src/flow/flow.cu\t39\t0x7500\tpoly\n"));
	assert_string_equal(noted, "");
	free(text);

	/* cut behind its first sections */
	assert_int_equal(shell("mkdir bad.hpct"), 0);
	assert_int_equal(store_writer_create(&writer, path_of("bad.hpct/host.mdb"), NULL), 0);
	store_writer_blob(writer, 1, head, sizeof head);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	out = open_memstream(&text, &size);
	assert_int_equal(names_calls_print(path_of("bad.hpct"), out, note_keep, NULL), 0);
	fclose(out);
	assert_int_equal(strcspn(text, "\n") + 1, size); /* the header */
	free(text);
}

static int setup(void **state)
{
	FILE *file;

	(void)state;
	if (!mkdtemp(directory))
		return -1;
	setenv("XDG_CACHE_HOME", path_of("user"), 1);
	file = fopen(path_of("program.c"), "w");
	if (!file || fputs(source, file) < 0 || fclose(file))
		return -1;
	return shell("cc -O1 -g program.c -o program");
}

static int teardown(void **state)
{
	(void)state;
	return chdir("/") || shell("rm -rf %s", directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_run_reads_cache),
		cmocka_unit_test(test_without_binary),
		cmocka_unit_test(test_nothing_found),
		cmocka_unit_test(test_no_run),
		cmocka_unit_test(test_damaged_cache),
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_gpu_many),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
