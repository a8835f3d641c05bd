/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.c - the semantics of calls that wait, which a wrapper could break: cancellation, interruption,
 * jumps out of handlers, forks, locks of every kind. Prints what it saw, the same whether recorded or not.
 *
 * What the trace must show: `blocked` spans of at least 20 ms each below main;NAME for the calls that
 * e2e.record.waits lists. Case `hang` waits for input that does not come, `sink` so 60,000 levels of itself
 * deep.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define NO_TAIL_CALL() __asm__ volatile("")
#define PAUSE_US 80000
#define LATE 6 /* pauses: whoever waits for this is there before, on busy machines too */

static int ends[2];
static sem_t semaphore;
static sigjmp_buf place;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int cleaned;
static atomic_int is_ready, is_told; /* a thread of in_thread(), says so itself; by whom it is told */

static void rest(long us)
{
	struct timespec time = {0, us * 1000};

	syscall(SYS_nanosleep, &time, NULL); /* directly: not what is tested */
}

/* `routine` starts, says that it is ready, gets some time to wait, and is told. */
APART static void *in_thread(void *(*routine)(void *), void *argument, void (*then)(pthread_t))
{
	pthread_t thread;
	void *result;

	is_ready = is_told = 0;
	pthread_create(&thread, NULL, routine, argument);
	while (!is_ready)
		rest(1000);
	rest(PAUSE_US);
	if (then)
		then(thread);
	pthread_join(thread, &result);
	return result;
}

static void cancel(pthread_t thread)
{
	pthread_cancel(thread);
	is_told = 1;
}

/* ---- cancellation ---- */

static void cleanup(void *unlocks)
{
	cleaned++;
	if (unlocks)
		printf("  mutex held: %d\n", pthread_mutex_unlock(&mutex) == 0);
}

static void *reader(void *unused)
{
	char byte;

	is_ready = 1;
	pthread_cleanup_push(cleanup, NULL);
	while (read(ends[0], &byte, 1) >= 0)
		;
	pthread_cleanup_pop(0);
	return unused;
}

static void *poller(void *unused)
{
	is_ready = 1;
	pthread_cleanup_push(cleanup, NULL);
	poll(NULL, 0, -1);
	pthread_cleanup_pop(0);
	return unused;
}

static void *conditional(void *unused)
{
	pthread_mutex_lock(&mutex);
	is_ready = 1;
	pthread_cleanup_push(cleanup, &mutex);
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(0);
	return unused;
}

/* Cancelled before it asks for what is there: it must not get it. */
static void *taker(void *unused)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	is_ready = 1;
	while (!is_told)
		rest(1000);
	rest(LATE * PAUSE_US);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	sem_wait(&semaphore);
	return unused;
}

APART static void cancels(void)
{
	static void *(*const routines[])(void *) = {reader, poller, conditional, taker};
	int left;

	pipe(ends);
	sem_init(&semaphore, 0, 1);
	for (unsigned i = 0; i < 4; i++)
		printf("cancelled: %d\n", in_thread(routines[i], NULL, cancel) == PTHREAD_CANCELED);
	sem_getvalue(&semaphore, &left);
	printf("cleaned %d, semaphore %d\n", cleaned, left);
}

/* ---- signals ---- */

static void on_alarm(int number)
{
	char byte = 'a';

	(void)number;
	write(ends[1], &byte, 1);
	errno = EDOM; /* a careless handler */
}

static void on_jump(int number)
{
	(void)number;
	siglongjmp(place, 1);
}

