/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.c - see collect.h. One thread, one loop:
 *
 *   listener   agents and launchers say hello        rings      drained every 50 ms while records come,
 *   launchers  "my program has ended"                           every 250 ms while none do
 *   pidfds     a process has died: drain and close   hpct-names answers become symbols
 *                                                    commit     once a second, earlier above 8 MiB
 */
#include "record/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/attributes.h"
#include "record/measured.h"
#include "record/naming.h"
#include "record/summary.h"
#include "record/switches.h"
#include "store/event.h"

#define DRAIN_MS 50
#define DRAIN_IDLE_MS 250
#define COMMIT_NS UINT64_C(1000000000)
#define COMMIT_BYTES (8u << 20)
#define COMPLETE_MARGIN_NS UINT64_C(50000000) /* a handler may be preempted between clock and publication */
#define NAMES_WAIT_NS UINT64_C(20000000000)
#define POLLED_RINGS_MAX 448
#define HELLO_FDS_MAX (2 + EVENT_SWITCHES_MAX)

struct launcher {
	struct launcher *next;
	int connection;
	int32_t status;
	bool has_ended;
};

struct collector {
	const struct collect_plan *plan;
	struct host host;
	int listener;
	struct store_writer *writer;
	struct naming *naming;
	struct measured *processes;
	struct launcher *launchers;
	uint32_t host_text;
	uint64_t committed_ns, drained_ns;
	uint64_t origin_ns; /* before any program of the run began */
	uint64_t first_end_ns;
	struct summary summary;
	bool is_dirty;
	bool has_failed; /* the store takes no more: drain and count on */
	struct error failure;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the store ---- */

static void boot_read(char *boot, size_t room)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	snprintf(boot, room, "unknown");
	if (file && fgets(boot, (int)room, file))
		boot[strcspn(boot, "\n")] = '\0';
	if (file)
		fclose(file);
}

