/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_rings.c - libFuzzer: the memory that a measured process shares with its collector, written by
 * somebody who means harm while it is read: header, module table, rings and their heads, tallies, the
 * activity ring, copies of switch rings. Whatever is there, the store that comes of it is one that readers
 * find sound.
 *
 *   u8 | step | step | ...      bit 0 of the first: the process has ended and left copies of its switch rings
 *   step   u8 kind | u8 which | u16 place | what is to be written
 *
 * Stacks from outside and maps of code that programs make themselves need a process, and are looked at
 * elsewhere.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/base/clock.h"
#include "record/kernel/kernel.h"
#include "record/process/process.h"
#include "record/process/switches.h"
#include "store/read/reader.h"

#define RINGS 4u
#define SWITCH_RINGS 2u
#define SWITCH_DATA 4096u
#define RINGS_AT (EVENT_MODULES_AT + EVENT_MODULE_MAX * sizeof(struct event_module))
#define SWITCHES_AT (RINGS_AT + RINGS * EVENT_RING_STRIDE)
#define ACTIVITY_AT (SWITCHES_AT + EVENT_SWITCHES_BYTES)
#define TALLIES_AT (ACTIVITY_AT + EVENT_RING_HEADER + EVENT_ACTIVITY_DATA)
#define NAMES_AT (TALLIES_AT + RINGS * EVENT_TALLIES_STRIDE)
#define MEMORY_BYTES (NAMES_AT + EVENT_NAMES_DATA)
#define BEGIN_NS UINT64_C(1000000000)
#define STEPS_MAX 256u

enum step_kind {
	STEP_RECORDS,  /* `place` words behind what the ring holds, the activity ring's is the last */
	STEP_PROCESS,  /* a word into the header */
	STEP_MODULE,   /* into a slot of the module table */
	STEP_RING,     /* into the header of a ring */
	STEP_TALLY,    /* a tally */
	STEP_SWITCHES, /* `place` words behind what the copy of a switch ring holds */
	STEP_DRAIN,
	STEP_COMPLETE,
	STEP_COUNT
};

struct world {
	int memory;
	uint8_t *bytes;
	struct store_writer *writer;
	struct measured_process *process;
	const uint8_t *at, *end; /* of the input */
	bool has_ended, is_refused;
};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/dev/shm/hpct-fuzz.XXXXXX";
static char path[64];

static void clean(void)
{
	unlink(path);
	rmdir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (!mkdtemp(directory) || setenv("XDG_CACHE_HOME", directory, 1))
		abort();
	snprintf(path, sizeof path, "%s/rings.mdb", directory);
	return atexit(clean);
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

/* ---- the program's part ---- */

static struct event_ring *ring_of(const struct world *world, uint32_t which)
{
	which %= RINGS + 1;
	return (struct event_ring *)(world->bytes +
				     (which == RINGS ? ACTIVITY_AT : RINGS_AT + which * EVENT_RING_STRIDE));
}

static void memory_make(struct world *world)
{
	struct event_process *shared;

	world->memory = memfd_create("rings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (world->memory < 0 || ftruncate(world->memory, MEMORY_BYTES) ||
		fcntl(world->memory, F_ADD_SEALS, F_SEAL_SHRINK))
		fail("no memory");
	world->bytes = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, world->memory, 0);
	if (world->bytes == MAP_FAILED)
		fail("no memory");
	shared = (struct event_process *)world->bytes;
	shared->magic = EVENT_MAGIC;
	shared->version = EVENT_VERSION;
	shared->pid = 100;
	shared->parent_pid = 1;
	shared->rank = -1;
	shared->ring_count = RINGS;
	shared->memory_bytes = MEMORY_BYTES;
	shared->rings_at = RINGS_AT;
	shared->switches_at = SWITCHES_AT;
	shared->activity_at = ACTIVITY_AT;
	shared->tallies_at = TALLIES_AT;
	shared->names_at = NAMES_AT;
	shared->begin_ns = BEGIN_NS;
	shared->period_ns = 5000000;
	shared->switches_trap = EVENT_TRAP_WAITS;
	shared->counter_count = 2;
	strcpy(shared->metric, "CPUTIME");
	strcpy(shared->counters[0].name, "page-faults");
	strcpy(shared->counters[1].name, "IO");
	memcpy(shared->command, "prog\0an argument\0", 17);
	strcpy(shared->executable, "/nonexistent/prog");
	atomic_store(&shared->ring_claimed, RINGS);
	atomic_store(&shared->ended, world->has_ended ? EVENT_END_EXIT : EVENT_END_NONE);
	atomic_store(&shared->switches_copied, world->has_ended);
	for (uint32_t i = 0; i <= RINGS; i++) {
		struct event_ring *ring = ring_of(world, i);

		atomic_store(&ring->state, EVENT_RING_CLAIMED);
		ring->tid = 100 + i;
		ring->thread = i;
		ring->begin_ns = BEGIN_NS;
	}
}

static uint64_t number(struct world *world, size_t bytes)
{
	uint64_t value = 0;

	bytes = bytes < (size_t)(world->end - world->at) ? bytes : (size_t)(world->end - world->at);
	memcpy(&value, world->at, bytes);
	world->at += bytes;
	return value;
}

