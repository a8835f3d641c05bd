/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_unwind.c - the walk on this very process, against the compiler's own
 * unwinder; then what that one cannot show: fences, hidden code, code without
 * tables, unreadable stacks, depth, other registers. tests/e2e/unwind_oracle.c
 * compares on real programs.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>
#include <execinfo.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/agent/sample/sample.h"
#include "tests/unit/seed.h"

#define DEEP 60

static struct unwinder unwinder;
static struct unwind_frame frames[UNWIND_FRAMES_MAX];
static struct cfi_module found;
static bool without_tables;
static uint64_t code_around; /* bytes of a module beside a pc */
static uint64_t stack_high;  /* 0: every word goes through safe_read */
static uint64_t stack_top;
static unsigned reads; /* by system calls */

/* qemu-user has no process_vm_readv, but a pipe that refuses what cannot be read. */
static int pipe_read(uint64_t address, void *to, size_t bytes)
{
	static int ends[2];

	if (!ends[1] && pipe(ends))
		return -1;
	return write(ends[1], (void *)(uintptr_t)address, bytes) == (ssize_t)bytes &&
			       read(ends[0], to, bytes) == (ssize_t)bytes
		       ? 0
		       : -1;
}

static int safe_read(void *context, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};
	ssize_t got = process_vm_readv(getpid(), &local, 1, &there, 1, 0);

	(void)context;
	reads++;
	if (got < 0 && errno == ENOSYS)
		return pipe_read(address, to, bytes);
	return got == (ssize_t)bytes ? 0 : -1;
}

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
	uint64_t pc = *(uint64_t *)context, header = 0;
	bool here = false;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_GNU_EH_FRAME)
			header = begin;
		here |= segment->p_type == PT_LOAD && pc >= begin && pc < begin + segment->p_memsz;
	}
	for (unsigned i = 0; here && header && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_filesz;

		if (segment->p_type == PT_LOAD && header >= begin && header < end) {
			found = (struct cfi_module){.begin = pc,
				.end = pc + 1,
				.slot = 5,
				.image = {(const uint8_t *)begin, begin, end}};
			cfi_module_init(&found, header);
			return 1;
		}
	}
	return 0;
}

static const struct cfi_module *module_at(void *context, uint64_t pc)
{
	(void)context;
	if (!dl_iterate_phdr(look, &pc))
		return NULL;
	if (without_tables)
		found.image = (struct cfi_image){0};
	found.begin -= code_around;
	found.end += code_around;
	return &found;
}

static int set_up(void **state)
{
	(void)state;
	memset(&unwinder, 0, sizeof(unwinder));
	without_tables = false;
	code_around = 0;
	stack_high = 0;
	unwinder.frames = frames;
	unwinder.most = UNWIND_FRAMES_MAX;
	unwinder.space.memory.read = safe_read;
	unwinder.space.module_find = module_at;
	return 0;
}

/* Walks from the caller's caller on, and leaves backtrace's answer in `theirs`. */
static int theirs_count;
static void *theirs[UNWIND_FRAMES_MAX + 1];
static enum unwind_result result;

/* A sanitizer stands in front of backtrace, and is the first frame then. */
static void theirs_take(const void *caller)
{
	int extra = 0;

	theirs_count = backtrace(theirs, UNWIND_FRAMES_MAX + 1);
	while (extra + 2 < theirs_count && theirs[extra + 1] != caller)
		extra++;
	theirs_count -= extra;
	memmove(theirs, theirs + extra, (size_t)theirs_count * sizeof(*theirs));
}

__attribute__((noinline)) static void walk_here(void)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	ucontext_t context;

	theirs_take(__builtin_return_address(0));
	getcontext(&context);
	arch_registers_read(&context, start.value);
	unwinder.space.memory.low = stack_high ? start.value[ARCH_SP] : 0;
	unwinder.space.memory.high = stack_high;
	result = unwind_walk(&unwinder, &start);
}

__attribute__((noinline)) static int down(int depth, void (*at_the_end)(void))
{
	char *room = __builtin_alloca((size_t)(depth * 16 % 200 + 8));
	int below = 0;

	room[0] = (char)depth;
	if (depth)
		below = down(depth - 1, at_the_end);
	else
		at_the_end();
	__asm__ volatile("" : : "r"(room) : "memory");
	return below + room[0];
}

