/* SPDX-License-Identifier: Apache-2.0 */
/* inject.c - see inject.h. */
#include "record/inject/inject.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/agent/inject/inject_order.h"
#include "record/base/clock.h"
#include "record/base/proc_read.h"
#include "record/base/rendezvous.h"
#include "record/inject/inject_image.h"
#include "record/inject/inject_thread.h"

#define SEEK_NS UINT64_C(5000000000)	/* for a thread at a safe place */
#define RUNNING_NS UINT64_C(1000000000) /* of that, threads whose wait ends with EINTR are left alone */
#define SEEK_MS 3
#define PAUSE_MOST_MS 50
#define PROGRAMS_MOST 32u /* that a process becomes while its agent is to be loaded */
#define OPENS_MOST 5u
#define ANSWER_NS UINT64_C(5000000000)
#define STARVED_NS UINT64_C(50000000) /* a thread that ran for less since then may not have had its turn */
#define STARVED_MOST_NS UINT64_C(60000000000)
#define BEGIN_MS 30000
#define FIRST_NS UINT64_C(3000000000) /* of that, only the main thread is tried where it may be */
#define INJECT_UNANSWERED (-1)
#define LEAVE_NS UINT64_C(2000000000)
#define LEAVE_MS 2

#define MODE_NOW 2 /* RTLD_NOW */

struct process {
	struct inject_began began;
	char name[32];
	int connection; /* to its agent; -1: none */
	uint32_t agent; /* its agent's thread; 0: not known */
	bool was_loaded;
};

struct inject {
	struct inject_plan plan;
	char path[108]; /* of the socket that agents connect to */
	int listener;
	struct process *processes;
};

/* ---- a thread at a safe place ---- */

/* The call of the kernel that a thread waits in; negative: none, it runs, or that is not known. */
static long call_of(uint32_t pid, uint32_t tid)
{
	char name[48], text[256];
	long number;

	if (proc_read_state(pid, tid) == 'R')
		return -1;
	snprintf(name, sizeof(name), "task/%u/syscall", tid);
	return proc_read(pid, name, text, sizeof(text)) && sscanf(text, "%ld", &number) == 1 ? number : -1;
}

/* These do not begin again after a stop. */
static bool is_fragile(long call)
{
	static const short fragile[] = {
#ifdef SYS_epoll_wait /* newer architectures never had it */
		SYS_epoll_wait,
#endif
		SYS_epoll_pwait, SYS_rt_sigtimedwait, SYS_semop, SYS_semtimedop, SYS_msgrcv, SYS_msgsnd,
		SYS_io_getevents, SYS_accept, SYS_accept4, SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg,
		426 /* io_uring_enter */, 441 /* epoll_pwait2 */};

	for (size_t i = 0; i < sizeof(fragile) / sizeof(*fragile); i++)
		if (fragile[i] == call)
			return true;
	return false;
}

/* A wait without locks of libc's, or none. */
static bool may_be_tried(uint32_t pid, uint32_t tid, bool is_urgent)
{
	char state = proc_read_state(pid, tid);
	long call = call_of(pid, tid);

	if (state != 'R' && state != 'S')
		return false;
	return call < 0 ? state == 'R' : inject_image_waits(call) && (is_urgent || !is_fragile(call));
}

/* A thread of the program's own allocator; one that waits for the world outside holds none of its locks. */
static bool may_be_inside(const struct inject_image *image, const struct inject_thread *thread)
{
	return image->has_allocator && thread->tid != image->pid &&
	       (thread->call == SYS_futex || !inject_image_waits(thread->call));
}

/* Stops the thread and looks. 0: it stands well, and stays stopped; else an errno, ESRCH if the process has
 * ended. */
static int thread_try(
	struct inject_image *image, struct inject_thread *thread, uint32_t tid, uint64_t *since_ns)
{
	struct arch_registers registers;
	int reason;

	reason = inject_thread_stop(thread, image->pid, tid);
	*since_ns = clock_now_ns();
	/* The thread alone, or this program of the process. EPERM: it is just ending. */
	if ((reason == ESRCH || (reason == EPERM && !proc_read_state(image->pid, tid))) &&
		proc_read_state(image->pid, image->pid))
		return EAGAIN;
	if (reason)
		return reason;
	inject_thread_registers(thread, &registers);
	reason = inject_image_is_stale(image) ? ESTALE : 0;
	if (!reason && !may_be_inside(image, thread) && inject_image_loader_is_free(image) &&
		inject_image_is_safe(image, &registers, thread->call)) {
		reason = inject_image_verify(image);
		if (!reason && inject_thread_begin(thread, image->restore, image->error_offset))
			return 0;
	}
	inject_thread_release(thread);
	return reason ? reason : EAGAIN;
}

