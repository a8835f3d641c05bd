/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - quotes arbitrary bytes as JSON strings.
 */
#include "store/base/json.h"

#include <stdbool.h>
#include <stdio.h>

#include "store/base/utf8.h"

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
		size_t length = store_utf8_length(at + i, size - i);
		size_t control = store_utf8_control_length(at + i, size - i);

		if (length > 0 && !control && at[i] != '"' && at[i] != '\\') {
			i += length;
			continue;
		}
		store_bytes_put(out, bytes + done, i - done);
		i += control == 2; /* its second byte is its number */
		put_one(out, at[i], length > 0);
		done = ++i;
	}
	store_bytes_put(out, bytes + done, size - done);
	store_bytes_put(out, "\"", 1);
}
