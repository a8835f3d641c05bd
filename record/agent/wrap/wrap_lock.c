/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_lock.c - locks, conditions, semaphores, barriers and joins of threads. Takes a free lock with the try
 * function, which never waits and costs no more than the lock itself; reads the clock only around a call that
 * may wait. A try returns the same errors as the lock.
 */
#include <errno.h>
#include <string.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/environment.h"
#include "record/agent/wrap/wait.h"

/* `taken`: result of the try when the lock is held. Libraries without a try call the lock, which waits. */
#define TRIES(name, try, taken, parameters, lock, arguments)        \
	WRAPPER int name parameters                                 \
	{                                                           \
		if (REAL(try)) {                                    \
			int result = real.try(lock);                \
                                                                    \
			if (__builtin_expect(result != (taken), 1)) \
				return result;                      \
		}                                                   \
		return WAIT(name, arguments);                       \
	}

/* If it looks free, locks it directly. If another thread is faster, that wait has no path. */
WRAPPER int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) && REAL(pthread_mutex_trylock)) {
		int result = real.pthread_mutex_trylock(mutex); /* it may be ours, and recursive */

		return result == EBUSY ? WAIT(pthread_mutex_lock, (mutex)) : result;
	}
	return REAL(pthread_mutex_lock)(mutex);
}

TRIES(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, EBUSY, (pthread_rwlock_t * lock), lock, (lock))
TRIES(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, EBUSY, (pthread_rwlock_t * lock), lock, (lock))
TRIES(mtx_lock, mtx_trylock, thrd_busy, (mtx_t * mutex), mutex, (mutex))

/* libc's rules differ on whether these check the time if they need not wait. */
WAITS(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *until), (mutex, until))
WAITS(int, pthread_mutex_clocklock, (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *until),
	(mutex, clock, until))
WAITS(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))
WAITS(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))
WAITS(int, pthread_rwlock_clockrdlock,
	(pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until), (lock, clock, until))
WAITS(int, pthread_rwlock_clockwrlock,
	(pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until), (lock, clock, until))
WAITS(int, mtx_timedlock, (mtx_t *restrict mutex, const struct timespec *restrict until), (mutex, until))
WAITS(int, sem_timedwait, (sem_t * semaphore, const struct timespec *until), (semaphore, until))
WAITS(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *until),
	(semaphore, clock, until))

WAITS(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
WAITS(int, pthread_cond_timedwait,
	(pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until),
	(condition, mutex, until))
WAITS(int, pthread_cond_clockwait,
	(pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
	(condition, mutex, clock, until))
WAITS(int, cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex))
WAITS(int, cnd_timedwait,
	(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until),
	(condition, mutex, until))
WAITS(int, pthread_join, (pthread_t thread, void **result), (thread, result))
WAITS(int, pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until),
	(thread, result, until))
WAITS(int, pthread_clockjoin_np,
	(pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
	(thread, result, clock, until))
WAITS(int, thrd_join, (thrd_t thread, int *result), (thread, result))

/* The last thread to arrive is found from the waits of the others (blame/wait/last_arrival.h). */
WRAPPER int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	char text[64] = "call=pthread_barrier_wait,comm=";
	struct wait_call call = {.name = "barrier", .attributes = text};
	struct wait wait;
	int result;

	wait_begin(&wait);
	result = REAL(pthread_barrier_wait)(barrier);
	environment_hexadecimal(text + strlen(text), (uintptr_t)barrier);
	wait_end_call(&wait, (const void *)(uintptr_t)real.pthread_barrier_wait, &call);
	return result;
}

/* A pending cancellation must take effect even if the semaphore is available. */
static bool semaphore_take(sem_t *semaphore)
{
	int error = errno;
	bool has_it;

	if (!REAL(sem_trywait) || !REAL(pthread_testcancel))
		return false;
	real.pthread_testcancel();
	has_it = !real.sem_trywait(semaphore);
	errno = error;
	return has_it;
}

WRAPPER int sem_wait(sem_t *semaphore)
{
	return semaphore_take(semaphore) ? 0 : WAIT(sem_wait, (semaphore));
}
