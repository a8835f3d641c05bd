/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - checks UTF-8. Names are arbitrary bytes, not necessarily text.
 */
#ifndef STORE_UTF8_H
#define STORE_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed UTF-8 sequence at `at` (of `size` > 0 bytes): no overlong form, no surrogate; 0:
 * not well-formed. Signal safe. */
size_t store_utf8_length(const unsigned char *at, size_t size);

/* Bytes of the terminal control character at `at` (of `size` > 0 bytes), the start of a character; 0: none.
 * Includes U+0080 to U+009F, which take two bytes in UTF-8 and one in 8-bit encodings. Signal safe. */
static inline size_t store_utf8_control_length(const unsigned char *at, size_t size)
{
	if (at[0] < 0x80)
		return at[0] < 0x20 || at[0] == 0x7f;
	if (at[0] < 0xa0)
		return 1;
	return at[0] == 0xc2 && size > 1 && at[1] >= 0x80 && at[1] < 0xa0 ? 2 : 0;
}

/* Replaces each byte of such control characters by '?'. Signal safe. */
void store_utf8_clean(char *text);

#endif
