/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stale_readers.c - see stale_readers.h. LMDB lists its readers but drops none while its process lives; so
 * this code finds the slot in LMDB's lock file from the list's data, and changes it only if all fields
 * match.
 */
#include "store/file/stale_readers.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store/file/tree.h"

#define SLOT_STEP 64u /* slots are aligned to cache lines */
#define WASTE_LEAST_BYTES (UINT64_C(8) << 20)
#define WASTE_SHARE 4u
#define NO_MOMENT UINT64_MAX

/* A line of LMDB's list. */
struct holder {
	int pid;
	uint64_t thread, transaction;
};

/* The begin of a slot, as LMDB 0.9 has it on machines of 64 bits. */
struct slot {
	uint64_t transaction;
	int32_t pid, padding;
	uint64_t thread;
};

static bool holder_read(const char *line, struct holder *holder)
{
	unsigned long long thread, transaction;

	if (sscanf(line, "%d %llx %llu", &holder->pid, &thread, &transaction) != 3)
		return false; /* the heading, or a reader that looks at nothing */
	holder->thread = thread;
	holder->transaction = transaction;
	return true;
}

static int find_oldest(const char *line, void *oldest)
{
	struct holder holder;

	if (holder_read(line, &holder) && holder.transaction < *(uint64_t *)oldest)
		*(uint64_t *)oldest = holder.transaction;
	return 0;
}

bool store_stale_readers_count_pages(MDB_env *env, uint64_t *waiting, uint64_t *pages, uint64_t *page_bytes)
{
	MDB_val key, value;
	MDB_cursor *cursor;
	MDB_envinfo info;
	MDB_stat stat;
	MDB_txn *txn;
	size_t freed;

	*waiting = 0;
	if (mdb_env_info(env, &info) || mdb_env_stat(env, &stat) ||
		mdb_txn_begin(env, NULL, MDB_RDONLY, &txn))
		return false;
	*pages = info.me_last_pgno + 1;
	*page_bytes = stat.ms_psize;
	if (mdb_cursor_open(txn, 0, &cursor) == 0) {
		while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
			memcpy(&freed, value.mv_data, sizeof freed);
			*waiting += freed;
		}
		mdb_cursor_close(cursor);
	}
	mdb_txn_abort(txn);
	return true;
}

/* Is so much waiting that it is worth a reader's moment? */
static bool is_wasteful(MDB_env *env)
{
	uint64_t waiting, pages, page_bytes;

	return store_stale_readers_count_pages(env, &waiting, &pages, &page_bytes) &&
	       waiting * page_bytes > WASTE_LEAST_BYTES && waiting > pages / WASTE_SHARE;
}

struct search {
	const struct store_stale_readers *slow;
	uint64_t until; /* transactions before it are given up */
	unsigned count;
};

static int give_up(const char *line, void *data)
{
	struct search *search = data;
	struct holder holder;

	if (!holder_read(line, &holder) || holder.transaction >= search->until)
		return 0;
	for (size_t at = SLOT_STEP; at + sizeof(struct slot) <= search->slow->slot_bytes; at += SLOT_STEP) {
		struct slot *slot = (struct slot *)(void *)(search->slow->slots + at);
		uint64_t expected = holder.transaction;

		if (slot->transaction != expected || slot->pid != holder.pid || slot->thread != holder.thread)
			continue;
		/* It may be renewing itself just now: then there is nothing to give up. */
		search->count += __atomic_compare_exchange_n(
			&slot->transaction, &expected, NO_MOMENT, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	}
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

unsigned store_stale_readers_give_up(struct store_stale_readers *slow, MDB_env *env, uint64_t patience_ns)
{
	struct search search = {.slow = slow};
	uint64_t oldest = NO_MOMENT;
	MDB_envinfo info;

	if (!slow->slots || mdb_env_info(env, &info) || info.me_last_txnid < STORE_MOMENT_COMMITS)
		return 0;
	search.until = info.me_last_txnid - STORE_MOMENT_COMMITS + 1;
	mdb_reader_list(env, find_oldest, &oldest);
	if (oldest != slow->oldest) {
		slow->oldest = oldest;
		slow->since_ns = now_ns();
	}
	if (oldest >= search.until || now_ns() - slow->since_ns < patience_ns || !is_wasteful(env))
		return 0;
	mdb_reader_list(env, give_up, &search);
	return search.count;
}

/* ---- the reader's side ---- */

struct own {
	struct holder holder;
	bool is_found;
};

static int find_own(const char *line, void *data)
{
	struct own *own = data;
	struct holder holder;

	if (holder_read(line, &holder))
		own->is_found |=
			holder.pid == own->holder.pid && holder.transaction == own->holder.transaction;
	return 0;
}

bool store_stale_readers_is_held(MDB_env *env, pid_t owner, uint64_t transaction)
{
	struct own own = {.holder = {.pid = owner, .transaction = transaction}};

	mdb_reader_list(env, find_own, &own);
	return own.is_found;
}
