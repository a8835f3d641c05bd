/* SPDX-License-Identifier: Apache-2.0 */
/* inject_thread.c - see inject_thread.h. */
#include "record/inject/inject_thread.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/base/proc_read.h"
#include "record/inject/mapping_query.h"
#include "record/modules/remote_unwind_modules.h"

#if defined(__x86_64__)

#define STACK_ROOM (64u * 1024u) /* for what is called */
#define CALL_RETURN SYS_rt_sigreturn
#define NO_CALL UINT64_MAX
#define REQUEST_SEQUENCES 0x420f /* PTRACE_GET_RSEQ_CONFIGURATION, of Linux 5.13 */
#define SEQUENCE_AT 8u		 /* of the kernel's struct rseq: address of its struct rseq_cs */
#define CODE_64 0x33u		 /* segment of 64-bit code: others run in compatibility mode, as Wine's do */
#define STOPPED_IN_CALL (SIGTRAP | 0x80)
/* What an interrupted call of the kernel has in place of a result, before it begins again. */
#define RESTART_LEAST 512
#define RESTART_MOST 516
#define RESTART_UNHANDLED 514	    /* ... unless a handler runs: then EINTR */
#define FLAGS_OFF UINT64_C(0x40500) /* direction, trap, alignment */

/* All signals but 33, which glibc's setuid sends to each thread and waits for, with the lock held that the
 * start of a thread needs. */
#define CALL_MASK (~(UINT64_C(1) << 32))

static long command(int request, const struct inject_thread *thread, uintptr_t address, void *data)
{
	return ptrace(request, (pid_t)thread->tid, address, data);
}

/* ---- stop ---- */

/* The next stop of the thread; 0: it has ended. One that may be in exec takes the process's number, and one
 * that another thread's exec replaces is gone, both without a word to a wait for its number: so the wait
 * looks again. What wakes it before is the kernel's SIGCHLD, which nothing else here waits for. */
static int stop_await(struct inject_thread *thread)
{
	static const struct timespec moment = {0, 1000000};
	sigset_t child, before;
	int status = 0;
	bool is_over = false;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, &before);
	while (!is_over) {
		pid_t found = waitpid((pid_t)thread->tid, &status, __WALL | WNOHANG);

		is_over = found > 0 || (found < 0 && errno != EINTR && thread->tid == thread->pid);
		if (found < 0 && errno != EINTR)
			thread->tid = thread->pid, status = 0;
		else if (!found)
			sigtimedwait(&child, NULL, &moment);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return WIFSTOPPED(status) ? status : 0;
}

static bool is_trap(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
}

static bool is_exec(int status)
{
	return status >> 16 == PTRACE_EVENT_EXEC;
}

static bool is_group_stop(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
}

/* Signals of the program's that came first are delivered: the stop comes once more. */
static int trap_await(struct inject_thread *thread)
{
	for (;;) {
		int status = stop_await(thread);

		if (!status)
			return ESRCH;
		if (is_trap(status))
			return 0;
		if (is_group_stop(status) || is_exec(status)) { /* exec: nothing is where it was */
			command(PTRACE_DETACH, thread, 0, NULL);
			return EAGAIN;
		}
		if (command(PTRACE_CONT, thread, 0, (void *)(uintptr_t)(status >> 16 ? 0 : WSTOPSIG(status))))
			return ESRCH;
	}
}

/* Some waits (epoll_wait) do not begin again by themselves after a stop: the program would see EINTR that no
 * signal of its own has caused. They begin anew, unless a handler of the program's runs first; one with a
 * time waits for all of it again. */
static void wait_renew(struct inject_thread *thread)
{
	struct user_regs_struct *registers = &thread->registers;

	if (thread->call < 0 || (long)registers->rax != -EINTR)
		return;
	registers->rax = (uint64_t)-RESTART_UNHANDLED;
	command(PTRACE_SETREGS, thread, 0, registers);
}

/* Of the program that the process is now: what is written goes nowhere if another thread replaces it. */
static int memory_open(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	return open(path, O_RDWR | O_CLOEXEC);
}

