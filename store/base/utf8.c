/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.c - see utf8.h. */
#include "store/base/utf8.h"

#include <string.h>

size_t store_utf8_length(const unsigned char *at, size_t size)
{
	static const unsigned char second_min[] = {0x80, 0xa0, 0x80, 0x90, 0x80};
	static const unsigned char second_max[] = {0xbf, 0xbf, 0x9f, 0xbf, 0x8f};
	size_t length = at[0] < 0x80 ? 1 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2 : (at[0] & 0xf0) == 0xe0 ? 3 : 4;
	unsigned row = at[0] == 0xe0 ? 1 : at[0] == 0xed ? 2 : at[0] == 0xf0 ? 3 : at[0] == 0xf4 ? 4 : 0;

	if (length == 1)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4 || size < length || at[1] < second_min[row] ||
		at[1] > second_max[row])
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

void store_utf8_clean(char *text)
{
	unsigned char *at = (unsigned char *)text;
	size_t size = strlen(text);

	while (size) {
		size_t control = store_utf8_control_length(at, size);
		size_t length = control ? control : store_utf8_length(at, size);

		memset(at, '?', control);
		length = length ? length : 1;
		at += length;
		size -= length;
	}
}