static void assert_same_as_theirs(void)
{
	assert_int_equal(result, UNWIND_FULL);
	assert_int_equal(unwinder.count, theirs_count);
	for (unsigned i = 1; i < unwinder.count; i++)
		assert_int_equal(frames[i].address + !frames[i].exact, (uintptr_t)theirs[i]);
}

static void test_walk_equals_the_compilers(void **state)
{
	(void)state;
	down(DEEP, walk_here);
	assert_same_as_theirs();
	assert_true(unwinder.count > DEEP);
	assert_int_equal(frames[0].exact, 1);
	assert_int_equal(frames[3].slot, 5);
	down(DEEP, walk_here); /* by the cache now */
	assert_same_as_theirs();
	assert_in_range(unwinder.rows, 0, DEEP / 4);
	unwind_cache_clear(&unwinder);
	down(DEEP, walk_here);
	assert_same_as_theirs();
}

__attribute__((noinline)) static int realigned(int n)
{
	volatile double room[8] __attribute__((aligned(64)));
	char *more = __builtin_alloca((size_t)n);

	room[0] = n;
	more[0] = 1;
	down(3, walk_here);
	__asm__ volatile("" : : "r"(more) : "memory");
	return (int)room[0];
}

static void test_realigned_stack(void **state)
{
	(void)state;
	assert_int_equal(realigned(50), 50);
	assert_same_as_theirs();
}

static int compare_and_walk(const void *a, const void *b)
{
	walk_here();
	return *(const int *)a - *(const int *)b;
}

static void test_through_libc(void **state)
{
	int numbers[] = {3, 1, 2};

	(void)state;
	qsort(numbers, 3, sizeof(int), compare_and_walk);
	assert_same_as_theirs();
}

static void handler(int number)
{
	(void)number;
	walk_here();
}

/* The kernel's frame between the two, and a function that was interrupted anywhere: here in a leaf of libc.
 */
static void test_through_a_signal_handler(void **state)
{
	unsigned exact = 0;

	(void)state;
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	assert_same_as_theirs();
	for (unsigned i = 0; i < unwinder.count; i++)
		exact += frames[i].exact;
	assert_int_equal(exact, 2);
	/* Where the code of the kernel's frame is known by sight, it needs no row. */
	assert_true(ARCH_TRAMPOLINE_BYTES || unwinder.rows > 0);
}

/* The quick way, which the handler takes: words straight from the stack. */
static void test_direct_reads_equal_the_compilers(void **state)
{
	int numbers[] = {3, 1, 2};

	(void)state;
	stack_high = stack_top;
	for (unsigned round = 0; round < 2; round++) {
		down(DEEP, walk_here);
		assert_same_as_theirs();
		assert_int_equal(realigned(50), 50);
		assert_same_as_theirs();
		qsort(numbers, 3, sizeof(int), compare_and_walk);
		assert_same_as_theirs();
	}
	assert_int_equal(frames[0].exact, 1);
	assert_int_equal(frames[1].exact, 0);
}

#define KEPT_MOST 400

static struct unwind_word kept[KEPT_MOST];
static unsigned kept_most, kept_count;
static uint64_t kept_from; /* the stack pointer */
static bool kept_fp;

static bool is_kept(uint64_t place)
{
	unsigned i = 0;

	while (i < kept_count && kept_from + kept[i].offset != place)
		i++;
	return i < kept_count;
}

/* On a copy of the stack: spoils one word after the other and walks again. */
static void walk_spoiled(const struct arch_registers *start)
{
	static uint64_t copy[1u << 15];
	static struct unwind_frame before[UNWIND_FRAMES_MAX];
	struct cfi_memory *memory = &unwinder.space.memory;
	uint64_t bytes = stack_high - memory->low;
	unsigned count = unwinder.count;

	assert_true(bytes <= sizeof(copy));
	memcpy(copy, (const void *)memory->low, bytes);
	memcpy(before, frames, count * sizeof(*frames));
	memory->shift = (uintptr_t)copy - memory->low;
	for (uint64_t i = 0; i < bytes / 8; i++) {
		bool same;

		copy[i] ^= 0x5550;
		unwind_walk(&unwinder, start);
		same = unwinder.count == count && !memcmp(before, frames, count * sizeof(*frames));
		copy[i] ^= 0x5550;
		assert_int_not_equal(same, is_kept(memory->low + i * 8));
	}
	memory->shift = 0;
}