/* Words out of the input into a ring of `size` bytes; returns its new head. A recursion of a million levels
 * is a matter of seconds, so that none has more than 65,536. */
static uint64_t words_put(struct world *world, uint8_t *data, uint64_t size, uint64_t head, uint32_t count)
{
	bool counts_nodes = false; /* the high half of this word */

	for (uint32_t i = 0; i < count && world->at < world->end; i++, head += sizeof(uint64_t)) {
		uint64_t word = number(world, sizeof word);

		if (counts_nodes)
			word &= 0x0000ffffffffffff;
		counts_nodes = (word & 0xff) == EVENT_NODES;
		memcpy(data + head % size / sizeof word * sizeof word, &word, sizeof word);
	}
	return head;
}

static void records_put(struct world *world, uint32_t which, uint32_t count)
{
	struct event_ring *ring = ring_of(world, which);
	uint64_t size = which % (RINGS + 1) == RINGS ? EVENT_ACTIVITY_DATA : EVENT_RING_DATA;

	atomic_store(&ring->head,
		words_put(world, (uint8_t *)ring + EVENT_RING_HEADER, size, atomic_load(&ring->head), count));
}

static void switch_records_put(struct world *world, uint32_t which, uint32_t count)
{
	uint8_t *page = world->bytes + SWITCHES_AT + which % SWITCH_RINGS * (4096 + SWITCH_DATA);
	struct perf_event_mmap_page_head {
		uint8_t others[1024];
		uint64_t head, tail;
	} *shown = (void *)page;

	shown->head = words_put(world, page + 4096, SWITCH_DATA, shown->head, count);
}

static void word_put(struct world *world, size_t begin, size_t room, size_t place)
{
	uint64_t word = number(world, sizeof word);

	memcpy(world->bytes + begin + place * 4 % (room - sizeof word + 4), &word, sizeof word);
}

/* ---- the collector's part ---- */

static bool is_open(struct world *world)
{
	int events[SWITCH_RINGS];
	struct error error;

	if (world->process || world->is_refused)
		return !world->is_refused;
	if (measured_process_open(
		    &world->process, world->writer, dup(world->memory), eventfd(0, EFD_CLOEXEC), &error)) {
		world->is_refused = true;
		return false;
	}
	for (uint32_t i = 0; i < SWITCH_RINGS; i++)
		events[i] = eventfd(0, EFD_CLOEXEC);
	/* The stacks of no process here are looked at. */
	world->process->host_pid = INT32_MAX;
	switches_take_up(world->process, events, SWITCH_RINGS, SWITCH_DATA);
	switches_begin(world->process->switches, 0, BEGIN_NS);
	return true;
}

static void drain(struct world *world)
{
	if (!is_open(world))
		return;
	measured_process_look(world->process);
	measured_process_drain(world->process, world->writer, 0, clock_now_ns());
	if (world->process->fullest_bytes > EVENT_RING_DATA)
		fail("a ring is fuller than it can be");
	world->process->fullest_bytes = 0;
	world->process->child_count = 0;
}

static void step(struct world *world)
{
	uint32_t kind = (uint32_t)number(world, 1) % STEP_COUNT, which = (uint32_t)number(world, 1),
		 place = (uint32_t)number(world, 2);

	switch (kind) {
	case STEP_RECORDS:
		records_put(world, which, place);
		break;
	case STEP_PROCESS:
		word_put(world, 0, sizeof(struct event_process), place);
		break;
	case STEP_MODULE:
		word_put(world, EVENT_MODULES_AT + which % 8 * sizeof(struct event_module),
			sizeof(struct event_module), place);
		break;
	case STEP_RING:
		word_put(world, (size_t)((uint8_t *)ring_of(world, which) - world->bytes),
			sizeof(struct event_ring), place);
		break;
	case STEP_TALLY:
		word_put(world, TALLIES_AT + which % RINGS * EVENT_TALLIES_STRIDE, EVENT_TALLIES_STRIDE,
			place);
		break;
	case STEP_SWITCHES:
		switch_records_put(world, which, place);
		break;
	case STEP_DRAIN:
		drain(world);
		break;
	default:
		if (is_open(world))
			measured_process_complete(world->process, world->writer, clock_now_ns());
	}
}

static void finish(struct world *world)
{
	struct store_reader *reader;
	struct error error;

	if (is_open(world)) {
		measured_process_finish(world->process, world->writer, 0, clock_now_ns());
		measured_process_free(world->process);
	}
	modules_close();
	kernel_close();
	/* In order it would be made smaller first, which takes as long as all the rest. */
	if (store_writer_commit(world->writer, &error))
		fail(error.text);
	store_writer_abort(world->writer);
	if (store_reader_open(&reader, path, &error) || store_reader_check(reader, &error))
		fail(error.text);
	store_reader_close(reader);
	unlink(path);
	munmap(world->bytes, MEMORY_BYTES);
	close(world->memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world world = {.at = data + 1, .end = data + size};
	struct error error;

	if (!size)
		return 0;
	world.has_ended = data[0] & 1;
	memory_make(&world);
	if (store_writer_create(&world.writer, path, &error))
		fail(error.text);
	for (uint32_t i = 0; i < STEPS_MAX && world.at < world.end; i++)
		step(&world);
	drain(&world);
	finish(&world);
	return 0;
}
