/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_forwarder.c - see signal_forwarder.h. The forwarder blocks all signals and takes them one by one. To
 * query it, hpct-record sends the highest-numbered signal: signals are delivered in the order of their
 * numbers, so by its answer the forwarder has taken all earlier ones.
 */
#include "record/launch/signal_forwarder.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/process/process.h"
#include "record/base/clock.h"
#include "record/base/process_title.h"
#include "store/base/fd_limit.h"

#define SIGNAL_COUNT 65
#define MOMENT_NS 10000000L /* a sender signals several processes one after the other */
#define ANSWER_NS UINT64_C(2000000000)
#define SAME_NS UINT64_C(100000000)  /* sent to one and to the group at once, as timeout(1) does */
#define LATE_NS UINT64_C(2000000000) /* older ones were not sent to us as well, unless we were stopped */

struct received {
	_Atomic uint64_t at_ns[SIGNAL_COUNT]; /* last arrival per number; 0: none */
	_Atomic int sender[SIGNAL_COUNT];
	_Atomic int answered;
	_Atomic bool has_crashed;
};

static struct received *received;
static pid_t forwarder;
static sigset_t early; /* signals that were pending for the program before the forwarder existed */

/* Mapped only by hpct-record and the forwarder, not by the program. */
static bool received_map(void)
{
	void *page;

	if (received)
		return true;
	page = mmap(NULL, sizeof(*received), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return false;
	received = page;
	return true;
}

static void receive(int number, pid_t sender)
{
	atomic_store(&received->sender[number], sender);
	atomic_store(&received->at_ns[number], clock_now_ns());
}

/* By pidfd: the pid may have been reused. */
static void program_kill(pid_t program, int pidfd)
{
	if (pidfd < 0)
		kill(program, SIGKILL);
	else
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

_Noreturn static void signal_forwarder_run(pid_t recorder, pid_t program)
{
	sigset_t all;
	siginfo_t info;
	int number, pidfd;

	fd_close_from(0); /* includes the failure pipe, whose end hpct-record waits for */
	pidfd = (int)syscall(SYS_pidfd_open, program, 0);
	prctl(PR_SET_NAME, "hpct-signals");
	prctl(PR_SET_PDEATHSIG, SIGRTMAX);
	sigfillset(&all);
	while (getppid() == recorder) {
		number = sigwaitinfo(&all, &info);
		if (number == SIGRTMAX && info.si_code == SI_QUEUE && info.si_pid == recorder)
			atomic_store(&received->answered, info.si_value.sival_int);
		else if (number > 0 && info.si_code <= 0 && info.si_pid != recorder)
			receive(number, info.si_pid);
	}
	if (!atomic_load(&received->has_crashed))
		program_kill(program, pidfd);
	_exit(0);
}

void signal_forwarder_start(pid_t recorder, char **words)
{
	pid_t program = process_number();

	sigemptyset(&early);
	/* A filter may refuse getpid, and kill(-1) would end every process of the user. */
	if (program <= 0 || recorder <= 0 || !received_map())
		return;
	forwarder = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!forwarder) {
		process_title_keep(*words);
		signal_forwarder_run(recorder, program);
	}
	sigpending(&early);
}

void signal_forwarder_spare(void)
{
	if (received)
		atomic_store(&received->has_crashed, true);
}

/* True if the forwarder runs: it may have been killed, or stopped alone; then it is continued. */
static bool is_there(void)
{
	siginfo_t info = {0};

	if (forwarder <= 0)
		return false;
	if (waitid(P_PID, (id_t)forwarder, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) || !info.si_pid)
		return true;
	if (info.si_code == CLD_STOPPED)
		return !kill(forwarder, SIGCONT);
	signal_forwarder_end();
	return false;
}

/* Waits, with a timeout, until it has taken all signals sent before. If one answer is missing, it is not
 * waited for again. */
static void answer_await(void)
{
	static int asked;
	const struct timespec moment = {0, 1000000};
	uint64_t begin_ns = clock_now_ns();
	bool owes = atomic_load(&received->answered) < asked;
	int question = ++asked;

	if (sigqueue(forwarder, SIGRTMAX, (union sigval){.sival_int = question}))
		return;
	while (!owes && atomic_load(&received->answered) < question && clock_now_ns() - begin_ns < ANSWER_NS)
		nanosleep(&moment, NULL);
}

/* A signal to the group that came before the forwarder existed. The program's pending set has it, too;
 * counts once. */
static bool was_early(int number)
{
	if (sigismember(&early, number) != 1)
		return false;
	sigdelset(&early, number);
	return true;
}

bool signal_forwarder_hears(int number, pid_t sender)
{
	static uint64_t seen_ns[SIGNAL_COUNT]; /* when we last saw it */
	static uint64_t known_ns[SIGNAL_COUNT];
	const struct timespec moment = {0, MOMENT_NS};
	uint64_t at_ns, begin_ns = clock_now_ns();

	if (was_early(number))
		return true;
	nanosleep(&moment, NULL);
	if (!is_there())
		return false;
	answer_await();
	at_ns = atomic_load(&received->at_ns[number]);
	if (at_ns != known_ns[number] &&
		(at_ns + LATE_NS > begin_ns || atomic_load(&received->sender[number]) == sender))
		seen_ns[number] = clock_now_ns();
	known_ns[number] = at_ns;
	return seen_ns[number] && clock_now_ns() - seen_ns[number] < SAME_NS;
}

void signal_forwarder_end(void)
{
	if (forwarder <= 0)
		return;
	kill(forwarder, SIGKILL);
	waitpid(forwarder, NULL, 0);
	forwarder = 0;
}