__attribute__((noinline)) static void walk_and_keep(void)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	ucontext_t context;

	getcontext(&context);
	arch_registers_read(&context, start.value);
	kept_from = unwinder.space.memory.low = start.value[ARCH_SP];
	unwinder.space.memory.high = stack_high;
	result = unwind_walk(&unwinder, &start);
	assert_int_equal(result, UNWIND_FULL);
	kept_count = unwind_words(&unwinder, &start, kept, kept_most, &kept_fp);
	for (unsigned i = 0; i < kept_count; i++)
		assert_int_equal(*(const uint64_t *)(kept_from + kept[i].offset), kept[i].value);
	if (kept_count)
		walk_spoiled(&start);
}

/* Its frame is aligned and it has arguments on the stack: compilers keep the CFA in the frame. */
__attribute__((noinline)) static long aligned(int a, int b, int c, int d, int e, int f, long room, long more)
{
	_Alignas(64) volatile char wide[64];
	volatile char *narrow = __builtin_alloca((size_t)room);

	wide[a & 63] = narrow[0] = (char)more;
	walk_and_keep();
	__asm__ volatile("");
	return wide[b & 63] + narrow[0] + c + d + e + f + more;
}

static void walk_aligned(void)
{
	aligned(1, 2, 3, 4, 5, 6, 100, 8);
	__asm__ volatile("");
}

/* What is kept of a path tells it from all others, and no other word matters. */
static void test_words_are_what_a_path_hangs_on(void **state)
{
	unsigned all;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	print_message("sanitizers forbid to copy a stack, and give each frame a frame pointer: not tried\n");
	skip();
#endif
	/* What has called main may have rules that are not simple. */
	unwinder.space.fence_end = (uintptr_t)__builtin_return_address(0);
	unwinder.space.fence_begin = unwinder.space.fence_end - 1;
	stack_high = stack_top;
	kept_most = KEPT_MOST;
	down(20, walk_and_keep);
	all = kept_count;
	assert_in_range(all, 23, 2 * 23); /* a return address a frame, and frame pointers */
	down(20, walk_aligned);
	assert_true(kept_count > all); /* two frames more */
	down(20, walk_and_keep);
	kept_most = all - 1;
	down(20, walk_and_keep);
	assert_int_equal(kept_count, 0);
	kept_most = KEPT_MOST;
	stack_high = kept_from + kept[all - 1].offset; /* the last lies beyond what may be read */
	down(20, walk_and_keep);
	assert_int_equal(kept_count, 0);
}

__attribute__((noinline)) static void down_from_one_place(void)
{
	down(DEEP, walk_here);
	__asm__ volatile("");
}

static void test_fence_and_hidden_code(void **state)
{
	unsigned whole, shown = 0;

	(void)state;
	down_from_one_place();
	unwinder.space.fence_begin = frames[1 + DEEP + 1].address;
	unwinder.space.fence_end = unwinder.space.fence_begin + 1;
	unwind_cache_clear(&unwinder);
	down_from_one_place();
	assert_int_equal(result, UNWIND_FULL);
	assert_int_equal(unwinder.count, 1 + DEEP + 1);
	unwinder.space.fence_end = unwinder.space.fence_begin;
	unwind_cache_clear(&unwinder);
	down(DEEP, walk_here);
	whole = unwinder.count;
	unwind_cache_clear(&unwinder);
	unwinder.space.hidden_begin = frames[5].address; /* one call site of down() */
	unwinder.space.hidden_end = frames[5].address + 1;
	for (unsigned i = 0; i < whole; i++)
		shown += frames[i].address != frames[5].address;
	down(DEEP, walk_here);
	assert_int_equal(result, UNWIND_FULL);
	assert_int_equal(unwinder.count, shown);
}

static void test_unreadable_stack_is_partial(void **state)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};

	(void)state;
	down(1, walk_here);
	unwind_cache_clear(&unwinder);
	start.value[ARCH_PC] = (uintptr_t)down;
	start.value[ARCH_SP] = 0x1000;
#ifdef __aarch64__
	start.value[ARCH_PC] = (uintptr_t)theirs[1]; /* its return address is on the stack by now */
	start.value[ARCH_FP] = 0x2000;
