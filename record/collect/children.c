/* SPDX-License-Identifier: Apache-2.0 */
/* children.c - see children.h. */
#include "record/collect/children.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/base/attribute_write.h"
#include "record/base/clock.h"
#include "record/base/pidfd_end.h"
#include "record/base/process_seen.h"

#define PIDFDS_MAX 512
#define SEEN_MAX 64	       /* of those waiting, whose CPU time is looked at ... */
#define SEEN_NS 50000000ul     /* ... so often while they live: the rings are drained more often */
#define WAITING_MAX (1u << 16) /* each is looked at each time: a program that tells of more makes them up */
#define NO_STREAM UINT32_MAX
#define REGISTER_NS PIDFD_END_SOON_NS

struct child {
	struct measured_process_child born;
	uint32_t parent_pid; /* 0: not known */
	int32_t rank;
	int end_status; /* as of wait(), if has_status */
	bool has_status;
	int pidfd;	      /* -1: none */
	enum pidfd_end ended; /* known then; PIDFD_END_BY_ITSELF for who has lived long enough to be heard */
	bool has_ended;	      /* what it said before is heard ahead of the sweep */
	bool is_in_other_pid_namespace; /* in a pid namespace: what we have of that number is another */
	struct process_seen seen;	/* while it lives, ... */
	uint64_t seen_ns;		/* ... and when; 0: never */
	uint32_t stream;		/* NO_STREAM: not yet, its agent may still come */
};

struct registration {
	uint32_t pid; /* 0: free slot */
	uint64_t begin_ns;
};

void children_fini(struct children *children)
{
	for (uint32_t i = 0; i < children->waiting_count; i++)
		if (children->waiting[i].pidfd >= 0)
			close(children->waiting[i].pidfd);
	free(children->waiting);
	free(children->registered);
}

/* ---- which children have registered ---- */

static struct registration *place_of(const struct children *children, uint32_t pid)
{
	uint32_t place = pid * 2654435761u & (children->registered_capacity - 1);

	while (children->registered[place].pid && children->registered[place].pid != pid)
		place = (place + 1) & (children->registered_capacity - 1);
	return &children->registered[place];
}

static bool registered_grow(struct children *children)
{
	struct registration *old = children->registered;
	uint32_t room = children->registered_capacity;

	if (children->registered_count * 2 < room)
		return true;
	children->registered = calloc(room ? 2 * room : 256, sizeof(*old));
	if (!children->registered) {
		children->registered = old;
		return false;
	}
	children->registered_capacity = room ? 2 * room : 256;
	for (uint32_t i = 0; i < room; i++)
		if (old[i].pid)
			*place_of(children, old[i].pid) = old[i];
	free(old);
	return true;
}

static bool is_registered(const struct children *children, const struct measured_process_child *born)
{
	const struct registration *known =
		children->registered_capacity ? place_of(children, born->pid) : NULL;

	return known && known->pid && known->begin_ns >= born->time_ns;
}

/* ---- streams of those that have not ---- */

static uint32_t reason_text(
	const struct children *children, const struct child *child, struct store_writer *writer)
{
	struct store_bytes text = {0}, command = {0};
	uint32_t id = 0;

	attribute_write(&text, "reason",
		child->born.kind == EVENT_FORK_SPAWN_UNMONITORED ? "a program that takes no agent"
		: children->left_out				 ? children->left_out
		: child->ended == PIDFD_END_BY_SIGNAL		 ? "it was killed before its agent registered"
		: child->ended == PIDFD_END_UNKNOWN
			? "it ended before its agent registered, or its agent could not start"
			: "its agent could not start");
	if (child->seen.words[0]) {
		command_quote(&command, child->seen.words, sizeof(child->seen.words));
		if (!command.failed)
			attribute_write(&text, "command", (const char *)command.data);
		store_bytes_fini(&command);
	}
	if (child->seen.cpu_ns)
		attribute_write_number(&text, "cpu_ns", child->seen.cpu_ns);
	if (child->parent_pid)
		attribute_write_number(&text, "parent", child->parent_pid);
	if (child->has_status)
		attribute_write_end(&text, child->end_status);
	if (!text.failed)
		id = store_writer_text(writer, (const char *)text.data, text.size);
	store_bytes_fini(&text);
	return id;
}

