/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_control.c - hpct-record --start and --stop, for all processes of the run on this host: the
 * collector writes into the memory of each what is wanted, and reminds it by a signal; the process does it
 * (start_stop_obey), and says so in its memory. Who measures from outside looks there by itself.
 *
 * A signal ends some waits with EINTR that the program does not expect. So it goes to a thread that runs, or
 * waits in a call that the kernel begins again; if there is none, the process obeys when it next begins a
 * wait.
 */
#include "record/collect/collect_internal.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sample/source.h"
#include "record/base/clock.h"
#include "record/base/handshake.h"
#include "record/base/proc_read.h"
#include "record/launch/control.h"
#include "record/process/switches_late.h"

#define REMIND_MS 20
#define REMIND_NS (REMIND_MS * UINT64_C(1000000))
#define EAGER_NS UINT64_C(2000000000) /* then it comes with the drains */

void collect_control_init(struct collector *collector)
{
	collector->control.is_on = !strstr(collector->plan->events, EVENT_WORD_DORMANT);
}

static uint32_t wanted_of(const struct collect_control *control)
{
	return control->asked * EVENT_CONTROL_NEXT + (control->is_on ? EVENT_CONTROL_ON : 0);
}

static bool has_obeyed(const struct collect_control *control, struct measured_process *process)
{
	return !control->asked || atomic_load(&process->shared->control_done) == wanted_of(control);
}

/* ---- reminding a process ---- */

static bool is_socket(uint32_t pid, unsigned long number)
{
	char path[64], to[16];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%u/fd/%lu", pid, number);
	size = readlink(path, to, sizeof(to));
	return size < 5 || !memcmp(to, "socke", 5); /* or not known */
}

/* Waits that begin again after a signal: a mutex, a pipe, a child. Those with a time do not: a futex's, and a
 * socket's may have one. `text`: "NUMBER ARGUMENT ..." */
static bool is_resumed(uint32_t pid, const char *text)
{
	unsigned long argument[4] = {0};
	long number = 0;

	if (sscanf(text, "%ld %lx %lx %lx %lx", &number, &argument[0], &argument[1], &argument[2],
		    &argument[3]) < 5)
		return false;
	switch (number) {
	case SYS_futex:
		return !argument[3];
	case SYS_read:
	case SYS_write:
	case SYS_readv:
	case SYS_writev:
		return !is_socket(pid, argument[0]);
	default:
		return number == SYS_wait4 || number == SYS_waitid;
	}
}

/* An exec may have put a program in its place that has no handler: the signal would end that one. */
static bool has_handler(uint32_t pid, uint32_t tid)
{
	const uint64_t bit = UINT64_C(1) << (AGENT_SIGNAL - 1);
	char name[48], text[4096];
	const char *caught, *blocked;

	snprintf(name, sizeof(name), "task/%u/status", tid);
	if (!proc_read(pid, name, text, sizeof(text)))
		return false;
	caught = strstr(text, "\nSigCgt:");
	blocked = strstr(text, "\nSigBlk:");
	return caught && blocked && strtoull(caught + 8, NULL, 16) & bit &&
	       !(strtoull(blocked + 8, NULL, 16) & bit);
}

static bool may_be_reminded(uint32_t pid, uint32_t tid)
{
	char name[48], text[512];

	if (proc_read_state(pid, tid) == 'R')
		return has_handler(pid, tid);
	snprintf(name, sizeof(name), "task/%u/syscall", tid);
	return proc_read(pid, name, text, sizeof(text)) && text[0] >= '0' && text[0] <= '9' &&
	       is_resumed(pid, text) && has_handler(pid, tid);
}

/* The kernel's struct siginfo, of a signal with a value. */
static void thread_remind(uint32_t pid, uint32_t tid)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = AGENT_SIGNAL;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_ptr = (void *)(uintptr_t)EVENT_CONTROL_VALUE;
	syscall(SYS_rt_tgsigqueueinfo, pid, tid, AGENT_SIGNAL, &info);
}

/* Only a thread with a ring has our handler and its storage. */
static bool is_measured(const struct measured_process *process, uint32_t tid)
{
	uint32_t claimed = atomic_load(&process->shared->ring_claimed);

	for (uint32_t i = 0; i < claimed && i < process->ring_count; i++) {
		const struct event_ring *ring =
			(const struct event_ring *)((const char *)process->shared + process->rings_at +
						    (size_t)i * EVENT_RING_STRIDE);

		if (ring->tid == tid && atomic_load(&ring->state) == EVENT_RING_CLAIMED)
			return true;
	}
	return false;
}

