/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_process.c - the program's children and execs: forks are recorded, every exec passes the agent on even
 * if the program has cleared its environment, and the last record is written before the program is replaced.
 * Code between vfork and exec writes nothing and allocates nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "record/agent/base/real.h"
#include "record/agent/base/safe_read.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/address_reserve.h"
#include "record/agent/process/debugger.h"
#include "record/agent/process/environment.h"
#include "record/agent/process/exec_target.h"
#include "record/agent/process/process.h"
#include "record/agent/process/process_filter.h"
#include "record/agent/sample/exec_environment.h"
#include "record/agent/sample/signal_guard.h"
#include "record/agent/sample/source.h"
#include "record/agent/sample/thread.h"
#include "record/agent/wrap/agent_end.h"

/* since_ns: before the child was created, so that it never seems to begin before its parent's record. */
static void note(uint32_t kind, pid_t child, uint64_t since_ns)
{
	struct thread *thread = thread_own();

	if (thread)
		thread_fork_note(thread, kind, (uint32_t)child, since_ns);
}

WRAPPER pid_t fork(void)
{
	uint64_t since_ns = thread_self() ? process_now_ns() : 0;
	pid_t child = REAL(fork)();

	if (child > 0)
		note(EVENT_FORK_CHILD, child, since_ns);
	return child;
}

/* Publishes nothing in such a child, which may have inherited locks held by the program's threads: it
 * counts as unmeasured until it calls exec. */
void wrap_process_born(pid_t child, uint64_t since_ns)
{
	int error = errno;

	if (child > 0)
		note(EVENT_FORK_CHILD, child, since_ns);
	errno = error;
}

WRAPPER pid_t _Fork(void)
{
	uint64_t since_ns = thread_self() ? process_now_ns() : 0;
	pid_t child;

	if (!REAL(_Fork)) {
		errno = ENOSYS;
		return -1;
	}
	child = real._Fork();
	wrap_process_born(child, since_ns);
	return child;
}

WRAPPER int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	uint64_t since_ns = thread_self() ? process_now_ns() : 0;
	void *more[3];
	va_list list;
	int child;

	va_start(list, argument);
	for (unsigned i = 0; i < 3; i++)
		more[i] = va_arg(list, void *);
	va_end(list);
	if ((flags & CLONE_THREAD) && !(flags & CLONE_SETTLS))
		source_trap_shared();
	child = REAL(clone)(function, stack, flags, argument, more[0], more[1], more[2]);
	if (!(flags & (CLONE_THREAD | CLONE_VFORK)) || !(flags & CLONE_VM))
		wrap_process_born(child, since_ns); /* one that shares our memory, too */
	return child;
}

static void exec_environment_fill(struct exec_environment *next, int at, const char *path, char *const *envp)
{
	next->since_ns = thread_self() ? process_now_ns() : 0;
	next->text.hides_trap = signal_guards_exec_hides_trap();
	next->kind = process.is_suspended || atomic_load(&process.asks_no_descriptors)
			     ? EXEC_TARGET_HARMED /* a filter stays, and the next agent would not know it */
			     : exec_target_kind(at, path, process.settings.agent);
	exec_target_linked(at, next->kind == EXEC_TARGET_TAKES ? path : NULL, envp, &next->text.linked);
	if (next->text.linked.with_tsan)
		next->kind = EXEC_TARGET_HARMED;
	environment_build(envp, next->kind != EXEC_TARGET_HARMED, next->words, &next->text);
}

/* Without memory for the new environment, passes the program's own. */
static char *const *environment_of(const struct exec_environment *next, char *const *envp)
{
	return next ? next->words : envp;
}

/* A vfork child has no ring in which to record its exec. True in one whose next program will not register
 * itself: it takes no agent, is excluded, or is being debugged. */
static bool is_unpublished(const struct exec_environment *next)
{
	return thread_self() && !thread_own() &&
	       (next->kind != EXEC_TARGET_TAKES ||
		       !process_filter_wants(
			       process.settings.events, process_number(), environment_rank(next->words)) ||
		       debugger_would_stop());
}

/* The collector makes a line of it; beyond the list's room it is counted alone. */
static void unheard_put(struct exec_environment *next)
{
	uint32_t place = atomic_fetch_add(&process.shared->unheard_count, 1);

	next->unheard = place < EVENT_UNHEARD_MAX ? &process.shared->unheard[place] : NULL;
	if (!next->unheard) {
		atomic_fetch_add(&process.shared->children_unmonitored, 1);
		return;
	}
	next->unheard->since_ns = next->since_ns;
	atomic_store_explicit(&next->unheard->pid, (uint32_t)process_number(), memory_order_release);
}

