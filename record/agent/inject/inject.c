/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.c - the agent that hpct-record -p PID --inject loads into a running process: hpct_inject, called
 * once for each recording, and the agent's own thread, which does all the work. Threads are found in /proc,
 * and their timers are set from here. Of the program's calls only those that move bytes, on request, and
 * those of MPI go through the agent (inject_calls.h).
 *
 *   a thread of the program   hpct_inject: starts the agent's thread, and returns to what it did
 *   the agent's thread        own descriptors - memory, handler, threads, timers - 50 looks a second - undoes
 * all
 *
 * Its descriptors are its own (unshare): the program never sees one, and they close with the thread, in
 * whatever way it ends. That is how the collector learns of an exec or exit, and the agent of hpct-record's
 * end.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/base/emulated.h"
#include "record/agent/base/real.h"
#include "record/agent/base/safe_read.h"
#include "record/agent/base/vdso.h"
#include "record/agent/base/wrap.h"
#include "record/agent/inject/inject_calls.h"
#include "record/agent/inject/inject_fork.h"
#include "record/agent/inject/inject_gpu.h"
#include "record/agent/inject/inject_order.h"
#include "record/agent/inject/inject_proc.h"
#include "record/agent/inject/inject_threads.h"
#include "record/agent/process/address_reserve.h"
#include "record/agent/process/environment.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/adopt.h"
#include "record/agent/sample/sample.h"
#include "record/agent/sample/signal_guard.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/tally.h"
#include "record/agent/unwind/module_map.h"
#include "record/agent/unwind/module_slots.h"

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

#define SETXID_SIGNAL 33
#define LOOK_MS 20
#define MODULES_LOOKS 25 /* looks between two at the modules */
#define CALLS_LOOKS 20	 /* at the begin, a millisecond apart */
#define LEAVE_NS UINT64_C(2000000000)
#define STACK_BYTES (256u * 1024u)
#define DESCRIPTORS_MOST 65536
#define WORDS_MOST 4096

static struct {
	_Atomic pid_t tid; /* of the agent's thread, also when it has ended; 0: none, -1: it begins */
	pid_t pid;	   /* of the process that had it: a fork child has a copy of all this */
	bool is_resolved;
	bool is_stuck; /* a thread did not leave the agent: its memory stays */
	struct inject_order order;
	atomic_flag ends; /* set by who ends the measurement: this agent, or the program by its exit */
	int control, end; /* connection to hpct-record; the pipe's end that tells the collector */
} inject;

/* Part of the library, so that no mapping is left behind. */
static _Alignas(4096) char stack[STACK_BYTES];
static _Alignas(4096) char live_page[4096];
static char environment[256 * 1024], command[32 * 1024];
static char *environment_words[WORDS_MOST + 1], *command_words[WORDS_MOST + 1];

/* ---- begin ---- */

#define WITHOUT_COPIES 2u /* CLOSE_RANGE_UNSHARE */

/* The program's stay. Closing a copy is an event for some files, so that none are made where the kernel can.
 */
static int descriptors_part(void)
{
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, 0, ~0u, WITHOUT_COPIES))
		return 0;
#endif
	if (unshare(CLONE_FILES))
		return -1;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, 0, ~0u, 0))
		return 0;
#endif
	for (int i = 0; i < DESCRIPTORS_MOST; i++)
		close(i);
	return 0;
}

static int control_connect(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memcpy(address.sun_path, inject.order.control, sizeof(address.sun_path));
	inject.control = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return inject.control < 0
		       ? -1
		       : REAL(connect)(inject.control, (const struct sockaddr *)&address, sizeof(address));
}

static void say(enum inject_word word, uint32_t number, uint32_t slots, const char *text)
{
	struct inject_message message = {.word = word, .number = number, .slots = slots};

	if (text)
		strncpy(message.text, text, sizeof(message.text) - 1);
	REAL(send)(inject.control, &message, sizeof(message), MSG_NOSIGNAL);
}