#endif
	assert_int_equal(unwind_walk(&unwinder, &start), UNWIND_PARTIAL);
	assert_int_equal(unwinder.count, 1);
	assert_int_equal(unwinder.unreadable, 1);
	start.value[ARCH_PC] = 0x10;
	start.value[ARCH_SP] = UINT64_MAX - 3;
	start.value[ARCH_FP] = UINT64_MAX - 7;
	assert_int_equal(unwind_walk(&unwinder, &start), UNWIND_PARTIAL);
	assert_int_equal(unwinder.count, 1);
	assert_int_equal(frames[0].slot, UNWIND_NO_SLOT);
}

static void test_random_registers_do_no_harm(void **state)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t stack = (uintptr_t)&start;

	(void)state;
	srand((unsigned)seed_take(__func__, 25));
	for (unsigned i = 0; i < 20000; i++) {
		for (unsigned r = 0; r < ARCH_REGISTERS; r++)
			start.value[r] = stack + (uint64_t)(rand() % 4000) - 2000;
		start.value[ARCH_PC] =
			(uintptr_t)(i % 2 ? (void *)qsort : (void *)down) + (uint64_t)(rand() % 500);
		unwind_walk(&unwinder, &start);
		assert_true(unwinder.count <= UNWIND_FRAMES_MAX);
	}
}

static void test_too_deep_keeps_the_innermost(void **state)
{
	(void)state;
	down(UNWIND_FRAMES_MAX + 10, walk_here);
	assert_int_equal(result, UNWIND_PARTIAL);
	assert_int_equal(unwinder.count, UNWIND_FRAMES_MAX);
	assert_int_equal(frames[1].address + 1, (uintptr_t)theirs[1]);
}

static int turns; /* functions that take turns */
static void swing(int left);

#define SWING(name)                                                     \
	__attribute__((noinline)) static void name(int left)            \
	{                                                               \
		swing(left - 1);                                        \
		__asm__ volatile("" : : : "memory"); /* no tail call */ \
	}
SWING(swing_0)
SWING(swing_1)
SWING(swing_2)
SWING(swing_3)
SWING(swing_4)

__attribute__((noinline)) static void swing(int left)
{
	static void (*const all[])(int) = {swing_0, swing_1, swing_2, swing_3, swing_4};

	if (left)
		all[left % turns](left);
	else
		walk_here();
	__asm__ volatile("" : : : "memory");
}

/* The functions of the frames, as names; the walk's own frame is `.`, what called it all is cut. */
static void spell(char *text)
{
	static void (*const all[])(int) = {swing, swing_0, swing_1, swing_2, swing_3, swing_4};

	for (unsigned i = 0; i < unwinder.count; i++) {
		*text = i ? '?' : '.';
		for (unsigned k = 0; k < sizeof(all) / sizeof(*all); k++)
			if (frames[i].function == (uint32_t)(uintptr_t)all[k])
				*text = (char)(k ? '0' + k - 1 : 's');
		if (*text++ == '?')
			break;
	}
	*text = '\0';
}

/* The rule by itself, on text: of three equal rounds in a row the middle one goes, the shortest round first.
 */
static void fold_plainly(const char *from, char *to)
{
	size_t used = 0;

	for (; *from; from++) {
		to[used++] = *from;
		for (size_t round = 1; round <= UNWIND_CYCLE_MAX && 3 * round <= used; round++)
			if (!memcmp(to + used - round, to + used - 2 * round, round) &&
				!memcmp(to + used - round, to + used - 3 * round, round)) {
				used -= round;
				break;
			}
	}
	to[used] = '\0';
}

static void test_recursion_is_folded(void **state)
{
	static char whole[UNWIND_FRAMES_MAX + 1], wanted[UNWIND_FRAMES_MAX + 1], got[UNWIND_FRAMES_MAX + 1];
	struct unwind_frame innermost, outermost;

	(void)state;
	for (turns = 1; turns <= 5; turns++) {
		for (int left = 0; left < 60; left = left * 3 / 2 + 1) {
			unwinder.folds = false;
			swing(left);
			spell(whole);
			fold_plainly(whole, wanted);
			unwinder.folds = true;
			swing(left);
			spell(got);
			assert_string_equal(got, wanted);
			assert_int_equal(result, UNWIND_FULL);
		}
	}
	unwinder.folds = false;
	down(1000, walk_here);
	innermost = frames[1], outermost = frames[unwinder.count - 1];
	unwinder.folds = true;
	down(1000, walk_here);
	assert_true(unwinder.count < 12);
	assert_true(unwinder.walked > 1000);
	assert_int_equal(frames[1].address, innermost.address);
	assert_int_equal(frames[unwinder.count - 1].address, outermost.address);
	down(UNWIND_FRAMES_MAX + 10, walk_here);
	assert_int_equal(result, UNWIND_FULL);
}