static void process_remind(const struct measured_process *process)
{
	uint32_t pid = measured_process_proc_pid(process);
	bool is_elsewhere = pid != process->pid; /* its threads' numbers are others there */
	char path[40];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (tid && (is_elsewhere ? tid == pid : is_measured(process, tid)) &&
			may_be_reminded(pid, tid)) {
			thread_remind(pid, tid);
			break;
		}
	}
	if (tasks)
		closedir(tasks);
}

/* ---- passes ---- */

static uint64_t disobedient(const struct collector *collector)
{
	uint64_t count = 0;

	for (struct measured_process *at = collector->processes; at; at = at->next)
		count += !has_obeyed(&collector->control, at);
	return count;
}

static void process_tell(struct collector *collector, struct measured_process *process, bool is_time)
{
	const struct collect_control *control = &collector->control;

	atomic_store(&process->shared->control_wanted, wanted_of(control));
	if (!has_obeyed(control, process)) {
		if (is_time && !process->is_outside && !process->is_injected) /* those look by themselves */
			process_remind(process);
		return;
	}
	if (!control->is_on || process->was_begun_late)
		return;
	process->was_begun_late = true;
	if (!process->is_outside && !process->is_injected && !process->switches &&
		strstr(collector->plan->events, " SWITCHES"))
		switches_late_open(process);
}

/* A process that was stopped by itself (hpct_stop) counts, too. */
static void off_judge(struct collector *collector)
{
	uint64_t off_ns = 0;

	for (const struct measured_process *at = collector->processes; at; at = at->next) {
		const struct sampling_off *off = &at->sampling_off;

		if (off->count % 2 == 0) {
			collector->control.off_ns = 0;
			return;
		}
		if (off->times_ns[off->count - 1] > off_ns)
			off_ns = off->times_ns[off->count - 1];
	}
	if (off_ns) /* if none is left, it stays as it was */
		collector->control.off_ns = off_ns;
}

void collect_control_pass(struct collector *collector)
{
	struct collect_control *control = &collector->control;
	uint64_t now_ns = clock_now_ns();
	bool is_time = now_ns - control->nudged_ns > REMIND_NS;

	off_judge(collector);
	if (!control->asked)
		return;
	if (is_time)
		control->nudged_ns = now_ns;
	for (struct measured_process *at = collector->processes; at; at = at->next)
		if (!at->has_died)
			process_tell(collector, at, is_time);
}

int collect_control_due_ms(const struct collector *collector)
{
	return collector->control.asked && clock_now_ns() - collector->control.asked_ns < EAGER_NS &&
			       disobedient(collector)
		       ? REMIND_MS
		       : INT_MAX;
}

/* ---- the conversation ---- */

static enum control_state state_of(const struct collector *collector)
{
	const struct collect_control *control = &collector->control;

	if (!control->is_on)
		return control->asked ? CONTROL_STOPPED : CONTROL_DORMANT;
	return control->off_ns && collector->processes ? CONTROL_PAUSED : CONTROL_MEASURES;
}

static void answer(const struct collector *collector, int connection)
{
	struct rendezvous_message message = {.type = RENDEZVOUS_STATE,
		.status = (int32_t)state_of(collector),
		.begin_ns = collector->origin_ns,
		.user_ns = disobedient(collector)};

	for (const struct measured_process *at = collector->processes; at; at = at->next)
		message.number++;
	snprintf(message.text, sizeof(message.text), "%s", collector->plan->run);
	snprintf(message.problem, sizeof(message.problem), "%s", collector->plan->command);
	rendezvous_send(connection, &message);
}

void collect_control_serve(struct collector *collector, int connection, const struct handshake *handshake)
{
	struct collect_control *control = &collector->control;

	if (handshake->word == EVENT_CONTROL_START || handshake->word == EVENT_CONTROL_STOP) {
		control->is_on = handshake->word == EVENT_CONTROL_START;
		control->asked++;
		control->asked_ns = clock_now_ns();
		control->nudged_ns = 0;
		collect_control_pass(collector);
	}
	answer(collector, connection);
}
