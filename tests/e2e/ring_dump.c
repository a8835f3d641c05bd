/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_dump.c - the least a collector can be: runs a command with the agent
 * preloaded, drains its rings, checks every record, and prints what each thread
 * gave. Tests look at its lines; nothing here is part of hpct itself.
 *
 *   ring_dump [-e EVENTS] [-p] AGENT COMMAND ARGS...    (-p: paths with their weights; lines go to
 *                                                         descriptor 3 if it is open, else to stderr)
 *   process pid generation ended rank threads modules command
 *   thread pid.generation/index name signals overruns samples partial lost first last weight_ns cpu_ns
 *   path weight_ns samples frame;frame;...
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/ring/handshake.h"

#define PROCESSES_MAX 4096

struct node {
	uint32_t parent, module;
	uint64_t offset;
	uint64_t weight, samples;
};

struct stream {
	struct node *nodes;
	uint32_t count, capacity;
	uint32_t claim;
	uint64_t samples, weight, first, last, lost_count, lost_weight, last_time_ns;
};

struct measured {
	struct event_process *shared;
	struct stream *streams;
	int pidfd;
	int done;
};

static struct measured measured[PROCESSES_MAX];
static unsigned measured_count;
static int print_paths, failures;
static FILE *out;
static uint64_t pooled_samples, pooled_partial;

static void fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(out, "FAILED ");
	vfprintf(out, format, list);
	fprintf(out, "\n");
	va_end(list);
	failures++;
}

static struct event_ring *ring_at(struct measured *m, uint32_t index)
{
	return (struct event_ring *)((char *)m->shared + m->shared->rings_at +
				     (uint64_t)index * EVENT_RING_STRIDE);
}

static void path_print(struct measured *m, struct stream *s, uint32_t id)
{
	struct event_module *modules = (struct event_module *)((char *)m->shared + EVENT_MODULES_AT);
	struct node *node = &s->nodes[id];

	if (id < EVENT_NODE_FIRST) {
		fprintf(out, "%s",
			id == EVENT_NODE_THREAD_ROOT	   ? "<thread root>"
			: id == EVENT_NODE_PARTIAL_PROGRAM ? "<partial>"
			: id == EVENT_NODE_PARTIAL_THREAD  ? "<thread root>;<partial>"
							   : "<program root>");
		return;
	}
	path_print(m, s, node->parent);
	const char *path = modules[node->module].is_anonymous ? "[anonymous]" : modules[node->module].path;
	const char *base = strrchr(path, '/');
	fprintf(out, ";%s+%#lx", *path ? base ? base + 1 : path : "main", (unsigned long)node->offset);
}

static void stream_print(struct measured *m, struct event_ring *ring, struct stream *s)
{
	uint64_t cpu_ns = ring->cpu_end_ns ? ring->cpu_end_ns - ring->cpu_begin_ns : 0;

	fprintf(out,
		"thread %u.%u/%u %s %lu %lu %lu %lu %lu %lu %lu %lu %lu tid=%u errant=%lu claim=%u "
		"before=%lu\n",
		m->shared->pid, m->shared->generation, ring->thread, ring->name, ring->signals,
		ring->overruns, s->samples, ring->partial,
		ring->lost_full + ring->lost_reentered + ring->lost_memory, s->first, s->last, s->weight,
		cpu_ns, ring->tid, ring->unwind_faults, s->claim, ring->cpu_begin_ns);
	if (s->lost_count > ring->lost_full + ring->lost_reentered + ring->lost_memory)
		fail("more losses recorded than counted");
	pooled_samples += s->samples;
	pooled_partial += ring->partial;
	for (uint32_t i = 0; print_paths && i < s->count; i++) {
		if (!s->nodes[i].samples)
			continue;
		fprintf(out, "path %lu %lu ", s->nodes[i].weight, s->nodes[i].samples);
		path_print(m, s, i);
		fprintf(out, "\n");
	}
}

static void stream_reset(struct stream *s, uint32_t claim)
{
	free(s->nodes);
	*s = (struct stream){.claim = claim, .count = EVENT_NODE_FIRST, .capacity = 1024};
	s->nodes = calloc(s->capacity, sizeof(*s->nodes));
}

