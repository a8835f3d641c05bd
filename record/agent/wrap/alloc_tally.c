/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc_tally.c - see alloc_tally.h. Each allocating call path is kept once per process (a site), independent
 * of threads: another thread may free the block, or the first may have ended. Runs inside the program's
 * malloc: never allocates, locks or waits.
 */
#include "record/agent/wrap/alloc_tally.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "record/agent/sample/callpath.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/tally.h"
#include "record/agent/sample/trace.h"

#define SITES_BYTES (UINT64_C(256) << 20) /* reserved, touched as needed; about a million paths */
#define SITES_SHARE 64u			  /* of limited memory they take at most one part in 64 */
#define SITE_BUCKETS 65536u		  /* a power of two */
#define SITE_KEY (UINT64_C(1) << 63)

struct site {
	struct site *next; /* in its bucket */
	uint64_t hash;
	_Atomic uint64_t orphaned; /* bytes freed by unmeasured threads, not yet tallied */
	struct site *next_orphan;  /* while there are some */
	uint32_t root;		   /* enum event_node */
	uint32_t count;
	struct unwind_frame frames[];
};

/* Empty in fork children. Sites are added, never removed. */
static struct sites {
	_Atomic uint64_t used;
	_Atomic(struct site *) orphans;
	_Atomic(struct site *) buckets[SITE_BUCKETS];
	_Alignas(16) unsigned char memory[];
} * sites;

static uint64_t sites_bytes;

