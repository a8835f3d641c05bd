/* SPDX-License-Identifier: Apache-2.0 */
/* readahead.c - see readahead.h. */
#include "store/file/readahead.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/base/array.h"
#include "store/file/node.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* from Linux 5.14 on */
#endif
#define PIECE_BYTES ((size_t)128 << 10) /* of one call: what is beyond a disk's readahead may be dropped */

/* A page of a tree; height 1: it is a leaf. */
struct place {
	uint64_t page;
	unsigned height;
};

struct places {
	struct place *at;
	size_t count, room;
};

/* Pages that follow each other. */
struct row {
	uint64_t first, end;
};

struct ask {
	const struct store_pages *pages;
	struct row *rows;
	size_t count, room, asked; /* and how many of them were requested from the disk */
	uint64_t page_count, most;
};

/* ---- asking ---- */

/* By no more than so many bytes at once. */
static void advise(const struct store_pages *pages, const struct row *row, size_t piece_bytes, int advice)
{
	const uintptr_t page_mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	uintptr_t at = ((uintptr_t)pages->bytes + row->first * pages->page_bytes) & ~page_mask;
	uintptr_t end = (uintptr_t)pages->bytes + row->end * pages->page_bytes;

	for (; at < end; at += piece_bytes)
		madvise((void *)at, end - at < piece_bytes ? end - at : piece_bytes, advice);
}

static void ask_rows(struct ask *ask)
{
	for (; ask->asked < ask->count; ask->asked++)
		advise(ask->pages, &ask->rows[ask->asked], PIECE_BYTES, MADV_WILLNEED);
}

/* False: it was enough, or they are no pages of the snapshot. */
static bool add_pages(struct ask *ask, uint64_t first, uint64_t count)
{
	if (first >= ask->pages->page_count || count > ask->pages->page_count - first ||
		count > ask->most - ask->page_count)
		return false;
	if (ask->count == ask->asked || ask->rows[ask->count - 1].end != first) {
		if (!array_widen(&ask->rows, &ask->room, ask->count, sizeof *ask->rows))
			return false;
		ask->rows[ask->count++].first = first;
	}
	ask->rows[ask->count - 1].end = first + count;
	ask->page_count += count;
	return true;
}

static void add_place(struct ask *ask, struct places *places, uint64_t page, unsigned height)
{
	if (array_widen(&places->at, &places->room, places->count, sizeof *places->at) &&
		add_pages(ask, page, 1))
		places->at[places->count++] = (struct place){page, height};
}

/* ---- looking at what has come ---- */

/* Of a leaf: its long values. */
static void look_at_leaf(struct ask *ask, const uint8_t *page, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t first, pages = store_node_pages(ask->pages, page, i, &first);

		if (pages)
			add_pages(ask, first, pages);
	}
}

static void look_at_branch(
	struct ask *ask, const uint8_t *page, unsigned count, unsigned height, struct places *below)
{
	for (unsigned i = 0; i < count; i++) {
		struct store_slice key;
		const uint8_t *node = store_node_at(ask->pages, page, i, &key);

		if (node)
			add_place(ask, below, store_node_child(node), height - 1);
	}
}

static void look_at(struct ask *ask, const struct place *place, struct places *below)
{
	const bool is_leaf = place->height == 1;
	unsigned count;
	const uint8_t *page =
		store_page_at(ask->pages, place->page, is_leaf ? STORE_PAGE_LEAF : STORE_PAGE_BRANCH, &count);

	if (page && is_leaf)
		look_at_leaf(ask, page, count);
	else if (page)
		look_at_branch(ask, page, count, place->height, below);
}

uint64_t store_readahead_trees(
	const struct store_pages *pages, const struct store_tree *const *trees, unsigned count)
{
	struct ask ask = {.pages = pages, .most = STORE_READAHEAD_BYTES_MOST / pages->page_bytes};
	struct places now = {0}, below = {0};

	for (unsigned i = 0; i < count && !pages->packed; i++)
		if (trees[i]->depth)
			add_place(&ask, &now, trees[i]->root, trees[i]->depth);
	for (ask_rows(&ask); now.count; ask_rows(&ask)) {
		struct places looked_at = now;

		for (size_t i = 0; i < now.count; i++)
			look_at(&ask, &now.at[i], &below);
		now = below;
		below = looked_at;
		below.count = 0;
	}
	/* All of a row at once: to be interrupted for every few pages of it takes longer. */
	for (size_t i = 0; i < ask.count; i++)
		advise(pages, &ask.rows[i], (size_t)STORE_READAHEAD_BYTES_MOST, MADV_POPULATE_READ);
	free(now.at);
	free(below.at);
	free(ask.rows);
	return ask.page_count;
}