/* Without tables only a frame pointer, or the word at the stack pointer, can lead on; and only to a call. */
static void test_guessing_wants_a_call(void **state)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t after_call, words[4];

	(void)state;
	down(1, walk_here);
	after_call = (uintptr_t)theirs[1];
	unwind_cache_clear(&unwinder);
	without_tables = true;
	words[0] = after_call;
#ifdef ARCH_LINK
	start.value[ARCH_LINK] = after_call;
#endif
	words[1] = words[2] = words[3] = 0;
	start.value[ARCH_PC] = (uintptr_t)down;
	start.value[ARCH_SP] = (uintptr_t)words;
	unwind_walk(&unwinder, &start);
	assert_int_equal(unwinder.count, 2);
	assert_int_equal(frames[1].address, after_call - 1);
	words[0] = (uintptr_t)down; /* no call ends there */
#ifdef ARCH_LINK
	start.value[ARCH_LINK] = words[0];
#endif
	unwind_walk(&unwinder, &start);
	assert_int_equal(unwinder.count, 1);
	words[2] = 0;
	words[3] = after_call;
	start.value[ARCH_FP] = (uintptr_t)&words[2];
	unwind_walk(&unwinder, &start);
	assert_int_equal(unwinder.count, 2);
}

/* But HotSpot's interpreter calls nothing: where code without a file is beside code without a file, and the
 * frame after that is sound, it is believed. */
static void test_an_interpreter_returns_anywhere(void **state)
{
	/* No call is in it, and no file behind it. */
	const uint8_t *made = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t words[8] = {0}, after_call;

	(void)state;
	down(1, walk_here);
	after_call = (uintptr_t)theirs[1];
	unwind_cache_clear(&unwinder);
	without_tables = true;
	start.value[ARCH_PC] = (uintptr_t)&made[16];
	start.value[ARCH_SP] = (uintptr_t)words;
	start.value[ARCH_FP] = (uintptr_t)&words[2];
	words[2] = (uintptr_t)&words[4];
	words[3] = (uintptr_t)&made[64];
	words[4] = (uintptr_t)&words[6];
	words[5] = after_call;
	unwind_walk(&unwinder, &start);
	assert_int_equal(unwinder.count, 3);
	assert_int_equal(frames[1].address, &made[63]);
	assert_int_equal(frames[2].address, after_call - 1);
	unwind_cache_clear(&unwinder);
	words[5] = 12; /* it is not */
	unwind_walk(&unwinder, &start);
	assert_int_equal(unwinder.count, 1);
	words[5] = after_call;
	words[2] = (uintptr_t)words; /* nor this */
	unwind_walk(&unwinder, &start);
	assert_int_equal(unwinder.count, 1);
	munmap((void *)(uintptr_t)made, 4096);
}

#if defined(__x86_64__)
/* Made code that returns is read; what jumps who knows where is taken for that frame, if its caller is there.
 */
static void test_a_frame_is_known_by_one_that_was_read(void **state)
{
	static const uint8_t returns[] = {0x48, 0x83, 0xc4, 0x18, 0xc3}, jumps[] = {0xff, 0xe0};
	uint8_t *made =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t words[8] = {0}, after_call;

	(void)state;
	memcpy(made, returns, sizeof(returns));
	memcpy(made + 64, jumps, sizeof(jumps));
	down(1, walk_here);
	after_call = (uintptr_t)theirs[1];
	unwind_cache_clear(&unwinder);
	start.value[ARCH_SP] = (uintptr_t)words;
	start.value[ARCH_PC] = (uintptr_t)&made[64];
	words[3] = after_call;
	unwind_walk(&unwinder, &start);
	assert_int_equal(unwinder.count, 1); /* nothing was read yet */
	start.value[ARCH_PC] = (uintptr_t)made;
	unwind_walk(&unwinder, &start);
	assert_true(unwinder.count > 1);
	assert_int_equal(frames[1].address, after_call - 1);
	start.value[ARCH_PC] = (uintptr_t)&made[64];
	unwind_walk(&unwinder, &start);
	assert_true(unwinder.count > 1);
	assert_int_equal(frames[1].address, after_call - 1);
	words[3] = (uintptr_t)theirs[2]; /* behind a call, too, but not that one */
	unwind_walk(&unwinder, &start);
	assert_int_equal(unwinder.count, 1);
	munmap(made, 4096);
}

