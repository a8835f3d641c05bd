/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_oracle.c - is the agent's unwinder right? Stops a running program at
 * random moments, walks its stack with record/agent/unwind/unwind.c through a remote
 * memory reader, walks it again with libunwind-ptrace, and compares frame by frame.
 * libunwind appears here and nowhere else.
 *
 *   unwind_oracle [-n STOPS] [-s SEED] [-i INSTRUCTIONS] [-v] COMMAND ARGS...
 *   -i: instead of random moments, every so many instructions: prologues, PLT stubs, signal frames
 *   prints "stops N frames N equal N differ N partial N oracle_stopped N vdso N guessed N seed N"; 1 if any
 *   differ (guessed: they part at code without tables, as some assembly is, where both can but guess;
 *   vdso: libunwind cannot read the vdso of another process and guesses)
 */
#include <elf.h>
#include <errno.h>
#include <libunwind-ptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/unwind/unwind.h"

#define MODULES_MAX 512

struct remote {
	pid_t pid;
	struct cfi_module modules[MODULES_MAX];
	unsigned count;
	unsigned vdso; /* its index in modules */
	char *maps;
};

static struct remote remote;
static struct unwinder unwinder;
static struct unwind_frame frames[UNWIND_FRAMES_MAX];
static struct {
	unsigned long stops, frames, equal, differ, partial, oracle_stopped, vdso, guessed;
} tally;
static int verbose;
static unsigned long instructions; /* between two stops; 0: random moments */

static int remote_read(void *context, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};

	(void)context;
	return process_vm_readv(remote.pid, &local, 1, &there, 1, 0) == (ssize_t)bytes ? 0 : -1;
}

static void segment_take(struct cfi_module *module, uint64_t begin, uint64_t bytes, uint64_t header)
{
	uint8_t *copy = malloc(bytes);

	if (!copy || remote_read(NULL, begin, copy, bytes))
		return;
	module->image = (struct cfi_image){copy, begin, begin + bytes};
	cfi_module_init(module, header);
}

