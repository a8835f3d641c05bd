/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_looks.c - where perf events are refused (a container's seccomp filter, perf_event_paranoid):
 * threads are looked at, 50 times a second at most. /proc tells which have run since the last look, by their
 * clocks; one that runs is stopped by ptrace for as long as it takes to copy its registers and the upper end
 * of its stack. A thread that sleeps is left alone. Where ptrace is refused, too, the weights are there,
 * without paths.
 */
#include "record/outside/outside_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/base/clock.h"
#include "record/base/proc_read.h"
#include "record/inject/inject_thread.h"

#define LOOK_NS UINT64_C(20000000)
#define UNSEEN_NS UINT64_C(100000000) /* of CPU time in which no look met it at work: its path is unknown */
#define STALE_NS UINT64_C(1000000000)

/* ---- one thread ---- */

static bool is_at_work(const struct outside_thread *thread)
{
	char name[48], text[32];

	snprintf(name, sizeof(name), "task/%u/syscall", thread->tid);
	return proc_read_state(thread->target->pid, thread->tid) == 'R' &&
	       proc_read(thread->target->pid, name, text, sizeof(text)) && text[0] == 'r';
}

static void modules_refresh(
	struct outside_target *target, const struct arch_registers *registers, uint64_t now_ns)
{
	if (now_ns > target->modules_ns + STALE_NS &&
		!remote_unwind_modules_find(&target->modules, registers->value[ARCH_PC]))
		target->modules_ns = 0;
	outside_target_modules(target, now_ns);
}

/* True if its path was found. The thread goes on before the path is walked. */
static bool path_look(struct outside *outside, struct outside_thread *thread, uint64_t now_ns)
{
	static struct inject_thread stopped;
	static char stack[OUTSIDE_STACK_MOST];
	struct arch_registers registers;
	enum outside_python_taken python;
	bool is_partial;
	uint32_t node;
	size_t bytes;
	int reason;

	if (outside->is_blind || !is_at_work(thread))
		return false;
	reason = inject_thread_stop(&stopped, thread->target->pid, thread->tid);
	if (reason) {
		outside->is_blind |= reason == EPERM || reason == EACCES || reason == ENOSYS;
		return false;
	}
	if (inject_thread_waits(&stopped)) { /* that is not where it has worked */
		inject_thread_release(&stopped);
		return false;
	}
	inject_thread_registers(&stopped, &registers);
	bytes = remote_unwind_read_some(thread->tid, registers.value[ARCH_SP], stack, sizeof(stack));
	python = outside_python_take(outside, thread, clock_now_ns());
	inject_thread_release(&stopped);
	if (python == OUTSIDE_PYTHON_DROP)
		return true; /* left to the next one */
	modules_refresh(thread->target, &registers, now_ns);
	node = outside_thread_path(outside, thread,
		&(struct outside_copy){.registers = &registers, .stack = stack, .bytes = bytes},
		python == OUTSIDE_PYTHON_READ, &is_partial);
	outside->totals.partial += is_partial;
	outside_thread_seen(thread, now_ns, node, is_partial);
	return true;
}

static void thread_look(struct outside *outside, struct outside_thread *thread, uint64_t now_ns)
{
	uint64_t clock_ns, begin_ns = thread->ring.shared->cpu_begin_ns, ran_ns;
	char state;
	bool has_run;

	if (!outside_thread_look(thread->target->pid, thread->tid, &state, &clock_ns) || state == 'Z' ||
		state == 'X') {
		outside_thread_end(outside, thread, now_ns);
		return;
	}
	ran_ns = clock_ns > begin_ns ? clock_ns - begin_ns : 0;
	has_run = clock_ns > thread->looked_ns;
	thread->looked_ns = clock_ns;
	outside_thread_looked(outside, thread, now_ns, ran_ns, !has_run && state != 'R');
	if (!has_run || path_look(outside, thread, now_ns))
		return;
	if (outside->is_blind || thread->ran_ns > thread->covered_ns + UNSEEN_NS)
		outside_thread_seen(thread, now_ns, thread->partial_root, true);
}

/* ---- all ---- */

/* begin_ns: of threads that are new, as outside_thread_new has it. */
static void threads_list(
	struct outside *outside, struct outside_target *target, uint64_t begin_ns, bool is_born)
{
	char path[40];
	struct dirent *entry;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%u/task", target->pid);
	list = opendir(path);
	while (list && (entry = readdir(list))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		struct outside_thread *thread = tid ? outside_thread_find(outside, tid) : NULL;

		if (tid && !thread)
			thread = outside_thread_new(outside, target, tid, begin_ns, is_born);
		if (thread && !is_born)
			thread->looked_ns = thread->ring.shared->cpu_begin_ns;
	}
	if (list)
		closedir(list);
}

void outside_looks_take(struct outside *outside, uint64_t now_ns)
{
	for (struct outside_target *target = outside->targets; target; target = target->next) {
		if (target->end_ns)
			continue;
		threads_list(outside, target, now_ns, true);
		for (struct outside_thread *thread = target->threads; thread; thread = thread->next)
			if (!thread->has_ended)
				thread_look(outside, thread, now_ns);
	}
	outside_threads_forget(outside);
}

static bool is_readable(struct outside_target *target)
{
	uint64_t word;

	return target->modules.count && !remote_unwind_read(target->modules.pid,
						target->modules.list[0].cfi.begin, &word, sizeof(word));
}

int outside_looks_begin(struct outside *outside)
{
	outside->by_looks = true;
	if (outside->plan.period_ns < LOOK_NS)
		outside->plan.period_ns = LOOK_NS;
	for (unsigned i = 0; i < outside->plan.pid_count; i++) {
		uint32_t pid = outside->plan.pids[i];
		struct outside_target *target = outside_target_new(
			outside, &(struct outside_birth){.pid = pid, .begin_ns = clock_now_ns()});

		if (!target)
			return EIO;
		if (!is_readable(target))
			return EACCES;
		threads_list(outside, target, 0, false);
		if (!target->threads)
			return ESRCH;
	}
	return 0;
}