/* The order as the environment would have brought it. */
static int settings_read(void)
{
	static char socket[sizeof(EVENT_ENV_SOCKET) + 108], agent[sizeof(EVENT_ENV_AGENT) + 512],
		events[sizeof(EVENT_ENV_EVENTS) + EVENT_EVENTS_MAX];
	char *words[] = {socket, agent, events, NULL};

	strcpy(socket, EVENT_ENV_SOCKET "=");
	strcat(socket, inject.order.socket);
	strcpy(agent, EVENT_ENV_AGENT "=");
	strcat(agent, inject.order.agent);
	strcpy(events, EVENT_ENV_EVENTS "=");
	strcat(events, inject.order.events);
	memset(&process.settings, 0, sizeof(process.settings));
	process.settings.injected = true;
	if (process_settings_read(words))
		return -1;
	/* These need wrappers that are there from the start. */
	process.settings.openmp = process.settings.sums_mpi = process.settings.java = false;
	process.settings.memleak = 0;
	return 0;
}

/* module_map_init looks for the auxiliary vector behind an environment: here it is an empty one. */
static void modules_init(void)
{
	static _Alignas(16) char words[8 + 4096];

	inject_proc_read("/proc/self/auxv", words + 8, sizeof(words) - 8);
	module_map_init((char **)(void *)words);
}

/* A fork child has the handler of its parent's agent, which has not ended there. */
static const char *signal_take(void)
{
	struct signal_guard *guard = &signal_guards[SIGNAL_GUARD_SAMPLES];
	struct sigaction now;

	if (REAL(sigaction)(AGENT_SIGNAL, NULL, &now))
		return "it cannot have the sampling signal";
	if (now.sa_sigaction == guard->handle && guard->is_on)
		return NULL;
	if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN)
		return "it uses signal 61 itself, which hpct samples with";
	guard->program_action = now;
	return signal_guard_install(guard, NULL) ? "it cannot have the sampling signal" : NULL;
}

/* Whatever has come by then is discarded, in all threads, also where they block it. */
static void signal_give_back(void)
{
	struct signal_guard *guard = &signal_guards[SIGNAL_GUARD_SAMPLES];
	struct sigaction ignored = {.sa_handler = SIG_IGN};

	if (!guard->is_on)
		return;
	REAL(sigaction)(AGENT_SIGNAL, &ignored, NULL);
	REAL(sigaction)(AGENT_SIGNAL, &guard->program_action, NULL);
	guard->is_on = false;
}

/* NULL, or why not. */
static const char *memory_open(void)
{
	inject_proc_words(environment,
		inject_proc_read("/proc/self/environ", environment, sizeof(environment)), environment_words,
		WORDS_MOST);
	inject_proc_words(command, inject_proc_read("/proc/self/cmdline", command, sizeof(command)),
		command_words, WORDS_MOST);
	if (settings_read() || !process_is_permitted() || emulated_is_measured())
		return "the agent's settings cannot be read there";
	modules_init();
	start_stop_init(process.settings.delayed);
	if (process_live_at(live_page) || process_open(command_words, environment_words))
		return "there is no shared memory for it; see ulimit -v and -f";
	start_stop_process_begin();
	module_slots_init();
	thread_init();
	source_choose();
	tally_open();
	atomic_store(&process.shared->thread_count, 1);
	return NULL;
}

static const char *collector_tell(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return "the agent has no descriptors there; see ulimit -n";
	inject.end = ends[1];
	if (process_send_injected(ends[0]))
		return "it cannot reach the collector; a container or a sandbox may be between them";
	close(ends[0]);
	return NULL;
}

static uint32_t calls_look(void)
{
	uint32_t found;

	inject_fork_enter();
	found = inject_calls_look();
	inject_fork_leave();
	return found;
}

