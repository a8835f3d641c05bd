/* SPDX-License-Identifier: Apache-2.0 */
/* array.c - see array.h. */
#include "store/base/array.h"

#include <stdlib.h>

#define ROOM_LEAST 64u

bool array_double(void **list, size_t *room, size_t item_bytes)
{
	size_t wider = *room ? 2 * *room : ROOM_LEAST;
	void *grown = reallocarray(*list, wider, item_bytes);

	if (!grown)
		return false;
	*list = grown;
	*room = wider;
	return true;
}
