// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.names - what a module is called by when debug information is elsewhere, partly there
 * or gone, which files are believed, and that damaged files cost names, never an answer.
 */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/base/content_id.h"
#include "store/store.h"
#include "tests/unit/seed.h"
#include "timeline/names/names_worker.h"

static char directory[] = "/tmp/hpct-test-XXXXXX";

static const char source[] =
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"static inline int twice(int x) { return 2 * x; }\n"
	"__attribute__((noinline)) static int hidden(int x) { return abs(x) + twice(x) + getenv(\"A\"); }\n"
	"__attribute__((noinline)) int _visible(int x) { return hidden(x) + atoi(\"1\"); }\n"
	"extern int visible(int) __attribute__((alias(\"_visible\")));\n"
	"int _weak_form(int) __attribute__((weak, alias(\"_visible\")));\n"
	"__asm__(\".text\\n.globl "
	"unsized\\nunsized:\\n.cfi_startproc\\nnop\\nnop\\nnop\\nret\\n.cfi_endproc\\n\"\n"
	"	\".globl bare\\nbare:\\nnop\\nnop\\nret\\n\");\n"
	"int unsized(void), bare(void);\n"
	"int main(int c, char **v) { return _visible(c) + visible(c) + unsized() + bare() + "
	"(int)strlen(v[0]); }\n";

static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *format, ...)
{
	char command[4096];
	va_list arguments;
	int size = snprintf(command, sizeof command, "cd %s && ", directory);

	va_start(arguments, format);
	vsnprintf(command + size, sizeof command - (size_t)size, format, arguments);
	va_end(arguments);
	return system(command);
}

static char *path_of(const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s", directory, name);
	return path;
}