static void metas_put(struct collector *collector, const char *host, const char *boot)
{
	const struct collect_plan *plan = collector->plan;
	struct store_writer *writer = collector->writer;
	struct timespec wall;
	uint64_t since_ns = now_ns() - collector->origin_ns;

	clock_gettime(CLOCK_REALTIME, &wall);
	store_writer_meta(writer, "command", plan->command);
	store_writer_meta(writer, "host", host);
	store_writer_meta(writer, "boot", boot);
	store_writer_meta(writer, "launch", plan->launch);
	store_writer_meta(writer, "events", plan->events);
	store_writer_meta(writer, "recorder", "hpct " HPCT_VERSION);
	store_writer_meta_number(writer, "origin_ns", collector->origin_ns);
	store_writer_meta_number(
		writer, "wall_ns", (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec - since_ns);
	store_writer_meta_number(writer, "uid", geteuid());
	store_writer_meta_number(writer, "collector_pid", (uint64_t)getpid());
	store_writer_meta(writer, "state", "recording");
}

static int store_make(struct collector *collector, struct error *error)
{
	char host[256] = "", boot[64], path[PATH_MAX + 512];
	int result;

	gethostname(host, sizeof(host) - 1);
	for (char *at = host; *at; at++)
		if (*at == '/' || (unsigned char)*at <= ' ')
			*at = '_';
	boot_read(boot, sizeof(boot));
	snprintf(path, sizeof(path), "%s/%s-%.8s%s", collector->plan->run, *host ? host : "host", boot,
		STORE_SUFFIX);
	result = store_writer_create(&collector->writer, path, error);
	if (result)
		return result;
	collector->host_text = store_writer_text(collector->writer, host, strlen(host));
	metas_put(collector, host, boot);
	return store_writer_commit(collector->writer, error);
}

/* A store that cannot be written any more keeps what it has; the rings are drained all the same, so that
 * the program never meets a full one. */
static void commit(struct collector *collector)
{
	struct error error;

	if (collector->has_failed || !collector->is_dirty)
		return;
	for (struct measured *at = collector->processes; at; at = at->next)
		measured_complete(at, collector->writer, collector->drained_ns - COMPLETE_MARGIN_NS);
	naming_ask(collector->naming, collector->writer);
	naming_pump(collector->naming, collector->writer);
	if (store_writer_commit(collector->writer, &error)) {
		collector->has_failed = true;
		collector->failure = error;
	}
	collector->committed_ns = now_ns();
	collector->is_dirty = false;
}

/* ---- who is there ---- */

static void process_end(struct collector *collector, struct measured **link)
{
	struct measured *process = *link;

	*link = process->next;
	measured_finish(process, collector->writer, collector->host_text, now_ns());
	summary_add(&collector->summary, process);
	summary_children(&collector->summary, process, collector->writer, collector->host_text, now_ns());
	measured_free(process);
	collector->is_dirty = true;
}

/* A pid that registers again has called exec: its last generation is over. */
static void generations_end(struct collector *collector, const struct measured *fresh)
{
	struct measured **link = &collector->processes;

	while (*link) {
		struct measured *at = *link;

		if (at != fresh && at->pid == fresh->pid) {
			at->unmonitored_ns = 0;
			process_end(collector, link);
			continue;
		}
		link = &at->next;
	}
}

static bool is_dead(const struct measured *process)
{
	struct pollfd end = {process->pidfd, POLLIN, 0};

	return poll(&end, 1, 0) > 0;
}

static void descriptors_close(const int *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
}

static void process_take(struct collector *collector, int memory, int pidfd, const int *events,
	unsigned event_count, uint32_t event_bytes)
{
	struct measured *process;
	struct error error;

	if (measured_open(&process, collector->writer, collector->host_text, memory, pidfd, &error)) {
		collector->summary.refused++;
		descriptors_close(events, event_count);
		return;
	}
	for (unsigned i = 0; i < event_count; i++)
		if (switches_add(&process->switches, events[i], event_bytes, 0))
			process->switches_refused++;
	if (switches_settle(process))
		process->switches_refused++;
	process->next = collector->processes;
	collector->processes = process;
	generations_end(collector, process);
	summary_registered(&collector->summary, process->pid);
	collector->is_dirty = true;
}

/* One more thread of a process that sends them one by one. */
static void switches_take(
	struct collector *collector, uint32_t pid, uint32_t tid, int event, uint32_t event_bytes)
{
	for (struct measured *at = collector->processes; at; at = at->next)
		if (at->pid == pid && !is_dead(at)) {
			if (switches_add(&at->switches, event, event_bytes, tid))
				at->switches_refused++;
			return;
		}
	close(event);
}

static void launcher_take(struct collector *collector, int connection)
{
	struct launcher *launcher = calloc(1, sizeof(*launcher));

	if (!launcher) {
		close(connection);
		return;
	}
	launcher->connection = connection;
	launcher->next = collector->launchers;
	collector->launchers = launcher;
	fcntl(connection, F_SETFL, O_NONBLOCK);
}

static bool peer_is_us(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       (peer.uid == geteuid() || !peer.uid);
}

/* Descriptors of a message; too many are closed. */
static unsigned rights_take(struct msghdr *message, int fds[HELLO_FDS_MAX])
{
	unsigned count = 0;

	for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
		size_t given = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < given; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(at) + i * sizeof(int), sizeof(int));
			if (count < HELLO_FDS_MAX)
				fds[count++] = fd;
			else
				close(fd);
		}
	}
	return count;
}

/* The hello is sent right after the connection: what has none yet is a launcher slow to speak or a stranger.
 */
static void hello_take(struct collector *collector, int connection)
{
	struct event_hello hello = {0};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(HELLO_FDS_MAX * sizeof(int))];
	struct iovec data = {&hello, sizeof(hello)};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct pollfd ready = {connection, POLLIN, 0};
	int fds[HELLO_FDS_MAX];
	unsigned count = 0;

	if (peer_is_us(connection) && poll(&ready, 1, 100) > 0 &&
		recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) == sizeof(hello))
		count = rights_take(&message, fds);
	if (hello.magic == EVENT_MAGIC && hello.version == EVENT_VERSION &&
		hello.kind == EVENT_HELLO_LAUNCHER && !count) {
		launcher_take(collector, connection);
		return;
	}
	close(connection);
	if (hello.magic == EVENT_MAGIC && hello.kind == EVENT_HELLO_PROCESS && count >= 2)
		process_take(collector, fds[0], fds[1], fds + 2, count - 2, hello.switch_bytes);
	else if (hello.magic == EVENT_MAGIC && hello.kind == EVENT_HELLO_SWITCHES && count == 1)
		switches_take(collector, hello.pid, hello.tid, fds[0], hello.switch_bytes);
	else
		descriptors_close(fds, count);
}

static void listener_serve(struct collector *collector)
{
	for (;;) {
		int connection = accept4(collector->listener, NULL, NULL, SOCK_CLOEXEC);

		if (connection < 0)
			return;
		hello_take(collector, connection);
	}
}

