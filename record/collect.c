/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.c - see collect.h. One thread, one loop:
 *
 *   listener   agents and launchers say hello        rings      drained every 50 ms while records come, 100
 *   launchers  "my program has ended"                           while few do, 250 while none; see drain_ms()
 *   pidfds     a process has died: drain and close   hpct-names answers become symbols
 *                                                    commit     once a second, earlier above 8 MiB
 */
#include "record/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/agent/selection.h"
#include "record/anchor.h"
#include "record/children.h"
#include "record/clock.h"
#include "record/detach.h"
#include "record/elsewhere.h"
#include "record/gpu_module.h"
#include "record/hello.h"
#include "record/kernel.h"
#include "record/measured.h"
#include "record/naming.h"
#include "record/rundir.h"
#include "record/summary.h"
#include "record/switches.h"

#define DRAIN_MS 50
#define DRAIN_IDLE_MS 250
#define DRAIN_GPU_MS 10	  /* launches come in storms: a ring holds some 8000 */
#define DRAIN_SOON_MS 2	  /* a ring was a quarter full */
#define DRAIN_CALM_MS 100 /* none held a 32nd */
#define COMMIT_NS UINT64_C(1000000000)
#define COMMIT_BYTES (8u << 20)
#define COMPLETE_MARGIN_NS UINT64_C(50000000) /* a handler may be preempted between clock and publication */
#define NAMES_WAIT_NS UINT64_C(20000000000)
#define NAMES_TELL_NS UINT64_C(250000000)
#define NAMES_POLL_MS 20
#define FIRST_COMMIT_NS UINT64_C(20000000) /* shorter programs do not wait for two commits */
#define HELLO_NS UINT64_C(5000000000)
#define REFUSE_MS 5000
#define POLLED_RINGS_MAX 448

struct launcher {
	struct launcher *next;
	int connection;
	bool has_ended;
};

/* A connection that has not said yet who it is. */
struct caller {
	struct caller *next;
	int connection;
	uint64_t since_ns;
};

struct collector {
	const struct collect_plan *plan;
	struct host host;
	int listener;
	struct store_writer *writer;
	struct naming *naming;
	struct sources sources;
	struct measured *processes;
	struct launcher *launchers;
	struct caller *callers;
	struct children children;
	uint32_t host_text;
	uint64_t committed_ns, drained_ns;
	uint64_t ending_ns; /* since when a launcher waits for our last word; 0: none does */
	uint64_t told_ns;
	struct anchor anchor;
	uint64_t origin_ns; /* before any program of the run began */
	struct summary summary;
	bool is_dirty;
	bool has_failed; /* the store takes no more: drain and count on */
	bool is_closing;
	bool is_called; /* the listener has a connection, or a launcher something to say */
	struct error failure;
	struct elsewhere elsewhere;
};

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

	collector->anchor = anchor_take();
	store_writer_meta(writer, "command", plan->command);
	store_writer_meta(writer, "host", host);
	store_writer_meta(writer, "boot", boot);
	store_writer_meta(writer, "launch", plan->launch);
	store_writer_meta(writer, "events", plan->events);
	store_writer_meta(
		writer, "recursion", strstr(plan->events, EVENT_WORD_RECURSION) ? "kept" : "folded");
	store_writer_meta(writer, "recorder", "hpct " HPCT_VERSION);
	store_writer_meta_number(writer, "origin_ns", collector->origin_ns);
	anchor_put_first(writer, &collector->anchor, collector->origin_ns);
	store_writer_meta_number(writer, "uid", geteuid());
	store_writer_meta_number(writer, "collector_pid", (uint64_t)getpid());
	if (plan->keep_ns) {
		store_writer_meta_number(writer, "keep_ns", plan->keep_ns);
		/* Before the first record, or its chunk may be longer than what is kept. */
		store_writer_keep(writer, collector->origin_ns, plan->keep_ns);
	}
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
	if (rundir_store_path(path, sizeof(path), collector->plan->run, *host ? host : "host", boot))
		return error_set(error, ERROR_USAGE, "the run's path %s is too long", collector->plan->run);
	result = elsewhere_choose(&collector->elsewhere, collector->plan->run, path, error);
	result = result ? result : store_writer_create(&collector->writer, collector->elsewhere.store, error);
	if (result) {
		elsewhere_forget(&collector->elsewhere);
		/* LMDB's own, which no reader is without; the run is to be empty then. */
		strcat(path, "-lock");
		unlink(path);
		return result;
	}
	collector->host_text = store_writer_text(collector->writer, host, strlen(host));
	metas_put(collector, host, boot);
	if (collector->elsewhere.is_used) {
		store_writer_meta(collector->writer, "file_system", collector->elsewhere.file_system);
		store_writer_meta(collector->writer, STORE_META_COPIED, collector->elsewhere.store);
	}
	return 0;
}