/* What `nm` says about a symbol. */
static uint64_t address_in(const char *path, const char *symbol)
{
	char command[512];
	unsigned long address = 0;
	FILE *file;

	snprintf(command, sizeof command, "nm %s | awk '$3 == \"%s\" {print $1}'", path, symbol);
	file = popen(command, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lx", &address), 1);
	assert_int_equal(pclose(file), 0);
	return address;
}

static uint64_t address_of(const char *symbol)
{
	return address_in(path_of("program.full"), symbol);
}

static uint8_t build_id[20];

/* Everything about one question: a fresh resolver, so that nothing is remembered. */
struct asked {
	struct names *names;
	struct names_module *module;
	struct symbol_answer answer;
};

static struct asked asked;

static uint8_t id_bytes = 20;

static const struct symbol_answer *ask(
	const char *path, const uint8_t *id, const char *debug_path, enum names_level level, uint64_t offset)
{
	const char *debug_paths[] = {debug_path};
	struct names_options options = {.search = {debug_paths, debug_path ? 1 : 0, false}};
	struct symbol_request request = {.kind = STORE_MODULE_ELF,
		.path = path,
		.real_path = path,
		.build_id_bytes = id ? id_bytes : 0};

	names_close(asked.names);
	if (id)
		memcpy(request.build_id, id, id_bytes);
	assert_int_equal(names_open(&asked.names, &options, NULL), 0);
	assert_int_equal(names_module(asked.names, &request, level, &asked.module, NULL), 0);
	assert_int_equal(names_find(asked.module, offset, &asked.answer, NULL), 0);
	return &asked.answer;
}

static void assert_function(
	const struct symbol_answer *answer, enum names_source from, const char *name, uint64_t start)
{
	assert_string_equal(answer->scopes[0].name, name);
	assert_int_equal(answer->source, from);
	assert_int_equal(answer->scopes[0].start, start);
}

static void test_debug_information(void **state)
{
	uint64_t hidden = address_of("hidden");
	const struct symbol_answer *answer = ask(path_of("program.full"), build_id, NULL, NAMES_ALL, hidden);

	(void)state;
	assert_function(answer, NAMES_FROM_DEBUG, "hidden", hidden);
	assert_int_equal(answer->scopes[0].decl_line, 4);
	assert_string_equal(names_module_note(asked.module), "");
}

/* Debug information says _visible; the exported name is what people know. */
static void test_aliases(void **state)
{
	uint64_t visible = address_of("_visible");

	(void)state;
	assert_function(ask(path_of("program.full"), NULL, NULL, NAMES_ALL, visible), NAMES_FROM_DEBUG,
		"visible", visible);
	assert_string_equal(asked.answer.scopes[0].linkage, "_visible");
	assert_function(ask(path_of("program.full"), NULL, NULL, NAMES_SYMBOLS, visible + 1),
		NAMES_FROM_SYMBOL, "visible", visible);
}

static void test_stripped(void **state)
{
	uint64_t hidden = address_of("hidden");
	const struct symbol_answer *answer =
		ask(path_of("program.stripped"), build_id, NULL, NAMES_ALL, hidden + 3);

	(void)state;
	assert_function(answer, NAMES_FROM_FRAME, "", hidden);
	assert_function(
		ask(path_of("program.stripped"), build_id, NULL, NAMES_ALL, 3), NAMES_FROM_NOTHING, "", 3);
	assert_function(ask(path_of("program.stripped"), build_id, NULL, NAMES_ALL, 1ull << 40),
		NAMES_FROM_NOTHING, "", 1ull << 40);
}

/* main is what the start-up code says; without unwind entries functions are where calls lead to. */
static void test_stripped_code(void **state)
{
	uint64_t start = address_of("main"), hidden;
	const char *bare = path_of("bare.stripped");

	(void)state;
#ifndef __x86_64__
	skip();
#endif
	assert_function(ask(path_of("program.stripped"), build_id, NULL, NAMES_ALL, start + 3),
		NAMES_FROM_FRAME, "main", start);
	assert_int_equal(shell("cc -w -O2 -fno-asynchronous-unwind-tables program.c -o bare.full && "
			       "strip -o bare.stripped bare.full"),
		0);
	hidden = address_in(path_of("bare.full"), "hidden");
	start = address_in(path_of("bare.full"), "main");
	assert_function(ask(bare, NULL, NULL, NAMES_ALL, hidden + 3), NAMES_FROM_FRAME, "", hidden);
	assert_function(ask(bare, NULL, NULL, NAMES_ALL, start + 3), NAMES_FROM_FRAME, "main", start);
	start = address_in(path_of("bare.full"), "_IO_stdin_used");
	assert_function(ask(bare, NULL, NULL, NAMES_ALL, start), NAMES_FROM_NOTHING, "", start);
}

/* A symbol without a size covers its unwind entry, else its first byte, and never what follows. */
static void test_unsized(void **state)
{
	uint64_t unsized = address_of("unsized"), bare = address_of("bare");
	const char *path = path_of("program.full");

	(void)state;
	assert_function(
		ask(path, NULL, NULL, NAMES_SYMBOLS, unsized + 3), NAMES_FROM_SYMBOL, "unsized", unsized);
	assert_function(ask(path, NULL, NULL, NAMES_SYMBOLS, bare), NAMES_FROM_SYMBOL, "bare", bare);
	assert_function(ask(path, NULL, NULL, NAMES_SYMBOLS, bare + 1), NAMES_FROM_NOTHING, "", bare + 1);
}

/* Every entry of .plt.sec or .plt, found by objdump, is named after its function. */
static void test_plt(void **state)
{
	char command[512], name[128], wanted[136];
	unsigned long address;
	unsigned count = 0;
	FILE *file;

	(void)state;
#ifndef __x86_64__
	skip();
#endif
	snprintf(command, sizeof command,
		"objdump -d %s/program.stripped | sed -n 's/^\\([0-9a-f]*\\) <\\(.*\\)@plt>:$/\\1 \\2/p'",
		directory);
	file = popen(command, "r");
	assert_non_null(file);
	while (fscanf(file, "%lx %127s", &address, name) == 2) {
		snprintf(wanted, sizeof wanted, "%s@plt", name);
		assert_function(ask(path_of("program.stripped"), NULL, NULL, NAMES_ALL, address + 7),
			NAMES_FROM_SYMBOL, wanted, address);
		count++;
	}
	assert_int_equal(pclose(file), 0);
	assert_true(count >= 3);
}

/* Without section headers, as the recorder's copies of memory are: the loader's way to symbols, by either
 * hash table. */
static void test_no_sections(void **state)
{
	static const char *const styles[] = {"gnu", "sysv", "both"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t exported, hidden;

		assert_int_equal(
			shell("cc -w -O2 -g -fPIC -shared -Wl,--hash-style=%s program.c -o bare.full && "
			      "strip -o bare bare.full && printf '\\0\\0\\0\\0\\0\\0\\0\\0' | "
			      "dd of=bare bs=1 seek=40 conv=notrunc status=none && "
			      "printf '\\0\\0\\0\\0\\0\\0' | dd of=bare bs=1 seek=58 conv=notrunc "
			      "status=none",
				styles[i]),
			0);
		exported = address_in(path_of("bare.full"), "_visible");
		hidden = address_in(path_of("bare.full"), "hidden");
		assert_function(ask(path_of("bare"), NULL, NULL, NAMES_ALL, exported + 1), NAMES_FROM_SYMBOL,
			"visible", exported);
		assert_function(ask(path_of("bare"), NULL, NULL, NAMES_ALL, hidden + 1), NAMES_FROM_FRAME, "",
			hidden);
	}
}

/* The stripped program's debug file: linked beside it, below .debug, by build id, by --debug-path. */
static void test_separate_files(void **state)
{
	uint64_t hidden = address_of("hidden");
	const char *linked = path_of("program.linked");
	char id[64] = "";

	(void)state;
	assert_function(ask(linked, build_id, NULL, NAMES_ALL, hidden), NAMES_FROM_DEBUG, "hidden", hidden);
	assert_int_equal(shell("mkdir .debug && mv program.debug .debug/"), 0);
	assert_function(ask(linked, build_id, NULL, NAMES_ALL, hidden), NAMES_FROM_DEBUG, "hidden", hidden);
	for (unsigned i = 0; i < sizeof build_id; i++)
		sprintf(id + 2 * i, "%02x", build_id[i]);
	assert_int_equal(shell("mkdir -p store/.build-id/%.2s && mv .debug/program.debug "
			       "store/.build-id/%.2s/%s.debug",
				 id, id, id + 2),
		0);
	assert_function(ask(linked, build_id, NULL, NAMES_ALL, hidden), NAMES_FROM_FRAME, "", hidden);
	assert_function(ask(linked, build_id, path_of("store"), NAMES_ALL, hidden), NAMES_FROM_DEBUG,
		"hidden", hidden);
	/* The program itself deleted: the debug file alone still says it. */
	assert_function(ask(path_of("gone"), build_id, path_of("store"), NAMES_ALL, hidden), NAMES_FROM_DEBUG,
		"hidden", hidden);
	/* A directory of plain copies. */
	assert_int_equal(shell("mkdir copies && cp program.full copies/gone"), 0);
	assert_function(ask(path_of("gone"), build_id, path_of("copies"), NAMES_ALL, hidden),
		NAMES_FROM_DEBUG, "hidden", hidden);
}

/* A link without build ids is believed by its checksum only. */
static void test_checksum(void **state)
{
	uint64_t hidden = address_of("hidden");

	(void)state;
	assert_int_equal(shell("objcopy -R .note.gnu.build-id program.full nb.full && "
			       "objcopy --only-keep-debug nb.full nb.debug && strip -o nb nb.full && "
			       "objcopy --add-gnu-debuglink=nb.debug nb"),
		0);
	assert_function(
		ask(path_of("nb"), NULL, NULL, NAMES_ALL, hidden), NAMES_FROM_DEBUG, "hidden", hidden);
	assert_int_equal(shell("printf x >>nb.debug"), 0);
	assert_function(ask(path_of("nb"), NULL, NULL, NAMES_ALL, hidden), NAMES_FROM_FRAME, "", hidden);
}

/* Symbols that the distribution packed into the stripped program. */
static void test_mini_debug_information(void **state)
{
	uint64_t hidden = address_of("hidden");

	(void)state;
	if (shell("xz --version >/dev/null 2>&1")) {
		print_message("skipped: no xz\n");
		skip();
	}
	assert_int_equal(shell("objcopy --only-keep-debug program.full mini && strip -g mini && xz mini && "
			       "objcopy --add-section .gnu_debugdata=mini.xz program.stripped program.mini"),
		0);
	assert_function(ask(path_of("program.mini"), build_id, NULL, NAMES_ALL, hidden + 1),
		NAMES_FROM_SYMBOL, "hidden", hidden);
}

static void test_changed_file(void **state)
{
	const uint8_t other[20] = {1, 2, 3};
	uint64_t hidden = address_of("hidden");

	(void)state;
	assert_function(
		ask(path_of("program.full"), other, NULL, NAMES_ALL, hidden), NAMES_FROM_NOTHING, "", hidden);
	assert_non_null(strstr(names_module_note(asked.module), "has changed"));
	assert_function(ask(path_of("missing"), NULL, NULL, NAMES_ALL, 16), NAMES_FROM_NOTHING, "", 16);
	assert_non_null(strstr(names_module_note(asked.module), "missing"));
}

/* Without a build id a file is known by its content; where that was out of reach no file will do. */
static void test_content(void **state)
{
	uint64_t hidden = address_of("hidden");
	uint8_t content[CONTENT_ID_BYTES], memory[CONTENT_ID_BYTES];
	int fd = open(path_of("program.full"), O_RDONLY);

	(void)state;
	assert_true(content_id_of_file(fd, content));
	close(fd);
	content_id_of_memory(memory, "known", 5);
	id_bytes = CONTENT_ID_BYTES;
	assert_function(ask(path_of("program.full"), content, NULL, NAMES_ALL, hidden), NAMES_FROM_DEBUG,
		"hidden", hidden);
	assert_function(ask(path_of("program.full"), memory, NULL, NAMES_ALL, hidden), NAMES_FROM_NOTHING, "",
		hidden);
	assert_non_null(strstr(names_module_note(asked.module), "no build id"));
	content[CONTENT_ID_BYTES - 1] ^= 1;
	assert_function(ask(path_of("program.full"), content, NULL, NAMES_ALL, hidden), NAMES_FROM_NOTHING,
		"", hidden);
	assert_non_null(strstr(names_module_note(asked.module), "has changed"));
	id_bytes = 20;
}

static void test_vdso(void **state)
{
	const Elf64_Ehdr *image = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	struct names_options options = {0};
	struct symbol_request request = {.kind = STORE_MODULE_VDSO, .path = "", .real_path = "[vdso]"};
	struct names_module *module;
	struct names *names;
	unsigned named = 0;

	(void)state;
	if (!image)
		skip();
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	for (uint64_t offset = 0; offset < 8192; offset++) {
		assert_int_equal(names_find(module, offset, &asked.answer, NULL), 0);
		named += strstr(asked.answer.scopes[0].name, "clock_gettime") != NULL;
	}
	names_close(names);
	assert_true(named > 10);
}

/* ---- damaged files, through the worker ---- */

struct expected {
	const uint64_t *offsets;
	unsigned at;
};

static int take(void *context, const struct symbol_answer *answer)
{
	struct expected *expected = context;

	assert_int_equal(answer->offset, expected->offsets[expected->at]);
	expected->at++;
	assert_int_equal(answer->scopes[0].kind, NAMES_FUNCTION);
	return 0;
}

#define HOSTILE_OFFSETS 40

static void ask_hostile(struct names_worker *worker, const char *path)
{
	uint64_t offsets[HOSTILE_OFFSETS];
	struct expected expected = {offsets, 0};
	struct symbol_request request = {
		.kind = STORE_MODULE_ELF, .path = path, .real_path = "", .offsets = offsets};
	char note[NAMES_NOTE_BYTES];

	for (unsigned i = 0; i < HOSTILE_OFFSETS; i++)
		offsets[i] = 0x1000 + (uint64_t)rand() % 0x400;
	request.offset_count = HOSTILE_OFFSETS;
	assert_int_equal(names_worker_ask(worker, &request, take, &expected, note, NULL), 0);
	assert_int_equal(expected.at, HOSTILE_OFFSETS);
}

static uint8_t *file_read(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	uint8_t *bytes;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

static void file_write(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void test_damage(void **state)
{
	const struct names_options options = {.cpu_ns = 1000000000};
	struct names_worker *worker;
	size_t size;
	uint8_t *bytes = file_read(path_of("program.full"), &size);
	char path[256];

	(void)state;
	assert_int_equal(names_worker_open(&worker, &options, NULL), 0);
	srand((unsigned)seed_take(__func__, 4));
	for (unsigned i = 0; i < 400; i++) {
		uint8_t *bad = malloc(size);
		size_t length = i % 4 ? size : (size_t)rand() % size;

		memcpy(bad, bytes, size);
		for (unsigned flips = i % 4 ? 1u << rand() % 10 : 0; flips; flips--)
			bad[(size_t)rand() % (i % 2 ? size : 4096)] = (uint8_t)rand();
		/* Another name each time, for a module that failed is not tried again. */
		snprintf(path, sizeof path, "%s/bad.%u", directory, i);
		file_write(path, bad, length);
		ask_hostile(worker, path);
		unlink(path);
		free(bad);
	}
	names_worker_close(worker);
	free(bytes);
}

/* A pipe, a directory, nothing at all. */
static void test_no_file(void **state)
{
	const struct names_options options = {0};
	struct names_worker *worker;

	(void)state;
	assert_int_equal(names_worker_open(&worker, &options, NULL), 0);
	assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
	ask_hostile(worker, path_of("pipe"));
	ask_hostile(worker, directory);
	ask_hostile(worker, "");
	ask_hostile(worker, "/dev/zero");
	names_worker_close(worker);
}

/* ---- limits ---- */

static int take_last(void *context, const struct symbol_answer *answer)
{
	*(struct symbol_answer *)context = *answer;
	return 0;
}

static struct symbol_answer last; /* its strings are gone */

/* The note to one question about `hidden`. */
static const char *note_of(struct names_worker *worker, const char *path)
{
	static char note[NAMES_NOTE_BYTES];
	uint64_t hidden = address_in(path, "hidden");
	struct symbol_request request = {.kind = STORE_MODULE_ELF,
		.path = path,
		.real_path = "",
		.offsets = &hidden,
		.offset_count = 1};

	assert_int_equal(names_worker_ask(worker, &request, take_last, &last, note, NULL), 0);
	return note;
}

#define BOMB_MB 300

/* Debug information that unpacks to more than may be: symbols are what is left, and the memory was not taken.
 */
static void test_memory(void **state)
{
	const struct names_options options = {.memory_bytes = 100u << 20};
	struct names_worker *worker;
	struct rusage before, after;

	(void)state;
	assert_int_equal(
		shell("{ printf 'ZLIB\\0\\0\\0\\0\\022\\300\\0\\0\\170\\234' && head -c %uM /dev/zero | "
		      "gzip -1 | tail -c +11; } >bomb && strip -g -o bomb.full program.full && "
		      "objcopy --add-section .zdebug_info=bomb --add-section .zdebug_abbrev=bomb bomb.full",
			BOMB_MB),
		0);
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &before), 0);
	assert_int_equal(names_worker_open(&worker, &options, NULL), 0);
	note_of(worker, path_of("bomb.full"));
	assert_int_equal(last.source, NAMES_FROM_SYMBOL);
	names_worker_close(worker);
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &after), 0);
#ifndef __SANITIZE_ADDRESS__
	assert_true(after.ru_maxrss < BOMB_MB << 10 || after.ru_maxrss == before.ru_maxrss);
