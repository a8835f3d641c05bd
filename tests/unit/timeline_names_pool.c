// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.names_pool - questions shared between workers: the answers are those of one worker, a damaged
 * file among them costs nothing of the others', a task that is refused ends the asking, a large one is
 * answered by copies of the worker, or by one where they fail, and its answers keep their order.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/store.h"
#include "timeline/names/names_fork.h"
#include "timeline/names/names_pool.h"

#define TASKS 24u
#define EACH 10u

static char directory[] = "/tmp/hpct-test-XXXXXX", program[64], damaged[64];
static uint64_t first; /* address of the program's code */

static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *format, ...)
{
	char command[4096];
	int size = snprintf(command, sizeof command, "cd %s && ", directory);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command + size, sizeof command - (size_t)size, format, arguments);
	va_end(arguments);
	return system(command);
}

/* What one task is told: its answers as text, so that they can be compared. */
struct told {
	char text[EACH * 512];
	size_t size;
	unsigned count;
};

static unsigned inside; /* calls of `take` at this moment */

static int take(void *context, const struct symbol_answer *answer)
{
	struct told *told = context;

	assert_int_equal(inside++, 0);
	for (uint32_t i = 0; i < answer->scope_count; i++)
		told->size += (size_t)snprintf(told->text + told->size, sizeof told->text - told->size,
			"%u %#lx %u %s:%u\n", answer->module, (unsigned long)answer->offset, answer->source,
			answer->scopes[i].name, answer->scopes[i].line);
	told->count++;
	inside--;
	return 0;
}

static char long_text[2000 * 300];
static size_t long_size, taken;

static int take_long(void *context, const struct symbol_answer *answer)
{
	(void)context;
	assert_int_equal(answer->module, 7);
	for (uint32_t i = 0; i < answer->scope_count; i++)
		long_size += (size_t)snprintf(long_text + long_size, sizeof long_text - long_size,
			"%#lx %s:%u\n", (unsigned long)answer->offset, answer->scopes[i].name,
			answer->scopes[i].line);
	taken++;
	return 0;
}

static struct names_task tasks[TASKS];
static struct told told[TASKS];
static uint64_t offsets[TASKS][EACH];

static void tasks_make(void)
{
	memset(told, 0, sizeof told);
	for (unsigned i = 0; i < TASKS; i++) {
		for (unsigned at = 0; at < EACH; at++)
			offsets[i][at] = first + (i * EACH + at) * 3;
		tasks[i] = (struct names_task){.request = {.module = i + 1,
						       .kind = STORE_MODULE_ELF,
						       .path = program,
						       .real_path = "",
						       .offsets = offsets[i],
						       .offset_count = EACH},
			.take = take,
			.context = &told[i]};
	}
}

static int ask(unsigned jobs)
{
	const struct names_options options = {.no_loops = true};
	struct names_pool *crew;
	int rc;

	assert_int_equal(names_pool_open(&crew, &options, jobs, NULL), 0);
	rc = names_pool_ask(crew, tasks, TASKS, NULL);
	names_pool_close(crew);
	return rc;
}

static void test_same_answers(void **state)
{
	static struct told alone[TASKS];

	(void)state;
	tasks_make();
	assert_int_equal(ask(1), 0);
	memcpy(alone, told, sizeof told);
	assert_non_null(strstr(alone[0].text, "busy"));
	tasks_make();
	assert_int_equal(ask(5), 0);
	for (unsigned i = 0; i < TASKS; i++) {
		assert_int_equal(told[i].count, EACH);
		assert_string_equal(told[i].text, alone[i].text);
	}
}

static void test_damage(void **state)
{
	(void)state;
	tasks_make();
	tasks[1].request.path = tasks[2].request.path = tasks[TASKS - 1].request.path = damaged;
	assert_int_equal(ask(3), 0);
	for (unsigned i = 0; i < TASKS; i++)
		assert_int_equal(told[i].count, EACH);
	assert_string_equal(tasks[0].note, "");
	assert_non_null(strstr(told[0].text, "busy"));
	assert_null(strstr(told[1].text, "busy"));
}

/* What all processes of the test know of copies: each begins with a file in memory, made by the worker. */
static struct {
	unsigned begun;
	bool worker_dies;
	uint64_t data_bytes; /* the limit that the last one has */
} * copies;

int memfd_create(const char *name, unsigned flags)
{
	if (!strcmp(name, "hpct-names")) {
		struct rlimit limit;

		copies->begun++;
		if (!getrlimit(RLIMIT_DATA, &limit))
			copies->data_bytes = limit.rlim_cur;
		if (copies->worker_dies)
			raise(SIGKILL);
	}
	return (int)syscall(SYS_memfd_create, name, flags);
}

static void ask_long(unsigned jobs)
{
	static uint64_t many[2000];
	const struct names_options options = {0};
	struct names_task task = {.request = {.module = 7,
					  .kind = STORE_MODULE_ELF,
					  .path = program,
					  .real_path = "",
					  .offsets = many,
					  .offset_count = 2000},
		.take = take_long};
	struct names_pool *crew;

	for (unsigned i = 0; i < 2000; i++)
		many[i] = first + (i * 7919u) % 300;
	long_size = taken = copies->begun = 0;
	assert_int_equal(names_pool_open(&crew, &options, jobs, NULL), 0);
	assert_int_equal(names_pool_ask(crew, &task, 1, NULL), 0);
	names_pool_close(crew);
	assert_int_equal(taken, 2000);
	assert_string_equal(task.note, "");
}