/* Made code without frame pointers, as Python's for perf: once known, it is walked without a system call. */
static void test_made_code_is_read_once(void **state)
{
	/* call *%rcx; [add $8,%rsp; ret] */
	static const uint8_t calls[] = {0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3};
	uint8_t *made =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t words[8] = {0}, after_call;

	(void)state;
	down(1, walk_here);
	after_call = (uintptr_t)theirs[1];
	for (unsigned i = 0; i < 3; i++) {
		memcpy(made + 64 + 64 * i, calls, sizeof(calls));
		words[2 * i + 1] = i < 2 ? (uintptr_t)&made[64 + 64 * (i + 1) + 2] : after_call;
	}
	unwinder.space.memory.low = (uintptr_t)words;
	unwinder.space.memory.high = (uintptr_t)(words + 8);
	unwinder.space.fence_begin = after_call - 1;
	unwinder.space.fence_end = after_call;
	unwind_cache_clear(&unwinder);
	start.value[ARCH_PC] = (uintptr_t)&made[64 + 2];
	start.value[ARCH_SP] = (uintptr_t)words;
	start.value[ARCH_FP] = UINT64_MAX - 15; /* leads nowhere */
	for (unsigned walks = 0; walks < 3; walks++) {
		reads = 0;
		assert_int_equal(unwind_walk(&unwinder, &start), UNWIND_FULL);
		assert_int_equal(unwinder.count, 3);
		assert_int_equal(frames[2].address, &made[64 + 64 * 2 + 1]);
	}
	assert_int_equal(reads, 1); /* the innermost may be where a frame pointer holds */
	munmap(made, 4096);
}

/* What Mono has compiled ahead lies in a file, without tables, and is called by what it makes at run time. */
__asm__(".text\n"
	"without_a_table: call *%rcx\n"
	".globl without_a_table_calls\n"
	"without_a_table_calls: add $8,%rsp\n"
	"ret\n");
extern const uint8_t without_a_table_calls[];

static void test_made_code_calls_into_files(void **state)
{
	static const uint8_t calls[] = {0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3};
	uint8_t *made =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t words[8] = {0}, after_call;

	(void)state;
	down(1, walk_here);
	after_call = (uintptr_t)theirs[1];
	memcpy(made + 64, calls, sizeof(calls));
	code_around = 16;
	words[1] = (uintptr_t)&made[64 + 2];
	words[3] = after_call;
	unwinder.space.fence_begin = after_call - 1;
	unwinder.space.fence_end = after_call;
	unwind_cache_clear(&unwinder);
	start.value[ARCH_PC] = (uintptr_t)without_a_table_calls;
	start.value[ARCH_SP] = (uintptr_t)words;
	start.value[ARCH_FP] = UINT64_MAX - 15;
	assert_int_equal(unwind_walk(&unwinder, &start), UNWIND_FULL);
	assert_int_equal(unwinder.count, 2);
	assert_int_equal(frames[1].address, &made[64 + 1]);
	munmap(made, 4096);
}

/* V8's builtins have no tables, and a scan may miss where their frame pointer comes from: it is below the return
 * address, where the register says. Then the code that called them is found by it. */
static void test_a_frame_pointer_is_below_the_return_address(void **state)
{
	static const uint8_t jumps[] = {0xff, 0xd1, 0xff, 0xe0};
	uint8_t *made =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t words[8] = {0}, after_call;

	(void)state;
	down(1, walk_here);
	after_call = (uintptr_t)theirs[1];
	memcpy(made + 64, jumps, sizeof(jumps));
	code_around = 16;
	words[0] = (uintptr_t)&words[4];
	words[1] = (uintptr_t)&made[64 + 2];
	words[5] = after_call;
	unwinder.space.fence_begin = after_call - 1;
	unwinder.space.fence_end = after_call;
	unwind_cache_clear(&unwinder);
	start.value[ARCH_PC] = (uintptr_t)without_a_table_calls;
	start.value[ARCH_SP] = start.value[ARCH_FP] = (uintptr_t)words;
	for (unsigned walks = 0; walks < 2; walks++) {
		assert_int_equal(unwind_walk(&unwinder, &start), UNWIND_FULL);
		assert_int_equal(unwinder.count, 2);
		assert_int_equal(frames[1].address, &made[64 + 1]);
	}
	munmap(made, 4096);
}