/* One round over all threads but the main one. */
static int others_try(
	struct inject_image *image, struct inject_thread *thread, bool is_urgent, uint64_t *since_ns)
{
	char path[40];
	struct dirent *entry;
	int reason = EAGAIN;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%u/task", image->pid);
	list = opendir(path);
	if (!list)
		return ESRCH;
	while (reason == EAGAIN && (entry = readdir(list))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (!tid || tid == image->pid || !may_be_tried(image->pid, tid, is_urgent))
			continue;
		reason = thread_try(image, thread, tid, since_ns);
	}
	closedir(list);
	return reason;
}

/* The main thread comes first: it has allocated already, so that nothing is mapped for it to do so. */
static int threads_try(struct inject_image *image, struct inject_thread *thread, bool is_urgent,
	bool is_first, uint64_t *since_ns)
{
	bool is_tried = may_be_tried(image->pid, image->pid, is_urgent);
	int reason = is_tried ? thread_try(image, thread, image->pid, since_ns) : EAGAIN;

	return reason != EAGAIN || (is_tried && is_first) ? reason
							  : others_try(image, thread, is_urgent, since_ns);
}

static int thread_seek(
	struct inject_image *image, struct inject_thread *thread, bool is_first, uint64_t *since_ns)
{
	uint64_t begin_ns = clock_now_ns(), now_ns;
	int reason;

	do {
		bool is_new;

		now_ns = clock_now_ns();
		reason = is_first ? thread_try(image, thread, image->pid, since_ns)
				  : threads_try(image, thread, now_ns - begin_ns > RUNNING_NS,
					    now_ns - begin_ns < FIRST_NS, since_ns);
		if (reason != EAGAIN)
			return reason;
		poll(NULL, 0, SEEK_MS);
		if (!remote_unwind_modules_read(&image->modules, &is_new) && is_new)
			unwind_cache_clear(image->unwinder);
	} while (now_ns - begin_ns < SEEK_NS);
	return EAGAIN;
}

/* A clause of why the main thread comes nowhere, or "". */
static const char *standstill(uint32_t pid)
{
	char place[64] = "";

	if (proc_read_state(pid, pid) != 'D' || !proc_read(pid, "wchan", place, sizeof(place)))
		return "";
	return strstr(place, "vfork") || strstr(place, "clone") || strstr(place, "_fork")
		       ? ": the main one waits for a child of vfork to execute a program"
		       : ": the main one waits in the kernel for what does not come (state D in ps)";
}

static int seek_refusal(const struct process *process, int reason, struct error *error)
{
	uint32_t pid = process->began.pid;

	switch (reason) {
	case EAGAIN:
		return error_set(error, ERROR_USAGE,
			"no thread of process %u (%s) came to a place in 5 seconds where it holds no lock of "
			"its "
			"C library%s; try again, or leave out --inject",
			pid, process->name, standstill(pid));
	case EPERM:
	case EACCES:
		return error_set(error, ERROR_USAGE,
			"process %u (%s) may not be traced (kernel.yama.ptrace_scope, a container, or "
			"another "
			"tracer is there); leave out --inject to measure it from outside",
			pid, process->name);
	case ESTALE:
		return error_set(error, ERROR_USAGE,
			"process %u (%s) becomes another program again and again; try again, or leave out "
			"--inject",
			pid, process->name);
	case ENOSYS:
		return error_set(error, ERROR_USAGE,
			"--inject works on x86-64 only; leave it out to measure from outside");
	default:
		return error_set(error, ERROR_USAGE, "process %u (%s) has ended", pid, process->name);
	}
}

/* ---- loading ---- */

static void order_fill(
	const struct inject *inject, const struct inject_image *image, struct inject_order *order)
{
	*order = (struct inject_order){
		.magic = {INJECT_ORDER_MAGIC}, .serial = clock_now_ns(), .version = INJECT_ORDER_VERSION};
	order->locks = image->locks;
	snprintf(order->control, sizeof(order->control), "%s", inject->path);
	snprintf(order->socket, sizeof(order->socket), "%s", inject->plan.socket);
	snprintf(order->agent, sizeof(order->agent), "%s", inject->plan.agent);
	snprintf(order->events, sizeof(order->events), "%s", inject->plan.events);
}

