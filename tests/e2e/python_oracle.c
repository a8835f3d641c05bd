/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_oracle.c - a library that python_oracle.py loads: the agent's reader of Python's stack, called where
 * the interpreter can say itself what is there (oracle_here), and in a signal handler at random instructions
 * of the caller (oracle_stops). Also what a C extension is: it calls back (oracle_call).
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/process/process.h"
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
EXPORT long oracle_stop(unsigned index, char *to, size_t room);
EXPORT int oracle_call(int (*function)(int), int argument);

#define NAMES_AT (EVENT_MODULES_AT + (EVENT_MODULE_MAX * sizeof(struct event_module) + 4095) / 4096 * 4096)
#define STOP_FRAMES 64
#define STOPS_MAX 40000

struct stop {
	int count; /* -1: no state */
	bool is_cut;
	uint64_t place[STOP_FRAMES];
};

static struct python_thread here, there;
static struct module_cache cache;
static struct stop *stops;
static volatile unsigned stop_count;
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
	if (process.shared == MAP_FAILED || stops == MAP_FAILED)
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

static void handle(int number)
{
	struct stop *stop = &stops[stop_count];

	(void)number;
	if (stop_count == STOPS_MAX)
		return;
	stop->count = python_stack_read(&there, python_runtime()) ? (int)there.count : -1;
	stop->is_cut = there.is_cut;
	for (int i = 0; i < stop->count && i < STOP_FRAMES; i++)
		stop->place[i] = there.frames[i].place;
	stop_count++;
}

static void *send(void *what)
{
	unsigned wait = 1;

	(void)what;
	while (runs && stop_count < STOPS_MAX) {
		wait = wait * 1103515245 + 12345;
		usleep(20 + wait / 65536 % 100);
		syscall(SYS_tgkill, getpid(), target, SIGUSR2);
	}
	return NULL;
}

static pthread_t sender;

/* From now on the caller's stack is read at random instructions. */
EXPORT int oracle_stops_begin(void)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};

	target = (pid_t)syscall(SYS_gettid);
	runs = true;
	return sigaction(SIGUSR2, &action, NULL) || pthread_create(&sender, NULL, send, NULL);
}

EXPORT unsigned oracle_stops_end(void)
{
	runs = false;
	pthread_join(sender, NULL);
	return stop_count;
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

EXPORT __attribute__((noinline)) int oracle_call(int (*function)(int), int argument)
{
	int result = function(argument);

	__asm__ volatile("" : "+r"(result)); /* no tail call */
	return result;
}
