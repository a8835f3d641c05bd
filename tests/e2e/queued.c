/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queued.c [default | inherit] - a program that uses the real-time signal that the agent uses, in all the
 * ways that there are. What it prints and how it ends must be the same with and without a recorder
 * (e2e.record.queued.sh).
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NUMBER (SIGRTMAX - 3)
#define TAKEN 50

static volatile sig_atomic_t handled, depth, deepest;
static siginfo_t last;
static sigset_t set, nothing;
static volatile uint64_t sink;

static void burn_ms(unsigned ms)
{
	struct timespec now;
	uint64_t end = 0;

	do {
		for (int i = 0; i < 10000; i++)
			sink += (uint64_t)i * sink;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		if (!end)
			end = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec +
			      ms * UINT64_C(1000000);
	} while ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < end);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (++depth > deepest)
		deepest = depth;
	last = *info;
	if (++handled < 3)
		raise(number);
	burn_ms(2);
	depth--;
}

static void tell(const char *what)
{
	printf("%s: handled %d, code %d, value %d, deepest %d\n", what, (int)handled, last.si_code,
		last.si_value.sival_int, (int)deepest);
}

static void queue(int value)
{
	sigqueue(getpid(), NUMBER, (union sigval){.sival_int = value});
}

static int is_pending(void)
{
	sigset_t now;

	sigpending(&now);
	return sigismember(&now, NUMBER);
}

static void handle(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaction(NUMBER, &action, NULL);
	burn_ms(20);
	tell("none");
	raise(NUMBER);
	tell("raise");
	kill(getpid(), NUMBER);
	tell("kill");
	queue(7);
	tell("sigqueue");
}

static void wait_for(void)
{
	struct timespec soon = {0, 30000000};
	siginfo_t info;
	sigset_t before;

	sigprocmask(SIG_BLOCK, &set, NULL);
	burn_ms(20);
	for (int i = 10; i < 13; i++)
		queue(i);
	burn_ms(20);
	tell("blocked");
	printf("pending %d\n", is_pending());
	printf("taken %d", sigtimedwait(&set, &info, &soon) == NUMBER);
	printf(", value %d\n", info.si_value.sival_int);
	burn_ms(10);
	printf("taken %d", sigwaitinfo(&set, &info) == NUMBER);
	printf(", value %d\n", info.si_value.sival_int);
	tell("still blocked");
	sigsuspend(&nothing);
	tell("let through");
	printf("pending %d, none left %d\n", is_pending(),
		sigtimedwait(&set, &info, &soon) < 0 && errno == EAGAIN);
	raise(NUMBER);
	sigprocmask(SIG_UNBLOCK, &set, &before);
	printf("was blocked %d\n", sigismember(&before, NUMBER));
	tell("unblocked");
}

static void *take_all(void *nothing_more)
{
	int number = 0;

	for (unsigned i = 0; i < TAKEN; i++)
		if (sigwait(&set, &number) || number != NUMBER)
			abort();
	return nothing_more;
}

static void read_and_take(void)
{
	struct signalfd_siginfo info;
	pthread_t thread;
	int sum = 0, fd;

	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, take_all, NULL);
	for (int i = 0; i < TAKEN; i++) {
		queue(i);
		burn_ms(1);
	}
	pthread_join(thread, NULL);
	puts("a thread has taken them all");
	fd = signalfd(-1, &set, 0);
	for (int i = 0; i < 20; i++) {
		queue(i);
		burn_ms(2);
		if (read(fd, &info, sizeof(info)) != sizeof(info) || info.ssi_code != SI_QUEUE)
			printf("code %d\n", info.ssi_code);
		sum += info.ssi_int;
	}
	printf("read %d\n", sum);
	close(fd);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void time_out(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = NUMBER};
	struct itimerspec soon = {.it_value = {0, 1000000}};
	int before = handled;
	timer_t timer;

	event.sigev_value.sival_int = 77;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &soon, NULL);
	while (handled == before)
		;
	tell("timer");
}

static void pass_on(char *self)
{
	fflush(stdout);
	if (!fork()) {
		signal(NUMBER, SIG_IGN);
		sigprocmask(SIG_BLOCK, &set, NULL);
		execl(self, self, "inherit", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
}

static int inherited(void)
{
	struct sigaction now;
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigaction(NUMBER, NULL, &now);
	printf("blocked %d, ignored %d\n", sigismember(&mask, NUMBER), now.sa_handler == SIG_IGN);
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESETHAND};

	sigemptyset(&nothing);
	sigemptyset(&set);
	sigaddset(&set, NUMBER);
	if (argc > 1 && !strcmp(argv[1], "inherit"))
		return inherited();
	if (argc < 2) {
		handle();
		wait_for();
		read_and_take();
		time_out();
		pass_on(argv[0]);
		sigaction(NUMBER, &action, NULL);
		raise(NUMBER);
		sigaction(NUMBER, NULL, &action);
		printf("reset %d\n", action.sa_handler == SIG_DFL);
	}
	burn_ms(argc < 2 ? 20 : 200);
	fflush(stdout);
	raise(NUMBER); /* which ends the program */
	puts("goes on");
	return 0;
}