#define PATH_AT 4096u /* of the data; the order lies at its begin */
_Static_assert(sizeof(struct inject_order) <= PATH_AT, "there is room for the library's path behind it");

/* The stopped thread, which is let go then, loads the library, or calls its function. */
static bool call_make(struct inject_image *image, struct inject_thread *thread,
	const struct inject_order *order, uint64_t function)
{
	const char *path = order->agent;

	if (inject_thread_write(thread, 0, order, sizeof(*order)) &&
		(function || inject_thread_write(thread, PATH_AT, path, strlen(path) + 1)))
		return inject_thread_call(thread, function ? function : image->load,
			function ? thread->data : thread->data + PATH_AT, MODE_NOW);
	inject_thread_release(thread);
	return false;
}

/* CPU time of a thread; 0: it is gone. */
static uint64_t ran_ns(uint32_t pid, uint32_t tid)
{
	unsigned long long ran = 0;
	char name[40], text[128];

	snprintf(name, sizeof(name), "task/%u/schedstat", tid);
	return proc_read(pid, name, text, sizeof(text)) && sscanf(text, "%llu", &ran) == 1 ? ran : 0;
}

/* An answer may still come: on a busy machine a thread that could run may have to wait for a core for long.
 */
static bool may_answer(uint32_t pid, uint32_t tid, uint64_t ran_before_ns, uint64_t waited_ns)
{
	if (waited_ns < ANSWER_NS)
		return proc_read_state(pid, pid);
	return waited_ns < STARVED_MOST_NS && proc_read_state(pid, tid) == 'R' &&
	       ran_ns(pid, tid) - ran_before_ns < STARVED_NS;
}

/* The thread's answer: 0 or an errno, ESTALE where the process has become another program; INJECT_UNANSWERED:
 * none came. *until_ns: when it went on. A look at the process's mappings holds up who maps: so none is taken
 * before the agent's thread, which the other one starts, connects to `listener`, or some time has passed,
 * each time a longer one. */
static int answer_await(struct inject_image *image, const struct inject_order *order, uint32_t tid,
	int listener, uint64_t *until_ns)
{
	uint64_t begin_ns = clock_now_ns(), ran_before_ns = ran_ns(image->pid, tid), place = 0;
	struct pollfd connects = {listener, POLLIN, 0};
	int pause_ms = SEEK_MS;

	do {
		struct inject_answer answer = {.serial = 0};

		if (poll(&connects, 1, pause_ms) > 0) /* the answer comes in a moment, if not before that */
			connects.fd = -1, pause_ms = 1;
		if (!place)
			place = inject_image_find(image, order->agent, INJECT_ANSWER);
		if (place && !remote_unwind_read(image->pid, place, &answer, sizeof(answer)) &&
			answer.serial == order->serial) {
			*until_ns = answer.until_ns;
			return answer.result;
		}
		if (inject_image_is_stale(image))
			return ESTALE;
		pause_ms = pause_ms * 2 < PAUSE_MOST_MS ? pause_ms * 2 : PAUSE_MOST_MS;
	} while (may_answer(image->pid, tid, ran_before_ns, clock_now_ns() - begin_ns));
	return INJECT_UNANSWERED;
}

static int answer_refusal(const struct process *process, int reason, struct error *error)
{
	if (reason == INJECT_UNANSWERED)
		return error_set(error, ERROR_USAGE,
			"the loader of process %u (%s) refuses the agent: it has no room left for "
			"thread-local "
			"storage, or a policy forbids it; leave out --inject to measure it from outside",
			process->began.pid, process->name);
	return error_set(error, ERROR_USAGE, "the agent does not begin in process %u (%s): %s",
		process->began.pid, process->name,
		reason == EPROTO  ? "another version of it was loaded before; start the process anew"
		: reason == EBUSY ? "another hpct-record measures it by an agent"
				  : strerror(reason));
}

static int load(struct inject *inject, struct inject_image *image, struct process *process, bool is_first,
	struct error *error)
{
	static struct inject_thread thread;
	struct inject_order order;
	uint64_t since_ns, until_ns = 0;
	uint64_t function = inject_image_find(image, inject->plan.agent, INJECT_FUNCTION);
	int reason = thread_seek(image, &thread, is_first, &since_ns);
	bool is_called = false;

