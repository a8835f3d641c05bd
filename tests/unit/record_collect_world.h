/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_collect_world.h - for tests of the collector: a run of its own, hpct-record's word with it,
 * processes that play the agent with memory, rings and records, and what the store holds in the end.
 */
#ifndef TESTS_UNIT_RECORD_COLLECT_WORLD_H
#define TESTS_UNIT_RECORD_COLLECT_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/collect/collect.h"
#include "store/read/reader.h"
#include "store/ring/handshake.h"

#define RINGS 8u
#define RINGS_AT (EVENT_MODULES_AT + EVENT_MODULE_MAX * sizeof(struct event_module))
#define MEMORY_BYTES (RINGS_AT + RINGS * EVENT_RING_STRIDE)
#define PATIENCE_MS 120000

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- hpct-record's part ---- */

struct fixture {
	char directory[64], run[128], launch[64];
	struct rendezvous rendezvous;
	struct rendezvous_message done;
};

static inline int set_up(void **state)
{
	static int number;
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->directory, "/tmp/hpct-collect.XXXXXX");
	if (!mkdtemp(f->directory))
		return -1;
	setenv("XDG_RUNTIME_DIR", f->directory, 1);
	snprintf(f->run, sizeof(f->run), "%s/r.hpct", f->directory);
	snprintf(f->launch, sizeof(f->launch), "test/%d/%d", (int)getpid(), number++);
	*state = f;
	return mkdir(f->run, 0700);
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[128];
	int rc;

	rendezvous_leave(&f->rendezvous);
	/* The collector, which outlives its last word by the closing of its store, may put a file where rm
	 * has just been. */
	snprintf(command, sizeof(command), "rm -rf %s 2>/dev/null", f->directory);
	for (uint64_t until = now_ns() + PATIENCE_MS * UINT64_C(1000000);
		(rc = system(command)) && now_ns() < until;)
		usleep(1000);
	free(f);
	return rc;
}

static inline void meet(struct fixture *f, struct rendezvous *rendezvous)
{
	struct error error = {0};

	if (rendezvous_open(rendezvous, f->launch, f->run, "/nonexistent/agent.so", &error))
		fail_msg("%s", error.text);
}

static inline void start(struct fixture *f)
{
	struct collect_plan plan = {.run = f->run,
		.launch = f->launch,
		.command = "prog 'an argument'",
		.events = "CPUTIME@5000",
		.names = "/nonexistent/hpct-names"};
	struct error error = {0};

	meet(f, &f->rendezvous);
	assert_true(f->rendezvous.listener >= 0);
	if (collect_start(&plan, &f->rendezvous, &error) || rendezvous_connect(&f->rendezvous, &error))
		fail_msg("%s", error.text);
}

static inline void end(struct rendezvous *rendezvous, int status)
{
	struct rendezvous_message ended = {.type = RENDEZVOUS_ENDED, .status = status};

	assert_int_equal(rendezvous_send(rendezvous->connection, &ended), 0);
}

/* The collector's last word; false: it closed without one. */
static inline bool word_await(struct rendezvous *rendezvous, struct rendezvous_message *word)
{
	for (;;) {
		struct pollfd ready = {rendezvous->connection, POLLIN, 0};

		assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
		if (recv(rendezvous->connection, word, sizeof(*word), 0) != sizeof(*word))
			return false;
		if (word->type == RENDEZVOUS_DONE)
			return true;
	}
}

static inline void finish(struct fixture *f)
{
	end(&f->rendezvous, 0);
	assert_true(word_await(&f->rendezvous, &f->done));
}

/* ---- the agent's part ---- */

struct fake {
	int memory;
	struct event_process *shared;
	struct event_module *modules;
};

struct writing {
	struct event_ring *ring;
	uint64_t at;
};

static inline struct event_ring *fake_ring(const struct fake *fake, uint32_t index)
{
	return (struct event_ring *)((char *)fake->shared + RINGS_AT + (size_t)index * EVENT_RING_STRIDE);
}

static inline void fake_map(struct fake *fake, size_t bytes, int seals)
{
	fake->memory = (int)syscall(SYS_memfd_create, "test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(fake->memory >= 0);
	assert_int_equal(ftruncate(fake->memory, (off_t)bytes), 0);
	assert_int_equal(fcntl(fake->memory, F_ADD_SEALS, seals), 0);
	fake->shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fake->memory, 0);
	assert_true(fake->shared != MAP_FAILED);
	fake->modules = (struct event_module *)((char *)fake->shared + EVENT_MODULES_AT);
}

