/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_collect.c - the collector against a test that plays hpct-record and the agent: memory, handshake,
 * rings with scripted records, deaths, and memory full of nonsense. What the store holds is read back.
 */
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

#include "record/collect.h"
#include "store/event.h"
#include "store/reader.h"

#define RINGS 8u
#define RINGS_AT (EVENT_MODULES_AT + EVENT_MODULE_MAX * sizeof(struct event_module))
#define MEMORY_BYTES (RINGS_AT + RINGS * EVENT_RING_STRIDE)
#define PATIENCE_MS 120000

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- hpct-record's part ---- */

struct fixture {
	char directory[64], run[128], launch[64];
	struct host host;
	struct host_message done;
};

static int set_up(void **state)
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

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[128];
	int rc;

	host_leave(&f->host);
	snprintf(command, sizeof(command), "rm -rf %s", f->directory);
	rc = system(command);
	free(f);
	return rc;
}

static void meet(struct fixture *f, struct host *host)
{
	struct error error = {0};

	if (host_meet(host, f->launch, f->run, "/nonexistent/agent.so", &error))
		fail_msg("%s", error.text);
}

static void start(struct fixture *f)
{
	struct collect_plan plan = {.run = f->run,
		.launch = f->launch,
		.command = "prog 'an argument'",
		.events = "CPUTIME@5000",
		.names = "/nonexistent/hpct-names"};
	struct error error = {0};

	meet(f, &f->host);
	assert_true(f->host.listener >= 0);
	if (collect_start(&plan, &f->host, &error) || host_connect(&f->host, &error))
		fail_msg("%s", error.text);
}

static void end(struct host *host, int status)
{
	struct host_message ended = {.type = HOST_ENDED, .status = status};

	assert_int_equal(host_send(host->connection, &ended), 0);
}

/* The collector's last word; false: it closed without one. */
static bool word_await(struct host *host, struct host_message *word)
{
	for (;;) {
		struct pollfd ready = {host->connection, POLLIN, 0};

		assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
		if (recv(host->connection, word, sizeof(*word), 0) != sizeof(*word))
			return false;
		if (word->type == HOST_DONE)
			return true;
	}
}

static void finish(struct fixture *f)
{
	end(&f->host, 0);
	assert_true(word_await(&f->host, &f->done));
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

static struct event_ring *fake_ring(const struct fake *fake, uint32_t index)
{
	return (struct event_ring *)((char *)fake->shared + RINGS_AT + (size_t)index * EVENT_RING_STRIDE);
}

static void fake_map(struct fake *fake, size_t bytes, int seals)
{
	fake->memory = (int)syscall(SYS_memfd_create, "test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(fake->memory >= 0);
	assert_int_equal(ftruncate(fake->memory, (off_t)bytes), 0);
	assert_int_equal(fcntl(fake->memory, F_ADD_SEALS, seals), 0);
	fake->shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fake->memory, 0);
	assert_true(fake->shared != MAP_FAILED);
	fake->modules = (struct event_module *)((char *)fake->shared + EVENT_MODULES_AT);
}

static void fake_open(struct fake *fake, uint32_t generation)
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

static void fake_send(const struct fake *fake, const char *socket_path, unsigned descriptor_count)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct event_hello hello = {EVENT_MAGIC, EVENT_VERSION, EVENT_HELLO_PROCESS, (uint32_t)getpid()};
	struct iovec data = {&hello, sizeof(hello)};
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
		sendmsg(connection, &message, MSG_NOSIGNAL) != sizeof(hello))
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

static struct writing claim(const struct fake *fake, uint32_t index, uint32_t thread)
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

static void *put(struct writing *w, enum event_type type, uint8_t flags, uint32_t node, size_t bytes)
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

static void publish(struct writing *w)
{
	atomic_store_explicit(&w->ring->head, w->at, memory_order_release);
}

static void put_node(struct writing *w, uint32_t id, uint32_t parent, uint32_t module, uint64_t offset)
{
	struct event_node_record *node = put(w, EVENT_NODE, 0, id, sizeof(*node));

	node->parent = parent;
	node->module = module;
	node->offset = offset;
}

static void put_sample(struct writing *w, uint32_t node, uint64_t weight)
{
	struct event_sample *sample =
		put(w, EVENT_SAMPLE, weight ? EVENT_F_EXTENT : EVENT_F_FIRST, node, sizeof(*sample));

	sample->time_ns = now_ns();
	sample->weight = weight;
	atomic_fetch_add(&w->ring->samples, 1);
}

