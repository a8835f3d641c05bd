/* SPDX-License-Identifier: Apache-2.0 */
/* array.c - see array.h. */
#include "store/base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/huge_pages.h"

/* Many arrays stay small, and some exist once per stream: the first allocation is of about so many bytes. */
#define BYTES_FIRST 512u
#define ITEMS_FIRST 4u

bool array_resize(void *list, size_t count, size_t item_bytes)
{
	void *items, *resized;

	memcpy(&items, list, sizeof items);
	resized = reallocarray(items, count ? count : 1, item_bytes);
	if (!resized)
		return false;
	huge_pages_advise(resized, count * item_bytes);
	memcpy(list, &resized, sizeof resized);
	return true;
}

bool array_resize_zero(void *list, size_t before, size_t count, size_t item_bytes)
{
	char *items;

	if (!array_resize(list, count, item_bytes))
		return false;
	memcpy(&items, list, sizeof items);
	if (count > before)
		memset(items + before * item_bytes, 0, (count - before) * item_bytes);
	return true;
}

bool array_grow(void *list, size_t *room, size_t wanted, size_t item_bytes, bool is_zero)
{
	size_t first = BYTES_FIRST / item_bytes, wider = *room		       ? *room
							 : first < ITEMS_FIRST ? ITEMS_FIRST
									       : first;

	while (wider < wanted)
		wider = wider <= SIZE_MAX / 2 ? 2 * wider : wanted;
	if (is_zero ? !array_resize_zero(list, *room, wider, item_bytes)
		    : !array_resize(list, wider, item_bytes))
		return false;
	*room = wider;
	return true;
}
