/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c - a snapshot of a store's file: its pages and the roots of its trees.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "store/file/file_internal.h"
#include "store/file/leaf_block.h"
#include "store/store.h"

#define RENEW_TRIES 64
#define COLUMNS_MAJOR 5u /* before, those of settled stores alone */
#define UNHELD_COMMITS 2 /* LMDB gives out what the last commit but one freed */

static int txn_renew(struct store_snapshot *snapshot)
{
	MDB_env *env = snapshot->file->env;
	int rc, dead = 0;

	if (snapshot->txn) {
		mdb_txn_reset(snapshot->txn);
		rc = mdb_txn_renew(snapshot->txn);
	} else {
		rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &snapshot->txn);
	}
	/* Slots of killed readers are freed only by a check, which the writer does at commits; there may be
	 * none. */
	if (rc == MDB_READERS_FULL && mdb_reader_check(env, &dead) == 0 && dead > 0)
		return EAGAIN;
	if (rc == MDB_MAP_RESIZED) {
		store_file_raise_limit(snapshot->file);
		return EAGAIN;
	}
	return rc;
}

/* Advice: where it is not taken, nothing is wrong. */
static void advise(const struct store_snapshot *snapshot)
{
	if (snapshot->map)
		madvise(snapshot->map, snapshot->map_bytes,
			snapshot->is_scattered ? MADV_RANDOM : MADV_NORMAL);
}

void store_snapshot_expect_scattered(struct store_snapshot *snapshot, bool is_scattered)
{
	snapshot->is_scattered = is_scattered;
	advise(snapshot);
}

/* mincore() reports all pages as present to users without write permission. Not all file systems support the
 * other call. */
bool store_snapshot_holds(const struct store_snapshot *snapshot, const uint8_t *byte)
{
	const uintptr_t page_mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1, at = (uintptr_t)byte;
	const size_t offset = at - (uintptr_t)snapshot->map;
	struct iovec look = {.iov_base = &(uint8_t){0}, .iov_len = 1};
	unsigned char is_there = 1;

	if (!snapshot->map || offset >= snapshot->map_bytes)
		return true;
	/* Or the look would bring what it looks for, and megabytes behind it. */
	posix_fadvise(snapshot->file->fd, 0, 0, POSIX_FADV_RANDOM);
	if (preadv2(snapshot->file->fd, &look, 1, (off_t)offset, RWF_NOWAIT) >= 0)
		return true;
	if (errno == EAGAIN)
		return false;
	mincore((void *)(at & ~page_mask), 1, &is_there);
	return is_there & 1;
}

static int map_file(struct store_snapshot *snapshot, struct error *error)
{
	size_t bytes = store_file_bytes(snapshot->file);
	void *map;

	if (bytes <= snapshot->map_bytes)
		return 0;
	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, snapshot->file->fd, 0);
	if (map == MAP_FAILED)
		return error_set(
			error, ERROR_IO, "cannot map '%s': %s", snapshot->file->path, strerror(errno));
	if (snapshot->map)
		munmap(snapshot->map, snapshot->map_bytes);
	snapshot->map = map;
	snapshot->map_bytes = bytes;
	if (snapshot->is_scattered)
		advise(snapshot);
	return 0;
}

/* Forked children (timeline/sum/parallel_sum.h) look on what their parent holds. */
static bool moment_is_held(void *holder, uint64_t transaction)
{
	const struct store_file *file = holder;

	return store_stale_readers_is_held(file->env, file->owner, transaction);
}

static int open_pages(struct store_snapshot *snapshot, struct error *error)
{
	int rc = map_file(snapshot, error);
	unsigned flags = 0;

	if (rc)
		return rc;
	rc = store_pages_open(&snapshot->pages, snapshot->map, snapshot->map_bytes, mdb_txn_id(snapshot->txn),
		snapshot->file->path, NULL, error);
	mdb_env_get_flags(snapshot->file->env, &flags);
	snapshot->pages.is_held = moment_is_held;
	snapshot->pages.holder = snapshot->file;
	snapshot->pages.sure = flags & MDB_NOLOCK ? UNHELD_COMMITS : STORE_MOMENT_COMMITS;
	return rc;
}

/* The first word of the format is checked before anything that another version may have changed. */
static int check_version(struct store_snapshot *snapshot, unsigned *major, struct error *error)
{
	const char *path = snapshot->file->path;
	char text[32] = "";
	struct store_slice value;
	struct store_input input;
	int rc = store_tree_get(&snapshot->pages, &snapshot->trees[STORE_TREE_META], STORE_FORMAT_KEY,
		strlen(STORE_FORMAT_KEY), &value, error);

	if (rc < 0)
		return rc;
	if (rc == 0)
		return error_set(error, ERROR_RUN,
			"'%s' is not a store of hpct (it has no format version); restore it, or take it out "
			"of the run",
			path);
	input = store_input_sealed(value, STORE_FORMAT_KEY, strlen(STORE_FORMAT_KEY));
	if (input.bad || input.end - input.at >= (ptrdiff_t)sizeof text)
		return error_set(error, ERROR_RUN, "'%s' is damaged (its format version)", path);
	memcpy(text, input.at, (size_t)(input.end - input.at));
	if (sscanf(text, "%u.", major) != 1)
		return error_set(error, ERROR_RUN, "'%s' is damaged (its format version)", path);
	if (*major <= STORE_FORMAT_MAJOR)
		return 0;
	return error_set(error, ERROR_RUN,
		"'%s' was written by a newer hpct (format %s, this one reads up to %u.x); install a newer "
		"hpct",
		path, text, STORE_FORMAT_MAJOR);
}

