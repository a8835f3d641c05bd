/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.c - waits in one way that its first argument names: sleep mutex condition poll pipe busy.
 *
 * What the trace must show: on the stream of each thread that is printed, `blocked` spans that sum to at
 * least the nominal nanoseconds and at most the elapsed ones (the thread's own wall clock around its waits),
 * in the call path main;waits;WAY or thread;waits;WAY. `busy`: four threads that never wait; blocked is 0,
 * elapsed less their CPU clock is `runnable`. Prints: name, nominal, elapsed, CPU ns of each thread, tab
 * between, then the number of calls that were interrupted (must be 0).
 */
#include "samples/burn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMES 20
#define PAUSE_MS 10
#define TURNS 2000

static int interrupted;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t turn;
static int there[2], back[2];

static double wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void told(int result)
{
	if (result < 0 && errno == EINTR)
		interrupted++;
}

static void pause_for(int ms)
{
	struct timespec pause = {0, ms * 1000000L};

	told(nanosleep(&pause, NULL));
}

static void say(const char *name, double nominal_ms, double elapsed_ns)
{
	printf("%s\t%.0f\t%.0f\t%.0f\n", name, nominal_ms * 1e6, elapsed_ns, (double)cpu_now_ns());
}

APART static void by_sleep(void)
{
	for (int i = 0; i < TIMES; i++)
		pause_for(PAUSE_MS);
	NO_TAIL_CALL();
}

APART static void by_poll(void)
{
	for (int i = 0; i < TIMES; i++)
		told(poll(NULL, 0, PAUSE_MS));
	NO_TAIL_CALL();
}

APART static void by_condition(void)
{
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < TIMES; i++) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += PAUSE_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&condition, &mutex, &until);
	}
	pthread_mutex_unlock(&mutex);
}

/* The other one holds the lock when we come, and sleeps on it. */
APART static void by_mutex(void)
{
	for (int i = 0; i < TIMES; i++) {
		pthread_barrier_wait(&turn);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		pthread_barrier_wait(&turn);
	}
}

static void *holder(void *unused)
{
	for (int i = 0; i < TIMES; i++) {
		pthread_mutex_lock(&mutex);
		pthread_barrier_wait(&turn);
		pause_for(PAUSE_MS);
		pthread_mutex_unlock(&mutex);
		pthread_barrier_wait(&turn);
	}
	return unused;
}

APART static void by_pipe(void)
{
	char token = 0;

	for (int i = 0; i < TURNS; i++) {
		told((int)write(there[1], &token, 1));
		told((int)read(back[0], &token, 1));
	}
	NO_TAIL_CALL();
}

static void *echo(void *unused)
{
	char token;

	for (int i = 0; i < TURNS; i++)
		if (read(there[0], &token, 1) != 1 || write(back[1], &token, 1) != 1)
			break;
	return unused;
}

APART static void waits(void (*way)(void))
{
	way();
	NO_TAIL_CALL();
}

static void *busy(void *name)
{
	double begin_ns = wall_ns();

	pthread_setname_np(pthread_self(), name);
	BURN(100e6);
	say(name, 0, wall_ns() - begin_ns);
	return NULL;
}

static int all_busy(void)
{
	static char names[4][8] = {"busy 1", "busy 2", "busy 3", "busy 4"};
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, busy, names[i]))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*way)(void);
		void *(*other)(void *);
		double nominal_ms;
	} ways[] = {
		{"sleep", by_sleep, NULL, TIMES * PAUSE_MS},
		{"poll", by_poll, NULL, TIMES * PAUSE_MS},
		{"condition", by_condition, NULL, TIMES * PAUSE_MS * 0.99},
		{"mutex", by_mutex, holder, TIMES * PAUSE_MS * 0.95},
		{"pipe", by_pipe, echo, 0},
	};

	if (argc > 1 && !strcmp(argv[1], "busy"))
		return all_busy();
	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		double begin_ns;
		pthread_t other;

		if (argc < 2 || strcmp(argv[1], ways[i].name) != 0)
			continue;
		if (pipe(there) || pipe(back) || pthread_barrier_init(&turn, NULL, 2))
			return 1;
		if (ways[i].other && pthread_create(&other, NULL, ways[i].other, NULL))
			return 1;
		begin_ns = wall_ns();
		waits(ways[i].way);
		say("waits", ways[i].nominal_ms, wall_ns() - begin_ns);
		if (ways[i].other)
			pthread_join(other, NULL);
		printf("interrupted\t%d\n", interrupted);
		return 0;
	}
	return 2;
}