static void launcher_ended(
	struct collector *collector, struct launcher *launcher, const struct host_message *said)
{
	launcher->has_ended = true;
	launcher->status = said->status;
	summary_ended(&collector->summary, said->status, said->user_ns + said->system_ns);
	collector->is_dirty = true;
}

/* False: it is gone. */
static bool launcher_serve(struct collector *collector, struct launcher *launcher)
{
	struct host_message message;
	ssize_t got = recv(launcher->connection, &message, sizeof(message), MSG_DONTWAIT);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got == sizeof(message) && message.type == HOST_ENDED)
		launcher_ended(collector, launcher, &message);
	return got != 0;
}

static void launchers_serve(struct collector *collector)
{
	struct launcher **link = &collector->launchers;

	while (*link) {
		struct launcher *at = *link;

		if (launcher_serve(collector, at)) {
			link = &at->next;
			continue;
		}
		*link = at->next;
		close(at->connection);
		free(at);
	}
}

/* ---- the loop ---- */

static size_t rings_drain(struct collector *collector)
{
	struct measured **link = &collector->processes;
	size_t records = 0;

	collector->drained_ns = now_ns();
	while (*link) {
		struct measured *at = *link;

		if (is_dead(at)) {
			process_end(collector, link);
			records++;
			continue;
		}
		records += measured_drain(at, collector->writer, collector->host_text, collector->drained_ns);
		link = &at->next;
	}
	collector->is_dirty |= records > 0;
	return records;
}

static bool launchers_wait(const struct collector *collector)
{
	for (const struct launcher *at = collector->launchers; at; at = at->next)
		if (!at->has_ended)
			return true;
	return false;
}

/* Waits for news or the time to drain. Only the listener, the launchers and the names wake it at once, and,
 * when nothing is awaited but ends, those. */
static void wait_for_news(struct collector *collector, int timeout_ms)
{
	struct pollfd polled[64 + POLLED_RINGS_MAX];
	unsigned count = 0, rings;
	int names = naming_descriptor(collector->naming);

	polled[count++] = (struct pollfd){collector->listener, POLLIN, 0};
	if (names >= 0)
		polled[count++] = (struct pollfd){names, POLLIN, 0};
	for (struct launcher *at = collector->launchers; at && count < 32; at = at->next)
		polled[count++] = (struct pollfd){at->connection, POLLIN, 0};
	for (struct measured *at = collector->processes; at && count < 64; at = at->next)
		polled[count++] = (struct pollfd){at->pidfd, POLLIN, 0};
	rings = count;
	for (struct measured *at = collector->processes; at && count < sizeof(polled) / sizeof(polled[0]);
		at = at->next)
		count += switches_poll(
			at->switches, polled + count, (unsigned)(sizeof(polled) / sizeof(polled[0])) - count);
	poll(polled, count, timeout_ms);
	for (struct measured *at = collector->processes; at; at = at->next)
		switches_polled(at->switches, polled + rings, count - rings);
}

static void step(struct collector *collector)
{
	static size_t records = 1;

	wait_for_news(collector, records ? DRAIN_MS : DRAIN_IDLE_MS);
	listener_serve(collector);
	launchers_serve(collector);
	records = rings_drain(collector);
	naming_pump(collector->naming, collector->writer);
	if (now_ns() - collector->committed_ns >= COMMIT_NS ||
		store_writer_pending_bytes(collector->writer) > COMMIT_BYTES)
		commit(collector);
}

static void launchers_tell(struct collector *collector, enum host_message_type type, uint64_t number)
{
	struct host_message message = {.type = type, .number = number};

	if (type == HOST_DONE)
		summary_text(&collector->summary, message.text, sizeof(message.text));
	for (struct launcher *at = collector->launchers; at; at = at->next)
		if (at->has_ended)
			host_send(at->connection, &message);
}

/* Names of what was seen last; the launchers wait, so they are told how much is left. */
static void names_finish(struct collector *collector)
{
	uint64_t begin_ns = now_ns(), told_ns = begin_ns;

	naming_ask(collector->naming, collector->writer);
	naming_pump(collector->naming, collector->writer);
	while (naming_outstanding(collector->naming) && now_ns() - begin_ns < NAMES_WAIT_NS) {
		struct pollfd answers = {naming_descriptor(collector->naming), POLLIN, 0};

		poll(&answers, 1, 20);
		naming_pump(collector->naming, collector->writer);
		if (now_ns() - told_ns > COMMIT_NS / 4) {
			told_ns = now_ns();
			launchers_tell(collector, HOST_PROGRESS, naming_outstanding(collector->naming));
		}
	}
}

