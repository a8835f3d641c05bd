/* SPDX-License-Identifier: Apache-2.0 */
/* tie_break.c - see tie_break.h. */
#include "store/states/tie_break.h"

#include <string.h>

#include "store/base/hash.h"

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_paths(const struct tie_names *names, uint32_t a, uint32_t b)
{
	struct store_hash x = names->path(names->own, a), y = names->path(names->own, b);

	return store_hash_compare(x, y);
}

static int compare_operations(const struct tie_names *names, uint32_t a, uint32_t b)
{
	struct store_slice x, y;
	int order;

	if (a < STORE_OP_TEXT || b < STORE_OP_TEXT)
		return compare(a, b);
	x = names->operation(names->own, a);
	y = names->operation(names->own, b);
	order = memcmp(x.bytes, y.bytes, x.size < y.size ? x.size : y.size);
	return order ? order : compare(x.size, y.size);
}

int tie_break(const struct tie_names *names, const struct state_span *a, const struct state_span *b)
{
	int order = a->context == b->context ? 0 : compare_paths(names, a->context, b->context);

	if (!order && a->op != b->op)
		order = compare_operations(names, a->op, b->op);
	return order ? order : compare(a->state, b->state);
}
