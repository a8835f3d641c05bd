/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_oracle.c - a library that python_oracle.py and python_stops_program.py load: the agent's reader of
 * Python's stack, called where the interpreter can say itself what is there (oracle_here), and in a signal
 * handler at random instructions, of the caller (oracle_stops_begin) or of whichever thread a tracer stops
 * (oracle_stops_await). Also what a C extension is: it calls back (oracle_call).
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/process/process.h"
#include "record/agent/python/python_join.h"
#include "record/agent/python/python_names.h"
#include "record/agent/python/python_stack.h"
#include "record/agent/unwind/module_map.h"
#include "record/agent/unwind/module_slots.h"
#include "record/agent/unwind/unwind.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int oracle_open(uint64_t address);
EXPORT size_t oracle_here(char *to, size_t room);
EXPORT int oracle_stops_begin(void);
EXPORT unsigned oracle_stops_end(void);
EXPORT int oracle_stops_await(unsigned most);
EXPORT unsigned oracle_stops_taken(void);
EXPORT int oracle_stop_tid(unsigned index);
EXPORT long oracle_stop(unsigned index, char *to, size_t room);
EXPORT unsigned oracle_asks(void);
EXPORT double oracle_cost(unsigned rounds);
EXPORT int oracle_call(int (*function)(int), int argument);

#define NAMES_AT (EVENT_MODULES_AT + (EVENT_MODULE_MAX * sizeof(struct event_module) + 4095) / 4096 * 4096)
#define STOP_FRAMES 510
#define STOPS_MAX 40000
#define READERS 256

struct stop {
	int tid, count; /* -1: no state */
	bool is_cut;
	uint64_t place[STOP_FRAMES];
};

/* What the agent has for each thread; of a thread that ended, another one takes it over. */
struct reader {
	_Atomic int tid;
	struct python_thread thread;
};

static struct python_thread here;
static struct module_cache cache;
static struct reader *readers;
static struct stop *stops;
static _Atomic unsigned stop_count;
static unsigned stops_most = STOPS_MAX;
static volatile bool runs;
static pid_t target;

/* `address`: any function of the interpreter. 0 or -1: it is not known. */
EXPORT int oracle_open(uint64_t address)
{
	extern char **environ;

	process.shared = mmap(NULL, NAMES_AT + EVENT_NAMES_DATA, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	stops = mmap(NULL, STOPS_MAX * sizeof(*stops), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	readers = mmap(NULL, READERS * sizeof(*readers), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (process.shared == MAP_FAILED || stops == MAP_FAILED || readers == MAP_FAILED)
		return -1;
	process.modules = (struct event_module *)((char *)process.shared + EVENT_MODULES_AT);
	process.shared->names_at = NAMES_AT;
	module_map_init(environ);
	module_slots_init();
	python_names_init();
	python_runtime_init();
	if (!module_find(&cache, address))
		return -1;
	python_runtime_look();
	return python_runtime() ? 0 : -1;
}

static size_t put(char *to, size_t room, const uint64_t *place, unsigned count)
{
	size_t used = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct event_name *name = (const void *)((char *)process.shared + NAMES_AT +
							       8 * (place[i] >> EVENT_PYTHON_LINE_BITS));
		const char *file = name->text + strlen(name->text) + 1;
		int size = snprintf(to + used, room - used, "%s\t%.*s\t%u\n", name->text,
			(int)(name->text + name->bytes - file), file,
			(unsigned)(place[i] & EVENT_PYTHON_LINE_MAX));

		if (size < 0 || (size_t)size >= room - used)
			return 0;
		used += (size_t)size;
	}
	return used;
}

/* The caller's stack, innermost first, a line "NAME TAB FILE TAB LINE" a frame. */
EXPORT size_t oracle_here(char *to, size_t room)
{
	static uint64_t place[PYTHON_FRAMES_MAX];

	if (!python_stack_read(&here, python_runtime()) || here.is_cut)
		return 0;
	for (unsigned i = 0; i < here.count; i++)
		place[i] = here.frames[i].place;
	return put(to, room, place, here.count);
}

/* NULL: all are others'. */
static struct python_thread *reader_of(int tid)
{
	for (unsigned i = 0; i < READERS; i++) {
		struct reader *reader = &readers[((unsigned)tid + i) % READERS];
		int owner = atomic_load(&reader->tid);

		if (owner == tid)
			return &reader->thread;
		if ((!owner || syscall(SYS_tgkill, getpid(), owner, 0)) &&
			atomic_compare_exchange_strong(&reader->tid, &owner, tid))
			return &reader->thread;
	}
	return NULL;
}

static void handle(int number)
{
	int tid = (int)syscall(SYS_gettid);
	struct python_thread *there = reader_of(tid);
	unsigned index = there ? atomic_fetch_add(&stop_count, 1) : STOPS_MAX;
	struct stop *stop = &stops[index];

	(void)number;
	if (index >= stops_most)
		return;
	stop->tid = tid;
	stop->count = python_stack_read(there, python_runtime()) ? (int)there->count : -1;
	stop->is_cut = there->is_cut;
	for (int i = 0; i < stop->count && i < STOP_FRAMES; i++)
		stop->place[i] = there->frames[i].place;
}

static void *send(void *what)
{
	unsigned wait = 1;

	(void)what;
	while (runs && oracle_stops_taken() < stops_most) {
		wait = wait * 1103515245 + 12345;
		usleep(20 + wait / 65536 % 100);
		syscall(SYS_tgkill, getpid(), target, SIGUSR2);
	}
	return NULL;
}

static pthread_t sender;

static int handler_set(void)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};

	return sigaction(SIGUSR2, &action, NULL);
}

