/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.c - see sandbox.h. Runs the filter on the agent's own calls before the kernel gets it. The filter
 * is untrusted memory of the program: each instruction is read without faulting, and jumps only lead forward.
 */
#include "record/agent/wrap/sandbox.h"
#include "record/agent/wrap/agent_end.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/base/arch.h"
#include "record/agent/base/safe_read.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/source.h"

/* The agent's system calls while the program runs: in threads, at waits and samples, in children, at the
 * end. */
static const struct own_call {
	int number;
	uint64_t first, third; /* arguments that filters check */
} own_calls[] = {
	{SYS_rt_sigreturn, 0, 0},
	{SYS_rt_sigprocmask, SIG_SETMASK, 0},
	{SYS_rt_sigpending, 0, 0},
	{SYS_rt_sigaction, SIGINT, 0},
	{SYS_getpid, 0, 0},
	{SYS_gettid, 0, 0},
	{SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, 0},
	{SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, 0},
	{SYS_timer_settime, 0, 0},
	{SYS_timer_gettime, 0, 0},
	{SYS_timer_delete, 0, 0},
	{SYS_process_vm_readv, 0, 0},
	{SYS_mmap, 0, PROT_READ | PROT_WRITE},
	{SYS_munmap, 0, 0},
	{SYS_prlimit64, 0, 0},
	{SYS_madvise, 0, MADV_DONTFORK},
	{SYS_prctl, PR_GET_NAME, 0},
	{SYS_openat, 0, 0},
	{SYS_read, 0, 0},
	{SYS_readlinkat, 0, 0},
	{SYS_close, 0, 0},
	{SYS_memfd_create, 0, 0},
	{SYS_ftruncate, 0, 0},
	{SYS_fcntl, 0, 0},
	{SYS_pidfd_open, 0, 0},
	{SYS_perf_event_open, 0, 0},
	{SYS_socket, AF_UNIX, 0},
	{SYS_connect, 0, 0},
	{SYS_sendmsg, 0, 0},
};

/* What is asked of descriptors (cause.c), and can be left out. */
static const struct own_call descriptor_calls[] = {{SYS_fstat, 0, 0}, {SYS_getsockname, 0, 0},
	{SYS_getpeername, 0, 0}, {SYS_getsockopt, 0, SO_PEERCRED}};

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
};

static void load(struct machine *m, const struct sock_filter *at, const struct seccomp_data *call)
{
	uint32_t value = at->k;

	if (BPF_MODE(at->code) == BPF_LEN)
		value = sizeof(*call);
	else if (BPF_MODE(at->code) == BPF_MEM)
		value = at->k < BPF_MEMWORDS ? m->memory[at->k] : 0;
	else if (BPF_MODE(at->code) == BPF_ABS && at->k <= sizeof(*call) - sizeof(value))
		memcpy(&value, (const char *)call + at->k, sizeof(value));
	if (BPF_CLASS(at->code) == BPF_LD)
		m->a = value;
	else
		m->x = value;
}

static void calculate(struct machine *m, const struct sock_filter *at)
{
	uint32_t by = BPF_SRC(at->code) == BPF_X ? m->x : at->k;

	switch (BPF_OP(at->code)) {
	case BPF_ADD:
		m->a += by;
		break;
	case BPF_SUB:
		m->a -= by;
		break;
	case BPF_MUL:
		m->a *= by;
		break;
	case BPF_DIV:
		m->a = by ? m->a / by : 0;
		break;
	case BPF_AND:
		m->a &= by;
		break;
	case BPF_OR:
		m->a |= by;
		break;
	case BPF_XOR:
		m->a ^= by;
		break;
	case BPF_LSH:
		m->a = by < 32 ? m->a << by : 0;
		break;
	case BPF_RSH:
		m->a = by < 32 ? m->a >> by : 0;
		break;
	case BPF_NEG:
		m->a = -m->a;
		break;
	}
}