/* One task that is large enough to be answered by several processes. */
static void test_split(void **state)
{
	static char alone[sizeof long_text];
	size_t alone_size;

	(void)state;
	ask_long(1);
	assert_int_equal(copies->begun, 0);
	alone_size = long_size;
	memcpy(alone, long_text, long_size);
	for (unsigned jobs = 2; jobs <= 3; jobs++) {
		ask_long(jobs);
		assert_int_equal(copies->begun, jobs - 1);
		assert_int_equal(long_size, alone_size);
		assert_memory_equal(long_text, alone, long_size);
	}
	/* Should the worker die amid its copies, the next one does without, and says no less. */
	copies->worker_dies = true;
	ask_long(3);
	copies->worker_dies = false;
	assert_int_equal(copies->begun, 1);
	assert_int_equal(long_size, alone_size);
	assert_memory_equal(long_text, alone, long_size);
}

/* The limits of all add up to the worker's, but for what it held before, which they share. */
static void test_memory(void **state)
{
	const uint64_t whole = 64ull << 30, held = 1ull << 30; /* at most */
	static uint64_t many[NAMES_FORK_MIN];
	const struct names_options options = {0};
	const struct symbol_request request = {.kind = STORE_MODULE_ELF,
		.path = program,
		.real_path = "",
		.offsets = many,
		.offset_count = NAMES_FORK_MIN};
	struct rlimit before, limit;
	struct names_module *module;
	struct names *names;
	const char *note;
	int fd = memfd_create("answers", 0);

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	print_message("skipped: sanitizers reserve terabytes\n");
	skip();
#endif
	for (unsigned i = 0; i < NAMES_FORK_MIN; i++)
		many[i] = first + i % 40;
	assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
	limit = (struct rlimit){whole, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	assert_true(names_module_is_forkable(module));
	assert_int_equal(names_fork_answer(module, &request, 4, fd, &note), 1);
	assert_int_equal(getrlimit(RLIMIT_DATA, &limit), 0);
	assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
	assert_int_equal(limit.rlim_cur, whole);
	assert_in_range(copies->data_bytes, whole / 4, whole / 4 + held);
	close(fd);
	names_close(names);
}

/* A copy that dies (of its file's size, here): nothing is written, and whoever asked can do without. */
static void test_copy_dies(void **state)
{
	static uint64_t many[NAMES_FORK_MIN];
	const struct names_options options = {0};
	const struct symbol_request request = {.kind = STORE_MODULE_ELF,
		.path = program,
		.real_path = "",
		.offsets = many,
		.offset_count = NAMES_FORK_MIN};
	struct rlimit before, none;
	struct names_module *module;
	struct names *names;
	const char *note;
	int fd = memfd_create("answers", 0);

	(void)state;
	for (unsigned i = 0; i < NAMES_FORK_MIN; i++)
		many[i] = first + i % 40;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	assert_true(names_module_is_forkable(module));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_int_equal(names_fork_answer(module, &request, 3, fd, &note), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	assert_int_equal(names_fork_answer(module, &request, 3, fd, &note), 1);
	assert_string_equal(note, "");
	assert_true(lseek(fd, 0, SEEK_END) > NAMES_FORK_MIN * 20);
	close(fd);
	names_close(names);
}

static int refuse(void *context, const struct symbol_answer *answer)
{
	(void)context, (void)answer;
	return -77;
}

static void test_refusal(void **state)
{
	(void)state;
	tasks_make();
	tasks[7].take = refuse;
	assert_int_equal(ask(2), -77);
	assert_int_equal(told[TASKS - 1].count, 0);
}

static int setup(void **state)
{
	unsigned long address = 0;
	char command[256];
	FILE *file;

	(void)state;
	copies = mmap(NULL, sizeof *copies, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(copies != MAP_FAILED);
	assert_non_null(mkdtemp(directory));
	snprintf(program, sizeof program, "%s/program", directory);
	snprintf(damaged, sizeof damaged, "%s/damaged", directory);
	assert_int_equal(shell("printf 'static int twice(int x) { return 2 * x; }\n"
			       "__attribute__((noinline)) int busy(int n) { int s = 0;\n"
			       "for (int i = 0; i < n; i++) s += twice(i) ^ i %%%% 7;\n"
			       "return s; }\nint main(int c, char **v) { (void)v; return busy(c) + busy(2 * "
			       "c); }\n' >p.c &&"
			       " gcc -g -O2 -fno-tree-vectorize -o program p.c &&"
			       " { head -c 5000 program; head -c 9000 /dev/zero; } >damaged"),
		0);
	snprintf(command, sizeof command, "nm %s | awk '$3 == \"busy\" { print $1 }'", program);
	file = popen(command, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lx", &address), 1);
	pclose(file);
	first = address;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return shell("rm -r %s", directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_answers),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_copy_dies),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