/* Both limits count reserved memory, touched or not. */
static uint64_t sites_most(void)
{
	static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
	uint64_t most = SITES_BYTES;
	struct rlimit limit;

	for (unsigned i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (!getrlimit(limits[i], &limit) && limit.rlim_cur / SITES_SHARE < most)
			most = limit.rlim_cur / SITES_SHARE;
	return most;
}

static void sites_open(void)
{
	void *memory;

	sites_bytes = sites_most();
	if (sites_bytes <= sizeof(*sites) || !live_blocks_open())
		return;
	memory = mmap(NULL, sites_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		-1, 0);
	if (memory == MAP_FAILED)
		return;
	if (madvise(memory, sites_bytes, MADV_WIPEONFORK))
		munmap(memory, sites_bytes);
	else
		sites = memory;
}

/* The first call opens the table. It comes before the program has threads, once the process is measured. */
static bool is_open(void)
{
	static _Atomic int state; /* 1: being opened, or open */

	if (!sites && process.settings.memleak && !atomic_exchange(&state, 1))
		sites_open();
	return sites != NULL;
}

/* ---- sites ---- */

static uint64_t callpath_hash(uint32_t root, const struct unwind_frame *frames, unsigned count)
{
	uint64_t hash = root + 1;

	for (unsigned i = 0; i < count; i++) {
		hash = (hash ^ frames[i].address) * UINT64_C(0x9e3779b97f4a7c15);
		hash = (hash ^ hash >> 29) + frames[i].slot;
	}
	return hash;
}

/* Compares modules, too, as another library may have been loaded at the address. */
static bool is_same(const struct site *site, uint32_t root, const struct unwind_frame *frames, unsigned count)
{
	if (site->root != root || site->count != count)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (site->frames[i].address != frames[i].address || site->frames[i].slot != frames[i].slot)
			return false;
	return true;
}

static struct site *site_make(uint32_t root, const struct unwind_frame *frames, unsigned count)
{
	uint64_t bytes = sizeof(struct site) + count * sizeof(*frames);
	uint64_t at = atomic_fetch_add(&sites->used, bytes);
	struct site *site = (struct site *)(sites->memory + at);

	if (at + bytes > sites_bytes - sizeof(*sites)) {
		atomic_fetch_sub(&sites->used, bytes);
		return NULL;
	}
	site->root = root;
	site->count = count;
	for (unsigned i = 0; i < count; i++)
		site->frames[i] = frames[i];
	return site;
}

/* The site of a path; NULL: no space. Two concurrent threads may create two sites of one path. */
static struct site *site_of(uint32_t root, const struct unwind_frame *frames, unsigned count)
{
	uint64_t hash = callpath_hash(root, frames, count);
	_Atomic(struct site *) *bucket = &sites->buckets[hash >> 40 & (SITE_BUCKETS - 1)];
	struct site *head = atomic_load_explicit(bucket, memory_order_acquire), *site;

	for (site = head; site; site = site->next)
		if (site->hash == hash && is_same(site, root, frames, count))
			return site;
	site = site_make(root, frames, count);
	if (!site)
		return NULL;
	site->hash = hash;
	site->next = head;
	while (!atomic_compare_exchange_weak(bucket, &site->next, site))
		;
	return site;
}

/* ---- frees ---- */

/* Adds freed bytes to the site, in the calling thread's tallies. */
static void freed_add(struct thread *t, const struct site *site, uint64_t bytes)
{
	uint64_t key = (uintptr_t)site | SITE_KEY;
	struct tally *tally = tally_find(t, key);
	uint32_t node = thread_partial_root(t);

	if (tally && tally->total) {
		tally_add(tally, bytes);
		return;
	}
	if (callpath_open_known(t, site->frames, site->count, site->root, process_now_ns(), &node) ==
			CALLPATH_OPEN &&
		tally) {
		tally_bind(t, tally, key, node, TALLY_FREED);
		tally_add(tally, bytes);
		return;
	}
	tally_add_at(t, node, TALLY_FREED, bytes);
}

/* Unmeasured threads leave freed bytes to measured ones. The thread that adds a site's first bytes links
 * it. */
static void orphan_leave(struct site *site, uint64_t bytes)
{
	if (atomic_fetch_add(&site->orphaned, bytes))
		return;
	site->next_orphan = atomic_load(&sites->orphans);
	while (!atomic_compare_exchange_weak(&sites->orphans, &site->next_orphan, site))
		;
}

static void orphans_take(struct thread *t)
{
	struct site *site = NULL, *next;

	if (atomic_load_explicit(&sites->orphans, memory_order_relaxed))
		site = atomic_exchange(&sites->orphans, NULL);
	for (; site; site = next) {
		next = site->next_orphan; /* from the next line on it may be linked again */
		freed_add(t, site, atomic_exchange(&site->orphaned, 0));
	}
}

void alloc_tally_free_begin(const void *address, struct live_block *block)
{
	*block = (struct live_block){0};
	if (address && is_open())
		live_blocks_take(address, block);
}

void alloc_tally_free_end(const struct live_block *block)
{
	struct thread *t;
	int error = errno;

	if (!block->site)
		return;
	t = trace_begin();
	if (t) {
		freed_add(t, block->site, block->bytes);
		orphans_take(t);
		trace_end(t);
	} else {
		orphan_leave((struct site *)(uintptr_t)block->site, block->bytes);
	}
	errno = error;
}

void alloc_tally_free_failed(const void *address, const struct live_block *block)
{
	if (block->site && !live_blocks_add(address, block))
		alloc_tally_free_end(block);
}

/* ---- allocations ---- */

/* xorshift64*, per thread. */
static uint32_t random_next(struct thread *t)
{
	uint64_t x = t->random ? t->random : (t->ring.shared->tid + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	t->random = x;
	return (uint32_t)(x * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

/* The weight of a tallied block of that size, so that sums are right on average. */
static uint64_t weight_of(size_t bytes)
{
	uint64_t share = process.settings.memleak;

	if (share >= EVENT_MEMLEAK_ALL)
		return bytes;
	return (uint64_t)((((unsigned __int128)bytes << 32) + share / 2) / share);
}

/* The site of the calling thread's path, at `node`. A path that could not be published keeps the unknown
 * path's site, even if it could be published later: frees count where the allocation was counted. */
static struct site *site_here(struct thread *t, uint32_t node)
{
	if (node >= EVENT_NODE_FIRST) {
		trace_callpath_walk(t);
		if (t->callpath_count)
			return site_of(t->callpath_root, t->callpath, t->callpath_count);
		node = thread_partial_root(t);
	}
	return site_of(node, NULL, 0);
}

/* The tally of the calling thread's path, which its site owns; NULL: no space. */
static struct tally *here(struct thread *t)
{
	uint32_t node = trace_callpath(t);
	uint64_t key = tally_key(node, TALLY_ALLOCATED);
	struct tally *tally = tally_find(t, key);

	if (!tally || (tally->total && tally->owner))
		return tally;
	if (!tally->total)
		tally_bind(t, tally, key, node, TALLY_ALLOCATED);
	tally->owner = site_here(t, node);
	return tally->owner ? tally : NULL;
}

static void allocated(struct thread *t, const void *address, size_t bytes)
{
	struct tally *tally = here(t);
	struct live_block block;

	if (!tally) {
		ring_lose_kind(&t->ring, RING_LOST_MEMORY, EVENT_LOST_BLOCK, 0, process_now_ns());
		return;
	}
	block = (struct live_block){tally->owner, weight_of(bytes)};
	if (live_blocks_add(address, &block))
		tally_add(tally, block.bytes);
	else
		ring_lose_kind(&t->ring, RING_LOST_MEMORY, EVENT_LOST_BLOCK, 0, process_now_ns());
	orphans_take(t);
}

void alloc_tally_allocated(const void *address, size_t bytes)
{
	struct thread *t;
	int error = errno;

	if (!address || !bytes || !thread_self() || !is_open() || start_stop_is_off())
		return;
	t = trace_begin();
	if (!t) { /* a signal handler that allocates while we are in here */
		ring_lose_kind(
			&thread_self()->ring, RING_LOST_REENTERED, EVENT_LOST_BLOCK, 0, process_now_ns());
		return;
	}
	if (process.settings.memleak >= EVENT_MEMLEAK_ALL || random_next(t) < process.settings.memleak)
		allocated(t, address, bytes);
	trace_end(t);
	errno = error;
}
