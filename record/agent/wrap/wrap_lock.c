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
#include "record/agent/python/python_gil.h"
#include "record/agent/wrap/cause.h"
#include "record/agent/wrap/gil.h"

/* ---- whose lock it is ---- */

/* glibc keeps the thread that holds a lock, for its own checks. 0: nobody, or several readers. It is that of
 * the wait's begin: the lock may pass through other hands, which their own waits tell (blame/wait/lock.h). */
static unsigned mutex_holder(const pthread_mutex_t *mutex)
{
	return (unsigned)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
}

static unsigned rwlock_holder(const pthread_rwlock_t *lock)
{
	return (unsigned)__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
}

/* C11's mutex is the same one. */
static unsigned mtx_holder(const mtx_t *mutex)
{
	return mutex_holder((const pthread_mutex_t *)(const void *)mutex);
}

/* A spin lock is a bare number: who took it last is kept here, by the lock's address. Only its holder writes
 * for it; two locks in one place forget each other's holder. */
#define SPIN_PLACES 1024u /* a power of two */
#define SPIN_TID_BITS 24  /* the kernel's numbers are below 2^22 */

static _Atomic uint64_t spin_holders[SPIN_PLACES];

static _Atomic uint64_t *spin_place(const void *lock)
{
	return &spin_holders[(uintptr_t)lock / sizeof(pthread_spinlock_t) % SPIN_PLACES];
}

static uint64_t spin_tag(const void *lock)
{
	return (uint64_t)((uintptr_t)lock / sizeof(pthread_spinlock_t) / SPIN_PLACES) << SPIN_TID_BITS;
}

static void spin_taken(const void *lock)
{
	const struct thread *t = thread_self();

	atomic_store_explicit(
		spin_place(lock), t ? spin_tag(lock) | t->ring.shared->tid : 0, memory_order_relaxed);
}

static unsigned spin_holder(const void *lock)
{
	uint64_t holder = atomic_load_explicit(spin_place(lock), memory_order_relaxed);

	return holder >> SPIN_TID_BITS == spin_tag(lock) >> SPIN_TID_BITS
		       ? (unsigned)(holder & ((1u << SPIN_TID_BITS) - 1))
		       : 0;
}

/* A wait that is long enough to be published is a span `lock`, too. */
static void lock_end(
	const struct wait *wait, const void *function, const char *name, const void *lock, unsigned holder)
{
	char text[96] = "call=";
	struct wait_call call = {.name = "lock", .attributes = text};

	if (!wait->thread || process_now_ns() - wait->begin_ns <= WAIT_LEAST_NS) {
		wait_end(wait, function);
		return;
	}
	strcat(strcat(text, name), ",lock=");
	environment_hexadecimal(text + strlen(text), (uintptr_t)lock);
	if (holder) {
		strcat(text, ",holder=");
		environment_decimal(text + strlen(text), holder);
	}
	wait_end_call(wait, function, &call);
}

/* A thread that never gets the lock publishes no wait: the collector takes this from the ring when it ends.
 */
static void lock_begin(struct wait *wait, const void *lock, unsigned holder)
{
	struct event_ring *shared;

	wait_begin(wait);
	if (!wait->thread || wait->outer_ns)
		return;
	shared = wait->thread->ring.shared;
	atomic_store_explicit(&shared->lock, (uintptr_t)lock, memory_order_relaxed);
	atomic_store_explicit(&shared->lock_holder, holder, memory_order_relaxed);
	atomic_store_explicit(&shared->lock_begin_ns, wait->begin_ns, memory_order_release);
}

/* Value of a call that waits for a lock. */
#define LOCK(name, arguments, lock, holder_of)                                              \
	__extension__({                                                                     \
		unsigned holder_ = holder_of(lock);                                         \
		struct wait wait_;                                                          \
		int result_;                                                                \
                                                                                            \
		lock_begin(&wait_, lock, holder_);                                          \
		result_ = REAL(name) arguments;                                             \
		lock_end(&wait_, (const void *)(uintptr_t)real.name, #name, lock, holder_); \
		result_;                                                                    \
	})

#define LOCKS(name, parameters, arguments, lock, holder_of)    \
	WRAPPER int name parameters                            \
	{                                                      \
		return LOCK(name, arguments, lock, holder_of); \
	}

/* `taken`: result of the try when the lock is held. Libraries without a try call the lock, which waits. */
#define TRIES(name, try, taken, parameters, lock, arguments, holder_of) \
	WRAPPER int name parameters                                     \
	{                                                               \
		if (REAL(try)) {                                        \
			int result = real.try(lock);                    \
                                                                        \
			if (__builtin_expect(result != (taken), 1))     \
				return result;                          \
		}                                                       \
		return LOCK(name, arguments, lock, holder_of);          \
	}

/* Apart, so that a free mutex costs a test and a jump. */
static __attribute__((noinline)) int mutex_lock_taken(pthread_mutex_t *mutex)
{
	int result = REAL(pthread_mutex_trylock) ? real.pthread_mutex_trylock(mutex) : EBUSY;

	/* it may be ours, and recursive */
	return result == EBUSY ? LOCK(pthread_mutex_lock, (mutex), mutex, mutex_holder) : result;
}

/* If it looks free, locks it directly. If another thread is faster, that wait has no path. */
WRAPPER int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED))
		return mutex_lock_taken(mutex);
	return REAL(pthread_mutex_lock)(mutex);
}