/* A store that cannot be written any more keeps what it has; the rings are drained all the same, so that
 * the program never meets a full one, and what they held counts as lost. */
static void failed(struct collector *collector, const struct error *error)
{
	collector->has_failed = true;
	collector->failure = *error;
	for (struct measured *at = collector->processes; at; at = at->next)
		at->is_discarded = true;
}

static void commit(struct collector *collector)
{
	struct error error;

	for (struct measured *at = collector->processes; at; at = at->next)
		measured_name(at, collector->writer);
	kernel_name(collector->writer, collector->ending_ns != 0);
	for (struct measured *at = collector->processes; at; at = at->next)
		measured_complete(at, collector->writer, collector->drained_ns - COMPLETE_MARGIN_NS);
	if (collector->plan->keep_ns)
		store_writer_keep(collector->writer, collector->drained_ns, collector->plan->keep_ns);
	if (store_writer_commit(collector->writer, &error) && !collector->has_failed)
		failed(collector, &error);
	collector->committed_ns = clock_now_ns();
	collector->is_dirty = false;
}

static void commit_if_due(struct collector *collector)
{
	if (collector->has_failed || !collector->is_dirty ||
		(clock_now_ns() - collector->committed_ns < COMMIT_NS &&
			store_writer_pending_bytes(collector->writer) <= COMMIT_BYTES))
		return;
	naming_ask(collector->naming, collector->writer);
	naming_pump(collector->naming, collector->writer);
	commit(collector);
	elsewhere_copy_if_due(&collector->elsewhere, collector->committed_ns);
}

/* ---- who is there ---- */