	if (!reason) {
		order_fill(inject, image, &order);
		is_called = true;
		reason = call_make(image, &thread, &order, function)
				 ? answer_await(image, &order, thread.tid, inject->listener, &until_ns)
				 : INJECT_UNANSWERED;
	}
	if (reason == ESTALE || !is_called)
		return seek_refusal(process, reason, error);
	process->began.tid = thread.tid;
	process->began.stood_ns = until_ns > since_ns ? until_ns - since_ns : 0;
	if (reason == EAGAIN && !is_first) /* it is the child of a fork */
		return load(inject, image, process, true, error);
	return reason ? answer_refusal(process, reason, error) : 0;
}

/* ---- the agent's word ---- */

/* By its name: in a container its number is another one there. */
static uint32_t agent_find(uint32_t pid)
{
	char path[40], name[300], text[32];
	struct dirent *entry;
	uint32_t found = 0;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	list = opendir(path);
	while (list && !found && (entry = readdir(list))) {
		snprintf(name, sizeof(name), "task/%s/comm", entry->d_name);
		if (entry->d_name[0] != '.' && proc_read(pid, name, text, sizeof(text)) &&
			!strcmp(text, INJECT_THREAD "\n"))
			found = (uint32_t)strtoul(entry->d_name, NULL, 10);
	}
	if (list)
		closedir(list);
	return found;
}

static int begin_await(struct inject *inject, struct process *process, struct error *error)
{
	struct pollfd ready = {inject->listener, POLLIN, 0};
	struct inject_message message = {.word = INJECT_REFUSED};

	if (poll(&ready, 1, BEGIN_MS) > 0)
		process->connection = accept4(inject->listener, NULL, NULL, SOCK_CLOEXEC);
	ready = (struct pollfd){process->connection, POLLIN, 0};
	if (process->connection < 0 || poll(&ready, 1, BEGIN_MS) <= 0)
		snprintf(message.text, sizeof(message.text), "it does not answer");
	else if (recv(process->connection, &message, sizeof(message), 0) != sizeof(message))
		snprintf(message.text, sizeof(message.text),
			"it has ended, or become another program, meanwhile");
	message.text[sizeof(message.text) - 1] = '\0';
	process->agent = agent_find(process->began.pid);
	process->began.threads = message.number;
	process->began.slots = message.slots;
	return message.word == INJECT_BEGUN
		       ? 0
		       : error_set(error, ERROR_USAGE, "the agent does not begin in process %u (%s): %s",
				 process->began.pid, process->name, message.text);
}

/* A program that has just begun has no libc yet. */
static int image_open(struct inject_image *image, const struct process *process, struct error *error)
{
	int result = 0;

	for (unsigned i = 0; i < OPENS_MOST; i++) {
		result = inject_image_open(image, process->began.pid, process->name, error);
		if (!result)
			break;
		poll(NULL, 0, SEEK_MS << i);
	}
	return result;
}

static int program_begin(struct inject *inject, struct process *process, struct error *error)
{
	static struct inject_image image;
	int result = inject_check(process->began.pid, inject->plan.agent, error);

	if (!result)
		result = image_open(&image, process, error);
	if (!result) {
		result = load(inject, &image, process, false, error);
		inject_image_close(&image);
	}
	return result;
}

/* What was found of a program that is another one meanwhile holds for neither. */
static int process_begin(struct inject *inject, struct process *process, struct error *error)
{
	uint32_t pid = process->began.pid;
	int result = 0;

	proc_read(pid, "comm", process->name, sizeof(process->name));
	process->name[strcspn(process->name, "\n")] = '\0';
	for (unsigned i = 0; i < PROGRAMS_MOST; i++) {
		uint64_t program = proc_read_program(pid);

		result = program_begin(inject, process, error);
		if (!result)
			break;
		poll(NULL, 0, SEEK_MS); /* in exec it is still the one before */
		if (proc_read_program(pid) == program)
			break;
		if (proc_read_state(pid, pid))
			seek_refusal(process, ESTALE, error);
	}
	process->was_loaded = !result;
	return result ? result : begin_await(inject, process, error);
}

/* ---- begin and end ---- */