static inline void fake_open(struct fake *fake, uint32_t generation)
{
	struct event_process *shared;

	fake_map(fake, MEMORY_BYTES, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	shared = fake->shared;
	shared->magic = EVENT_MAGIC;
	shared->version = EVENT_VERSION;
	shared->pid = (uint32_t)getpid();
	shared->parent_pid = (uint32_t)getppid();
	shared->generation = generation;
	shared->rank = -1;
	shared->ring_count = RINGS;
	shared->memory_bytes = MEMORY_BYTES;
	shared->rings_at = RINGS_AT;
	shared->begin_ns = now_ns();
	shared->period_ns = 5000000;
	strcpy(shared->metric, "CPUTIME");
	memcpy(shared->command, "prog\0an argument\0", 17);
	strcpy(shared->executable, "/bin/true");
}

static inline void fake_send(const struct fake *fake, const char *socket_path, unsigned descriptor_count)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct event_handshake handshake = {
		EVENT_MAGIC, EVENT_VERSION, EVENT_HANDSHAKE_PROCESS, (uint32_t)getpid()};
	struct iovec data = {&handshake, sizeof(handshake)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	int fds[2] = {fake->memory, (int)syscall(SYS_pidfd_open, getpid(), 0)};
	int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, socket_path);
	if (descriptor_count) {
		struct cmsghdr *rights = &control.header;

		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(descriptor_count * sizeof(int));
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(descriptor_count * sizeof(int));
		memcpy(CMSG_DATA(rights), fds, descriptor_count * sizeof(int));
	}
	if (connect(connection, (struct sockaddr *)&address, sizeof(address)) ||
		sendmsg(connection, &message, MSG_NOSIGNAL) != sizeof(handshake))
		_exit(90);
	close(connection);
	close(fds[1]);
}

/* In a child: what does not hold ends it with a code that the parent sees. */
#define must(condition)            \
	do {                       \
		if (!(condition))  \
			_exit(91); \
	} while (0)

static inline struct writing claim(const struct fake *fake, uint32_t index, uint32_t thread)
{
	struct event_ring *ring = fake_ring(fake, index);
	uint32_t free = EVENT_RING_FREE;
	uint64_t deadline_ns = now_ns() + PATIENCE_MS * UINT64_C(1000000);

	while (!atomic_compare_exchange_strong(&ring->state, &free, EVENT_RING_CLAIMED)) {
		must(now_ns() < deadline_ns);
		free = EVENT_RING_FREE;
		usleep(1000);
	}
	if (atomic_load(&fake->shared->ring_claimed) <= index)
		atomic_store(&fake->shared->ring_claimed, index + 1);
	atomic_fetch_add(&fake->shared->thread_count, 1);
	ring->claim++;
	ring->tid = (uint32_t)getpid() + thread;
	ring->thread = thread;
	ring->begin_ns = now_ns();
	ring->cpu_begin_ns = 1000;
	atomic_store(&ring->end_ns, 0);
	atomic_store(&ring->cpu_end_ns, 0);
	atomic_store(&ring->samples, 0);
	atomic_store(&ring->partial, 0);
	atomic_store(&ring->lost_full, 0);
	strcpy(ring->name, "fake");
	return (struct writing){ring, atomic_load(&ring->head)};
}

static inline void *put(struct writing *w, enum event_type type, uint8_t flags, uint32_t node, size_t bytes)
{
	uint8_t *data = (uint8_t *)w->ring + EVENT_RING_HEADER;
	uint64_t room = EVENT_RING_DATA - w->at % EVENT_RING_DATA;
	struct event_header *h = (void *)(data + w->at % EVENT_RING_DATA);

	bytes = (bytes + 7) / 8 * 8;
	if (bytes > room) {
		*h = (struct event_header){.type = EVENT_PAD, .words = (uint16_t)(room / 8)};
		w->at += room;
		h = (void *)data;
	}
	memset(h, 0, bytes);
	*h = (struct event_header){
		.type = (uint8_t)type, .flags = flags, .words = (uint16_t)(bytes / 8), .node = node};
	w->at += bytes;
	return h;
}

static inline void publish(struct writing *w)
{
	atomic_store_explicit(&w->ring->head, w->at, memory_order_release);
}