static void unheard_undo(struct exec_environment *next)
{
	if (next->unheard)
		atomic_store_explicit(&next->unheard->pid, EVENT_UNHEARD_UNDONE, memory_order_release);
	else
		atomic_fetch_sub(&process.shared->children_unmonitored, 1);
}

static char *const *exec_prepare(struct exec_environment *next, char *const *envp)
{
	enum exec_target_kind kind = next ? next->kind : EXEC_TARGET_TAKES;

	if (next) {
		next->is_unheard = is_unpublished(next);
		if (next->is_unheard)
			unheard_put(next);
	}
	note(kind == EXEC_TARGET_TAKES ? EVENT_FORK_EXEC : EVENT_FORK_EXEC_UNMONITORED, 0,
		next ? next->since_ns : process_now_ns());
	agent_end();
	process_exec_begin();
	source_exec_begin();
	signal_guards_exec_begin(next && next->text.hides_trap);
	return environment_of(next, envp);
}

static char *const *exec_begin(struct exec_environment *next, int at, const char *path, char *const *envp)
{
	if (next)
		exec_environment_fill(next, at, path, envp);
	address_reserve_exec_begin(at, path);
	return exec_prepare(next, envp);
}

static void exec_undo(struct exec_environment *next)
{
	signal_guards_exec_failed();
	address_reserve_exec_failed();
	source_exec_failed();
	agent_resume();
	if (next && next->is_unheard)
		unheard_undo(next);
}

/* For arguments and environment so large that only our additions exceed the kernel's limit. */
static void exec_environment_leave_alone(struct exec_environment *next, char *const *envp)
{
	next->kind = EXEC_TARGET_HARMED;
	environment_leave(envp, next->words, &next->text);
}

/* Checks what we read before the kernel, which itself reports unreadable memory. A sandbox may forbid the
 * check. */
static bool is_readable(const char *path, char *const *envp)
{
	return !process.settings.agent[0] || process.is_suspended ||
	       (safe_read_string(path) && safe_read_words(envp));
}

/* After a failed exec: the environment to try again with, NULL: none. */
static char *const *exec_again(struct exec_environment *next, char *const *envp)
{
	if (errno != E2BIG || !next)
		return NULL;
	exec_undo(next);
	exec_environment_leave_alone(next, envp);
	address_reserve_exec_begin(AT_FDCWD, NULL);
	return exec_prepare(next, envp);
}

static int exec_failed(struct exec_environment *next)
{
	int error = errno;

	exec_undo(next);
	exec_environment_release(next);
	errno = error;
	return -1;
}

WRAPPER int execve(const char *path, char *const argv[], char *const envp[])
{
	struct exec_environment *next;
	char *const *again;

	if (!is_readable(path, envp))
		return REAL(execve)(path, argv, envp);
	next = exec_environment_take(envp);
	REAL(execve)(path, argv, exec_begin(next, AT_FDCWD, path, envp));
	again = exec_again(next, envp);
	if (again)
		REAL(execve)(path, argv, again);
	return exec_failed(next);
}

/* In glibc since 2.34; before, programs call it by syscall(). */
static int call_execveat(int at, const char *path, char *const argv[], char *const envp[], int flags)
{
	return (int)REAL(syscall)(SYS_execveat, at, path, argv, envp, flags);
}

WRAPPER int execveat(int at, const char *path, char *const argv[], char *const envp[], int flags)
{
	struct exec_environment *next;
	char *const *again;

	if (!is_readable(path, envp))
		return call_execveat(at, path, argv, envp, flags);
	next = exec_environment_take(envp);
	call_execveat(at, path, argv, exec_begin(next, at, path, envp), flags);
	again = exec_again(next, envp);
	if (again)
		call_execveat(at, path, argv, again, flags);
	return exec_failed(next);
}

WRAPPER int fexecve(int fd, char *const argv[], char *const envp[])
{
	struct exec_environment *next;
	char *const *again;

	if (!is_readable(NULL, envp))
		return REAL(fexecve)(fd, argv, envp);
	next = exec_environment_take(envp);
	REAL(fexecve)(fd, argv, exec_begin(next, fd, "", envp));
	again = exec_again(next, envp);
	if (again)
		REAL(fexecve)(fd, argv, again);
	return exec_failed(next);
}