/* All that was recorded so far is committed and named; whoever waits for that is told. */
static void settle(struct collector *collector)
{
	struct launcher **link = &collector->launchers;

	collector->is_dirty = true;
	if (!collector->has_failed)
		names_finish(collector);
	summary_put(&collector->summary, collector->writer, naming_outstanding(collector->naming),
		collector->has_failed ? collector->failure.text : NULL);
	commit(collector);
	if (collector->has_failed)
		summary_put(&collector->summary, collector->writer, 0, collector->failure.text);
	launchers_tell(collector, HOST_DONE, 0);
	while (*link) {
		struct launcher *at = *link;

		if (!at->has_ended) {
			link = &at->next;
			continue;
		}
		*link = at->next;
		close(at->connection);
		free(at);
	}
}

static bool someone_has_ended(const struct collector *collector)
{
	for (const struct launcher *at = collector->launchers; at; at = at->next)
		if (at->has_ended)
			return true;
	return false;
}

/* Programs that outlive the one that was started (daemons) are recorded on; hpct-record does not wait
 * for them. */
static void collect(struct collector *collector)
{
	for (;;) {
		step(collector);
		if (someone_has_ended(collector) && !launchers_wait(collector)) {
			listener_serve(collector);
			rings_drain(collector);
			settle(collector);
		}
		if (!collector->processes && !collector->launchers &&
			host_close(collector->host.place, collector->host.socket, collector->listener))
			return;
	}
}

/* ---- becoming a process of its own ---- */

/* The program's CPUs are the program's: ours are the others, if there are others. */
static void cpus_leave(void)
{
	cpu_set_t ours, all;

	if (sched_getaffinity(0, sizeof(ours), &ours))
		return;
	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all) || sched_getaffinity(0, sizeof(all), &all))
		return;
	CPU_XOR(&all, &all, &ours);
	if (!CPU_COUNT(&all) || sched_setaffinity(0, sizeof(all), &all))
		sched_setaffinity(0, sizeof(ours), &ours);
}

/* Every process keeps some, whatever the program's own limit is. */
static void descriptors_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void become_collector(int listener)
{
	int null = open("/dev/null", O_RDWR);
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;

	setsid();
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &plain, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (listener != 3)
		dup3(listener, 3, O_CLOEXEC);
	syscall(SYS_close_range, 4u, ~0u, 0u);
	umask(077);
	if (chdir("/"))
		_exit(1);
	prctl(PR_SET_NAME, "hpct-collector");
	prctl(PR_SET_TIMERSLACK, 1000000ul);
	setpriority(PRIO_PROCESS, 0, 5);
	descriptors_raise();
	cpus_leave();
}

static void collector_fini(struct collector *collector)
{
	struct error error;

	naming_free(collector->naming);
	modules_close();
	summary_fini(&collector->summary);
	if (collector->has_failed)
		store_writer_abort(collector->writer);
	else
		store_writer_close(collector->writer, &error);
}

_Noreturn static void collector_run(
	const struct collect_plan *plan, const struct host *host, uint64_t origin_ns)
{
	struct collector collector = {.plan = plan, .host = *host, .listener = 3, .origin_ns = origin_ns};
	struct error error;

	become_collector(host->listener);
	if (store_make(&collector, &error) || naming_new(&collector.naming, plan->names, &error)) {
		/* hpct-record sees its connection close and says so. */
		unlink(host->socket);
		rmdir(host->place);
		_exit(1);
	}
	summary_init(&collector.summary, plan->events);
	summary_unmonitored(
		&collector.summary, plan->unmonitored, plan->command, collector.writer, collector.host_text);
	collector.committed_ns = now_ns();
	collector.is_dirty = true;
	collect(&collector);
	collector_fini(&collector);
	_exit(0);
}

int collect_start(const struct collect_plan *plan, const struct host *host, struct error *error)
{
	uint64_t origin_ns = now_ns();
	pid_t pid = fork();

	if (pid < 0)
		return error_set(error, ERROR_IO, "cannot start the collector: %s", strerror(errno));
	if (!pid)
		collector_run(plan, host, origin_ns);
	return 0;
}
