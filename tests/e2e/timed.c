/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed.c - locks, semaphores, conditions and joins that wait until a time: what each gives when it is free,
 * taken, its time over or none at all, and whether it ends a thread that is to be cancelled. The same is
 * printed with and without a recorder (e2e.record.timed.sh).
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex, checking;
static pthread_rwlock_t lock;
static pthread_cond_t condition;
static sem_t semaphore;
static mtx_t c_mutex;
static cnd_t c_condition;
static pthread_t sleeper;
static clockid_t clock_now;
static struct timespec until_now;

static int of_errno(int result)
{
	return result ? errno : 0;
}

/* ---- the calls, on locks that are free or taken ---- */

static int call_mutex_timed(void)
{
	int result = pthread_mutex_timedlock(&mutex, &until_now);

	return result ? result : pthread_mutex_unlock(&mutex);
}

static int call_mutex_clock(void)
{
	int result = pthread_mutex_clocklock(&mutex, clock_now, &until_now);

	return result ? result : pthread_mutex_unlock(&mutex);
}

static int call_checking_timed(void)
{
	int result = pthread_mutex_timedlock(&checking, &until_now);

	return result ? result : pthread_mutex_unlock(&checking);
}

static int call_read_timed(void)
{
	int result = pthread_rwlock_timedrdlock(&lock, &until_now);

	return result ? result : pthread_rwlock_unlock(&lock);
}

static int call_write_timed(void)
{
	int result = pthread_rwlock_timedwrlock(&lock, &until_now);

	return result ? result : pthread_rwlock_unlock(&lock);
}

static int call_read_clock(void)
{
	int result = pthread_rwlock_clockrdlock(&lock, clock_now, &until_now);

	return result ? result : pthread_rwlock_unlock(&lock);
}

static int call_write_clock(void)
{
	int result = pthread_rwlock_clockwrlock(&lock, clock_now, &until_now);

	return result ? result : pthread_rwlock_unlock(&lock);
}

static int call_sem_timed(void)
{
	int result = of_errno(sem_timedwait(&semaphore, &until_now));

	return result ? result : sem_post(&semaphore);
}

static int call_sem_clock(void)
{
	int result = of_errno(sem_clockwait(&semaphore, clock_now, &until_now));

	return result ? result : sem_post(&semaphore);
}

static int call_c_mutex(void)
{
	int result = mtx_timedlock(&c_mutex, &until_now);

	return result == thrd_success ? mtx_unlock(&c_mutex) : result;
}

static void unlock(void *own)
{
	pthread_mutex_unlock(own);
}

static int call_condition_timed(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	int result;

	pthread_mutex_lock(&own);
	pthread_cleanup_push(unlock, &own);
	result = pthread_cond_timedwait(&condition, &own, &until_now);
	pthread_cleanup_pop(1);
	return result;
}

static int call_condition_clock(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	int result;

	pthread_mutex_lock(&own);
	pthread_cleanup_push(unlock, &own);
	result = pthread_cond_clockwait(&condition, &own, clock_now, &until_now);
	pthread_cleanup_pop(1);
	return result;
}

static int call_c_condition(void)
{
	static mtx_t own;
	int result;

	mtx_init(&own, mtx_plain);
	mtx_lock(&own);
	result = cnd_timedwait(&c_condition, &own, &until_now);
	mtx_unlock(&own);
	return result;
}

static int call_join_timed(void)
{
	return pthread_timedjoin_np(sleeper, NULL, &until_now);
}

static int call_join_clock(void)
{
	return pthread_clockjoin_np(sleeper, NULL, clock_now, &until_now);
}

static const struct call {
	const char *name;
	int (*make)(void);
} calls[] = {{"pthread_mutex_timedlock", call_mutex_timed}, {"pthread_mutex_clocklock", call_mutex_clock},
	{"of an error-checking mutex", call_checking_timed}, {"pthread_rwlock_timedrdlock", call_read_timed},
	{"pthread_rwlock_timedwrlock", call_write_timed}, {"pthread_rwlock_clockrdlock", call_read_clock},
	{"pthread_rwlock_clockwrlock", call_write_clock}, {"sem_timedwait", call_sem_timed},
	{"sem_clockwait", call_sem_clock}, {"mtx_timedlock", call_c_mutex},
	{"pthread_cond_timedwait", call_condition_timed}, {"pthread_cond_clockwait", call_condition_clock},
	{"cnd_timedwait", call_c_condition}, {"pthread_timedjoin_np", call_join_timed},
	{"pthread_clockjoin_np", call_join_clock}};

#define CALLS (sizeof(calls) / sizeof(*calls))

static void until(clockid_t clock, long ms)
{
	clock_now = clock;
	clock_gettime(clock == 99 ? CLOCK_REALTIME : clock, &until_now);
	until_now.tv_nsec += ms % 1000 * 1000000;
	until_now.tv_sec += ms / 1000 + until_now.tv_nsec / 1000000000;
	until_now.tv_nsec %= 1000000000;
}

/* ---- whom they end ---- */

static void *cancelled_run(void *call)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	((const struct call *)call)->make();
	return NULL;
}

static const char *cancels(const struct call *call)
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, cancelled_run, (void *)call))
		return "no thread";
	pthread_join(thread, &result);
	return result == PTHREAD_CANCELED ? "ends there" : "goes on";
}

/* One thread at a time: with no other it is the main thread that has taken them. */
static void *ask(void *what)
{
	for (unsigned i = 0; i < CALLS; i++) {
		int soon, past, none, odd, monotonic;

		until(CLOCK_REALTIME, 20);
		soon = calls[i].make();
		until(CLOCK_MONOTONIC, 20);
		clock_now = CLOCK_MONOTONIC;
		monotonic = strstr(calls[i].name, "clock") ? calls[i].make() : 0;
		until(CLOCK_REALTIME, -1000);
		past = calls[i].make();
		until_now.tv_nsec = 1000000000;
		none = strstr(calls[i].name, "join") ? 0 : calls[i].make(); /* libc would try for ever */
		until(99, 20);
		odd = strstr(calls[i].name, "clock") ? calls[i].make() : 0;
		until(CLOCK_REALTIME, 20);
		printf("%s, %s: %d, monotonic %d, past %d, no time %d, no clock %d; cancelled %s\n",
			(char *)what, calls[i].name, soon, monotonic, past, none, odd, cancels(&calls[i]));
	}
	return NULL;
}

static void *sleeper_run(void *nothing)
{
	for (;;)
		pause();
	return nothing;
}

int main(void)
{
	pthread_mutexattr_t kind;
	pthread_t thread;

	pthread_mutex_init(&mutex, NULL);
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checking, &kind);
	pthread_rwlock_init(&lock, NULL);
	pthread_cond_init(&condition, NULL);
	sem_init(&semaphore, 0, 1);
	mtx_init(&c_mutex, mtx_timed);
	cnd_init(&c_condition);
	pthread_create(&sleeper, NULL, sleeper_run, NULL);
	ask("free");
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&checking);
	pthread_rwlock_wrlock(&lock);
	sem_wait(&semaphore);
	mtx_lock(&c_mutex);
	ask("own");
	pthread_create(&thread, NULL, ask, "taken");
	pthread_join(thread, NULL);
	return 0;
}