#endif
}

static void test_time(void **state)
{
	const struct names_options options = {.cpu_ns = 1};
	struct names_worker *worker;
	const char *note;

	(void)state;
	assert_int_equal(shell("{ echo 'int hidden(int x) { return x; }'; i=0; while [ $i -lt 3000 ]; do "
			       "echo \"int f$i(int x) { return x + $i; }\"; i=$((i + 1)); done; } >long.c && "
			       "cc -O1 -g -shared -fPIC -o long.so long.c"),
		0);
	assert_int_equal(names_worker_open(&worker, &options, NULL), 0);
	note = note_of(worker, path_of("long.so"));
	names_worker_close(worker);
	assert_non_null(strstr(note, "took too long"));
	assert_int_equal(last.source, NAMES_FROM_SYMBOL);
}

static pid_t only_child(void)
{
	char path[64];
	int pid = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "r");
	if (file && fscanf(file, "%d", &pid) != 1)
		pid = 0;
	if (file)
		fclose(file);
	return pid;
}

/* A worker that says nothing is ended, and another asked for less. */
static void test_silence(void **state)
{
	const struct names_options options = {.silent_s = 1};
	struct names_worker *worker;
	pid_t first;

	(void)state;
	assert_int_equal(names_worker_open(&worker, &options, NULL), 0);
	assert_string_equal(note_of(worker, path_of("program.full")), "");
	assert_int_equal(last.source, NAMES_FROM_DEBUG);
	first = only_child();
	if (!first) {
		names_worker_close(worker);
		skip(); /* the kernel lists no children */
	}
	assert_int_equal(kill(first, SIGSTOP), 0);
	assert_non_null(strstr(note_of(worker, path_of("program.full")), "failed"));
	assert_int_equal(last.source, NAMES_FROM_SYMBOL);
	assert_int_not_equal(only_child(), first);
	names_worker_close(worker);
}