/* From now on the caller's stack is read at random instructions. */
EXPORT int oracle_stops_begin(void)
{
	target = (pid_t)syscall(SYS_gettid);
	runs = true;
	return handler_set() || pthread_create(&sender, NULL, send, NULL);
}

EXPORT unsigned oracle_stops_end(void)
{
	runs = false;
	pthread_join(sender, NULL);
	return oracle_stops_taken();
}

/* Each thread that gets a SIGUSR2 is read, `most` times in all. */
EXPORT int oracle_stops_await(unsigned most)
{
	stops_most = most < STOPS_MAX ? most : STOPS_MAX;
	return handler_set();
}

EXPORT unsigned oracle_stops_taken(void)
{
	unsigned count = atomic_load(&stop_count);

	return count < stops_most ? count : stops_most;
}

EXPORT int oracle_stop_tid(unsigned index)
{
	return stops[index].tid;
}

/* One of those stacks, at most its STOP_FRAMES inner frames. -1: no state, -2: it was cut. */
EXPORT long oracle_stop(unsigned index, char *to, size_t room)
{
	const struct stop *stop = &stops[index];

	if (stop->count < 0 || stop->is_cut)
		return stop->count < 0 ? -1 : -2;
	return (long)put(
		to, room, stop->place, stop->count < STOP_FRAMES ? (unsigned)stop->count : STOP_FRAMES);
}

static unsigned asks_so_far(void)
{
	unsigned asks = 0;

	for (unsigned i = 0; i < PYTHON_PAGES; i++)
		asks += here.page_next[i]; /* of few pages, and seldom: none has gone round */
	return asks;
}

/* How often the kernel is asked for a page while the caller's stack is read again, so many times. */
#define ASKS_ROUNDS 16
EXPORT unsigned oracle_asks(void)
{
	unsigned before;

	python_stack_read(&here, python_runtime());
	before = asks_so_far();
	for (unsigned i = 0; i < ASKS_ROUNDS; i++)
		python_stack_read(&here, python_runtime());
	return asks_so_far() - before;
}

/* C frames as those that run the stack read last: one for each marker and one that called it. */
static unsigned frames_like(struct unwind_frame *frames, unsigned room)
{
	const struct python_runtime *known = python_runtime();
	unsigned count = 0;
	uint64_t before = UINT64_MAX;

	for (unsigned i = 0; i < here.count && count + 2 <= room; i++) {
		uint64_t marker = here.frames[i].marker;

		if (marker && marker == before)
			continue;
		before = marker;
		for (unsigned j = 0; j < 2; j++, count++)
			frames[count] = (struct unwind_frame){
				.sp = marker ? marker - 48 + 24 * (uint64_t)j : 64 * (uint64_t)count + 4096,
				.slot = known->slot,
				.function = j ? 2 : 1};
	}
	return count;
}

/* Nanoseconds of the thread's CPU time in which the caller's stack is read, hashed and joined. */
EXPORT double oracle_cost(unsigned rounds)
{
	static struct unwind_frame like[512], frames[1024];
	const struct python_runtime *known = python_runtime();
	struct timespec begin, end;
	unsigned count, total = 0;

	if (!python_stack_read(&here, known))
		return -1;
	count = frames_like(like, sizeof(like) / sizeof(*like));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	for (unsigned i = 0; i < rounds; i++) {
		python_stack_read(&here, known);
		total += (unsigned)python_stack_hash(&here);
		memcpy(frames, like, count * sizeof(*frames));
		total += python_join(&here, known, frames, count, sizeof(frames) / sizeof(*frames), 1, true);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	__asm__ volatile("" : : "r"(total));
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / rounds;
}

EXPORT __attribute__((noinline)) int oracle_call(int (*function)(int), int argument)
{
	int result = function(argument);

	__asm__ volatile("" : "+r"(result)); /* no tail call */
	return result;
}