static int listener_open(struct inject *inject, struct error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if ((size_t)snprintf(inject->path, sizeof(inject->path), "%s/" RENDEZVOUS_INJECT,
		    inject->plan.place) >= sizeof(inject->path))
		return error_set(
			error, ERROR_IO, "the path of %s is too long for a socket", inject->plan.place);
	memcpy(address.sun_path, inject->path, sizeof(address.sun_path));
	inject->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	unlink(inject->path);
	if (inject->listener < 0 ||
		bind(inject->listener, (const struct sockaddr *)&address, sizeof(address)) ||
		listen(inject->listener, 16))
		return error_set(error, ERROR_IO, "cannot listen at %s: %s", inject->path, strerror(errno));
	return 0;
}

/* So that it is in memory when a thread has to wait for it. */
static void agent_touch(const char *path)
{
	static char bytes[65536];
	int file = open(path, O_RDONLY | O_CLOEXEC);

	while (file >= 0 && read(file, bytes, sizeof(bytes)) > 0)
		;
	if (file >= 0)
		close(file);
}

int inject_open(struct inject **out, const struct inject_plan *plan, struct error *error)
{
	struct inject *inject = calloc(1, sizeof(*inject));
	int result;

	if (inject)
		inject->processes = calloc(plan->pid_count, sizeof(*inject->processes));
	if (!inject || !inject->processes) {
		free(inject);
		return error_memory(error);
	}
	inject->plan = *plan;
	for (unsigned i = 0; i < plan->pid_count; i++)
		inject->processes[i] = (struct process){.began.pid = plan->pids[i], .connection = -1};
	agent_touch(plan->agent);
	result = listener_open(inject, error);
	for (unsigned i = 0; i < plan->pid_count && !result; i++)
		result = process_begin(inject, &inject->processes[i], error);
	unlink(inject->path);
	if (result) {
		inject_close(inject);
		return result;
	}
	*out = inject;
	return 0;
}

const struct inject_began *inject_began(const struct inject *inject, unsigned index)
{
	return &inject->processes[index].began;
}

/* Closed: its process has ended, or become another program. */
static bool connections_look(struct inject *inject, const struct pollfd *polled)
{
	bool is_any = false;

	for (unsigned i = 0; i < inject->plan.pid_count; i++) {
		if (polled[i].revents && inject->processes[i].connection >= 0) {
			close(inject->processes[i].connection);
			inject->processes[i].connection = -1;
		}
		is_any |= inject->processes[i].connection >= 0;
	}
	return is_any;
}

bool inject_run(struct inject *inject, int stop, uint64_t until_ns)
{
	unsigned count = inject->plan.pid_count;
	struct pollfd *polled = calloc(count + 1, sizeof(*polled));
	bool is_any = true, is_asked = false;

	while (polled && is_any && !is_asked) {
		uint64_t now_ns = clock_now_ns();
		int timeout_ms = until_ns ? (int)((until_ns - now_ns) / 1000000 + 1) : -1;

		if (until_ns && now_ns >= until_ns)
			break;
		for (unsigned i = 0; i < count; i++)
			polled[i] = (struct pollfd){inject->processes[i].connection, POLLIN, 0};
		polled[count] = (struct pollfd){stop, POLLIN, 0};
		if (until_ns && until_ns - now_ns > UINT64_C(1000000000000))
			timeout_ms = 1000000;
		poll(polled, count + 1, timeout_ms);
		is_asked = polled[count].revents != 0;
		is_any = connections_look(inject, polled);
	}
	free(polled);
	return !is_any;
}

/* Its memory is in use until the thread has gone. */
static bool is_gone(const struct process *process)
{
	return !process->agent || !proc_read_state(process->began.pid, process->agent);
}

unsigned inject_close(struct inject *inject)
{
	uint64_t until_ns = clock_now_ns() + LEAVE_NS;
	unsigned left = 0;

	for (unsigned i = 0; i < inject->plan.pid_count; i++)
		if (inject->processes[i].connection >= 0)
			close(inject->processes[i].connection);
	for (unsigned i = 0; i < inject->plan.pid_count; i++) {
		while (!is_gone(&inject->processes[i]) && clock_now_ns() < until_ns)
			poll(NULL, 0, LEAVE_MS);
		left += !is_gone(&inject->processes[i]);
	}
	if (inject->listener >= 0)
		close(inject->listener);
	free(inject->processes);
	free(inject);
	return left;
}