static int refuse(void *context, const struct symbol_answer *answer)
{
	(void)answer;
	return ++*(int *)context == 3 ? -77 : 0;
}

/* A question given up midway leaves nothing behind for the next. */
static void test_refusal(void **state)
{
	const struct names_options options = {0};
	const uint64_t offsets[] = {0x1000, 0x1010, 0x1020, 0x1030};
	struct names_worker *worker;
	struct symbol_request request = {
		.path = path_of("program.full"), .real_path = "", .offsets = offsets, .offset_count = 4};
	char note[NAMES_NOTE_BYTES];
	int seen = 0;

	(void)state;
	assert_int_equal(names_worker_open(&worker, &options, NULL), 0);
	assert_int_equal(names_worker_ask(worker, &request, refuse, &seen, note, NULL), -77);
	assert_int_equal(seen, 3);
	seen = 10;
	assert_int_equal(names_worker_ask(worker, &request, refuse, &seen, note, NULL), 0);
	assert_int_equal(seen, 14);
	assert_string_equal(note, "");
	names_worker_close(worker);
}

static int setup(void **state)
{
	char command[256], hex[64] = "";
	FILE *file;

	(void)state;
	if (!mkdtemp(directory))
		return -1;
	file = fopen(path_of("program.c"), "w");
	if (!file || fputs(source, file) < 0 || fclose(file))
		return -1;
	if (shell("cc -w -O2 -g -Wl,--build-id=sha1 program.c -o program.full && "
		  "objcopy --only-keep-debug program.full program.debug && "
		  "strip -o program.stripped program.full && "
		  "objcopy --add-gnu-debuglink=program.debug program.stripped program.linked"))
		return -1;
	snprintf(command, sizeof command, "readelf -n %s | sed -n 's/.*Build ID: //p'",
		path_of("program.full"));
	file = popen(command, "r");
	if (!file || fscanf(file, "%63s", hex) != 1 || pclose(file))
		return -1;
	for (unsigned i = 0; i < sizeof build_id; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &build_id[i]) != 1)
			return -1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	names_close(asked.names);
	return chdir("/") || shell("rm -rf %s", directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debug_information),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_stripped_code),
		cmocka_unit_test(test_unsized),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_no_sections),
		cmocka_unit_test(test_separate_files),
		cmocka_unit_test(test_checksum),
		cmocka_unit_test(test_mini_debug_information),
		cmocka_unit_test(test_changed_file),
		cmocka_unit_test(test_content),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_silence),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
