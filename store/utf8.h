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

/* Puts '?' in the place of each byte of what a terminal obeys: control characters, those from 0x80 to 0x9f,
 * too, be they UTF-8 or bytes that are none. Signal safe. */
void store_utf8_clean(char *text);

#endif