/* Number of instructions to skip. */
static uint32_t jump(const struct machine *m, const struct sock_filter *at)
{
	uint32_t with = BPF_SRC(at->code) == BPF_X ? m->x : at->k;
	bool is_true = false;

	switch (BPF_OP(at->code)) {
	case BPF_JA:
		return at->k;
	case BPF_JEQ:
		is_true = m->a == with;
		break;
	case BPF_JGT:
		is_true = m->a > with;
		break;
	case BPF_JGE:
		is_true = m->a >= with;
		break;
	case BPF_JSET:
		is_true = m->a & with;
		break;
	}
	return is_true ? at->jt : at->jf;
}

static void step(struct machine *m, const struct sock_filter *at, const struct seccomp_data *call)
{
	uint16_t class = BPF_CLASS(at->code);

	if (class == BPF_LD || class == BPF_LDX)
		load(m, at, call);
	else if (class == BPF_ALU)
		calculate(m, at);
	else if (class == BPF_MISC && BPF_MISCOP(at->code) == BPF_TAX)
		m->x = m->a;
	else if (class == BPF_MISC)
		m->a = m->x;
	else if (at->k < BPF_MEMWORDS)
		m->memory[at->k] = class == BPF_ST ? m->a : m->x;
}

/* The filter's result for a call, SECCOMP_RET_*. */
static uint32_t verdict(const struct sock_fprog *filter, const struct seccomp_data *call)
{
	struct machine m = {0};
	struct sock_filter at;

	for (uint32_t i = 0; i < filter->len; i++) {
		if (!safe_read(&at, &filter->filter[i], sizeof(at)))
			break;
		if (BPF_CLASS(at.code) == BPF_RET)
			return BPF_RVAL(at.code) == BPF_A ? m.a : at.k;
		if (BPF_CLASS(at.code) == BPF_JMP)
			i += jump(&m, &at);
		else
			step(&m, &at, call);
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* Without what these do and tell, samples would go to the wrong thread or process. */
static bool is_needed(int number)
{
	return number == SYS_rt_sigreturn || number == SYS_rt_sigprocmask || number == SYS_getpid;
}

static bool is_end(uint32_t verdict, int number)
{
	uint32_t action = verdict & SECCOMP_RET_ACTION_FULL;

	if (is_needed(number))
		return action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG;
	return action == SECCOMP_RET_KILL_PROCESS || action == SECCOMP_RET_KILL_THREAD ||
	       action == SECCOMP_RET_TRAP;
}

static bool is_end_of_any(const struct sock_fprog *filter, const struct own_call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct seccomp_data call = {.nr = calls[i].number,
			.arch = ARCH_AUDIT,
			.args = {calls[i].first, 0, calls[i].third}};

		if (is_end(verdict(filter, &call), calls[i].number))
			return true;
	}
	return false;
}

/* Without a filter the program only queries the kernel's support. */
static bool ends_us(unsigned long mode, const void *filter)
{
	struct sock_fprog program;

	if (mode == SECCOMP_MODE_STRICT)
		return true;
	return mode == SECCOMP_MODE_FILTER && filter && safe_read(&program, filter, sizeof(program)) &&
	       is_end_of_any(&program, own_calls, sizeof(own_calls) / sizeof(*own_calls));
}

static bool ends_descriptor_calls(unsigned long mode, const void *filter)
{
	struct sock_fprog program;

	return mode == SECCOMP_MODE_FILTER && filter && safe_read(&program, filter, sizeof(program)) &&
	       is_end_of_any(
		       &program, descriptor_calls, sizeof(descriptor_calls) / sizeof(*descriptor_calls));
}

bool sandbox_begin(unsigned long mode, const void *filter)
{
	int error = errno;
	bool ends = process_is_own() && ends_us(mode, filter);

	if (ends) {
		atomic_fetch_add(&process.shared->threads_unmonitored, 1);
		atomic_store(&process.shared->is_locked_up, 1);
		agent_end();
		source_exec_begin();
		process_suspend(true);
	} else if (process_is_own() && ends_descriptor_calls(mode, filter)) {
		atomic_store(&process.asks_no_descriptors, true); /* also if the filter is refused: rare */
	}
	errno = error;
	return ends;
}

void sandbox_failed(void)
{
	int error = errno;

	process_suspend(false);
	source_exec_failed();
	agent_resume();
	atomic_store(&process.shared->is_locked_up, 0);
	atomic_fetch_sub(&process.shared->threads_unmonitored, 1);
	errno = error;
}
