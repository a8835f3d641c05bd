/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.c - see tally.h. The lookup table belongs to the thread; it is mapped on first use. Sums of unknown
 * paths have reserved slots, so that nothing is lost when the table is full.
 */
#include "record/agent/sample/tally.h"
#include "record/agent/process/address_reserve.h"

#include <string.h>
#include <sys/mman.h>

#define SLOTS (2 * EVENT_TALLY_MAX) /* a power of two, never more than half full */

struct tallied {
	uint32_t count;
	struct tally slots[SLOTS];
};

static uint32_t metric_of[TALLY_METRICS]; /* counter index + 1, 0: not requested */

static void metric_add(enum tally_metric metric, const char *name, enum event_unit unit)
{
	uint32_t index = process.shared->counter_count;

	if (index == EVENT_METRICS_MAX)
		return;
	strncpy(process.shared->counters[index].name, name, sizeof(process.shared->counters[index].name) - 1);
	process.shared->counters[index].unit = unit;
	metric_of[metric] = ++process.shared->counter_count;
}

void tally_open(void)
{
	memset(metric_of, 0, sizeof(metric_of));
	if (process.settings.io) {
		metric_add(TALLY_IO_READ, "IO:read", EVENT_UNIT_BYTES);
		metric_add(TALLY_IO_WRITTEN, "IO:written", EVENT_UNIT_BYTES);
	}
	if (process.settings.memleak) {
		metric_add(TALLY_ALLOCATED, "MEMLEAK:allocated", EVENT_UNIT_BYTES);
		metric_add(TALLY_FREED, "MEMLEAK:freed", EVENT_UNIT_BYTES);
	}
	if (process.settings.sums_mpi) {
		metric_add(TALLY_MPI_CALLS, "MPI:calls", EVENT_UNIT_EVENTS);
		metric_add(TALLY_MPI_BYTES, "MPI:bytes", EVENT_UNIT_BYTES);
		metric_add(TALLY_MPI_TIME, "MPI:time", EVENT_UNIT_NS);
		metric_add(TALLY_MPI_BELOW_1US, "MPI:calls<1us", EVENT_UNIT_EVENTS);
		metric_add(TALLY_MPI_BELOW_10US, "MPI:calls<10us", EVENT_UNIT_EVENTS);
		if (process.settings.mpi_bound_ns > 10000)
			metric_add(TALLY_MPI_LONGER, "MPI:calls>10us", EVENT_UNIT_EVENTS);
	}
	if (process.settings.openmp) {
		metric_add(TALLY_OMP_REGIONS, "OMP:regions", EVENT_UNIT_EVENTS);
		metric_add(TALLY_OMP_TIME, "OMP:time", EVENT_UNIT_NS);
		metric_add(TALLY_OMP_LAST, "OMP:last", EVENT_UNIT_EVENTS);
		metric_add(TALLY_OMP_HELD, "OMP:held", EVENT_UNIT_NS);
		metric_add(TALLY_OMP_CAPACITY, "OMP:capacity", EVENT_UNIT_NS);
		metric_add(TALLY_OMP_WAITED, "OMP:waited", EVENT_UNIT_NS);
	}
}

static struct event_tally *shared_of(const struct thread *t)
{
	size_t ring = (size_t)((unsigned char *)t->ring.shared - process.rings) / EVENT_RING_STRIDE;

	return (struct event_tally *)((char *)process.shared + process.shared->tallies_at) +
	       ring * EVENT_TALLY_MAX;
}

void tally_thread_free(struct thread *t)
{
	if (t->tallied)
		address_reserve_unmap(t->tallied, sizeof(*t->tallied));
	t->tallied = NULL;
}

static void table_open(struct thread *t)
{
	uint32_t unknown = thread_partial_root(t);
	void *memory;

	if (!process.shared->tallies_at)
		return;
	memory = address_reserve_map(sizeof(struct tallied), -1);
	if (!memory)
		return;
	madvise(memory, sizeof(struct tallied), MADV_DONTFORK);
	t->tallied = memory;
	for (enum tally_metric metric = TALLY_NONE + 1; metric < TALLY_METRICS; metric++)
		if (metric_of[metric])
			tally_bind(t, tally_find(t, tally_key(unknown, metric)), tally_key(unknown, metric),
				unknown, metric);
}

struct tally *tally_find(struct thread *t, uint64_t key)
{
	uint64_t place = key * UINT64_C(0x9e3779b97f4a7c15) >> 40;
	struct tally *slot;

	if (!t->tallied)
		table_open(t);
	if (!t->tallied)
		return NULL;
	for (;; place++) {
		slot = &t->tallied->slots[place & (SLOTS - 1)];
		if (slot->key == key)
			return slot;
		if (!slot->key)
			break;
	}
	return t->tallied->count < EVENT_TALLY_MAX ? slot : NULL;
}

void tally_bind(struct thread *t, struct tally *tally, uint64_t key, uint32_t node, enum tally_metric metric)
{
	struct event_tally *shared = &shared_of(t)[t->tallied->count++];

	shared->node = node;
	shared->metric = metric_of[metric];
	atomic_store_explicit(&shared->total, 0, memory_order_relaxed);
	tally->key = key;
	tally->total = &shared->total;
	atomic_store_explicit(&t->ring.shared->tally_count, t->tallied->count, memory_order_release);
}

const struct tally *tally_at(struct thread *t, uint32_t node, enum tally_metric metric)
{
	struct tally *tally = tally_find(t, tally_key(node, metric));

	if (tally && !tally->total)
		tally_bind(t, tally, tally_key(node, metric), node, metric);
	return tally;
}

void tally_add_at(struct thread *t, uint32_t node, enum tally_metric metric, uint64_t more)
{
	struct tally *tally = tally_find(t, tally_key(node, metric));

	if (!tally)
		tally = tally_find(t, tally_key(thread_partial_root(t), metric));
	if (!tally)
		return;
	if (!tally->total)
		tally_bind(t, tally, tally_key(node, metric), node, metric);
	tally_add(tally, more);
}
