/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - see node.h. */
#include "store/file/node.h"

#include "store/file/archive_pages.h"

#define NUMBER_BYTES 8u
#define PAGE_OVERFLOW 0x04u
#define PAGE_KINDS (STORE_PAGE_BRANCH | STORE_PAGE_LEAF | PAGE_OVERFLOW)
#define NODE_BIG 0x01u

/* Are these pages there? Those of an archive are unpacked first. */
static bool have_pages(const struct store_pages *pages, uint64_t number, uint64_t count)
{
	return !pages->packed ||
	       store_archive_pages_need(pages->packed, number * pages->page_bytes, count * pages->page_bytes);
}

/* The page of that number if it is what it should be, NULL else. */
static const uint8_t *page_at(const struct store_pages *pages, uint64_t number, unsigned flag)
{
	const uint8_t *page;

	if (number < 2 || number >= pages->page_count || !have_pages(pages, number, 1))
		return NULL;
	page = pages->bytes + number * pages->page_bytes;
	if (store_load64(page) != number || (store_load16(page + 10) & PAGE_KINDS) != flag)
		return NULL;
	return page;
}

/* ---- nodes ---- */

static size_t data_bytes(const uint8_t *node)
{
	return store_load16(node) | (size_t)store_load16(node + 2) << 16;
}

static bool is_big(const uint8_t *node)
{
	return store_load16(node + 4) & NODE_BIG;
}

/* A value in overflow pages. */
static bool big_value(const struct store_pages *pages, uint64_t number, struct store_slice *value)
{
	const uint8_t *page = page_at(pages, number, PAGE_OVERFLOW);
	uint64_t room;

	if (!page)
		return false;
	room = store_load32(page + 12);
	if (room > pages->page_count - number || value->size + STORE_PAGE_HEADER > room * pages->page_bytes ||
		!have_pages(pages, number, room))
		return false;
	value->bytes = page + STORE_PAGE_HEADER;
	return true;
}

bool store_node_value(const struct store_pages *pages, const uint8_t *page, unsigned index,
	struct store_slice *key, struct store_slice *value)
{
	const uint8_t *node = store_node_at(pages, page, index, key);
	size_t left;

	if (!node || !key->size)
		return false;
	value->size = data_bytes(node);
	value->bytes = key->bytes + key->size;
	left = (size_t)(page + pages->page_bytes - value->bytes);
	if (is_big(node))
		return left >= NUMBER_BYTES && big_value(pages, store_load64(value->bytes), value);
	return value->size <= left;
}

uint64_t store_node_pages(
	const struct store_pages *pages, const uint8_t *page, unsigned index, uint64_t *first)
{
	struct store_slice key;
	const uint8_t *node = store_node_at(pages, page, index, &key);

	if (!node || !is_big(node) || key.bytes + key.size + NUMBER_BYTES > page + pages->page_bytes)
		return 0;
	*first = store_load64(key.bytes + key.size);
	return (data_bytes(node) + STORE_PAGE_HEADER - 1) / pages->page_bytes + 1;
}

/* ---- whole pages ---- */

/* Bytes that LMDB gives the node. */
static size_t node_bytes(const uint8_t *node, size_t key_size, bool is_leaf)
{
	size_t size = STORE_NODE_HEADER + key_size;

	if (is_leaf)
		size += is_big(node) ? NUMBER_BYTES : data_bytes(node);
	return size + (size & 1);
}

/* LMDB keeps nodes without gaps: the listed nodes fill all bytes from `upper` on. */
static bool is_whole(const struct store_pages *pages, const uint8_t *page, unsigned count, bool is_leaf)
{
	struct store_slice key, last = {0};
	size_t filled = 0;

	for (unsigned i = 0; i < count; i++, last = key) {
		const uint8_t *node = store_node_at(pages, page, i, &key);

		if (!node || (i > (is_leaf ? 0 : 1) && store_key_compare(last, key) >= 0))
			return false;
		filled += node_bytes(node, key.size, is_leaf);
	}
	return filled == pages->page_bytes - store_load16(page + 14);
}

/* Nodes of a branch or leaf page; 0 when its header makes no sense. */
static unsigned node_count(const struct store_pages *pages, const uint8_t *page)
{
	unsigned lower = store_load16(page + 12), upper = store_load16(page + 14);

	if (lower < STORE_PAGE_HEADER || lower > upper || upper > pages->page_bytes || lower % 2)
		return 0;
	return (lower - STORE_PAGE_HEADER) / 2;
}

const uint8_t *store_page_at(
	const struct store_pages *pages, uint64_t number, enum store_page_kind kind, unsigned *count)
{
	const uint8_t *page = page_at(pages, number, kind);

	*count = page ? node_count(pages, page) : 0;
	if (!*count)
		return NULL;
	if (store_pages_is_known(pages, number))
		return page;
	if (!is_whole(pages, page, *count, kind == STORE_PAGE_LEAF))
		return NULL;
	store_pages_know(pages, number);
	return page;
}
