/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - quoted strings out of bytes that nobody promised to be text.
 */
#include "timeline/json.h"

#include <stdio.h>

/* Bytes of the well-formed UTF-8 sequence at `at`: no overlong form, no surrogate; 0: it is none. */
static size_t utf8_length(const unsigned char *at, size_t size)
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

static void put_one(struct store_bytes *out, unsigned char c, bool is_text)
{
	char code[8];
	int size;

	if (!is_text)
		size = snprintf(code, sizeof code, "\\\\x%02x", c);
	else if (c == '"' || c == '\\')
		size = snprintf(code, sizeof code, "\\%c", c);
	else
		size = snprintf(code, sizeof code, "\\u%04x", c);
	store_bytes_put(out, code, (size_t)size);
}

void json_put_string(struct store_bytes *out, const char *bytes, size_t size)
{
	const unsigned char *at = (const unsigned char *)bytes;
	size_t done = 0, i = 0;

	store_bytes_put(out, "\"", 1);
	while (i < size) {
		size_t length = utf8_length(at + i, size - i);

		if (length > 0 && at[i] >= 0x20 && at[i] != '"' && at[i] != '\\' && at[i] != 0x7f) {
			i += length;
			continue;
		}
		store_bytes_put(out, bytes + done, i - done);
		put_one(out, at[i], length > 0);
		done = ++i;
	}
	store_bytes_put(out, bytes + done, size - done);
	store_bytes_put(out, "\"", 1);
}
