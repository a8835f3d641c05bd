/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - one page of an LMDB file's tree and the nodes in it, distrusted: for tree.c.
 *
 *   page   | number u64 | pad u16 | flags u16 | lower u16, upper u16 (overflow: pages u32) | node offsets
 *            u16 ... lower .. free .. upper ... nodes |
 *   node   | lo u16 | hi u16 | flags u16 | key size u16 | key | data |
 *            leaf: data of lo + hi << 16 bytes, or (BIG) the number of its first overflow page
 *            branch: child page = lo + hi << 16 + flags << 32; the first key of a branch is not used
 */
#ifndef STORE_NODE_H
#define STORE_NODE_H

#include <endian.h>
#include <string.h>

#include "store/file/pages.h"

#define STORE_NODE_HEADER 8u

enum store_page_kind { STORE_PAGE_BRANCH = 1, STORE_PAGE_LEAF = 2 };

/* The branch or leaf page of that number; sets *count to its nodes, at least one. NULL: damaged: another
 * kind of page, nodes that do not fill it from `upper` to its end, or keys that do not rise. (A changed or
 * unlisted key would otherwise be skipped silently.) */
const uint8_t *store_page_at(
	const struct store_pages *pages, uint64_t number, enum store_page_kind kind, unsigned *count);

/* The node, its key inside the page; NULL when it is not. Hot in searches. */
static inline const uint8_t *store_node_at(
	const struct store_pages *pages, const uint8_t *page, unsigned index, struct store_slice *key)
{
	unsigned at = store_load16(page + STORE_PAGE_HEADER + 2 * index);

	if (at < store_load16(page + 14) || at + STORE_NODE_HEADER > pages->page_bytes)
		return NULL;
	key->size = store_load16(page + at + 6);
	key->bytes = page + at + STORE_NODE_HEADER;
	return at + STORE_NODE_HEADER + key->size <= pages->page_bytes ? page + at : NULL;
}

static inline uint64_t store_node_child(const uint8_t *node)
{
	return store_load16(node) | (uint64_t)store_load16(node + 2) << 16 |
	       (uint64_t)store_load16(node + 4) << 32;
}

/* The value of a leaf's node. */
bool store_node_value(const struct store_pages *pages, const uint8_t *page, unsigned index,
	struct store_slice *key, struct store_slice *value);
/* Number of overflow pages of the value, from *first on; 0: it is on the leaf. For a leaf that
 * store_page_at() returned; the overflow pages need not exist. */
uint64_t store_node_pages(
	const struct store_pages *pages, const uint8_t *page, unsigned index, uint64_t *first);

/* Like memcmp(); a prefix sorts before longer keys. Most keys differ in their first bytes. */
static inline int store_key_compare(struct store_slice a, struct store_slice b)
{
	size_t shorter = a.size < b.size ? a.size : b.size;
	int order;

	if (shorter >= 8) {
		uint64_t left = be64toh(store_load64(a.bytes)), right = be64toh(store_load64(b.bytes));

		if (left != right)
			return left < right ? -1 : 1;
	}
	order = shorter ? memcmp(a.bytes, b.bytes, shorter) : 0;
	return order ? order : (a.size > b.size) - (a.size < b.size);
}

#endif