int inject_thread_stop(struct inject_thread *thread, uint32_t pid, uint32_t tid)
{
	int reason;

	memset(thread, 0, sizeof(*thread));
	thread->pid = pid;
	thread->tid = tid;
	thread->memory = -1;
	if (command(PTRACE_SEIZE, thread, 0, (void *)(uintptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC)))
		return errno;
	if (command(PTRACE_INTERRUPT, thread, 0, NULL)) {
		thread->tid = pid; /* see stop_await */
		if (command(PTRACE_INTERRUPT, thread, 0, NULL))
			return ESRCH;
	}
	reason = trap_await(thread);
	if (reason)
		return reason;
	if (thread->tid != tid) {
		inject_thread_release(thread);
		return EAGAIN;
	}
	thread->memory = memory_open(pid);
	if (thread->memory < 0 || command(PTRACE_GETREGS, thread, 0, &thread->registers)) {
		inject_thread_release(thread);
		return ESRCH;
	}
	thread->call = (long)thread->registers.orig_rax;
	wait_renew(thread);
	return 0;
}

void inject_thread_registers(const struct inject_thread *thread, struct arch_registers *registers)
{
	const struct user_regs_struct *from = &thread->registers;
	const uint64_t value[ARCH_REGISTERS] = {from->rax, from->rdx, from->rcx, from->rbx, from->rsi,
		from->rdi, from->rbp, from->rsp, from->r8, from->r9, from->r10, from->r11, from->r12,
		from->r13, from->r14, from->r15, from->rip};

	*registers = (struct arch_registers){.known = ARCH_ALL_KNOWN};
	memcpy(registers->value, value, sizeof(value));
}

/* ---- the frame ---- */

/* The kernel's struct rt_sigframe. */
struct handler_frame {
	uint64_t restore;
	uint64_t flags, link;
	uint64_t stack_address;
	uint32_t stack_flags, _pad;
	uint64_t stack_bytes;
	struct sigcontext context;
	uint64_t mask;
	unsigned char info[128];
};
_Static_assert(offsetof(struct handler_frame, context) == 48 && offsetof(struct handler_frame, mask) == 304,
	"as the kernel has it");

#define FRAME_FLAGS 7u	      /* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */
#define STACK_UNCHANGED 0x7fu /* none of the kernel's: it leaves the alternate stack as it is */
#define VECTOR_NOTE 464u      /* where the kernel's struct _fpx_sw_bytes is */
#define VECTOR_LEAST 576u

static bool memory_write(const struct inject_thread *thread, uint64_t address, const void *from, size_t bytes)
{
	return pwrite(thread->memory, from, bytes, (off_t)address) == (ssize_t)bytes;
}

bool inject_thread_waits(const struct inject_thread *thread)
{
	long result = -(long)thread->registers.rax;

	return thread->call >= 0 && result >= RESTART_LEAST && result <= RESTART_MOST;
}

/* Where the thread goes on if nobody restores it by ptrace: a call of the kernel begins again from its start.
 */
static void context_fill(const struct inject_thread *thread, struct sigcontext *to, uint64_t vector)
{
	const struct user_regs_struct *from = &thread->registers;
	bool restarts = inject_thread_waits(thread);

	*to = (struct sigcontext){.r8 = from->r8,
		.r9 = from->r9,
		.r10 = from->r10,
		.r11 = from->r11,
		.r12 = from->r12,
		.r13 = from->r13,
		.r14 = from->r14,
		.r15 = from->r15,
		.rdi = from->rdi,
		.rsi = from->rsi,
		.rbp = from->rbp,
		.rbx = from->rbx,
		.rdx = from->rdx,
		.rax = restarts ? (uint64_t)thread->call : from->rax,
		.rcx = from->rcx,
		.rsp = from->rsp,
		.rip = from->rip - (restarts ? 2 : 0),
		.eflags = from->eflags,
		.cs = (uint16_t)from->cs,
		.__pad0 = (uint16_t)from->ss,
		.__fpstate_word = vector};
}

/* In the form that a handler's frame has it. */
static void vector_note(struct inject_thread *thread, unsigned char *state)
{
	struct _fpx_sw_bytes note = {.magic1 = FP_XSTATE_MAGIC1,
		.extended_size = (uint32_t)thread->vector.bytes + 4,
		.xstate_size = (uint32_t)thread->vector.bytes};
	const uint32_t end = FP_XSTATE_MAGIC2;

	memcpy(&note.xstate_bv, state + VECTOR_NOTE, sizeof(note.xstate_bv));
	memcpy(state + VECTOR_NOTE, &note, sizeof(note));
	memcpy(state + thread->vector.bytes, &end, sizeof(end));
}

static bool vector_read(struct inject_thread *thread)
{
	struct iovec place = {thread->vector.state, sizeof(thread->vector.state) - 64};

	if (command(PTRACE_GETREGSET, thread, NT_X86_XSTATE, &place) || place.iov_len < VECTOR_LEAST)
		return false;
	thread->vector.bytes = place.iov_len;
	return true;
}