static void take_node(struct measured *m, struct stream *s, const struct event_node_record *node)
{
	if (node->h.node != s->count)
		fail("node %u, expected %u", node->h.node, s->count);
	if (node->parent >= node->h.node || (node->parent >= 4 && node->parent < EVENT_NODE_FIRST))
		fail("node %u with parent %u", node->h.node, node->parent);
	if (node->module >= m->shared->module_count)
		fail("node in module %u", node->module);
	if (s->count == s->capacity) {
		s->nodes = realloc(s->nodes, 2 * s->capacity * sizeof(*s->nodes));
		memset(s->nodes + s->capacity, 0, s->capacity * sizeof(*s->nodes));
		s->capacity *= 2;
	}
	s->nodes[s->count++] = (struct node){node->parent, node->module, node->offset, 0, 0};
}

static void take_nodes(struct measured *m, struct stream *s, const struct event_nodes_record *nodes)
{
	uint32_t parent = nodes->parent;

	if (!nodes->place_count || nodes->place_count > EVENT_PLACES_MAX)
		fail("nodes at %u places", nodes->place_count);
	for (uint32_t i = 0; nodes->place_count && i < nodes->count; i++) {
		const struct event_place *place = &nodes->places[i % nodes->place_count];
		struct event_node_record node = {.h.node = nodes->h.node + i,
			.parent = parent,
			.module = place->module,
			.offset = place->offset};

		take_node(m, s, &node);
		parent = node.h.node;
	}
}

static void take_sample(struct stream *s, const struct event_sample *sample)
{
	if (sample->h.node >= s->count)
		fail("sample at unknown node %u", sample->h.node);
	else {
		s->nodes[sample->h.node].weight += sample->weight;
		s->nodes[sample->h.node].samples++;
	}
	if (sample->time_ns < s->last_time_ns)
		fail("time goes back");
	s->last_time_ns = sample->time_ns;
	s->samples++;
	s->weight += sample->weight;
	s->first += !!(sample->h.flags & EVENT_F_FIRST);
	s->last += !!(sample->h.flags & EVENT_F_LAST);
}

static void take(struct measured *m, struct stream *s, const struct event_header *h)
{
	if (h->type == EVENT_NODE)
		take_node(m, s, (const void *)h);
	else if (h->type == EVENT_NODES)
		take_nodes(m, s, (const void *)h);
	else if (h->type == EVENT_SAMPLE)
		take_sample(s, (const void *)h);
	else if (h->type == EVENT_LOST) {
		const struct event_lost *lost = (const void *)h;

		s->lost_count += lost->count;
		s->lost_weight += lost->weight;
		s->weight += lost->weight;
	} else if (h->type == EVENT_FORK) {
		const struct event_fork *fork_record = (const void *)h;

		fprintf(out, "fork %u %u %u\n", m->shared->pid, fork_record->child_pid, fork_record->kind);
	} else if (h->type == EVENT_NAME) {
		const struct event_text *text = (const void *)h;

		fprintf(out, "name %u %.*s\n", m->shared->pid, (int)h->node, text->bytes);
	} else if (h->type == EVENT_SPAN) {
		const struct event_span *span = (const void *)h;

		if (h->node >= s->count || span->end_ns < span->begin_ns)
			fail("span at node %u that ends at %llu", h->node, (unsigned long long)span->end_ns);
	} else if (h->type != EVENT_TEXT && h->type != EVENT_PAD)
		fail("record of type %u", h->type);
}

static void ring_drain(struct measured *m, uint32_t index, int final)
{
	struct event_ring *ring = ring_at(m, index);
	struct stream *s = &m->streams[index];
	uint32_t state = atomic_load_explicit(&ring->state, memory_order_acquire);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire), tail = ring->tail;
	const char *data = (const char *)ring + EVENT_RING_HEADER;

	if (state == EVENT_RING_FREE)
		return;
	if (head != tail && s->claim != ring->claim)
		stream_reset(s, ring->claim);
	while (tail < head) {
		const struct event_header *h = (const void *)(data + tail % EVENT_RING_DATA);

		if (!h->words || tail % EVENT_RING_DATA + h->words * 8u > EVENT_RING_DATA) {
			fail("record of %u words at %lu", h->words, tail);
			break;
		}
		take(m, s, h);
		tail += h->words * 8u;
	}
	atomic_store_explicit(&ring->tail, tail, memory_order_release);
	if ((state == EVENT_RING_ENDED && tail == ring->head) || (final && s->claim)) {
		stream_print(m, ring, s);
		s->claim = 0;
		atomic_store_explicit(&ring->state, EVENT_RING_FREE, memory_order_release);
	}
}

static void process_drain(struct measured *m, int final)
{
	uint32_t claimed = m->shared->ring_claimed;

	for (uint32_t i = 0; i < claimed; i++)
		ring_drain(m, i, final);
}

