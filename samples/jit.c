/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit.c - makes code at run time, with frame pointers and without unwind tables, and tells perf its names in
 * /tmp/perf-PID.map, as run-time compilers do. Argument: CPU seconds (default 0.3). With `gone` as a second
 * one the map is removed at the end, with `silent` there is none, with `dump` it is perf's other form, a file
 * jit-PID.dump here, which says that the inner one was moved, and with `deep` the inner one is called at the
 * end of a recursion of 20000 frames, in code of that kind as well ("jit deep").
 *
 * What the trace must show: full stacks, nearly all time in main;run;jit outer;jit inner, the name that was
 * written last for an address counting; with `deep` in main;run;jit deep;jit deep;jit deep;jit inner, as
 * calls from one place are folded.
 */
#include "samples/burn.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static const unsigned char outer_code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
/* push %rbp; mov %rsp, %rbp; mov $1000000, %ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const unsigned char inner_code[] = {
	0x55, 0x48, 0x89, 0xe5, 0xb9, 0x40, 0x42, 0x0f, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};

/* push %rbp; mov %rsp, %rbp; test %esi, %esi; jz 1f; dec %esi; call .; 0: pop %rbp; ret; 1: call *%rdi; jmp
 * 0b */
static const unsigned char deep_code[] = {0x55, 0x48, 0x89, 0xe5, 0x85, 0xf6, 0x74, 0x09, 0xff, 0xce, 0xe8,
	0xf1, 0xff, 0xff, 0xff, 0x5d, 0xc3, 0xff, 0xd7, 0xeb, 0xfa};

typedef void (*code_function)(void (*)(void), int);

/* ---- jit-PID.dump ---- */

struct dump_record {
	uint32_t kind, bytes;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t load_address, address, second, third;
};

static void dump_put(FILE *file, uint32_t kind, const void *code, uint64_t second, uint64_t third,
	const char *name, size_t code_bytes)
{
	size_t name_bytes = name ? strlen(name) + 1 : 0;
	struct dump_record record = {kind, (uint32_t)(sizeof(record) + name_bytes + code_bytes), 1,
		(uint32_t)getpid(), (uint32_t)getpid(), 0, (uintptr_t)code, second, third};

	fwrite(&record, sizeof(record), 1, file);
	if (name)
		fwrite(name, 1, name_bytes, file);
	fwrite(code, 1, code_bytes, file);
}

/* A mapping that can be executed is how perf meets it. */
static bool dump_write(const char *path, const unsigned char *code)
{
	uint32_t header[10] = {0x4a695444, 1, sizeof(header), 62, 0, (uint32_t)getpid()};
	FILE *file = fopen(path, "w+");

	if (!file)
		return false;
	fwrite(header, sizeof(header), 1, file);
	dump_put(file, 0, code, sizeof(outer_code), 1, "jit outer", sizeof(outer_code));
	dump_put(file, 0, code + 1024, sizeof(inner_code), 2, "jit inner", sizeof(inner_code));
	dump_put(
		file, 1, code + 1024, (uintptr_t)code + 256, sizeof(inner_code), NULL, 8); /* 8: its number */
	fflush(file);
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) != MAP_FAILED;
}

/* ---- the code ---- */

APART static void run(code_function outer, void (*inner)(void), double ns)
{
	double until = (double)cpu_now_ns() + ns;

	while ((double)cpu_now_ns() < until)
		outer(inner, 20000);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	double ns = (argc > 1 ? atof(argv[1]) : 0.3) * 1e9;
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool is_deep = argc > 2 && !strcmp(argv[2], "deep");
	bool is_dump = argc > 2 && !strcmp(argv[2], "dump");
	char path[64];
	FILE *map;

	if (code == MAP_FAILED)
		return 1;
	code += 64; /* such code has something before it, as a rule */
	memcpy(code, outer_code, sizeof(outer_code));
	memcpy(code + 256, inner_code, sizeof(inner_code));
	memcpy(code + 512, deep_code, sizeof(deep_code));
	mprotect(code - 64, 4096, PROT_READ | PROT_EXEC);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(is_dump || (argc > 2 && !strcmp(argv[2], "silent")) ? "/dev/null" : path, "w");
	if (is_dump)
		snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	if (!map || (is_dump && !dump_write(path, code)))
		return 1;
	fprintf(map, "%lx 100 jit before\nnonsense\n%lx %zx jit outer\n%lx %zx jit inner\n%lx %zx jit deep\n",
		(unsigned long)code, (unsigned long)code, sizeof(outer_code), (unsigned long)code + 256,
		sizeof(inner_code), (unsigned long)code + 512, sizeof(deep_code));
	fclose(map);
	run((code_function)(void *)(is_deep ? code + 512 : code), (void (*)(void))(void *)(code + 256), ns);
	if (argc > 2 && !strcmp(argv[2], "gone"))
		unlink(path);
	printf("%s\n", path);
	return 0;
}
