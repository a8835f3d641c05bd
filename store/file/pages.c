/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.c - the meta pages of an LMDB file: which snapshot they describe, and whether it still exists.
 *
 *   meta   | page header 16 | magic u32 | version u32 | address u64 | map size u64 | free tree | main tree |
 *            last page u64 | transaction u64 |
 *   tree   | pad u32 (free tree: page size) | flags u16 | depth u16 | 3 x pages u64 | entries u64 |
 *            root u64 |
 */
#include "store/file/pages.h"

#include "store/file/archive_pages.h"

#define PAGE_META 0x08u
#define META_MAGIC 0xBEEFC0DEu
#define META_VERSION 1u
#define META_BYTES (STORE_PAGE_HEADER + 136u)
#define META_FREE_TREE (STORE_PAGE_HEADER + 24u)
#define META_MAIN_TREE (STORE_PAGE_HEADER + 72u)
#define META_LAST_PAGE (STORE_PAGE_HEADER + 120u)
#define META_TRANSACTION (STORE_PAGE_HEADER + 128u)
#define TREE_ROOT 40u
#define FREE_TREE_FLAGS 0x08u /* its keys are integers */
#define NO_PAGE UINT64_MAX

int store_pages_damaged(const struct store_pages *pages, const char *what, struct error *error)
{
	if (store_pages_are_lost(pages))
		return store_pages_lost(pages, error);
	if (pages->packed && store_archive_pages_why(pages->packed))
		return error_set(
			error, ERROR_RUN, "'%s': %s", pages->path, store_archive_pages_why(pages->packed));
	if (pages->is_short)
		return error_set(error, ERROR_RUN, "'%s' is cut short; copy it again", pages->path);
	return error_set(error, ERROR_RUN,
		"'%s' is damaged (%s); restore it from a copy, or read the run's other stores", pages->path,
		what);
}

/* ---- meta pages ---- */

static bool is_page_size(uint64_t size)
{
	return size >= 512 && size <= 65536 && (size & (size - 1)) == 0;
}

/* A meta page at `at`, its page size in *page_bytes. */
static bool is_meta(const uint8_t *at, uint64_t *page_bytes)
{
	*page_bytes = store_load32(at + META_FREE_TREE);
	return store_load16(at + 10) & PAGE_META && store_load32(at + STORE_PAGE_HEADER) == META_MAGIC &&
	       store_load32(at + STORE_PAGE_HEADER + 4) == META_VERSION && is_page_size(*page_bytes);
}

int store_pages_check(
	const uint8_t *head, size_t head_bytes, uint64_t file_bytes, const char *path, struct error *error)
{
	uint64_t page_bytes, second;

	if (head_bytes < META_BYTES || !is_meta(head, &page_bytes))
		return error_set(error, ERROR_RUN,
			"'%s' is not a store of hpct; restore it, or take it out of the run", path);
	if (head_bytes < page_bytes + META_BYTES || !is_meta(head + page_bytes, &second) ||
		second != page_bytes)
		return error_set(error, ERROR_RUN,
			"'%s' is damaged (its second page is not there); restore it from a copy", path);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t last = store_load64(head + i * page_bytes + META_LAST_PAGE);

		/* LMDB may leave pages unwritten behind the last one in use: a little is no proof. */
		if (last / 5 * 4 > file_bytes / page_bytes + 256)
			return error_set(error, ERROR_RUN, "'%s' is cut short (%llu bytes); copy it again",
				path, (unsigned long long)file_bytes);
	}
	return 0;
}

int store_pages_tree(
	struct store_tree *tree, const struct store_pages *pages, const uint8_t *at, struct error *error)
{
	tree->is_bundled = false;
	tree->depth = store_load16(at + 6);
	tree->entries = store_load64(at + 32);
	tree->root = store_load64(at + 40);
	if (tree->root == NO_PAGE)
		tree->depth = 0;
	else if (tree->depth == 0 || tree->depth > STORE_TREE_DEPTH_MAX)
		return store_pages_damaged(pages, "a tree's depth", error);
	return 0;
}

/* The meta page is copied before it is believed: a writer two commits ahead may be overwriting it. */
int store_pages_open(struct store_pages *pages, const uint8_t *bytes, uint64_t file_bytes,
	uint64_t transaction, const char *path, struct store_archive_pages *packed, struct error *error)
{
	uint8_t meta[META_BYTES];
	const uint8_t *at = bytes;
	uint64_t page_bytes, last;

	*pages = (struct store_pages){.bytes = bytes, .path = path, .packed = packed};
	if (file_bytes < META_BYTES || !is_meta(bytes, &page_bytes) || file_bytes < page_bytes + META_BYTES)
		return store_pages_damaged(pages, "its first page", error);
	if (transaction == UINT64_MAX ? store_load64(at + page_bytes + META_TRANSACTION) >
						store_load64(at + META_TRANSACTION)
				      : store_load64(at + META_TRANSACTION) != transaction)
		at += page_bytes;
	memcpy(meta, at, sizeof meta);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	pages->transaction = store_load64(meta + META_TRANSACTION);
	if ((transaction != UINT64_MAX && pages->transaction != transaction) ||
		store_load64(at + META_TRANSACTION) != pages->transaction)
		return 1;
	last = store_load64(meta + META_LAST_PAGE);
	pages->page_bytes = page_bytes;
	pages->is_short = last >= file_bytes / page_bytes;
	pages->page_count = pages->is_short ? file_bytes / page_bytes : last + 1;
	return store_pages_tree(&pages->names, pages, meta + META_MAIN_TREE, error);
}

static void store64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof value);
}

void store_pages_begin(uint8_t *bytes, uint32_t page_bytes, uint64_t map_bytes)
{
	memset(bytes, 0, 2 * (size_t)page_bytes);
	for (unsigned page = 0; page < 2; page++, bytes += page_bytes) {
		store64(bytes, page);
		bytes[10] = PAGE_META;
		store64(bytes + STORE_PAGE_HEADER, (uint64_t)META_VERSION << 32 | META_MAGIC);
		store64(bytes + STORE_PAGE_HEADER + 16, map_bytes);
		store64(bytes + META_FREE_TREE, (uint64_t)FREE_TREE_FLAGS << 32 | page_bytes);
		store64(bytes + META_FREE_TREE + TREE_ROOT, NO_PAGE);
		store64(bytes + META_MAIN_TREE + TREE_ROOT, NO_PAGE);
		store64(bytes + META_LAST_PAGE, 1);
	}
}

/* ---- moments ---- */

bool store_pages_are_gone(const struct store_pages *pages)
{
	uint64_t first, second;

	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* what was read was read before */
	first = store_load64(pages->bytes + META_TRANSACTION);
	second = store_load64(pages->bytes + pages->page_bytes + META_TRANSACTION);
	return (first > second ? first : second) >= pages->transaction + pages->sure &&
	       !pages->is_held(pages->holder, pages->transaction);
}

int store_pages_lost(const struct store_pages *pages, struct error *error)
{
	return error_set(error, ERROR_IO,
		"'%s' is being recorded, and the moment looked at was given up, because this reader slept or "
		"took long while the file grew for it; ask again, or for a part (--time)",
		pages->path);
}