static void put_fork(struct writing *w, pid_t child, enum event_fork_kind kind)
{
	struct event_fork *fork_record = put(w, EVENT_FORK, 0, 0, sizeof(*fork_record));

	fork_record->time_ns = now_ns();
	fork_record->child_pid = (uint32_t)child;
	fork_record->kind = kind;
	publish(w);
}

static void thread_end(struct writing *w, uint64_t cpu_ns)
{
	atomic_store(&w->ring->cpu_end_ns, 1000 + cpu_ns);
	atomic_store(&w->ring->end_ns, now_ns());
	atomic_store_explicit(&w->ring->state, EVENT_RING_ENDED, memory_order_release);
}

static void process_ended(const struct fake *fake)
{
	atomic_store(&fake->shared->end_ns, now_ns());
	atomic_store_explicit(&fake->shared->ended, 1, memory_order_release);
}

/* Waits until the collector has taken all that was published. */
static void drained(const struct writing *w)
{
	uint64_t deadline_ns = now_ns() + PATIENCE_MS * UINT64_C(1000000);

	while (atomic_load(&w->ring->tail) != w->at) {
		must(now_ns() < deadline_ns);
		usleep(1000);
	}
}

static void module_add(const struct fake *fake, uint32_t slot, const char *path, uint8_t id)
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
static pid_t agent_start(struct fixture *f, void (*agent)(struct fixture *f))
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

static void agent_await(pid_t pid, int status)
{
	int got;

	assert_int_equal(waitpid(pid, &got, 0), pid);
	assert_int_equal(got, status);
}

static void run_agent(struct fixture *f, void (*agent)(struct fixture *f))
{
	agent_await(agent_start(f, agent), 0);
}

/* ---- the reader's part ---- */

static struct store_reader *store_of(struct fixture *f)
{
	DIR *directory = opendir(f->run);
	struct store_reader *reader = NULL;
	struct dirent *entry;
	struct error error = {0};

	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		char path[512];
		size_t length = strlen(entry->d_name);