static void command_print(const struct event_process *shared)
{
	for (const char *word = shared->command; *word; word += strlen(word) + 1)
		fprintf(out, " %s", word);
	fprintf(out, "\n");
}

static void process_finish(struct measured *m)
{
	process_drain(m, 1);
	fprintf(out, "process %u %u ended=%u rank=%d threads=%u unmonitored=%u modules=%u parent=%u%s",
		m->shared->pid, m->shared->generation, m->shared->ended, m->shared->rank,
		m->shared->thread_count, m->shared->threads_unmonitored, m->shared->module_count,
		m->shared->parent_pid, "");
	command_print(m->shared);
	munmap(m->shared, m->shared->memory_bytes);
	close(m->pidfd);
	m->done = 1;
}

/* exec ends a generation of a pid without ending the pid. */
static void generations_end(const struct measured *fresh)
{
	for (struct measured *m = measured; m < fresh; m++)
		if (!m->done && m->shared->pid == fresh->shared->pid)
			process_finish(m);
}

/* Open to the end: perf events of processes that keep no descriptor. */
#define KEPT_MAX 4096
static int kept[KEPT_MAX];
static unsigned kept_count;

static void hello_take(int listener)
{
	int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	struct event_handshake hello;
	struct iovec data = {&hello, sizeof(hello)};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct measured *m = &measured[measured_count];
	int fds[2];

	if (connection < 0)
		return;
	if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != sizeof(hello) || hello.magic != EVENT_MAGIC ||
		!CMSG_FIRSTHDR(&message)) {
		fail("handshake");
		close(connection);
		return;
	}
	if (hello.kind == EVENT_HANDSHAKE_KEEP) {
		memcpy(&kept[kept_count++ % KEPT_MAX], CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
		close(connection);
		return;
	}
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fds));
	m->shared =
		mmap(NULL, (size_t)lseek(fds[0], 0, SEEK_END), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	assert(m->shared != MAP_FAILED && measured_count < PROCESSES_MAX - 1);
	m->streams = calloc(m->shared->ring_count, sizeof(*m->streams));
	m->pidfd = fds[1];
	measured_count++;
	generations_end(m);
	close(fds[0]);
	close(connection);
}

static int pass(int listener)
{
	struct pollfd ready = {listener, POLLIN, 0};
	int alive = 0;

	while (poll(&ready, 1, alive ? 0 : 5) > 0) {
		hello_take(listener);
		alive = 1;
	}
	alive = 0;
	for (struct measured *m = measured; m < measured + measured_count; m++) {
		struct pollfd dead = {m->pidfd, POLLIN, 0};

		if (m->done)
			continue;
		if (poll(&dead, 1, 0) > 0)
			process_finish(m);
		else {
			process_drain(m, 0);
			alive++;
		}
	}
	return alive;
}

static void command_run(char **argv, const char *events, const char *agent, const char *socket_path)
{
	const char *others = getenv("LD_PRELOAD");
	char preload[4096];

	snprintf(preload, sizeof(preload), "%s%s%s", agent, others ? ":" : "", others ? others : "");
	setenv("LD_PRELOAD", preload, 1);
	setenv(EVENT_ENV_AGENT, agent, 1);
	setenv(EVENT_ENV_EVENTS, events, 1);
	setenv(EVENT_ENV_SOCKET, socket_path, 1);
	execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	const char *events = "CPUTIME@5000";
	char directory[] = "/tmp/ring_dump.XXXXXX";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener, option, status = 0;
	pid_t child, waited = 0;

	while ((option = getopt(argc, argv, "+e:p")) != -1) {
		if (option == 'e')
			events = optarg;
		print_paths |= option == 'p';
	}
	if (argc - optind < 2 || !mkdtemp(directory))
		return 2;
	out = fcntl(3, F_GETFD) >= 0 ? fdopen(3, "w") : fdopen(dup(2), "w");
	fcntl(fileno(out), F_SETFD, FD_CLOEXEC);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", directory);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert(!bind(listener, (struct sockaddr *)&address, sizeof(address)) && !listen(listener, 4096));
	child = fork();
	if (!child)
		command_run(argv + optind + 1, events, argv[optind], address.sun_path);
	for (int alive = 1; alive || waited != child;) {
		alive = pass(listener);
		if (waited != child)
			waited = waitpid(child, &status, WNOHANG);
	}
	while (pass(listener))
		;
	fprintf(out, "total processes=%u samples=%lu partial=%lu failures=%d\n", measured_count,
		pooled_samples, pooled_partial, failures);
	fclose(out);
	unlink(address.sun_path);
	rmdir(directory);
	if (failures)
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