/* A table that goes on to give the old place of a frame pointer that was popped, as compilers make them. */
__asm__(".text\n"
	"pops: .cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 6, -16\n"
	"pop %rbp\n"
	".cfi_def_cfa_offset 8\n"
	".globl pops_end\n"
	"pops_end: ret\n"
	".cfi_endproc\n");
extern const uint8_t pops_end[];
static uint64_t copy_low;

static int copy_read(void *context, uint64_t address, void *to, size_t bytes)
{
	return address < copy_low && copy_low - address < 4096 ? -1 : safe_read(context, address, to, bytes);
}

/* Of a copied stack there is nothing below the stack pointer: the register has it. */
static void test_what_was_popped_is_in_the_register(void **state)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t words[8] = {0}, after_call;

	(void)state;
	down(1, walk_here);
	after_call = (uintptr_t)theirs[1];
	words[4] = after_call;
	copy_low = (uintptr_t)&words[4];
	unwinder.space.memory.low = copy_low;
	unwinder.space.memory.high = (uintptr_t)(words + 8);
	unwinder.space.memory.read = copy_read;
	unwinder.space.fence_begin = after_call - 1;
	unwinder.space.fence_end = after_call;
	unwind_cache_clear(&unwinder);
	start.value[ARCH_PC] = (uintptr_t)pops_end;
	start.value[ARCH_SP] = copy_low;
	start.value[ARCH_FP] = 0x1234;
	assert_int_equal(unwind_walk(&unwinder, &start), UNWIND_FULL);
	assert_int_equal(unwinder.count, 1);
	assert_int_equal(unwinder.registers.value[ARCH_FP], 0x1234);
}

/* Where nothing lies, or a function begins that nobody has called there, a stack ends. */
static void test_a_planted_address_ends_a_stack(void **state)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t words[512] = {0};

	(void)state;
	start.value[ARCH_SP] = (uintptr_t)words;
	start.value[ARCH_PC] = (uintptr_t)down; /* nothing is pushed yet */
	assert_int_equal(unwind_walk(&unwinder, &start), UNWIND_FULL);
	assert_int_equal(unwinder.count, 1);
	words[0] = (uintptr_t)walk_here;
	assert_int_equal(unwind_walk(&unwinder, &start), UNWIND_FULL);
	assert_int_equal(unwinder.count, 1);
	down(1, walk_here);
	unwind_cache_clear(&unwinder);
	words[0] = (uintptr_t)theirs[1];
	unwind_walk(&unwinder, &start);
	assert_true(unwinder.count > 1);
}
#endif

static void test_calls_are_recognized(void **state)
{
	static const struct {
		uint8_t length, code[8];
		bool call;
	} cases[] = {
#ifdef __aarch64__
		{4, {0x00, 0x00, 0x00, 0x94}, true},  /* bl */
		{4, {0xff, 0xff, 0xff, 0x97}, true},  /* bl, backwards */
		{4, {0x20, 0x00, 0x3f, 0xd6}, true},  /* blr x1 */
		{4, {0x22, 0x08, 0x3f, 0xd7}, true},  /* blraa x1, x2 */
		{4, {0x3f, 0x08, 0x3f, 0xd6}, true},  /* blraaz x1 */
		{4, {0x20, 0x00, 0x1f, 0xd6}, false}, /* br x1 */
		{4, {0xc0, 0x03, 0x5f, 0xd6}, false}, /* ret */
		{4, {0x00, 0x00, 0x00, 0x14}, false}, /* b */
#else
		{5, {0xe8, 1, 2, 3, 4}, true},
		{2, {0xff, 0xd0}, true},
		{3, {0xff, 0x50, 8}, true},
		{6, {0xff, 0x15, 1, 2, 3, 4}, true},
		{6, {0xff, 0x90, 1, 2, 3, 4}, true},
		{3, {0xff, 0x14, 0xc3}, true},
		{7, {0xff, 0x94, 0xc3, 1, 2, 3, 4}, true},
		{2, {0xff, 0xe0}, false},
		{5, {0xe9, 1, 2, 3, 4}, false},
		{1, {0xc3}, false},
#endif
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t code[ARCH_CALL_BYTES_MAX];

		memset(code, 0x90, sizeof(code));
		memcpy(code + sizeof(code) - cases[i].length, cases[i].code, cases[i].length);
		assert_int_equal(arch_is_call(code + sizeof(code)), cases[i].call);
	}
}

