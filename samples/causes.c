/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causes.c [KIND...] - why threads wait, one kind after the other: a thread named after the kind works in
 * make() for PAUSE_US, ROUNDS times, and hands over by a pipe, a socket, an eventfd, a condition ...; the
 * main thread waits for it. `piped`, `child`: a process does. `timer`: nobody does. `cpu`: both work, on one
 * processor. The order is made by the things themselves: each round begins when the last has ended.
 *
 * Prints for each kind how long the main thread waited by its own clock; what the trace must show: hpct-blame
 * --of waiting --by cause attributes that to the kind and to that thread.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 6
#define PAUSE_US 20000
#define APART __attribute__((noinline, noclone))

static volatile double sink;
static int ends[2], back[2];
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static atomic_int round_now, made;
static uint64_t waited_ns, begun_ns; /* begun: what is waited for was begun then; 0: it is there */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

APART static void make(void)
{
	uint64_t until_ns = now_ns(CLOCK_MONOTONIC) + PAUSE_US * UINT64_C(1000);
	double x = 1;

	while (now_ns(CLOCK_MONOTONIC) < until_ns)
		for (int i = 0; i < 10000; i++)
			x = x * 1.0000001 + 1;
	sink = x;
}

/* The maker's side: begins its work when the other is about to wait. */
static void await(int round)
{
	while (round_now < round)
		syscall(SYS_sched_yield); /* directly: it is no wait of the program's */
}

static uint64_t wait_begin(int round)
{
	round_now = round;
	return now_ns(CLOCK_MONOTONIC);
}

static void wait_end(uint64_t begin_ns)
{
	waited_ns += now_ns(CLOCK_MONOTONIC) - (begun_ns ? begun_ns : begin_ns);
	begun_ns = 0;
}

/* ---- how the maker hands over ---- */

static void give_byte(void)
{
	char byte = 1;

	if (write(ends[1], &byte, 1) != 1)
		abort();
}

static void give_event(void)
{
	if (eventfd_write(ends[1], 1))
		abort();
}

static void give_signal(void)
{
	pthread_mutex_lock(&mutex);
	made++;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

static void give_post(void)
{
	sem_post(&semaphore);
}

static void give_barrier(void)
{
	pthread_barrier_wait(&barrier);
}

/* ---- how the other takes it ---- */

static void take_byte(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		abort();
}

static void take_event(void)
{
	eventfd_t value;

	if (eventfd_read(ends[0], &value))
		abort();
}

static void take_polled(void)
{
	static int set = -1;
	struct epoll_event event = {.events = EPOLLIN};

	if (set < 0) {
		set = epoll_create1(0);
		epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
	}
	if (epoll_wait(set, &event, 1, -1) != 1)
		abort();
	take_byte();
}

static void take_signal(void)
{
	int had = round_now - 1;

	pthread_mutex_lock(&mutex);
	while (made <= had)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void take_post(void)
{
	sem_wait(&semaphore);
}

static void take_barrier(void)
{
	pthread_barrier_wait(&barrier);
}

static void take_time(void)
{
	usleep(PAUSE_US);
}

static void take_child(void)
{
	pid_t child = fork();

	if (!child) {
		make();
		_exit(0);
	}
	begun_ns = now_ns(CLOCK_MONOTONIC);
	waitpid(child, NULL, 0);
}

static void *joined(void *name)
{
	pthread_setname_np(pthread_self(), name);
	make();
	return NULL;
}

static void take_join(void)
{
	static char name[] = "join";
	pthread_t thread;

	pthread_create(&thread, NULL, joined, name);
	begun_ns = now_ns(CLOCK_MONOTONIC);
	pthread_join(thread, NULL);
}

/* ---- kinds ---- */

static void open_pipe(void)
{
	if (pipe(ends))
		abort();
}

static void open_pair(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		abort();
}

static void open_inet(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (void *)&address, bytes) || listen(listener, 1) ||
		getsockname(listener, (void *)&address, &bytes) || connect(ends[1], (void *)&address, bytes))
		abort();
	ends[0] = accept(listener, NULL, NULL);
	close(listener);
}