TRIES(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, EBUSY, (pthread_rwlock_t * lock), lock, (lock),
	rwlock_holder)
TRIES(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, EBUSY, (pthread_rwlock_t * lock), lock, (lock),
	rwlock_holder)
TRIES(mtx_lock, mtx_trylock, thrd_busy, (mtx_t * mutex), mutex, (mutex), mtx_holder)

/* A wait for it is time of the thread's core. */
WRAPPER int pthread_spin_lock(pthread_spinlock_t *lock)
{
	int result = REAL(pthread_spin_trylock) ? real.pthread_spin_trylock(lock) : EBUSY;
	const void *address = (const void *)(uintptr_t)lock;

	if (result)
		result = LOCK(pthread_spin_lock, (lock), address, spin_holder);
	if (!result)
		spin_taken(address);
	return result;
}

WRAPPER int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	int result = REAL(pthread_spin_trylock)(lock);

	if (!result)
		spin_taken((const void *)(uintptr_t)lock);
	return result;
}

/* libc's rules differ on whether these check the time if they need not wait. */
LOCKS(pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *until), (mutex, until), mutex,
	mutex_holder)
LOCKS(pthread_mutex_clocklock, (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *until),
	(mutex, clock, until), mutex, mutex_holder)
LOCKS(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until),
	lock, rwlock_holder)
LOCKS(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until),
	lock, rwlock_holder)
LOCKS(pthread_rwlock_clockrdlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
	(lock, clock, until), lock, rwlock_holder)
LOCKS(pthread_rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
	(lock, clock, until), lock, rwlock_holder)
LOCKS(mtx_timedlock, (mtx_t *restrict mutex, const struct timespec *restrict until), (mutex, until), mutex,
	mtx_holder)

/* ---- what wrap_wake.c ends ---- */

#define TIMED_OUT(result) ((result) && errno == ETIMEDOUT)

WAITS_FOR(int, sem_timedwait, (sem_t * semaphore, const struct timespec *until), (semaphore, until),
	cause_end_at, "semaphore", semaphore, TIMED_OUT(result_))
WAITS_FOR(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *until),
	(semaphore, clock, until), cause_end_at, "semaphore", semaphore, TIMED_OUT(result_))

WAITS_FOR(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex),
	cause_end_at, "condition", condition, false)
WRAPPER int pthread_cond_timedwait(
	pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
	uint64_t gil = process_is_live() ? python_gil_of(condition) : 0;

	return __builtin_expect(gil != 0, 0)
		       ? gil_wait(gil, condition, mutex, until)
		       : WAIT_CAUSED(pthread_cond_timedwait, (condition, mutex, until), cause_end_at,
				 "condition", condition, result_ == ETIMEDOUT);
}
WAITS_FOR(int, pthread_cond_clockwait,
	(pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
	(condition, mutex, clock, until), cause_end_at, "condition", condition, result_ == ETIMEDOUT)
WAITS_FOR(int, cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex), cause_end_at, "condition",
	condition, false)
WAITS_FOR(int, cnd_timedwait,
	(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until),
	(condition, mutex, until), cause_end_at, "condition", condition, result_ == thrd_timedout)

/* ---- threads ---- */

/* `failed`: the thread has not ended. */
static void join_end(
	const struct wait *wait, const void *function, const char *name, unsigned long tid, bool failed)
{
	cause_end(wait, function, name, failed ? "timer" : "join", failed || !tid ? NULL : ",tid=", tid);
}

#define JOINS(name, parameters, arguments)                                               \
	WRAPPER int name parameters                                                      \
	{                                                                                \
		unsigned long tid = process_is_live() ? cause_thread_number(thread) : 0; \
                                                                                         \
		return WAIT_CAUSED(name, arguments, join_end, tid, result_ != 0);        \
	}

JOINS(pthread_join, (pthread_t thread, void **result), (thread, result))
JOINS(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until),
	(thread, result, until))
JOINS(pthread_clockjoin_np, (pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
	(thread, result, clock, until))
JOINS(thrd_join, (thrd_t thread, int *result), (thread, result))

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
	return semaphore_take(semaphore)
		       ? 0
		       : WAIT_CAUSED(sem_wait, (semaphore), cause_end_at, "semaphore", semaphore, false);
}