static bool mapping_read(const char *line, struct mapping_query *mapping)
{
	char access[8] = "";

	if (sscanf(line, "%lx-%lx %7s", &mapping->begin, &mapping->end, access) != 3)
		return false;
	mapping->is_closed = !strncmp(access, "---", 3);
	mapping->is_first_stack = strstr(line, "[stack]") != NULL;
	return true;
}

/* The mapping at an address and the one before it, by the list of all. */
static bool mappings_read(FILE *maps, uint64_t at, struct mapping_query *now, struct mapping_query *before)
{
	bool is_found = false;
	char *line = NULL;
	size_t room = 0;

	while (!is_found && getline(&line, &room, maps) > 0) {
		*before = *now;
		is_found = mapping_read(line, now) && at >= now->begin && at < now->end;
	}
	free(line);
	return is_found;
}

/* The same, by questions for these two where the kernel answers. */
static bool mappings_find(uint32_t pid, uint64_t at, struct mapping_query *now, struct mapping_query *before)
{
	char path[40];
	bool is_found;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return false;
	is_found = !mapping_query(fileno(maps), at, now);
	if (is_found)
		mapping_query(fileno(maps), now->begin - 1, before);
	else
		is_found = mappings_read(maps, at, now, before);
	fclose(maps);
	return is_found;
}

/* The thread stands on the stack that libc gave it, which ends at a guard page, and has room below. A fiber's
 * stack is small, and what lies below it is something else. */
static bool has_room(const struct inject_thread *thread)
{
	uint64_t sp = thread->registers.rsp, own = thread->registers.fs_base;
	struct mapping_query now = {0}, before = {0};

	if (!mappings_find(thread->pid, sp, &now, &before) || sp - now.begin < STACK_ROOM)
		return false;
	if (thread->tid == thread->pid)
		return now.is_first_stack;
	return own > sp && own < now.end && before.is_closed && before.end == now.begin;
}

static bool frame_write(struct inject_thread *thread, uint64_t restore)
{
	static unsigned char state[sizeof(thread->vector.state)];
	struct handler_frame frame = {.restore = restore,
		.flags = FRAME_FLAGS,
		.stack_flags = STACK_UNCHANGED,
		.mask = thread->mask};
	uint64_t vector = (thread->registers.rsp - ARCH_RED_ZONE - thread->vector.bytes - 64) & ~UINT64_C(63);

	memcpy(state, thread->vector.state, sizeof(state));
	vector_note(thread, state);
	context_fill(thread, &frame.context, vector);
	thread->data = (vector - INJECT_DATA_BYTES) & ~UINT64_C(63);
	thread->frame = ((thread->data - sizeof(frame)) & ~UINT64_C(15)) - 8;
	return memory_write(thread, vector, state, thread->vector.bytes + 4) &&
	       memory_write(thread, thread->frame, &frame, sizeof(frame));
}

/* A restartable sequence begins anew only if the kernel sees the thread leave it; a stop that moves the
 * thread elsewhere hides that. */
static bool is_in_sequence(const struct inject_thread *thread)
{
	struct {
		uint64_t address;
		uint32_t bytes, signature, flags, pad;
	} place;
	struct {
		uint32_t version, flags;
		uint64_t begin, bytes, abort;
	} sequence;
	uint64_t at = 0;

	if (command(REQUEST_SEQUENCES, thread, sizeof(place), &place) < 0 || !place.address)
		return false;
	if (remote_unwind_read(thread->pid, place.address + SEQUENCE_AT, &at, sizeof(at)) || !at)
		return false;
	return remote_unwind_read(thread->pid, at, &sequence, sizeof(sequence)) ||
	       thread->registers.rip - sequence.begin < sequence.bytes;
}

/* ---- calls ---- */

bool inject_thread_begin(struct inject_thread *thread, uint64_t restore, int64_t error_offset)
{
	uint64_t place = thread->registers.fs_base + (uint64_t)error_offset;

	thread->restore = restore;
	thread->error_offset = error_offset;
	return thread->registers.cs == CODE_64 && !is_in_sequence(thread) && has_room(thread) &&
	       vector_read(thread) &&
	       !remote_unwind_read(thread->pid, place, &thread->error, sizeof(thread->error)) &&
	       !command(PTRACE_GETSIGMASK, thread, sizeof(thread->mask), &thread->mask) &&
	       frame_write(thread, restore);
}

bool inject_thread_write(struct inject_thread *thread, size_t offset, const void *from, size_t bytes)
{
	return offset + bytes <= INJECT_DATA_BYTES &&
	       memory_write(thread, thread->data + offset, from, bytes);
}