static void module_take(uint64_t begin, uint64_t end)
{
	struct cfi_module *module = &remote.modules[remote.count];
	Elf64_Phdr segments[64];
	Elf64_Ehdr elf;
	uint64_t bias, header = 0;

	if (remote.count == MODULES_MAX || remote_read(NULL, begin, &elf, sizeof(elf)) ||
		memcmp(elf.e_ident, ELFMAG, SELFMAG) || elf.e_phnum > 64 ||
		remote_read(NULL, begin + elf.e_phoff, segments, elf.e_phnum * sizeof(*segments)))
		return;
	*module = (struct cfi_module){.begin = begin, .end = end, .slot = remote.count};
	bias = begin;
	for (unsigned i = 0; i < elf.e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
			bias = begin - segments[i].p_vaddr;
	for (unsigned i = 0; i < elf.e_phnum; i++)
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			header = bias + segments[i].p_vaddr;
	for (unsigned i = 0; i < elf.e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && header >= bias + segments[i].p_vaddr &&
			header < bias + segments[i].p_vaddr + segments[i].p_filesz)
			segment_take(module, bias + segments[i].p_vaddr, segments[i].p_filesz, header);
	remote.count++;
}

/* One module per run of mappings of one file. */
static void modules_take(const char *maps)
{
	char path[4096], last[4096] = "";
	uint64_t first = 0, end_of_last = 0, begin, end, offset;

	for (const char *line = maps; line && *line;
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s%*[ ]%4095[^\n]", &begin, &end, &offset, path) < 3)
			continue;
		if (strcmp(path, last) || !path[0]) {
			if (first && !strcmp(last, "[vdso]"))
				remote.vdso = remote.count;
			if (first)
				module_take(first, end_of_last);
			first = path[0] == '/' || !strcmp(path, "[vdso]") ? begin : 0;
			strcpy(last, path);
		}
		end_of_last = end;
	}
}

static char *maps_read(void)
{
	static char text[1 << 20];
	char name[64];
	size_t got;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", remote.pid);
	file = fopen(name, "r");
	got = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[got] = '\0';
	if (file)
		fclose(file);
	return text;
}

/* 1: the program's mappings have changed, and everything known of them with it. */
static int modules_refresh(void)
{
	char *maps = maps_read();

	if (remote.maps && !strcmp(maps, remote.maps))
		return 0;
	for (unsigned i = 0; i < remote.count; i++)
		free((void *)remote.modules[i].image.bytes);
	remote.count = 0;
	free(remote.maps);
	remote.maps = strdup(maps);
	modules_take(maps);
	unwind_cache_clear(&unwinder);
	return 1;
}

static const struct cfi_module *remote_module(void *context, uint64_t pc)
{
	(void)context;
	for (unsigned i = 0; i < remote.count; i++)
		if (pc >= remote.modules[i].begin && pc < remote.modules[i].end)
			return &remote.modules[i];
	return NULL;
}

static void registers_read(struct arch_registers *to)
{
	struct user_regs_struct from;

	ptrace(PTRACE_GETREGS, remote.pid, NULL, &from);
	*to = (struct arch_registers){
		{from.rax, from.rdx, from.rcx, from.rbx, from.rsi, from.rdi, from.rbp, from.rsp, from.r8,
			from.r9, from.r10, from.r11, from.r12, from.r13, from.r14, from.r15, from.rip},
		ARCH_ALL_KNOWN};
}

/* What lies above the stack pointer, as far as it is mapped: the walk reads most words directly, as it does
 * in the agent. */
static void stack_copy(uint64_t sp)
{
	static uint8_t copy[1 << 17];
	struct iovec local = {copy, sizeof(copy)}, there[1 << 5];
	ssize_t got;

	for (unsigned i = 0; i < 1 << 5; i++) {
		uint64_t page = (sp & ~UINT64_C(4095)) + i * UINT64_C(4096);

		there[i] = (struct iovec){(void *)(uintptr_t)page, 4096};
	}
	got = process_vm_readv(remote.pid, &local, 1, there, 1 << 5, 0);
	unwinder.space.memory.low = sp & ~UINT64_C(4095);
	unwinder.space.memory.high = unwinder.space.memory.low + (uint64_t)(got > 0 ? got : 0);
	unwinder.space.memory.shift = (uintptr_t)copy - unwinder.space.memory.low;
}

/* libunwind's walk, as our frames would have it. *stopped: it ended in an error. */
static unsigned oracle_walk(
	unw_addr_space_t space, void *upt, struct unwind_frame *to, unsigned most, int *stopped)
{
	unsigned count = 0;
	unw_cursor_t cursor;
	unw_word_t ip, exact = 1;
	int result = 0;

	unw_init_remote(&cursor, space, upt);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		if (!ip)
			break;
		to[count++] = (struct unwind_frame){.address = ip - !exact, .exact = (uint32_t)exact};
		result = unw_step(&cursor);
		exact = unw_is_signal_frame(&cursor) > 0; /* it says how the frame was reached */
	} while (result > 0 && count < most);
	*stopped = result < 0;
	return count;
}

static void difference_print(const struct unwind_frame *theirs, unsigned count)
{
	if (!verbose)
		return;
	for (unsigned i = 0; i < count || i < unwinder.count; i++) {
		uint64_t ours = i < unwinder.count ? frames[i].address : 0,
			 other = i < count ? theirs[i].address : 0;

		fprintf(stderr, "%c %3u %16lx %16lx\n", ours == other ? ' ' : '!', i, ours, other);
	}
	fprintf(stderr, "--\n");
}

static int has_tables(uint64_t pc)
{
	static struct cfi_scratch scratch;
	const struct cfi_module *module = remote_module(NULL, pc);

	return module && !cfi_row_find(module, pc, &scratch);
}