/* A handler that lost its core has not worked all that time; one with a long walk has. */
static void test_time_of_others_is_no_cost(void **state)
{
	(void)state;
	assert_int_equal(sample_counted_ns(3000, 20, 0), 3000);
	assert_in_range(sample_counted_ns(4000000, 20, 0), 20000, 100000);
	assert_int_equal(sample_counted_ns(16000000, 1000000, 0), 16000000);
	assert_int_equal(sample_counted_ns(600000, 1000, 1000), 600000);
}

/* A thread in a deep recursion is left a fraction of its time; an ordinary stack costs no sample. */
static void test_rest_follows_long_walks(void **state)
{
	(void)state;
	assert_int_equal(sample_rest_ns(100, 0, 100000), 0);
	assert_int_equal(sample_rest_ns(1000, 0, 5000000), 0);
	assert_true(sample_rest_ns(2000, 0, 100000) > 100000);
	assert_true(sample_rest_ns(100, 100, 100000) > 100000);
	assert_true(sample_rest_ns(30, 600, 200000) > 200000); /* signal frames, of 17 registers each */
	assert_true(sample_rest_ns(1u << 20, 0, 5000000) > 16u * 10000000);
}

/* Handlers that follow each other at once, whatever they did. */
static void test_a_crowd_of_samples_rests(void **state)
{
	unsigned crowded = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) /* a fifth of the time is the program's */
		assert_int_equal(sample_crowded_rest_ns(&crowded, 1000000, 1040000, 200000), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(sample_crowded_rest_ns(&crowded, 1000000, 1001000, 200000), 0);
	assert_true(sample_crowded_rest_ns(&crowded, 1000000, 1001000, 200000) > 3 * 200000);
	for (unsigned i = 0; i < 100; i++) /* between others */
		assert_int_equal(
			sample_crowded_rest_ns(&crowded, 1000000, i % 4 ? 1001000 : 1040000, 200000), 0);
	assert_int_equal(sample_crowded_rest_ns(&crowded, 0, 1, 0), 0); /* no period */
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_walk_equals_the_compilers, set_up),
		cmocka_unit_test_setup(test_realigned_stack, set_up),
		cmocka_unit_test_setup(test_through_libc, set_up),
		cmocka_unit_test_setup(test_through_a_signal_handler, set_up),
		cmocka_unit_test_setup(test_direct_reads_equal_the_compilers, set_up),
		cmocka_unit_test_setup(test_words_are_what_a_path_hangs_on, set_up),
		cmocka_unit_test_setup(test_fence_and_hidden_code, set_up),
		cmocka_unit_test_setup(test_unreadable_stack_is_partial, set_up),
		cmocka_unit_test_setup(test_random_registers_do_no_harm, set_up),
		cmocka_unit_test_setup(test_too_deep_keeps_the_innermost, set_up),
		cmocka_unit_test_setup(test_recursion_is_folded, set_up),
		cmocka_unit_test_setup(test_guessing_wants_a_call, set_up),
		cmocka_unit_test_setup(test_an_interpreter_returns_anywhere, set_up),
#if defined(__x86_64__)
		cmocka_unit_test_setup(test_a_frame_is_known_by_one_that_was_read, set_up),
		cmocka_unit_test_setup(test_made_code_is_read_once, set_up),
		cmocka_unit_test_setup(test_made_code_calls_into_files, set_up),
		cmocka_unit_test_setup(test_a_frame_pointer_is_below_the_return_address, set_up),
		cmocka_unit_test_setup(test_what_was_popped_is_in_the_register, set_up),
		cmocka_unit_test_setup(test_a_planted_address_ends_a_stack, set_up),
#endif
		cmocka_unit_test(test_calls_are_recognized),
		cmocka_unit_test(test_time_of_others_is_no_cost),
		cmocka_unit_test(test_rest_follows_long_walks),
		cmocka_unit_test(test_a_crowd_of_samples_rests),
	};

	(void)argc;
	stack_top = (uintptr_t)argv;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
