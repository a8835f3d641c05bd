/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - which bytes are characters. Names are bytes that nobody promised to be text.
 */
#ifndef STORE_UTF8_H
#define STORE_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed UTF-8 sequence at `at`, of `size` > 0 bytes: no overlong form, no surrogate; 0: it
 * is none. Signal safe. */
size_t store_utf8_length(const unsigned char *at, size_t size);

/* Bytes at the front that a terminal may obey: a control character, those from 0x80 to 0x9f too, which are
 * two bytes in UTF-8 and one that is no character elsewhere; 0: none. `at` is where a character begins, of
 * `size` > 0 bytes. Signal safe. */
static inline size_t store_utf8_control_length(const unsigned char *at, size_t size)
{
	if (at[0] < 0x80)
		return at[0] < 0x20 || at[0] == 0x7f;
	if (at[0] < 0xa0)
		return 1;
	return at[0] == 0xc2 && size > 1 && at[1] >= 0x80 && at[1] < 0xa0 ? 2 : 0;
}

/* Puts '?' in the place of each byte of such control characters. Signal safe. */
void store_utf8_clean(char *text);

#endif
