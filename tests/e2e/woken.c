/* SPDX-License-Identifier: Apache-2.0 */
/*
 * woken.c ROUNDS - calls that wait until a signal ends them. The signal is sent when the thread sleeps, and
 * once for each: a call that sleeps on after the handler has missed it, one that ends ahead of the handler
 * was woken for nothing. Prints both for each call, which are 0 with and without a recorder
 * (e2e.record.woken.sh).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct timespec day = {86400, 0};
static int pipes[2], listener, poller, sockets[2];
static pid_t child, waiter;
static pthread_t waiter_thread;
static sem_t semaphore;
static sigset_t nothing;
static volatile sig_atomic_t handled;
static _Atomic unsigned round_now; /* 0: all are over */
static unsigned missed;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

/* ---- the calls ---- */

static int call_sigsuspend(void)
{
	return sigsuspend(&nothing);
}

static int call_ppoll(void)
{
	return ppoll(NULL, 0, &day, &nothing);
}

static int call_pselect(void)
{
	return pselect(0, NULL, NULL, NULL, &day, &nothing);
}

static int call_epoll_pwait(void)
{
	struct epoll_event event;

	return epoll_pwait(poller, &event, 1, 86400000, &nothing);
}

static int call_pause(void)
{
	return pause();
}

static int call_poll(void)
{
	return poll(NULL, 0, 86400000);
}

static int call_select(void)
{
	struct timeval time = {86400, 0};

	return select(0, NULL, NULL, NULL, &time);
}

static int call_nanosleep(void)
{
	return nanosleep(&day, NULL);
}

static int call_read(void)
{
	char byte;

	return (int)read(pipes[0], &byte, 1);
}

static int call_recv(void)
{
	char byte;

	return (int)recv(sockets[0], &byte, 1, 0);
}

static int call_accept(void)
{
	return accept(listener, NULL, NULL);
}

static int call_waitpid(void)
{
	return waitpid(child, NULL, 0);
}

static int call_sem_wait(void)
{
	return sem_wait(&semaphore);
}

static const struct call {
	const char *name;
	int (*make)(void);
	int is_masked; /* the signal is let through by the call alone */
} calls[] = {{"sigsuspend", call_sigsuspend, 1}, {"ppoll", call_ppoll, 1}, {"pselect", call_pselect, 1},
	{"epoll_pwait", call_epoll_pwait, 1}, {"pause", call_pause, 0}, {"poll", call_poll, 0},
	{"select", call_select, 0}, {"nanosleep", call_nanosleep, 0}, {"read", call_read, 0},
	{"recv", call_recv, 0}, {"accept", call_accept, 0}, {"waitpid", call_waitpid, 0},
	{"sem_wait", call_sem_wait, 0}};

/* ---- who sends ---- */

static int sleeps(void)
{
	char path[64], text[512] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", waiter);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	state = strrchr(text, ')');
	return state && state[2] == 'S';
}

/* One signal for each round, when it sleeps; another if it sleeps on after the handler. */
static void *send_all(void *nothing_more)
{
	unsigned sent = 0;

	for (unsigned round; (round = round_now);) {
		int before = handled;

		if (round == sent || !sleeps() || round != round_now)
			continue;
		sent = round;
		pthread_kill(waiter_thread, SIGUSR1);
		while (round == round_now)
			if (handled != before && sleeps() && round == round_now) {
				missed++;
				before = handled;
				pthread_kill(waiter_thread, SIGUSR1);
			}
	}
	return nothing_more;
}

/* ---- who waits ---- */

static volatile unsigned long sink;

static void work(unsigned long some)
{
	for (unsigned long i = 0; i < 2000 + some % 64 * 500; i++)
		sink = sink * 69069 + i;
}

static void wait_rounds(const struct call *call, unsigned rounds)
{
	struct sigaction action = {.sa_handler = on_signal};
	unsigned in_vain = 0, others = 0;
	sigset_t set;
	pthread_t sender;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaction(SIGUSR1, &action, NULL);
	if (call->is_masked)
		sigprocmask(SIG_BLOCK, &set, NULL);
	missed = 0;
	round_now = 1;
	pthread_create(&sender, NULL, send_all, NULL);
	for (unsigned i = 1; i <= rounds; i++) {
		int before = handled;

		work(sink);
		if (call->make() >= 0 || errno != EINTR)
			others++;
		in_vain += handled == before;
		while (handled == before)
			sigsuspend(&nothing);
		round_now = i < rounds ? i + 1 : 0;
	}
	pthread_join(sender, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	printf("%s: missed %u, woken for nothing %u, otherwise %u\n", call->name, missed, in_vain, others);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;

	sigemptyset(&nothing);
	waiter = (pid_t)syscall(SYS_gettid);
	waiter_thread = pthread_self();
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	poller = epoll_create1(0);
	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || sem_init(&semaphore, 0, 0) ||
		bind(listener, &(struct sockaddr){.sa_family = AF_UNIX}, sizeof(sa_family_t)) ||
		listen(listener, 1))
		return 1;
	child = fork();
	if (!child)
		for (;;)
			pause();
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		wait_rounds(&calls[i], rounds);
	kill(child, SIGKILL);
	return 0;
}