/* Goes from call to call of the kernel, up to that of sigreturn. A signal that the mask lets through is
 * delivered. */
static bool return_await(struct inject_thread *thread)
{
	struct user_regs_struct now;
	uintptr_t number = 0;

	for (;;) {
		int status;

		if (command(PTRACE_SYSCALL, thread, 0, (void *)number))
			return false;
		status = stop_await(thread);
		if (!status || is_exec(status))
			return false;
		number = status >> 16 ? 0 : (uintptr_t)WSTOPSIG(status);
		if (number != STOPPED_IN_CALL)
			continue;
		number = 0;
		if (command(PTRACE_GETREGS, thread, 0, &now))
			return false;
		if (now.orig_rax == CALL_RETURN && now.rsp == thread->frame + 8)
			return true;
	}
}

/* A stop in a call of the kernel is left first: what an interrupted one still has to do, begin again, is done
 * behind a stop by PTRACE_INTERRUPT only. Whenever this process is killed, the thread makes that call. */
static bool call_leave(struct inject_thread *thread)
{
	struct user_regs_struct now;

	if (command(PTRACE_GETREGS, thread, 0, &now))
		return false;
	now.orig_rax = NO_CALL;
	now.rip = thread->restore;
	return !command(PTRACE_SETREGS, thread, 0, &now) && !command(PTRACE_INTERRUPT, thread, 0, NULL) &&
	       !command(PTRACE_CONT, thread, 0, NULL) && !trap_await(thread);
}

/* Instead of sigreturn: the wait goes on for what is left of its time, or ends with EINTR if the program's
 * handler runs now. */
static bool restore(struct inject_thread *thread)
{
	struct iovec vector = {thread->vector.state, thread->vector.bytes};

	return call_leave(thread) && !command(PTRACE_SETREGSET, thread, NT_X86_XSTATE, &vector) &&
	       memory_write(thread, thread->registers.fs_base + (uint64_t)thread->error_offset,
		       &thread->error, sizeof(thread->error)) &&
	       !command(PTRACE_SETSIGMASK, thread, sizeof(thread->mask), &thread->mask) &&
	       !command(PTRACE_SETREGS, thread, 0, &thread->registers);
}

/* The mask comes last: if this process is killed before, the thread must not keep it. */
bool inject_thread_call(struct inject_thread *thread, uint64_t function, uint64_t first, uint64_t second)
{
	static const uint64_t mask = CALL_MASK;
	struct user_regs_struct call = thread->registers;
	bool is_done;

	call.rip = function;
	call.rdi = first;
	call.rsi = second;
	call.rax = 0;
	call.rsp = thread->frame;
	call.orig_rax = NO_CALL; /* nothing begins again */
	call.eflags &= ~FLAGS_OFF;
	is_done = !command(PTRACE_SETREGS, thread, 0, &call);
	if (is_done)
		command(PTRACE_SETSIGMASK, thread, sizeof(mask), (void *)(uintptr_t)&mask);
	if (is_done && inject_thread_waits(thread))
		is_done = return_await(thread) && restore(thread);
	inject_thread_release(thread);
	return is_done;
}

void inject_thread_release(struct inject_thread *thread)
{
	command(PTRACE_DETACH, thread, 0, NULL);
	if (thread->memory >= 0)
		close(thread->memory);
	thread->memory = -1;
}

#else

int inject_thread_stop(struct inject_thread *thread, uint32_t pid, uint32_t tid)
{
	(void)thread, (void)pid, (void)tid;
	return ENOSYS;
}

void inject_thread_registers(const struct inject_thread *thread, struct arch_registers *registers)
{
	(void)thread;
	*registers = (struct arch_registers){.known = 0};
}

bool inject_thread_waits(const struct inject_thread *thread)
{
	(void)thread;
	return false;
}

bool inject_thread_begin(struct inject_thread *thread, uint64_t restore, int64_t error_offset)
{
	(void)thread, (void)restore, (void)error_offset;
	return false;
}

bool inject_thread_write(struct inject_thread *thread, size_t offset, const void *from, size_t bytes)
{
	(void)thread, (void)offset, (void)from, (void)bytes;
	return false;
}

bool inject_thread_call(struct inject_thread *thread, uint64_t function, uint64_t first, uint64_t second)
{
	(void)thread, (void)function, (void)first, (void)second;
	return false;
}

void inject_thread_release(struct inject_thread *thread)
{
	(void)thread;
}

#endif
