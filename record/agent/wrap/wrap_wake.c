/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_wake.c - calls that may end another thread's wait: conditions, semaphores, events. Each asks glibc's
 * object whether somebody waits; nobody does: one test, no clock. What two ends of a socket pair are to each
 * other is known only where it is made.
 */
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/wrap/cause.h"

static unsigned condition_waiters(const pthread_cond_t *condition)
{
	return __atomic_load_n(&condition->__data.__wrefs, __ATOMIC_RELAXED) >> 3;
}

/* The upper half of its word, since glibc 2.21. */
static unsigned semaphore_waiters(const sem_t *semaphore)
{
	return __atomic_load_n((const uint64_t *)(const void *)semaphore, __ATOMIC_RELAXED) >> 32 &
	       UINT32_MAX;
}

/* `count`: of those who wait for the object. */
#define WAKES(name, type, count)                                                                          \
	WRAPPER int name(type *object)                                                                    \
	{                                                                                                 \
		unsigned waiters = count;                                                                 \
		uint64_t begin_ns = waiters && process_is_live() ? process_now_ns() : 0;                  \
		int result = REAL(name)(object);                                                          \
                                                                                                          \
		if (__builtin_expect(begin_ns != 0, 0))                                                   \
			cause_wake(begin_ns, (const void *)(uintptr_t)real.name, #name, object, waiters); \
		return result;                                                                            \
	}

WAKES(pthread_cond_signal, pthread_cond_t, condition_waiters(object))
WAKES(pthread_cond_broadcast, pthread_cond_t, condition_waiters(object))
/* C11's condition is the same one. */
WAKES(cnd_signal, cnd_t, condition_waiters((const pthread_cond_t *)(const void *)object))
WAKES(cnd_broadcast, cnd_t, condition_waiters((const pthread_cond_t *)(const void *)object))
WAKES(sem_post, sem_t, semaphore_waiters(object))

/* glibc's word of a read-write lock, since 2.25: readers from bit 3 on; 2: a writer has it, or is the next
 * one; 1: writers have their turn. So 2 alone is a writer that waits for readers. libc does not know them:
 * the last one tells. Whoever counts two may be that, since another may leave at the same time. */
#define RWLOCK_TURN 3u
#define RWLOCK_WRITER_WAITS 2u

static __attribute__((noinline)) int rwlock_unlock(pthread_rwlock_t *lock, unsigned word)
{
	uint64_t begin_ns = word >> 3 <= 2 && process_is_live() ? process_now_ns() : 0;
	int result = REAL(pthread_rwlock_unlock)(lock);

	if (begin_ns)
		cause_wake(begin_ns, (const void *)(uintptr_t)real.pthread_rwlock_unlock,
			"pthread_rwlock_unlock", lock, 1);
	return result;
}

WRAPPER int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	unsigned word = __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED);

	/* Without REAL(), so that nothing is saved on the way to the jump. */
	if (__builtin_expect((word & RWLOCK_TURN) == RWLOCK_WRITER_WAITS || !real.pthread_rwlock_unlock, 0))
		return rwlock_unlock(lock, word);
	return real.pthread_rwlock_unlock(lock);
}

/* Processes that wake each other by signals read them from a signalfd, as postgres's backends do. */
WRAPPER int kill(pid_t pid, int signal)
{
	uint64_t begin_ns = pid > 0 && signal && process_is_live() ? process_now_ns() : 0;
	int result = REAL(kill)(pid, signal);

	if (begin_ns && !result && pid != (pid_t)process_pid())
		cause_signal(begin_ns, (const void *)(uintptr_t)real.kill, "kill", (int)pid);
	return result;
}

WRAPPER int eventfd(unsigned count, int flags)
{
	int fd = REAL(eventfd)(count, flags);

	if (process_is_live())
		cause_eventfd(fd);
	return fd;
}

WAITS_FOR(int, eventfd_write, (int fd, eventfd_t value), (fd, value), cause_end_write, fd, !result_)
WAITS_FOR(int, eventfd_read, (int fd, eventfd_t *value), (fd, value), cause_end_read, fd)

WRAPPER int socketpair(int domain, int type, int protocol, int ends[2])
{
	int result = REAL(socketpair)(domain, type, protocol, ends);

	if (!result && process_is_live())
		cause_socketpair(ends);
	return result;
}