static inline void put_node(struct writing *w, uint32_t id, uint32_t parent, uint32_t module, uint64_t offset)
{
	struct event_node_record *node = put(w, EVENT_NODE, 0, id, sizeof(*node));

	node->parent = parent;
	node->module = module;
	node->offset = offset;
}

/* A recursion of two places, from 0x10 on in slot 0 and 0x20 in slot 1. */
static inline struct event_nodes_record *put_nodes(
	struct writing *w, uint32_t id, uint32_t parent, uint32_t count)
{
	struct event_nodes_record *nodes =
		put(w, EVENT_NODES, 0, id, sizeof(*nodes) + 2 * sizeof(*nodes->places));

	nodes->parent = parent;
	nodes->count = count;
	nodes->place_count = 2;
	nodes->places[0] = (struct event_place){.offset = 0x10, .module = 0};
	nodes->places[1] = (struct event_place){.offset = 0x20, .module = 1};
	return nodes;
}

static inline void put_sample(struct writing *w, uint32_t node, uint64_t weight)
{
	struct event_sample *sample =
		put(w, EVENT_SAMPLE, weight ? EVENT_F_EXTENT : EVENT_F_FIRST, node, sizeof(*sample));

	sample->time_ns = now_ns();
	sample->weight = weight;
	atomic_fetch_add(&w->ring->samples, 1);
}

static inline void put_fork(struct writing *w, pid_t child, enum event_fork_kind kind)
{
	struct event_fork *fork_record = put(w, EVENT_FORK, 0, 0, sizeof(*fork_record));

	fork_record->time_ns = now_ns();
	fork_record->child_pid = (uint32_t)child;
	fork_record->kind = kind;
	publish(w);
}

static inline void thread_end(struct writing *w, uint64_t cpu_ns)
{
	atomic_store(&w->ring->cpu_end_ns, 1000 + cpu_ns);
	atomic_store(&w->ring->end_ns, now_ns());
	atomic_store_explicit(&w->ring->state, EVENT_RING_ENDED, memory_order_release);
}

static inline void process_ended(const struct fake *fake)
{
	atomic_store(&fake->shared->end_ns, now_ns());
	atomic_store_explicit(&fake->shared->ended, 1, memory_order_release);
}

/* Waits until the collector has taken all that was published. */
static inline void drained(const struct writing *w)
{
	uint64_t deadline_ns = now_ns() + PATIENCE_MS * UINT64_C(1000000);

	while (atomic_load(&w->ring->tail) != w->at) {
		must(now_ns() < deadline_ns);
		usleep(1000);
	}
}

static inline void module_add(const struct fake *fake, uint32_t slot, const char *path, uint8_t id)
{
	struct event_module *module = &fake->modules[slot];

	module->build_id_bytes = 20;
	memset(module->build_id, id, 20);
	module->begin = 0x1000;
	module->end = 0x2000;
	module->loaded_ns = now_ns();
	strcpy(module->path, path);
	atomic_store_explicit(&module->state, EVENT_MODULE_LIVE, memory_order_release);
	atomic_store(&fake->shared->module_count, slot + 1);
}

/* Runs `agent` in a process of its own; returns its pid. */
static inline pid_t agent_start(struct fixture *f, void (*agent)(struct fixture *f))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 1; i < NSIG; i++)
			signal(i, SIG_DFL); /* a fault here is no failed assertion */
		agent(f);
		_exit(0);
	}
	return pid;
}

static inline void agent_await(pid_t pid, int status)
{
	int got;

	assert_int_equal(waitpid(pid, &got, 0), pid);
	assert_int_equal(got, status);
}

static inline void run_agent(struct fixture *f, void (*agent)(struct fixture *f))
{
	agent_await(agent_start(f, agent), 0);
}

/* ---- the reader's part ---- */

static inline struct store_reader *store_of(struct fixture *f)
{
	DIR *directory = opendir(f->run);
	struct store_reader *reader = NULL;
	struct dirent *entry;
	struct error error = {0};

	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		char path[512];
		size_t length = strlen(entry->d_name);

		/* A collector that has said its last word may make the store smaller still, in a hidden file.
		 */
		if (*entry->d_name == '.' || length < 4 || strcmp(entry->d_name + length - 4, STORE_SUFFIX))
			continue;
		assert_null(reader);
		snprintf(path, sizeof(path), "%s/%s", f->run, entry->d_name);
		if (store_reader_open(&reader, path, &error) || store_reader_check(reader, &error))
			fail_msg("%s", error.text);
	}
	closedir(directory);
	assert_non_null(reader);
	return reader;
}