static struct store_record span_of(const struct children *children, const struct child *child,
	struct store_writer *writer, uint64_t end_ns)
{
	return (struct store_record){.begin_ns = child->born.time_ns,
		.end_ns = end_ns,
		.what = STORE_OP_UNMONITORED,
		.attributes = reason_text(children, child, writer)};
}

static void stream_open(
	const struct children *children, struct child *child, struct store_writer *writer, uint32_t host)
{
	struct store_stream stream = {.kind = STORE_STREAM_CPU,
		.host = host,
		.rank = child->rank,
		.pid = child->born.pid,
		.tid = child->born.pid,
		.begin_ns = child->born.time_ns,
		.end_ns = STORE_OPEN_NS};
	struct store_record span = span_of(children, child, writer, STORE_OPEN_NS);

	child->stream = store_writer_stream(writer, &stream);
	if (child->stream != NO_STREAM)
		store_writer_span_open(writer, child->stream, 0, &span);
}

static void stream_close(
	struct children *children, struct child *child, struct store_writer *writer, uint32_t host)
{
	uint64_t end_ns = clock_now_ns();
	struct store_record span;
	struct store_stream *stream;

	children->unmonitored++;
	children->unmonitored_ns += child->seen.cpu_ns;
	child->ended = PIDFD_END_BY_ITSELF;
	child->has_status = child->has_ended && !child->is_in_other_pid_namespace &&
			    pidfd_end_status(child->born.pid, child->pidfd, &child->end_status);
	if (end_ns < child->born.time_ns + PIDFD_END_SOON_NS)
		child->ended = child->is_in_other_pid_namespace
				       ? PIDFD_END_UNKNOWN
				       : pidfd_end_how(child->born.pid, child->pidfd);
	if (child->stream == NO_STREAM)
		stream_open(children, child, writer, host);
	if (end_ns < child->born.time_ns)
		end_ns = child->born.time_ns;
	span = span_of(children, child, writer, end_ns);
	stream = child->stream == NO_STREAM ? NULL : store_writer_stream_edit(writer, child->stream);
	if (!stream)
		return;
	stream->end_ns = end_ns;
	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		stream->complete_ns[track] = STORE_OPEN_NS;
	store_writer_span_close(writer, child->stream, 0, &span);
}

/* ---- from birth to end ---- */

/* Leave most descriptors for processes that register. A child without a pidfd, -1, has ended once its
 * parent has reaped it. */