/* Which of its forms the store has settled in. */
static int find_form(struct store_snapshot *snapshot, struct error *error)
{
	struct store_slice value;
	struct store_input input;
	int rc = store_tree_get(&snapshot->pages, &snapshot->trees[STORE_TREE_META], STORE_META_SETTLED,
		strlen(STORE_META_SETTLED), &value, error);

	snapshot->is_dense = snapshot->is_bundled = false;
	if (rc <= 0)
		return rc;
	input = store_input_sealed(value, STORE_META_SETTLED, strlen(STORE_META_SETTLED));
	if (input.bad || input.end - input.at != 1)
		return 0;
	snapshot->is_bundled = *input.at == STORE_SETTLED_BUNDLED;
	snapshot->is_dense = snapshot->is_bundled || *input.at == STORE_SETTLED_DENSE;
	return 0;
}

/* Pages checked in an earlier snapshot may have changed. Without memory every page is checked again. */
static void forget_pages(struct store_snapshot *snapshot)
{
	const size_t words = snapshot->pages.page_count / 64 + 1;

	if (words > snapshot->known_words) {
		free(snapshot->known);
		snapshot->known = calloc(words, sizeof *snapshot->known);
		snapshot->known_words = snapshot->known ? words : 0;
	} else {
		memset(snapshot->known, 0, words * sizeof *snapshot->known);
	}
	snapshot->pages.known = snapshot->known;
}

static int open_trees(struct store_snapshot *snapshot, struct error *error)
{
	unsigned major = 0;
	int rc;

	forget_pages(snapshot);
	rc = store_tree_open(
		&snapshot->trees[STORE_TREE_META], &snapshot->pages, store_tree_name(STORE_TREE_META), error);
	rc = rc ? rc : check_version(snapshot, &major, error);
	rc = rc ? rc : find_form(snapshot, error);
	snapshot->has_columns = major >= COLUMNS_MAJOR || snapshot->is_bundled;
	for (unsigned tree = 0; tree < STORE_TREE_ROLL && !rc; tree++)
		rc = store_tree_open(&snapshot->trees[tree], &snapshot->pages, store_tree_name(tree), error);
	for (unsigned tree = STORE_TREE_ROLL; tree < STORE_TREE_COUNT && !rc; tree++)
		rc = store_tree_open_optional(
			&snapshot->trees[tree], &snapshot->pages, store_tree_name(tree), error);
	for (unsigned tree = 0; tree < STORE_TREE_COUNT && !rc; tree++)
		snapshot->trees[tree].is_bundled =
			snapshot->is_bundled && store_leaf_block_has((enum store_tree_id)tree);
	return rc;
}

/* An archive has one moment: its last. */
static int packed_renew(struct store_snapshot *snapshot, struct error *error)
{
	struct store_archive_pages *packed = snapshot->file->packed;

	if (snapshot->pages.packed)
		return 0;
	if (store_pages_open(&snapshot->pages, store_archive_pages_bytes(packed),
		    store_archive_pages_size(packed), UINT64_MAX, snapshot->file->path, packed, error))
		return error_set(error, ERROR_RUN,
			"'%s' is damaged (its first pages); restore it from a copy", snapshot->file->path);
	return open_trees(snapshot, error);
}

int store_snapshot_renew(struct store_snapshot *snapshot, struct error *error)
{
	int rc = 1;

	if (snapshot->file->packed)
		return packed_renew(snapshot, error);
	for (int i = 0; i < RENEW_TRIES && rc == 1; i++) {
		rc = txn_renew(snapshot);
		if (rc == EAGAIN)
			rc = 1;
		else if (rc)
			return error_set(error, ERROR_IO, "cannot read '%s': %s", snapshot->file->path,
				rc == MDB_READERS_FULL ? "too many readers at once; close some"
						       : mdb_strerror(rc));
		else
			rc = open_pages(snapshot, error);
	}
	if (rc == 1)
		return error_set(error, ERROR_RUN, "'%s' is damaged (its transactions do not fit its pages)",
			snapshot->file->path);
	return rc ? rc : open_trees(snapshot, error);
}

void store_snapshot_end(struct store_snapshot *snapshot)
{
	if (snapshot->txn)
		mdb_txn_abort(snapshot->txn);
	if (snapshot->map)
		munmap(snapshot->map, snapshot->map_bytes);
	free(snapshot->known);
	*snapshot = (struct store_snapshot){0};
}