static inline int compare(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

static inline size_t records_of(struct store_reader *reader, uint32_t stream, enum store_track track,
	struct store_record *records, size_t room)
{
	struct store_cursor *cursor;
	struct store_chunk chunk;
	struct store_batch batch;
	struct error error = {0};
	size_t count = 0;

	store_batch_init(&batch);
	assert_int_equal(store_cursor_open(&cursor, reader, stream, track, 0, UINT64_MAX, &error), 0);
	while (store_cursor_next(cursor, &chunk, &error) > 0) {
		assert_int_equal(store_chunk_decode(&chunk, STORE_ALL, &batch, &error), 0);
		for (size_t i = 0; i < batch.count && count < room; i++)
			records[count++] = store_batch_record(&batch, i);
	}
	store_cursor_close(cursor);
	store_batch_fini(&batch);
	qsort(records, count, sizeof(*records), compare); /* chunks of one time may lie in any order */
	return count;
}

/* The only finished span of that operation in the stream. */
static inline struct store_record span_of(struct store_reader *reader, uint32_t stream, uint32_t op)
{
	static struct store_record records[1024];
	struct store_record found = {0};
	size_t count = records_of(reader, stream, STORE_SPANS, records, 1024), matches = 0;

	for (size_t i = 0; i < count; i++)
		if (records[i].what == op) {
			found = records[i];
			matches++;
		}
	assert_int_equal(matches, 1);
	return found;
}

static inline bool attributes_have(struct store_reader *reader, uint32_t text, const char *attribute)
{
	char all[8192], wanted[256];

	snprintf(all, sizeof(all), ",%s,", store_reader_text(reader, text, NULL));
	snprintf(wanted, sizeof(wanted), ",%s,", attribute);
	return strstr(all, wanted);
}

static inline bool has_unmonitored(struct store_reader *reader, uint32_t pid)
{
	static struct store_record records[64];
	uint32_t streams;
	const struct store_stream *stream = store_reader_streams(reader, &streams);

	for (uint32_t i = 0; i < streams; i++) {
		size_t count = records_of(reader, i, STORE_SPANS, records, 64);

		for (size_t k = 0; k < count; k++)
			if (stream[i].pid == pid && records[k].what == STORE_OP_UNMONITORED)
				return true;
	}
	return false;
}

/* ---- an agent that behaves ---- */

#define SAMPLES 20000u

static inline void agent_two_threads(struct fixture *f)
{
	struct fake fake;
	struct writing main_thread, worker;
	struct event_lost *lost;
	struct event_text *name;

	fake_open(&fake, 0);
	module_add(&fake, 0, "", 1);
	module_add(&fake, 1, "/lib/li\nb=,.so", 2);
	fake_send(&fake, f->rendezvous.socket, 2);
	main_thread = claim(&fake, 0, 0);
	put_sample(&main_thread, EVENT_NODE_PROGRAM_ROOT, 0);
	put_node(&main_thread, 16, EVENT_NODE_PROGRAM_ROOT, 0, 0x100);
	put_node(&main_thread, 17, 16, 1, 0x200);
	publish(&main_thread);
	worker = claim(&fake, 1, 1);
	put_sample(&worker, EVENT_NODE_THREAD_ROOT, 0);
	name = put(&worker, EVENT_NAME, 0, 10, sizeof(*name) + 10);
	memcpy(name->bytes, "new,na=me\x1b", 10);
	put_node(&worker, 16, EVENT_NODE_PARTIAL_THREAD, 1, 0x200);
	put_sample(&worker, 16, 7);
	atomic_store(&worker.ring->partial, 1);
	lost = put(&worker, EVENT_LOST, 0, 0, sizeof(*lost));
	lost->begin_ns = now_ns();
	lost->end_ns = lost->begin_ns + 1000;
	lost->count = 3;
	lost->kinds[EVENT_LOST_SAMPLE] = 1;
	lost->kinds[EVENT_LOST_SPAN] = 2;
	atomic_store(&worker.ring->lost_full, 3);
	publish(&worker);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		if (worker.ring->head - worker.ring->tail > EVENT_RING_DATA / 2)
			drained(&worker);
		put_sample(&worker, i % 2 ? 16 : EVENT_NODE_THREAD_ROOT, 10);
		publish(&worker);
	}
	thread_end(&worker, 12345);
	thread_end(&main_thread, 99);
	process_ended(&fake);
}

#endif