/* The thread that has loaded the agent may still be in the loader, which it then waits for. */
static uint32_t calls_begin(void)
{
	static const struct timespec shortly = {0, 1000000};
	uint32_t found;

	inject_calls_begin(inject.order.locks);
	found = calls_look();
	for (unsigned i = 1; i < CALLS_LOOKS && !found && inject_calls_are_wanted(); i++) {
		nanosleep(&shortly, NULL); /* not between enter and leave: forks would wait */
		found = calls_look();
	}
	return found;
}

static const char *begin(uint32_t *threads)
{
	const char *why = memory_open();

	if (!why)
		why = signal_take();
	if (!why)
		why = collector_tell();
	if (!why)
		*threads = inject_threads_begin();
	return why;
}

/* ---- end ---- */

/* The program's exit: clocks are read, and what there is stays as it is, for the process goes. */
static void at_exit(void *nothing)
{
	(void)nothing;
	if (process_is_own() && !atomic_flag_test_and_set(&inject.ends)) {
		source_timer_end();
		process_end(process_now_ns());
	}
}

/* Undoes begin, however far that came. */
static void end(void)
{
	if (!process.shared || atomic_flag_test_and_set(&inject.ends))
		return;
	inject_fork_enter();
	inject_calls_end();
	inject_fork_leave();
	inject_threads_stop();
	process_suspend(true); /* handlers do nothing from here on */
	inject.is_stuck = !adopt_end(LEAVE_NS);
	signal_give_back();
	process_end(process_now_ns());
	if (inject.is_stuck)
		return;
	inject_threads_free();
	process_close();
	process.is_suspended = false;
}

/* ---- the agent's thread ---- */

static bool is_over(void)
{
	struct pollfd control = {inject.control, POLLIN, 0};

	return REAL(poll)(&control, 1, LOOK_MS) > 0;
}

/* With the loader's lock no library can go that is just being looked at. */
static int modules_look(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)info, (void)bytes, (void)unused;
	module_map_refresh();
	module_slots_unloaded();
	return 1;
}

static void work(void)
{
	for (unsigned looks = 1; !is_over(); looks++) {
		inject_threads_look();
		if (start_stop_is_asked())
			start_stop_obey();
		if (looks % MODULES_LOOKS)
			continue;
		inject_fork_enter();
		dl_iterate_phdr(modules_look, NULL);
		inject_calls_look();
		inject_fork_leave();
	}
}

/* Its creator has all signals blocked, and so has this thread. But glibc's setuid and its kin send this one
 * to each thread, and wait until it has changed its user. */
static void signals_answer(void)
{
	static const uint64_t set = UINT64_C(1) << (SETXID_SIGNAL - 1);

	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, sizeof(set));
}

static void *agent_thread(void *unused)
{
	const char *why;
	uint32_t threads = 0, slots = 0;

	atomic_store(&inject.tid, (pid_t)syscall(SYS_gettid));
	signals_answer();
	syscall(SYS_prctl, PR_SET_NAME, INJECT_THREAD, 0, 0, 0);
	inject_fork_enter();
	inject_gpu_init();
	inject_fork_leave();
	if (descriptors_part() || control_connect()) {
		inject_gpu_end();
		return unused;
	}
	inject_fork_enter();
	why = begin(&threads);
	inject_fork_leave();
	if (!why) {
		slots = calls_begin();
		inject_gpu_begin();
	}
	say(why ? INJECT_REFUSED : INJECT_BEGUN, threads, slots, why);
	if (!why)
		work();
	inject_gpu_end();
	end();
	return unused;
}

/* ---- in a thread of the program ---- */

/* Until its thread has gone: it stands on the stack that the next one gets. */
static bool is_at_work(void)
{
	pid_t tid = atomic_load(&inject.tid);

	return tid && (tid < 0 || !syscall(SYS_tgkill, process_number(), tid, 0));
}