static int pidfd_of(const struct children *children, uint32_t pid)
{
	struct rlimit limit;

	if (children->waiting_count >= PIDFDS_MAX || getrlimit(RLIMIT_NOFILE, &limit) ||
		children->waiting_count >= limit.rlim_cur / 8)
		return -1;
	return (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
}

static void child_add(struct children *children, const struct child *child)
{
	if (children->waiting_count == children->waiting_capacity) {
		uint32_t room = children->waiting_capacity ? 2 * children->waiting_capacity : 16;
		struct child *grown = realloc(children->waiting, room * sizeof(*grown));

		if (!grown) {
			if (child->pidfd >= 0)
				close(child->pidfd);
			return;
		}
		children->waiting = grown;
		children->waiting_capacity = room;
	}
	children->waiting[children->waiting_count++] = *child;
}

static void child_remove(struct children *children, uint32_t index)
{
	if (children->waiting[index].pidfd >= 0)
		close(children->waiting[index].pidfd);
	children->waiting[index] = children->waiting[--children->waiting_count];
}

void children_announce(struct children *children, struct measured_process *process,
	struct store_writer *writer, uint32_t host)
{
	for (uint32_t i = 0; i < process->child_count; i++) {
		struct child child = {.born = process->children[i],
			.rank = process->rank,
			.parent_pid = process->pid,
			.pidfd = -1,
			.is_in_other_pid_namespace = measured_process_proc_pid(process) != process->pid,
			.stream = NO_STREAM};

		if (!child.born.pid || child.born.pid > INT32_MAX || is_registered(children, &child.born) ||
			children->waiting_count >= WAITING_MAX)
			continue;
		if (!child.is_in_other_pid_namespace)
			child.pidfd = pidfd_of(children, child.born.pid);
		if (child.born.kind == EVENT_FORK_SPAWN_UNMONITORED)
			stream_open(children, &child, writer, host);
		child_add(children, &child);
	}
	process->child_count = 0;
}

bool children_know(const struct children *children, uint32_t pid, uint64_t begin_ns)
{
	return is_registered(children, &(struct measured_process_child){.pid = pid, .time_ns = begin_ns});
}

void children_started(
	struct children *children, uint32_t pid, uint64_t begin_ns, bool is_in_other_pid_namespace)
{
	struct child child = {.born = {.pid = pid, .kind = EVENT_FORK_CHILD, .time_ns = begin_ns},
		.rank = -1,
		.pidfd = -1,
		.is_in_other_pid_namespace = is_in_other_pid_namespace,
		.stream = NO_STREAM};

	if (!pid || pid > INT32_MAX || is_registered(children, &child.born))
		return;
	if (!is_in_other_pid_namespace)
		child.pidfd = pidfd_of(children, pid);
	child_add(children, &child);
}

void children_registered(struct children *children, uint32_t pid, uint64_t begin_ns)
{
	if (!pid || !registered_grow(children))
		return;
	children->registered_count += !place_of(children, pid)->pid;
	*place_of(children, pid) = (struct registration){pid, begin_ns};
	for (uint32_t i = children->waiting_count; i-- > 0;)
		if (children->waiting[i].born.pid == pid && children->waiting[i].stream == NO_STREAM)
			child_remove(children, i);
}

static bool has_ended(const struct child *child)
{
	struct pollfd end = {child->pidfd, POLLIN, 0};

	if (child->is_in_other_pid_namespace) /* no way to see its end: it registers in time, or counts as
						 gone */
		return child->stream != NO_STREAM || clock_now_ns() >= child->born.time_ns + REGISTER_NS;
	if (child->pidfd >= 0)
		return poll(&end, 1, 0) > 0;
	return kill((pid_t)child->born.pid, 0) && errno == ESRCH;
}

bool children_may_register(const struct children *children)
{
	uint64_t now_ns = clock_now_ns();

	for (uint32_t i = 0; i < children->waiting_count; i++) {
		const struct child *child = &children->waiting[i];

		if (!child->has_ended && !child->is_in_other_pid_namespace && child->stream == NO_STREAM &&
			!children->left_out && now_ns < child->born.time_ns + REGISTER_NS)
			return true;
	}
	return false;
}

void children_look(struct children *children)
{
	uint64_t now_ns = clock_now_ns();

	for (uint32_t i = 0; i < children->waiting_count; i++) {
		struct child *child = &children->waiting[i];

		child->has_ended = has_ended(child);
		if (i >= SEEN_MAX || child->is_in_other_pid_namespace ||
			(!child->has_ended && now_ns < child->seen_ns + SEEN_NS))
			continue;
		/* Once more if it ended a moment ago, while its parent has not waited for it. */
		process_seen_look(&child->seen, child->born.pid, child->has_ended);
		child->seen_ns = now_ns;
	}
}

void children_sweep(struct children *children, struct store_writer *writer, uint32_t host, bool is_end)
{
	for (uint32_t i = children->waiting_count; i-- > 0;) {
		if (!is_end && !children->waiting[i].has_ended)
			continue;
		stream_close(children, &children->waiting[i], writer, host);
		child_remove(children, i);
	}
}