		if (length < 4 || strcmp(entry->d_name + length - 4, STORE_SUFFIX))
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

static int compare(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

static size_t records_of(struct store_reader *reader, uint32_t stream, enum store_track track,
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
static struct store_record span_of(struct store_reader *reader, uint32_t stream, uint32_t op)
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

static bool attributes_have(struct store_reader *reader, uint32_t text, const char *attribute)
{
	char all[8192], wanted[256];

	snprintf(all, sizeof(all), ",%s,", store_reader_text(reader, text, NULL));
	snprintf(wanted, sizeof(wanted), ",%s,", attribute);
	return strstr(all, wanted);
}

static bool has_unmonitored(struct store_reader *reader, uint32_t pid)
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

/* ---- the tests ---- */

#define SAMPLES 20000u

static void agent_two_threads(struct fixture *f)
{
	struct fake fake;
	struct writing main_thread, worker;
	struct event_lost *lost;
	struct event_text *name;

	fake_open(&fake, 0);
	module_add(&fake, 0, "", 1);
	module_add(&fake, 1, "/lib/li\nb=,.so", 2);
	fake_send(&fake, f->host.socket, 2);
	main_thread = claim(&fake, 0, 0);
	put_sample(&main_thread, EVENT_NODE_PROGRAM_ROOT, 0);
	put_node(&main_thread, 16, EVENT_NODE_PROGRAM_ROOT, 0, 0x100);
	put_node(&main_thread, 17, 16, 1, 0x200);
	publish(&main_thread);
	worker = claim(&fake, 1, 1);
	put_sample(&worker, EVENT_NODE_THREAD_ROOT, 0);
	name = put(&worker, EVENT_NAME, 0, 9, sizeof(*name) + 9);
	memcpy(name->bytes, "new,na=me", 9);
	put_node(&worker, 16, EVENT_NODE_PARTIAL_THREAD, 1, 0x200);
	put_sample(&worker, 16, 7);
	atomic_store(&worker.ring->partial, 1);
	lost = put(&worker, EVENT_LOST, 0, 0, sizeof(*lost));
	lost->begin_ns = now_ns();
	lost->end_ns = lost->begin_ns + 1000;
	lost->count = 3;
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

static void test_two_threads_arrive(void **state)
{
	static struct store_record records[SAMPLES + 16];
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_stream *streams;
	const struct store_context *contexts;
	const struct store_module *modules;
	struct store_record span;
	uint64_t sum = 0;
	uint32_t count;
	size_t size;

	start(f);
	run_agent(f, agent_two_threads);
	finish(f);
	reader = store_of(f);
	assert_string_equal(store_reader_meta(reader, "command"), "prog 'an argument'");
	assert_string_equal(store_reader_meta(reader, "exit"), "0");
	assert_string_equal(store_reader_meta(reader, "state"), "complete");
	streams = store_reader_streams(reader, &count);
	assert_int_equal(count, 2);
	assert_int_equal(streams[0].thread, 0);
	assert_int_equal(streams[1].thread, 1);
	assert_int_equal(streams[1].tid, streams[1].pid + 1);
	assert_string_equal(store_reader_text(reader, streams[0].name, NULL), "fake");
	assert_string_equal(store_reader_text(reader, streams[1].name, NULL), "new,na=me");
	assert_int_equal(streams[1].lost, 3);
	assert_int_equal(streams[1].partial, 1);
	assert_true(streams[1].end_ns != STORE_OPEN_NS);
	assert_true(streams[1].complete_ns[STORE_SAMPLES] >= streams[1].end_ns);
	size = records_of(reader, 1, STORE_SAMPLES, records, SAMPLES + 16);
	assert_int_equal(size, SAMPLES + 2);
	for (size_t i = 0; i < size; i++)
		sum += records[i].amount;
	assert_int_equal(sum, 7 + 10 * SAMPLES);
	assert_int_equal(records[0].flags & STORE_RECORD_EXTENT, 0);
	assert_int_equal(records[1].flags & STORE_RECORD_EXTENT, STORE_RECORD_EXTENT);
	contexts = store_reader_contexts(reader, &count);
	modules = store_reader_modules(reader, &count);
	assert_int_equal(contexts[records[1].context].offset, 0x200);
	assert_string_equal(
		store_reader_text(reader, modules[contexts[records[1].context].module].path, NULL),
		"/lib/li\nb=,.so");
	assert_int_equal(contexts[contexts[records[1].context].parent].offset, STORE_FRAME_PARTIAL);
	assert_int_equal(contexts[contexts[records[1].context].parent].parent, STORE_CONTEXT_THREAD_ROOT);
	span = span_of(reader, 1, STORE_OP_LOST);
	assert_int_equal(span.amount, 3);
	span = span_of(reader, 1, STORE_OP_MONITORED);
	assert_true(attributes_have(reader, span.attributes, "name=new\\,na\\=me"));
	assert_true(attributes_have(reader, span.attributes, "command=prog 'an argument'"));
	assert_true(attributes_have(reader, span.attributes, "metric=CPUTIME"));
	assert_true(attributes_have(reader, span.attributes, "period_ns=5000000"));
	assert_true(attributes_have(reader, span.attributes, "cpu_begin_ns=1000"));
	assert_true(attributes_have(reader, span.attributes, "cpu_end_ns=13345"));
	store_reader_close(reader);
}

static void agent_killed(struct fixture *f)
{
	struct fake fake;
	struct writing w;

	fake_open(&fake, 0);
	fake_send(&fake, f->host.socket, 2);
	w = claim(&fake, 0, 0);
	for (int i = 0; i < 1000; i++)
		put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 5);
	publish(&w);
	put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 5); /* never published */
	kill(getpid(), SIGKILL);
}

static void test_a_killed_process_loses_nothing(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_stream *stream;
	uint32_t count;

	start(f);
	agent_await(agent_start(f, agent_killed), SIGKILL);
	finish(f);
	reader = store_of(f);
	stream = store_reader_streams(reader, &count);
	assert_int_equal(count, 1);
	assert_int_equal(stream->count[STORE_SAMPLES], 1000);
	assert_true(stream->end_ns != STORE_OPEN_NS);
	span_of(reader, 0, STORE_OP_MONITORED);
	store_reader_close(reader);
}

static void agent_reuses(struct fixture *f)
{
	struct fake fake;

	fake_open(&fake, 0);
	fake_send(&fake, f->host.socket, 2);
	for (uint32_t i = 0; i < 40; i++) {
		struct writing w = claim(&fake, i % 2, i);

		put_sample(&w, EVENT_NODE_THREAD_ROOT, 0);
		put_node(&w, 16, EVENT_NODE_THREAD_ROOT, EVENT_MODULE_RESERVED, STORE_FRAME_UNKNOWN);
		for (uint32_t k = 0; k <= 200 * i; k++)
			put_sample(&w, 16, 1);
		publish(&w);
		thread_end(&w, 1);
	}
}

static void test_rings_are_used_again(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_stream *streams;
	uint32_t count;

	start(f);
	run_agent(f, agent_reuses);
	finish(f);
	reader = store_of(f);
	streams = store_reader_streams(reader, &count);
	assert_int_equal(count, 40);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(streams[i].count[STORE_SAMPLES], 2 + 200 * streams[i].thread);
	store_reader_close(reader);
}

static void agent_execs(struct fixture *f)
{
	for (uint32_t generation = 0; generation < 3; generation++) {
		struct fake fake;
		struct writing w;

		fake_open(&fake, generation);
		fake_send(&fake, f->host.socket, 2);
		w = claim(&fake, 0, 0);
		put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 1);
		publish(&w);
		process_ended(&fake);
	}
}

static void test_an_exec_is_the_next_generation(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_stream *streams;
	uint32_t count;

	start(f);
	run_agent(f, agent_execs);
	finish(f);
	reader = store_of(f);
	streams = store_reader_streams(reader, &count);
	assert_int_equal(count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(streams[i].pid, streams[0].pid);
		assert_int_equal(streams[i].generation, i);
		assert_true(streams[i].end_ns != STORE_OPEN_NS);
	}
	store_reader_close(reader);
}

static void agent_child(struct fixture *f)
{
	struct fake fake;
	struct writing w;

	fake_open(&fake, 0);
	fake_send(&fake, f->host.socket, 2);
	w = claim(&fake, 0, 0);
	put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 1);
	publish(&w);
	process_ended(&fake);
}