static void compare(unw_addr_space_t space, void *upt)
{
	static struct unwind_frame theirs[UNWIND_FRAMES_MAX];
	struct arch_registers start;
	enum unwind_result result;
	unsigned count, same = 0;
	int stopped;

	if (modules_refresh())
		unw_flush_cache(space, 0, 0);
	registers_read(&start);
	stack_copy(start.value[ARCH_SP]);
	result = unwind_walk(&unwinder, &start);
	count = oracle_walk(space, upt, theirs, UNWIND_FRAMES_MAX, &stopped);
	while (same < count && same < unwinder.count && theirs[same].address == frames[same].address)
		same++;
	tally.stops++;
	tally.frames += unwinder.count;
	tally.partial += result == UNWIND_PARTIAL;
	if (same == count && same == unwinder.count)
		tally.equal++;
	else if (stopped && same == count)
		tally.oracle_stopped++; /* it gave up, we went on */
	else if (frames[0].slot == remote.vdso)
		tally.vdso++;
	else if (same && !has_tables(frames[same - 1].address))
		tally.guessed++;
	else
		tally.differ++;
	if (result == UNWIND_PARTIAL || same != count || same != unwinder.count)
		difference_print(theirs, count);
}

static void pause_randomly(void)
{
	struct timespec wait = {0, 20000 + rand() % 1500000};

	nanosleep(&wait, NULL);
}

/* 1: one instruction further. 0: the program has ended. */
static int step(void)
{
	int status, passed_on = 0;

	for (;;) {
		ptrace(PTRACE_SINGLESTEP, remote.pid, NULL, (void *)(long)passed_on);
		if (waitpid(remote.pid, &status, __WALL) != remote.pid || !WIFSTOPPED(status))
			return 0;
		if (status >> 16 == PTRACE_EVENT_STOP || WSTOPSIG(status) == SIGTRAP)
			return 1;
		passed_on = WSTOPSIG(status);
	}
}

/* 1: stopped by us. 0: the program has ended. Its own signals are passed on. */
static int stop(void)
{
	int status;

	for (unsigned long i = 0; i < instructions && tally.stops; i++)
		if (!step())
			return 0;
	if (instructions && tally.stops)
		return 1;
	if (tally.stops)
		ptrace(PTRACE_CONT, remote.pid, NULL, NULL);
	pause_randomly();
	ptrace(PTRACE_INTERRUPT, remote.pid, NULL, NULL);
	for (;;) {
		if (waitpid(remote.pid, &status, __WALL) != remote.pid || WIFEXITED(status) ||
			WIFSIGNALED(status))
			return 0;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return 1;
		ptrace(PTRACE_CONT, remote.pid, NULL, (void *)(long)WSTOPSIG(status));
	}
}

static pid_t program_start(char **argv)
{
	int gate[2];
	char go;
	pid_t pid;

	if (pipe(gate))
		exit(2);
	pid = fork();
	if (!pid) {
		close(gate[1]);
		if (read(gate[0], &go, 1) != 1)
			_exit(126);
		close(gate[0]);
		execvp(argv[0], argv);
		_exit(127);
	}
	ptrace(PTRACE_SEIZE, pid, NULL, (void *)(long)PTRACE_O_EXITKILL);
	close(gate[0]);
	if (write(gate[1], "", 1) != 1)
		exit(2);
	close(gate[1]);
	return pid;
}

int main(int argc, char **argv)
{
	unsigned long stops = 1000;
	unsigned seed = 1;
	unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
	void *upt;
	int option;

	while ((option = getopt(argc, argv, "+i:n:s:v")) != -1) {
		if (option == 'n')
			stops = strtoul(optarg, NULL, 10);
		if (option == 'i')
			instructions = strtoul(optarg, NULL, 10);
		if (option == 's')
			seed = (unsigned)strtoul(optarg, NULL, 10);
		verbose |= option == 'v';
	}
	if (optind == argc)
		return 2;
	srand(seed);
	unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
	unwinder.frames = frames;
	unwinder.most = UNWIND_FRAMES_MAX;
	unwinder.space.memory.read = remote_read;
	unwinder.space.module_find = remote_module;
	remote.pid = program_start(argv + optind);
	upt = _UPT_create(remote.pid);
	usleep(20000); /* past the exec */
	while (tally.stops < stops && stop())
		compare(space, upt);
	kill(remote.pid, SIGKILL);
	printf("stops %lu frames %lu equal %lu differ %lu partial %lu oracle_stopped %lu vdso %lu guessed "
	       "%lu seed %u\n",
		tally.stops, tally.frames, tally.equal, tally.differ, tally.partial, tally.oracle_stopped,
		tally.vdso, tally.guessed, seed);
	return tally.differ != 0;
}