static void process_end(struct collector *collector, struct measured **link)
{
	struct measured *process = *link;

	*link = process->next;
	measured_finish(process, collector->writer, collector->host_text, clock_now_ns());
	summary_add(&collector->summary, process);
	children_announce(&collector->children, process, collector->writer, collector->host_text);
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

static void process_take(struct collector *collector, struct hello *hello)
{
	struct measured *process;
	struct error error;

	if (measured_open(
		    &process, collector->writer, collector->host_text, hello->memory, hello->pidfd, &error)) {
		collector->summary.refused++;
		hello_refuse(HELLO_SWITCHES, hello); /* memory and pidfd are closed already */
		return;
	}
	if (switches_take_up(process, hello->events, hello->event_count, hello->switch_bytes))
		process->switches_refused++;
	process->next = collector->processes;
	process->is_discarded = collector->has_failed;
	collector->processes = process;
	generations_end(collector, process);
	children_registered(&collector->children, process->pid, process->begin_ns);
	collector->is_dirty = true;
}

/* One more thread of a process that sends them one by one. */
static void switches_take(struct collector *collector, struct hello *hello)
{
	for (struct measured *at = collector->processes; at; at = at->next)
		if (at->pid == hello->pid && !is_dead(at)) {
			if (switches_add(&at->switches, hello->events[0], hello->switch_bytes, hello->tid))
				at->switches_refused++;
			return;
		}
	hello_refuse(HELLO_SWITCHES, hello);
}

/* What a process may not keep itself, because the program closes what it does not know. */
static void kept_take(struct collector *collector, struct hello *hello)
{
	for (struct measured *at = collector->processes; at; at = at->next)
		if (at->pid == hello->pid && at->kept[1] < 0 && !is_dead(at)) {
			at->kept[at->kept[0] >= 0] = hello->events[0];
			return;
		}
	hello_refuse(HELLO_KEEP, hello);
}

/* It may have ended since it sent its binary; the newest process of a pid comes first. */
static struct gpu_module_kernels *gpu_kernels_of(struct collector *collector, uint32_t pid)
{
	for (struct measured *at = collector->processes; at; at = at->next)
		if (at->pid == pid)
			return &at->gpu_kernels;
	return NULL;
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
	host_send(connection, &(struct host_message){.type = HOST_READY});
}

/* False: it has said all it has to say here, or never will. */
static bool caller_serve(struct collector *collector, const struct caller *caller)
{
	struct hello hello;

	switch (hello_read(caller->connection, &hello)) {
	case HELLO_LATER:
		if (clock_now_ns() - caller->since_ns < HELLO_NS)
			return true;
		break;
	case HELLO_LAUNCHER:
		launcher_take(collector, caller->connection);
		return false;
	case HELLO_PROCESS:
		process_take(collector, &hello);
		break;
	case HELLO_SWITCHES:
		switches_take(collector, &hello);
		break;
	case HELLO_GPU_MODULE:
		gpu_module_take(
			collector->writer, hello.memory, hello.hash, gpu_kernels_of(collector, hello.pid));
		collector->is_dirty = true;
		break;
	case HELLO_KEEP:
		kept_take(collector, &hello);
		break;
	case HELLO_BAD:
		break;
	}
	close(caller->connection);
	return false;
}

static void callers_serve(struct collector *collector)
{
	struct caller **link = &collector->callers;

	while (*link) {
		struct caller *at = *link;

		if (caller_serve(collector, at)) {
			link = &at->next;
			continue;
		}
		*link = at->next;
		free(at);
	}
}

static void listener_serve(struct collector *collector)
{
	struct caller **last = &collector->callers;

	/* First come, first served: the generations of a process follow each other. */
	while (*last)
		last = &(*last)->next;
	for (;;) {
		int connection = accept4(collector->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct caller *caller;

		if (connection < 0)
			break;
		caller = hello_peer_is_us(connection) ? malloc(sizeof(*caller)) : NULL;
		if (!caller) {
			close(connection);
			continue;
		}
		*caller = (struct caller){NULL, connection, clock_now_ns()};
		*last = caller;
		last = &caller->next;
	}
	callers_serve(collector);
}

static void launcher_ended(
	struct collector *collector, struct launcher *launcher, const struct host_message *said)
{
	launcher->has_ended = true;
	summary_ended(&collector->summary, said->status, said->user_ns + said->system_ns);
	collector->is_dirty = true;
}

static void launcher_started(struct collector *collector, const struct host_message *said)
{
	summary_started(&collector->summary, (uint32_t)said->number);
	if (said->status)
		children_left_out(&collector->children, (uint32_t)said->number);
}

/* False: it is gone. */
static bool launcher_serve(struct collector *collector, struct launcher *launcher)
{
	struct host_message message;
	ssize_t got;

	while ((got = recv(launcher->connection, &message, sizeof(message), MSG_DONTWAIT)) > 0) {
		if (got == sizeof(message) && message.type == HOST_STARTED)
			launcher_started(collector, &message);
		if (got == sizeof(message) && message.type == HOST_ENDED)
			launcher_ended(collector, launcher, &message);
	}
	return got < 0 && (errno == EAGAIN || errno == EINTR);
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

/* An operation that lies in its ring has its binary in the socket: that is read in between. */
static void binaries_take(struct collector *collector)
{
	bool has_operations = false;

	for (struct measured *at = collector->processes; at; at = at->next) {
		at->has_died = is_dead(at);
		has_operations |= measured_look(at);
	}
	if (has_operations)
		listener_serve(collector);
}

static size_t rings_drain(struct collector *collector)
{
	struct measured **link = &collector->processes;
	size_t records = 0;

	collector->drained_ns = clock_now_ns();
	binaries_take(collector);
	while (*link) {
		struct measured *at = *link;

		if (at->has_died) {
			process_end(collector, link);
			records++;
			continue;
		}
		records += measured_drain(at, collector->writer, collector->host_text, collector->drained_ns);
		children_announce(&collector->children, at, collector->writer, collector->host_text);
		link = &at->next;
	}
	collector->is_dirty |= records > 0;
	return records;
}

/* Waits for news or the time to drain. Only the listener, the launchers and the names wake it at once, and,
 * when nothing is awaited but ends, those. */
static void wait_for_news(struct collector *collector, int timeout_ms)
{
	struct pollfd polled[64 + POLLED_RINGS_MAX];
	unsigned count = 0, callers, rings;
	int names = naming_descriptor(collector->naming);
	const struct launcher *launcher;

	polled[count++] = (struct pollfd){collector->listener, POLLIN, 0};
	for (struct caller *at = collector->callers; at && count < 16; at = at->next)
		polled[count++] = (struct pollfd){at->connection, POLLIN, 0};
	if (names >= 0)
		polled[count++] = (struct pollfd){names, POLLIN, 0};
	launcher = collector->launchers;
	for (; launcher && count < 32; launcher = launcher->next)
		polled[count++] = (struct pollfd){launcher->connection, POLLIN, 0};
	callers = count;
	for (struct measured *at = collector->processes; at && count < 64; at = at->next)
		polled[count++] = (struct pollfd){at->pidfd, POLLIN, 0};
	rings = count;
	for (struct measured *at = collector->processes; at && count < sizeof(polled) / sizeof(polled[0]);
		at = at->next)
		count += switches_poll(
			at->switches, polled + count, (unsigned)(sizeof(polled) / sizeof(polled[0])) - count);
	poll(polled, count, timeout_ms);
	/* To ask in vain costs a system call each, and the listener's makes a file first. */
	collector->is_called = launcher || collector->callers;
	for (unsigned i = 0; i < callers; i++)
		collector->is_called |= polled[i].revents != 0;
	for (struct measured *at = collector->processes; at; at = at->next)
		switches_polled(at->switches, polled + rings, count - rings);
}

static void launchers_tell(struct collector *collector, enum host_message_type type, uint64_t number)
{
	struct host_message message = {.type = type, .number = number};

	if (type == HOST_DONE) {
		summary_text(&collector->summary, message.text, sizeof(message.text));
		snprintf(message.problem, sizeof(message.problem), "%s", collector->summary.problem);
	}
	for (struct launcher *at = collector->launchers; at; at = at->next)
		if (at->has_ended)
			host_send(at->connection, &message);
}

/* A process may have died after its last child said hello, a child after its own: that is heard first. */
static void children_judge(struct collector *collector)
{
	bool is_over;

	children_look(&collector->children);
	if (collector->children.waiting_count || !collector->processes)
		listener_serve(collector);
	is_over = !collector->processes && !collector->callers;

	for (const struct launcher *at = collector->launchers; at; at = at->next)
		is_over &= at->has_ended;
	children_sweep(&collector->children, collector->writer, collector->host_text, is_over);
	collector->is_closing = is_over;
}

/* All that was recorded so far is committed and named; whoever waits for that is told. */
static void settle(struct collector *collector)
{
	struct launcher **link = &collector->launchers;
	struct error error;

	collector->summary.unmonitored_children = collector->children.unmonitored;
	sources_keep(&collector->sources, collector->writer);
	summary_put(&collector->summary, collector->writer, naming_outstanding(collector->naming),
		collector->has_failed ? collector->failure.text : NULL);
	if (collector->is_closing)
		store_writer_meta(collector->writer, "state", "complete");
	commit(collector);
	if (elsewhere_copy(&collector->elsewhere, &error) && !collector->has_failed)
		failed(collector, &error);
	if (collector->has_failed) /* perhaps only now */
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
	collector->ending_ns = 0;
}

static bool someone_has_ended(const struct collector *collector)
{
	for (const struct launcher *at = collector->launchers; at; at = at->next)
		if (at->has_ended)
			return true;
	return false;
}

/* A launcher whose program has ended waits for the names of what was seen last. Meanwhile others are recorded
 * on: programs that outlive the one that was started (daemons), other ranks. */
static void launchers_answer(struct collector *collector)
{
	if (!someone_has_ended(collector))
		return;
	if (!collector->ending_ns) {
		collector->ending_ns = collector->told_ns = clock_now_ns();
		listener_serve(collector);
		rings_drain(collector);
		children_judge(collector);
		naming_ask(collector->naming, collector->writer);
		naming_pump(collector->naming, collector->writer);
	}
	if (!collector->has_failed && naming_outstanding(collector->naming) &&
		clock_now_ns() - collector->ending_ns < NAMES_WAIT_NS) {
		if (clock_now_ns() - collector->told_ns > NAMES_TELL_NS) {
			collector->told_ns = clock_now_ns();
			launchers_tell(collector, HOST_PROGRESS, naming_outstanding(collector->naming));
		}
		return;
	}
	settle(collector);
}

/* How long the rings may fill, by how full they were and by who fills them. */
static int drain_ms(struct collector *collector, size_t records)
{
	int timeout_ms = collector->ending_ns ? NAMES_POLL_MS : records ? DRAIN_CALM_MS : DRAIN_IDLE_MS;

	for (struct measured *at = collector->processes; at; at = at->next) {
		int wanted_ms = at->fullest_bytes > EVENT_RING_DATA / 4	   ? DRAIN_SOON_MS
				: at->join				   ? DRAIN_GPU_MS
				: at->fullest_bytes > EVENT_RING_DATA / 32 ? DRAIN_MS
									   : timeout_ms;

		timeout_ms = wanted_ms < timeout_ms ? wanted_ms : timeout_ms;
		at->fullest_bytes = 0;
	}
	return timeout_ms;
}

static void step(struct collector *collector)
{
	static size_t records = 1;
	size_t unnamed;

	wait_for_news(collector, drain_ms(collector, records));
	if (collector->is_called) {
		listener_serve(collector);
		launchers_serve(collector);
	}
	records = rings_drain(collector);
	children_judge(collector);
	unnamed = naming_outstanding(collector->naming);
	naming_pump(collector->naming, collector->writer);
	collector->is_dirty |= naming_outstanding(collector->naming) != unnamed;
	launchers_answer(collector);
	commit_if_due(collector);
}

static void collect(struct collector *collector)
{
	do
		step(collector);
	while (collector->processes || collector->launchers || collector->callers ||
		!host_close(collector->host.place, collector->host.socket, collector->listener));
}

/* ---- begin and end ---- */

static void collector_fini(struct collector *collector)
{
	struct anchor last = anchor_take();
	struct error error;

	anchor_put_last(collector->writer, &collector->anchor, &last);
	sources_fini(&collector->sources);
	modules_close();
	kernel_close();
	children_fini(&collector->children);
	store_writer_close(collector->writer, &error);
	elsewhere_end(&collector->elsewhere);
	naming_free(collector->naming); /* which may take a while */
}

/* No store, no recording: who started the program is told why, and agents find nobody to talk to. */
static void refuse(const struct collector *collector, const struct error *why)
{
	struct host_message message = {.type = HOST_FAILED};
	struct pollfd caller = {collector->listener, POLLIN, 0};

	snprintf(message.text, sizeof(message.text), "%s", why->text);
	for (bool is_told = false; !is_told && poll(&caller, 1, REFUSE_MS) > 0;) {
		int connection = accept4(collector->listener, NULL, NULL, SOCK_CLOEXEC);
		struct pollfd hello = {connection, POLLIN, 0};
		struct hello said;
		enum hello_result result;

		if (connection < 0)
			break;
		if (poll(&hello, 1, 1000) > 0) {
			result = hello_read(connection, &said);
			if (result == HELLO_LAUNCHER)
				is_told = !host_send(connection, &message);
			hello_refuse(result, &said);
		}
		close(connection);
	}
	unlink(collector->host.socket);
	rmdir(collector->host.place);
}

_Noreturn static void collector_run(
	const struct collect_plan *plan, const struct host *host, uint64_t origin_ns)
{
	struct collector collector = {.plan = plan,
		.host = *host,
		.sources = {.is_wanted = plan->with_sources},
		.listener = DETACH_LISTENER,
		.origin_ns = origin_ns};
	struct error error;

	detach(host->listener);
	if (store_make(&collector, &error) ||
		naming_new(&collector.naming, plan->names, &collector.sources, &error)) {
		refuse(&collector, &error);
		_exit(1);
	}
	summary_init(&collector.summary, plan->events);
	collector.children.left_out = selection_reason(plan->events);
	summary_unmonitored(
		&collector.summary, plan->unmonitored, plan->command, collector.writer, collector.host_text);
	collector.committed_ns = clock_now_ns() + FIRST_COMMIT_NS - COMMIT_NS;
	collector.is_dirty = true;
	collect(&collector);
	collector_fini(&collector);
	_exit(0);
}

int collect_start(const struct collect_plan *plan, const struct host *host, struct error *error)
{
	uint64_t origin_ns = clock_now_ns();
	pid_t pid = fork();

	if (pid < 0)
		return error_set(error, ERROR_IO, "cannot start the collector: %s", strerror(errno));
	if (!pid)
		collector_run(plan, host, origin_ns);
	return 0;
}