/* Two children: one registers, late and after its parent's death, the other never does. Their pids go out by
 * a pipe. */
static int pids[2];

static void agent_forks(struct fixture *f)
{
	struct fake fake;
	struct writing w;
	pid_t children[2];

	fake_open(&fake, 0);
	fake_send(&fake, f->host.socket, 2);
	w = claim(&fake, 0, 0);
	put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 1);
	publish(&w);
	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		if (!children[i]) {
			usleep(300000);
			if (!i)
				agent_child(f);
			_exit(0);
		}
		put_fork(&w, children[i], EVENT_FORK_CHILD);
	}
	must(write(pids[1], children, sizeof(children)) == sizeof(children));
	process_ended(&fake);
}

static struct store_reader *complete_store_of(struct fixture *f)
{
	for (int patience_ms = PATIENCE_MS; patience_ms > 0; patience_ms -= 10) {
		struct store_reader *reader = store_of(f);

		if (!strcmp(store_reader_meta(reader, "state"), "complete"))
			return reader;
		store_reader_close(reader);
		usleep(10000);
	}
	fail_msg("the run is not complete");
	return NULL;
}

static void test_a_child_that_never_registers_is_said(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;
	pid_t children[2];
	char end;

	assert_int_equal(pipe2(pids, O_CLOEXEC), 0);
	start(f);
	run_agent(f, agent_forks);
	assert_int_equal(read(pids[0], children, sizeof(children)), sizeof(children));
	close(pids[1]);
	assert_int_equal(read(pids[0], &end, 1), 0); /* the grandchildren have ended, who are nobody's here */
	finish(f);
	reader = complete_store_of(f); /* one that is ending might have registered still */
	assert_false(has_unmonitored(reader, (uint32_t)children[0]));
	assert_true(has_unmonitored(reader, (uint32_t)children[1]));
	store_reader_close(reader);
	close(pids[0]);
}

static void agent_unsealed(struct fixture *f)
{
	struct fake fake;

	fake_map(&fake, MEMORY_BYTES, 0);
	fake.shared->magic = EVENT_MAGIC;
	fake.shared->version = EVENT_VERSION;
	fake_send(&fake, f->host.socket, 2);
	must(!ftruncate(fake.memory, 0));
}

static void agent_bad_headers(struct fixture *f)
{
	for (int i = 0; i < 8; i++) {
		struct fake fake;

		fake_open(&fake, 0);
		atomic_store(&fake.shared->ring_claimed, UINT32_MAX);
		switch (i) {
		case 0:
			fake.shared->magic++;
			break;
		case 1:
			fake.shared->version++;
			break;
		case 2:
			fake.shared->ring_count = UINT32_MAX;
			break;
		case 3:
			fake.shared->rings_at = UINT64_MAX - 4095;
			break;
		case 4:
			fake.shared->rings_at = 0;
			break;
		case 5:
			fake.shared->rings_at += 8;
			break;
		case 6:
			fake.shared->memory_bytes = UINT64_MAX;
			break;
		default:
			memset(fake.shared->command, 0xff, sizeof(fake.shared->command));
			break;
		}
		fake_send(&fake, f->host.socket, 2);
		munmap(fake.shared, MEMORY_BYTES);
		close(fake.memory);
	}
}