/* The names of threads have moved from library to library. */
static int thread_start(void)
{
	int (*stack_set)(pthread_attr_t *, void *, size_t);
	pthread_attr_t attributes;
	pthread_t thread;
	int result;

	if (!REAL(pthread_create) || !real_resolve("pthread_attr_setstack", &stack_set))
		return ENOSYS;
	pthread_attr_init(&attributes);
	stack_set(&attributes, stack, sizeof(stack));
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	result = REAL(pthread_create)(&thread, &attributes, agent_thread, NULL);
	pthread_attr_destroy(&attributes);
	return result;
}

/* The child of a fork has one thread that was there before, and what it knows of an agent is its parent's. */
static int child_begin(pid_t pid)
{
	if (inject.pid && syscall(SYS_gettid) != pid)
		return EAGAIN;
	thread_place = (struct thread_place){.self = NULL};
	atomic_store(&inject.tid, 0);
	inject.is_stuck = false;
	adopt_forked();
	address_reserve_forked();
	process.shared = NULL;
	inject.pid = pid;
	return 0;
}

/* A thread that stood still in the agent when the last measurement ended has left it since. */
static bool is_unstuck(void)
{
	if (inject.is_stuck && adopt_end(0)) {
		inject_threads_free();
		process_close();
		process.is_suspended = inject.is_stuck = false;
	}
	return !inject.is_stuck;
}

static int start(const struct inject_order *order)
{
	pid_t pid = process_number(), was;
	int result = inject.pid == pid ? 0 : child_begin(pid);

	if (result)
		return result;
	if (order->version != INJECT_ORDER_VERSION)
		return EPROTO;
	was = atomic_load(&inject.tid);
	if (!is_unstuck() || is_at_work() || !atomic_compare_exchange_strong(&inject.tid, &was, -1))
		return EBUSY;
	inject.order = *order;
	atomic_flag_clear(&inject.ends);
	if (!inject.is_resolved) {
		real_init();
		vdso_init();
		__cxa_atexit(at_exit, NULL, NULL);
		inject_fork_init();
		inject.is_resolved = true;
	}
	result = thread_start();
	if (result)
		atomic_store(&inject.tid, 0);
	return result;
}

WRAPPER extern struct inject_answer hpct_inject_answer;
struct inject_answer hpct_inject_answer = {.result = -1}; /* in the file's part of the memory */

/* hpct-record has it called with all signals blocked, where the thread holds no lock of libc's. */
WRAPPER void hpct_inject(const struct inject_order *order);
WRAPPER void hpct_inject(const struct inject_order *order)
{
	int error = errno;

	hpct_inject_answer.result = start(order);
	hpct_inject_answer.until_ns = process_now_ns();
	atomic_store_explicit(&hpct_inject_answer.serial, order->serial, memory_order_release);
	errno = error;
}

#define SEARCH_BYTES (128u * 1024u) /* of the stack, from here up */
#define PAGE_BYTES 4096u

/* The order lies on the caller's stack. NULL: somebody else has loaded this library. */
static const struct inject_order *order_find(uintptr_t from)
{
	static const uint64_t magic[] = {INJECT_ORDER_MAGIC};
	uint64_t begin = (from + INJECT_ORDER_ALIGN) & ~(uint64_t)(INJECT_ORDER_ALIGN - 1);

	for (uint64_t at = begin; at < begin + SEARCH_BYTES; at += INJECT_ORDER_ALIGN) {
		uint64_t words[2];

		/* Once a page: each call of the kernel is two stops more, if hpct-record follows the thread.
		 */
		if ((at == begin || at % PAGE_BYTES == 0) &&
			!safe_read(words, (const void *)(uintptr_t)at, sizeof(words)))
			return NULL;
		if (!memcmp((const void *)(uintptr_t)at, magic, sizeof(magic)))
			return (const struct inject_order *)(uintptr_t)at;
	}
	return NULL;
}

__attribute__((constructor)) static void load(void)
{
	const struct inject_order *order = order_find((uintptr_t)__builtin_frame_address(0));

	if (order)
		hpct_inject(order);
}