static void alarms(long us, long every_us, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	struct itimerval timer = {{0, every_us}, {0, us}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void alarm_after(long us, void (*handler)(int), int flags)
{
	alarms(us, 0, handler, flags);
}

/* No more of them, and what the handler has written is gone. */
static void alarms_end(void)
{
	struct pollfd there = {.fd = ends[0], .events = POLLIN};
	char byte;

	alarms(0, 0, SIG_IGN, 0);
	while (poll(&there, 1, 0) > 0)
		read(ends[0], &byte, 1);
}

APART static void interrupts(void)
{
	struct timespec second = {1, 0}, left = {0};
	int other[2];
	char byte = 0;
	ssize_t got;

	pipe(ends);
	pipe(other);
	alarms(LATE * PAUSE_US, LATE * PAUSE_US, on_alarm,
		0); /* the first may come before the call that it is for */
	got = read(other[0], &byte, 1);
	printf("read %zd, errno is the handler's or EINTR: %d\n", got, errno == EINTR || errno == EDOM);
	alarms_end();
	alarms(LATE * PAUSE_US, LATE * PAUSE_US, on_alarm, 0);
	printf("nanosleep %d, left less: %d\n", nanosleep(&second, &left), left.tv_nsec > 0 && !left.tv_sec);
	alarms_end();
	alarm_after(LATE * PAUSE_US, on_alarm, SA_RESTART);
	got = read(ends[0], &byte, 1); /* restarted */
	printf("read %zd %c\n", got, byte);
	errno = ERANGE;
	rest(1);
	usleep(PAUSE_US);
	printf("errno stays: %d\n", errno == ERANGE);
	NO_TAIL_CALL();
}

APART static void jump_once(int fd)
{
	char byte;

	if (!sigsetjmp(place, 1)) {
		alarm_after(500, on_jump, 0);
		read(fd, &byte, 1);
	}
	NO_TAIL_CALL();
}

APART static void jumps(void)
{
	pipe(ends);
	for (int i = 0; i < 100; i++)
		jump_once(ends[0]);
	usleep(PAUSE_US);
	printf("jumped\n");
}

/* ---- children ---- */

static void on_fork(int number)
{
	pid_t child = fork();

	(void)number;
	if (!child) {
		usleep(PAUSE_US);
		_exit(0);
	}
}

APART static void forks(void)
{
	int status = -1;
	char byte;
	pid_t child;

	alarm_after(LATE * PAUSE_US, on_fork, 0);
	sleep(1);
	printf("child of a handler: %d\n", waitpid(-1, &status, 0) > 0 && !status);
	pipe(ends);
	alarm_after(PAUSE_US, on_alarm, 0);
	child = vfork();
	if (!child) {
		poll(NULL, 0, PAUSE_US / 1000);
		execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	printf("child of vfork: %d\n", WEXITSTATUS(status));
	read(ends[0], &byte, 1);
	printf("its parent's handler: %c\n", byte);
}

/* ---- locks ---- */

static void *holder(void *lock)
{
	pthread_mutex_lock(lock);
	is_ready = 1;
	rest(LATE * PAUSE_US);
	pthread_mutex_unlock(lock);
	return NULL;
}

static void *dies_with(void *lock)
{
	pthread_mutex_lock(lock);
	is_ready = 1;
	return NULL;
}

static pthread_mutex_t of_type(int type, int robust)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t made;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setrobust(&attributes, robust);
	pthread_mutex_init(&made, &attributes);
	return made;
}

APART static void lock_it(pthread_t unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

APART static void locks(void)
{
	pthread_mutex_t checked = of_type(PTHREAD_MUTEX_ERRORCHECK, 0),
			ours = of_type(PTHREAD_MUTEX_RECURSIVE, 0);
	pthread_mutex_t robust = of_type(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	struct timespec until;
	int result;

	in_thread(holder, &mutex, lock_it);
	pthread_mutex_lock(&checked);
	result = pthread_mutex_lock(&checked);
	printf("checked %s\n", strerrorname_np(result));
	for (int i = 0; i < 3; i++)
		result = pthread_mutex_lock(&ours);
	printf("recursive %d\n", result);
	in_thread(dies_with, &robust, NULL);
	result = pthread_mutex_lock(&robust);
	printf("robust %s\n", strerrorname_np(result));
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LATE * PAUSE_US * 1000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mutex);
	result = pthread_mutex_timedlock(&mutex, &until);
	printf("timed %s\n", strerrorname_np(result));
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_wrlock(&lock);
	printf("rwlock %s", strerrorname_np(pthread_rwlock_rdlock(&lock)));
	printf(" %s\n", strerrorname_np(pthread_rwlock_timedwrlock(&lock, &until)));
	sem_init(&semaphore, 0, 1);
	errno = ERANGE;
	result = sem_wait(&semaphore);
	printf("semaphore %d %s", result, strerrorname_np(errno));
	result = sem_timedwait(&semaphore, &until);
	printf(" %d %s\n", result, strerrorname_np(errno));
}

static pthread_barrier_t barrier;
static mtx_t c11_mutex;
static cnd_t c11_condition;

static void *comes_late(void *unused)
{
	is_ready = 1;
	rest(LATE * PAUSE_US);
	pthread_barrier_wait(&barrier);
	return unused;
}

static int signals_c11(void *unused)
{
	(void)unused;
	rest(LATE * PAUSE_US);
	mtx_lock(&c11_mutex);
	cnd_signal(&c11_condition);
	mtx_unlock(&c11_mutex);
	return 3;
}

APART static void barrier_wait(pthread_t unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	NO_TAIL_CALL();
}

APART static void meets(void)
{
	thrd_t thread;
	int word = 0, result;

	pthread_barrier_init(&barrier, NULL, 2);
	in_thread(comes_late, NULL, barrier_wait);
	mtx_init(&c11_mutex, mtx_plain);
	cnd_init(&c11_condition);
	mtx_lock(&c11_mutex);
	thrd_create(&thread, signals_c11, NULL);
	cnd_wait(&c11_condition, &c11_mutex);
	mtx_unlock(&c11_mutex);
	thrd_join(thread, &result);
	printf("thread of C11: %d\n", result);
	result = (int)syscall(
		SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &(struct timespec){0, PAUSE_US * 1000L});
	printf("futex %d %s\n", result, strerrorname_np(errno));
}

/* ---- lines from a slow writer ---- */

APART static void lines(void)
{
	char *line = NULL, text[8];
	size_t room = 0;
	FILE *from =
		popen("for i in 1 2 3 4; do printf 'line %d\\n' $i; sleep 0.3; done; printf abcdefgh", "r");

	printf("%s", fgets(text, sizeof(text), from));
	ungetc('L', from);
	printf("%s", fgets(text, sizeof(text), from));
	printf("%s", fgets(text, sizeof(text), from));
	while (getline(&line, &room, from) == 7)
		printf("%s", line);
	printf("%s\n", line);
	free(line);
	printf("closed %d\n", pclose(from));
}

APART static void hang(void)
{
	char byte;

	pipe(ends);
	read(ends[0], &byte, 1);
	NO_TAIL_CALL();
}

APART static void sink_to(int left)
{
	if (left)
		sink_to(left - 1);
	else
		hang();
	NO_TAIL_CALL();
}

static void sink(void)
{
	sink_to(60000);
}

/* Calls that could wait and do not: what is around them is most of the time. */
static void polls(void)
{
	for (int i = 0; i < 1000000; i++)
		poll(NULL, 0, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"cancels", cancels}, {"interrupts", interrupts}, {"jumps", jumps}, {"forks", forks},
		{"locks", locks}, {"meets", meets}, {"lines", lines}, {"hang", hang}, {"sink", sink},
		{"polls", polls}};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int a = 1; a < argc; a++)
		for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
			if (!strcmp(argv[a], cases[i].name))
				cases[i].run();
	return 0;
}
