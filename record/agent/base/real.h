/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real.h - the original functions behind the agent's wrappers, as the program would have found them. The
 * agent looks up all of them when it starts, so that handlers and vfork children need no loader; a wrapper
 * called earlier looks up its own.
 */
#ifndef RECORD_AGENT_REAL_H
#define RECORD_AGENT_REAL_H

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

#include "record/agent/base/real_waits.h"

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
int __ppoll_chk(struct pollfd *set, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
	size_t set_bytes);
int dlclose(void *handle);
/* For headers of old systems: since glibc 2.34 (two) and 2.35. */
pid_t _Fork(void);
int execveat(int at, const char *path, char *const argv[], char *const envp[], int flags);
int epoll_pwait2(
	int fd, struct epoll_event *events, int most, const struct timespec *timeout, const sigset_t *set);
void __monstartup(unsigned long begin, unsigned long end);
void _mcleanup(void);
void __longjmp_chk(struct __jmp_buf_tag buffer[1], int value) __attribute__((noreturn));

#define REAL_FUNCTIONS(X)            \
	X(_Fork)                     \
	X(__libc_start_main)         \
	X(__longjmp_chk)             \
	X(__monstartup)              \
	X(__ppoll_chk)               \
	X(_exit)                     \
	X(_longjmp)                  \
	X(_mcleanup)                 \
	X(clone)                     \
	X(dlclose)                   \
	X(epoll_pwait)               \
	X(epoll_pwait2)              \
	X(execve)                    \
	X(execvpe)                   \
	X(fexecve)                   \
	X(fork)                      \
	X(getrlimit)                 \
	X(getrlimit64)               \
	X(longjmp)                   \
	X(mlockall)                  \
	X(munlockall)                \
	X(posix_spawn)               \
	X(posix_spawnp)              \
	X(ppoll)                     \
	X(prctl)                     \
	X(prlimit)                   \
	X(prlimit64)                 \
	X(pselect)                   \
	X(pthread_create)            \
	X(pthread_attr_getstacksize) \
	X(pthread_attr_init)         \
	X(pthread_key_create)        \
	X(pthread_setname_np)        \
	X(pthread_setspecific)       \
	X(pthread_sigmask)           \
	X(quick_exit)                \
	X(setcontext)                \
	X(setrlimit)                 \
	X(setrlimit64)               \
	X(sigaction)                 \
	X(sigaltstack)               \
	X(siglongjmp)                \
	X(signal)                    \
	X(signalfd)                  \
	X(sigpending)                \
	X(sigprocmask)               \
	X(sigsuspend)                \
	X(sigtimedwait)              \
	X(sigwait)                   \
	X(sigwaitinfo)               \
	X(thrd_create)

struct real {
#define REAL_FIELD(name) __typeof__(&name) name;
	REAL_FUNCTIONS(REAL_FIELD)
	REAL_WAITS(REAL_FIELD)
#undef REAL_FIELD
};

extern struct real real;

/* Looks up all of them. */
void real_init(void);

/* Address of `name` after the agent in the lookup order, or NULL. */
void *real_symbol(const char *name);

/* Stores the address of `name` in *place and returns it. */
void *real_resolve(const char *name, void *place);

#define REAL(name) (real.name ? real.name : (__typeof__(&name))real_resolve(#name, &real.name))

#endif