static void agent_bad_descriptors(struct fixture *f)
{
	struct fake fake = {.memory = open("/dev/null", O_RDWR)};

	fake_send(&fake, f->host.socket, 0);
	fake_send(&fake, f->host.socket, 1);
	fake_send(&fake, f->host.socket, 2);
	fake_map(&fake, 4096, F_SEAL_SHRINK);
	fake_send(&fake, f->host.socket, 2);
}

static void test_strange_memories_are_refused(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;

	start(f);
	run_agent(f, agent_unsealed);
	run_agent(f, agent_bad_headers);
	run_agent(f, agent_bad_descriptors);
	run_agent(f, agent_two_threads);
	finish(f);
	reader = store_of(f);
	assert_int_equal(store_reader_meta_number(reader, "samples", 0), 0 + SAMPLES + 3);
	store_reader_close(reader);
}

/* A position off its alignment at the very end of the memory: a header read there would lie half outside. */
static void agent_on_the_edge(struct fixture *f)
{
	struct fake fake;
	struct event_ring *ring;

	fake_open(&fake, 0);
	ring = fake_ring(&fake, RINGS - 1);
	atomic_store(&ring->tail, EVENT_RING_DATA - 1);
	atomic_store(&ring->head, EVENT_RING_DATA + 63);
	atomic_store(&ring->state, EVENT_RING_CLAIMED);
	atomic_store(&fake.shared->ring_claimed, RINGS);
	fake_send(&fake, f->host.socket, 2);
	usleep(300000);
}

/* Nonsense in every place that the collector reads, changing while it does. */
static void agent_hostile(struct fixture *f)
{
	struct fake fake;
	uint64_t until_ns = now_ns() + 1500000000;
	unsigned seed = (unsigned)getpid();

	fake_open(&fake, 0);
	srand(seed);
	for (uint32_t i = 0; i < 16; i++)
		for (size_t k = 0; k < sizeof(fake.modules[i]); k++)
			((uint8_t *)&fake.modules[i])[k] = (uint8_t)rand();
	module_add(&fake, 3, "/bin/true", 1);
	fake_send(&fake, f->host.socket, 2);
	atomic_store(&fake.shared->ring_claimed, UINT32_MAX);
	while (now_ns() < until_ns) {
		struct event_ring *ring = fake_ring(&fake, (uint32_t)rand() % RINGS);
		uint64_t *data = (uint64_t *)((char *)ring + EVENT_RING_HEADER);
		uint64_t head = (uint64_t)rand() % 3 ? ring->tail + ((uint64_t)rand() % 4096)
						     : (uint64_t)rand() << 33;

		for (size_t i = 0; i < 4096; i++) {
			struct event_header h = {.type = (uint8_t)(rand() % 16),
				.flags = (uint8_t)rand(),
				.words = (uint16_t)(rand() % 12),
				.node = 14 + (uint32_t)rand() % 8};
			uint64_t word;

			memcpy(&word, &h, sizeof(word));
			data[((uint64_t)rand() % EVENT_RING_DATA) / 8] =
				(uint64_t)rand() << 32 | (uint32_t)rand();
			data[(ring->tail / 8 + i % 64) % (EVENT_RING_DATA / 8)] = word;
		}
		ring->thread = (uint32_t)rand();
		ring->begin_ns = rand() % 2 ? UINT64_MAX : (uint64_t)rand();
		atomic_store(&ring->end_ns, (uint64_t)rand());
		memset(ring->name, 'x', sizeof(ring->name));
		if (rand() % 4 == 0)
			atomic_store(&ring->tail, UINT64_MAX - (uint64_t)rand() % 64);
		if (rand() % 4 == 0)
			head = ring->tail + 1 + (uint64_t)rand() % 7;
		atomic_store(&ring->head, head);
		atomic_store(&ring->state, (uint32_t)rand() % 5);
		usleep((unsigned)rand() % 2000);
	}
}