WRAPPER int execvpe(const char *file, char *const argv[], char *const envp[])
{
	struct exec_environment *next;
	char *const *again;
	const char *path;

	if (!is_readable(file, envp))
		return REAL(execvpe)(file, argv, envp);
	next = exec_environment_take(envp);
	path = next ? exec_target_search(file, next->place, sizeof(next->place)) : NULL;
	REAL(execvpe)(file, argv, exec_begin(next, AT_FDCWD, path, envp));
	again = exec_again(next, envp);
	if (again)
		REAL(execvpe)(file, argv, again);
	return exec_failed(next);
}

WRAPPER int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

WRAPPER int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* Counts the arguments of an execl* call up to the NULL, or stores them in `argv` if not NULL. */
static size_t arguments_read(const char *first, va_list list, const char **argv)
{
	size_t count = 0;

	for (const char *word = first; word; word = va_arg(list, const char *)) {
		if (argv)
			argv[count] = word;
		count++;
	}
	if (argv)
		argv[count] = NULL;
	return count;
}

static size_t arguments_count(const char *first, va_list list)
{
	va_list copy;
	size_t count;

	va_copy(copy, list);
	count = arguments_read(first, copy, NULL);
	va_end(copy);
	return count;
}

WRAPPER int execl(const char *path, const char *first, ...)
{
	va_list list;

	va_start(list, first);
	const char *argv[arguments_count(first, list) + 1];
	arguments_read(first, list, argv);
	va_end(list);
	return execve(path, (char *const *)argv, environ);
}

WRAPPER int execlp(const char *file, const char *first, ...)
{
	va_list list;

	va_start(list, first);
	const char *argv[arguments_count(first, list) + 1];
	arguments_read(first, list, argv);
	va_end(list);
	return execvpe(file, (char *const *)argv, environ);
}

WRAPPER int execle(const char *path, const char *first, ...)
{
	char *const *envp;
	va_list list;

	va_start(list, first);
	const char *argv[arguments_count(first, list) + 1];
	arguments_read(first, list, argv);
	envp = va_arg(list, char *const *);
	va_end(list);
	return execve(path, (char *const *)argv, envp);
}

static int spawned(int result, pid_t child, struct exec_environment *next)
{
	bool takes = !next || next->kind == EXEC_TARGET_TAKES;

	if (!result)
		note(takes ? EVENT_FORK_SPAWN : EVENT_FORK_SPAWN_UNMONITORED, child,
			next ? next->since_ns : process_now_ns());
	exec_environment_release(next);
	return result;
}

WRAPPER int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	struct exec_environment *next;
	pid_t pid = 0;
	int result;

	if (!is_readable(path, envp))
		return REAL(posix_spawn)(child, path, actions, attributes, argv, envp);
	next = exec_environment_take(envp);
	if (next)
		exec_environment_fill(next, AT_FDCWD, path, envp);
	result = REAL(posix_spawn)(&pid, path, actions, attributes, argv, environment_of(next, envp));
	if (result == E2BIG && next) {
		exec_environment_leave_alone(next, envp);
		result = REAL(posix_spawn)(&pid, path, actions, attributes, argv, environment_of(next, envp));
	}
	if (child && !result)
		*child = pid;
	return spawned(result, pid, next);
}

WRAPPER int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	struct exec_environment *next;
	pid_t pid = 0;
	int result;

	if (!is_readable(file, envp))
		return REAL(posix_spawnp)(child, file, actions, attributes, argv, envp);
	next = exec_environment_take(envp);
	if (next)
		exec_environment_fill(
			next, AT_FDCWD, exec_target_search(file, next->place, sizeof(next->place)), envp);
	result = REAL(posix_spawnp)(&pid, file, actions, attributes, argv, environment_of(next, envp));
	if (result == E2BIG && next) {
		exec_environment_leave_alone(next, envp);
		result =
			REAL(posix_spawnp)(&pid, file, actions, attributes, argv, environment_of(next, envp));
	}
	if (child && !result)
		*child = pid;
	return spawned(result, pid, next);
}

WRAPPER void _exit(int code)
{
	agent_end();
	REAL(_exit)(code);
	__builtin_unreachable();
}

WRAPPER void _Exit(int code)
{
	_exit(code);
}

WRAPPER void quick_exit(int code)
{
	agent_end();
	REAL(quick_exit)(code);
	__builtin_unreachable();
}