static void open_eventfd(void)
{
	ends[0] = ends[1] = eventfd(0, 0);
}

static void open_semaphore(void)
{
	sem_init(&semaphore, 0, 0);
}

static void open_condition(void)
{
	made = 0;
}

static void open_barrier(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
}

static void open_nothing(void)
{
}

static const struct kind {
	const char *name;
	void (*open)(void), (*give)(void), (*take)(void);
} kinds[] = {{"pipe", open_pipe, give_byte, take_byte}, {"polled", open_pipe, give_byte, take_polled},
	{"socket", open_pair, give_byte, take_byte}, {"inet", open_inet, give_byte, take_byte},
	{"eventfd", open_eventfd, give_event, take_event},
	{"condition", open_condition, give_signal, take_signal},
	{"semaphore", open_semaphore, give_post, take_post},
	{"barrier", open_barrier, give_barrier, take_barrier}, {"join", open_nothing, NULL, take_join},
	{"child", open_nothing, NULL, take_child}, {"timer", open_nothing, NULL, take_time}};

static void *maker(void *which)
{
	const struct kind *kind = which;

	pthread_setname_np(pthread_self(), kind->name);
	for (int round = 1; round <= ROUNDS; round++) {
		await(round);
		make();
		kind->give();
	}
	return NULL;
}

static void run(const struct kind *kind)
{
	pthread_t thread;

	round_now = 0;
	waited_ns = 0;
	kind->open();
	if (kind->give)
		pthread_create(&thread, NULL, maker, (void *)kind);
	for (int round = 1; round <= ROUNDS; round++) {
		uint64_t begin_ns = wait_begin(round);

		kind->take();
		wait_end(begin_ns);
	}
	if (kind->give)
		pthread_join(thread, NULL);
	printf("%s %llu\n", kind->name, (unsigned long long)waited_ns);
}

/* ---- of two processes ---- */

/* The child writes when it is told to begin. */
static void piped(void)
{
	pid_t child;
	char byte = 1;

	waited_ns = 0;
	if (pipe(ends) || pipe(back))
		abort();
	child = fork();
	if (!child) {
		pthread_setname_np(pthread_self(), "piped");
		close(back[1]);
		while (read(back[0], &byte, 1) == 1) {
			make();
			give_byte();
		}
		_exit(0);
	}
	close(back[0]);
	for (int round = 1; round <= ROUNDS; round++) {
		uint64_t begin_ns;

		if (write(back[1], &byte, 1) != 1)
			abort();
		begin_ns = now_ns(CLOCK_MONOTONIC);
		take_byte();
		wait_end(begin_ns);
	}
	close(back[1]);
	waitpid(child, NULL, 0);
	printf("piped %llu\n", (unsigned long long)waited_ns);
}

/* ---- two on one processor ---- */

static void *rival(void *unused)
{
	pthread_setname_np(pthread_self(), "cpu");
	for (int round = 0; round < ROUNDS; round++)
		make();
	return unused;
}

/* Waits for the processor: what its own clock lacks. */
static void contend(void)
{
	uint64_t begin_ns, began_ns;
	cpu_set_t before, one;
	pthread_t thread;
	int first = 0;

	sched_getaffinity(0, sizeof before, &before);
	while (!CPU_ISSET(first, &before))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	sched_setaffinity(0, sizeof one, &one);
	pthread_create(&thread, NULL, rival, NULL);
	begin_ns = now_ns(CLOCK_MONOTONIC);
	began_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int round = 0; round < ROUNDS; round++)
		make();
	waited_ns = now_ns(CLOCK_MONOTONIC) - begin_ns - (now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns);
	pthread_join(thread, NULL);
	sched_setaffinity(0, sizeof before, &before);
	printf("cpu %llu\n", (unsigned long long)waited_ns);
}

static int is_asked(int argc, char **argv, const char *name)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return 1;
	return argc == 1;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (is_asked(argc, argv, kinds[i].name))
			run(&kinds[i]);
	if (is_asked(argc, argv, "piped"))
		piped();
	if (is_asked(argc, argv, "cpu"))
		contend();
	return 0;
}