static void test_hostile_memory_harms_nobody(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_stream *streams;
	pid_t hostile[3];
	uint32_t count, good = 0;

	start(f);
	run_agent(f, agent_on_the_edge);
	for (int i = 0; i < 3; i++)
		hostile[i] = agent_start(f, agent_hostile);
	run_agent(f, agent_two_threads);
	for (int i = 0; i < 3; i++)
		agent_await(hostile[i], 0);
	finish(f);
	reader = store_of(f);
	streams = store_reader_streams(reader, &count);
	for (uint32_t i = 0; i < count; i++)
		good += streams[i].thread == 1 && streams[i].count[STORE_SAMPLES] == SAMPLES + 2;
	assert_int_equal(good, 1);
	store_reader_close(reader);
}

static void test_ranks_share_a_collector(void **state)
{
	struct fixture *f = *state;
	struct host second;
	struct host_message word;
	struct error error = {0};
	struct store_reader *reader;
	uint32_t count;

	start(f);
	meet(f, &second);
	assert_true(second.listener < 0);
	assert_int_equal(host_connect(&second, &error), 0);
	run_agent(f, agent_child);
	end(&second, 0);
	run_agent(f, agent_child);
	finish(f);
	assert_true(word_await(&second, &word));
	host_leave(&second);
	reader = store_of(f);
	store_reader_streams(reader, &count);
	assert_int_equal(count, 2);
	store_reader_close(reader);
}

static void test_nothing_is_left_behind(void **state)
{
	struct fixture *f = *state;
	uint64_t deadline_ns;
	struct stat status;

	start(f);
	assert_int_equal(stat(f->host.place, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	run_agent(f, agent_child);
	finish(f);
	host_leave(&f->host);
	deadline_ns = now_ns() + PATIENCE_MS * UINT64_C(1000000);
	while (!access(f->host.place, F_OK) && now_ns() < deadline_ns)
		usleep(10000);
	assert_int_equal(access(f->host.place, F_OK), -1);
}

/* The collector has a session of its own, so it is found by what its store says. */
static void test_a_killed_collector_leaves_a_store(void **state)
{
	struct fixture *f = *state;
	struct host_message word;
	struct store_reader *reader;
	uint64_t deadline_ns = now_ns() + PATIENCE_MS * UINT64_C(1000000), samples = 0;
	pid_t pid;

	start(f);
	run_agent(f, agent_two_threads);
	do {
		reader = NULL;
		usleep(100000);
		assert_true(now_ns() < deadline_ns);
		reader = store_of(f);
		const struct store_stream *streams;
		uint32_t count;

		streams = store_reader_streams(reader, &count);
		samples = count == 2 ? streams[1].count[STORE_SAMPLES] : 0;
		pid = (pid_t)store_reader_meta_number(reader, "collector_pid", 0);
		store_reader_close(reader);
	} while (samples < SAMPLES);
	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_false(word_await(&f->host, &word));
	reader = store_of(f);
	assert_string_equal(store_reader_meta(reader, "state"), "recording");
	store_reader_close(reader);
}

static void agent_much(struct fixture *f)
{
	struct fake fake;
	struct writing w;

	fake_open(&fake, 0);
	fake_send(&fake, f->host.socket, 2);
	w = claim(&fake, 0, 0);
	srand(3);
	for (int i = 0; i < 1000000; i++) {
		if (w.at - atomic_load(&w.ring->tail) > EVENT_RING_DATA / 2) {
			publish(&w);
			drained(&w); /* the program never meets a full ring, disk or not */
		}
		put_sample(&w, EVENT_NODE_PROGRAM_ROOT, (uint64_t)rand());
	}
	publish(&w);
	thread_end(&w, 1);
	process_ended(&fake);
}

static void test_a_full_disk_stops_the_recording_alone(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;

	if (geteuid() || mount("none", f->run, "tmpfs", 0, "size=400k,mode=0700"))
		skip(); /* a small file system takes root */
	start(f);
	run_agent(f, agent_much);
	finish(f);
	assert_non_null(strstr(f->done.text, "full"));
	reader = store_of(f);
	store_reader_close(reader);
	usleep(200000);
	assert_int_equal(umount2(f->run, MNT_DETACH), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_two_threads_arrive),
		TEST(test_a_killed_process_loses_nothing),
		TEST(test_rings_are_used_again),
		TEST(test_an_exec_is_the_next_generation),
		TEST(test_a_child_that_never_registers_is_said),
		TEST(test_strange_memories_are_refused),
		TEST(test_hostile_memory_harms_nobody),
		TEST(test_ranks_share_a_collector),
		TEST(test_nothing_is_left_behind),
		TEST(test_a_killed_collector_leaves_a_store),
		TEST(test_a_full_disk_stops_the_recording_alone),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
