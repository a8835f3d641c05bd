/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - UTF-8 and widths. Everything drawn has passed text_clean() or is a literal of ours, so the
 * terminal never sees an escape sequence that a traced program chose.
 */
#include "tui/screen/text.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* Length of a sequence by its first byte, 0: not a first byte. */
static size_t sequence_bytes(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	if (first >= 0xf0 && first <= 0xf4)
		return 4;
	return 0;
}

size_t text_rune(const char *text, uint32_t *rune)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *bytes = (const unsigned char *)text;
	size_t size = sequence_bytes(bytes[0]);
	uint32_t value;

	*rune = 0xfffd;
	if (size == 0)
		return 1;
	value = size == 1 ? bytes[0] : bytes[0] & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	if (value < least[size] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 1;
	*rune = value;
	return size;
}

size_t text_encode(char *bytes, uint32_t rune)
{
	if (rune < 0x80) {
		bytes[0] = (char)rune;
		return 1;
	}
	if (rune < 0x800) {
		bytes[0] = (char)(0xc0 | rune >> 6);
		bytes[1] = (char)(0x80 | (rune & 0x3f));
		return 2;
	}
	if (rune < 0x10000) {
		bytes[0] = (char)(0xe0 | rune >> 12);
		bytes[1] = (char)(0x80 | (rune >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (rune & 0x3f));
		return 3;
	}
	bytes[0] = (char)(0xf0 | rune >> 18);
	bytes[1] = (char)(0x80 | (rune >> 12 & 0x3f));
	bytes[2] = (char)(0x80 | (rune >> 6 & 0x3f));
	bytes[3] = (char)(0x80 | (rune & 0x3f));
	return 4;
}

int text_rune_cells(uint32_t rune)
{
	int cells;

	if (rune >= 0x20 && rune < 0x7f)
		return 1;
	if (rune < 0xa0 || rune > 0x10ffff)
		return 0;
	/* our own glyphs keep their width where the C library knows no UTF-8 */
	if (rune == 0x2026 || (rune >= 0x2500 && rune <= 0x25ff))
		return 1;
	cells = wcwidth((wchar_t)rune);
	return cells < 0 ? 0 : cells;
}

uint32_t text_rune_ascii(uint32_t rune)
{
	if (rune < 0x80)
		return rune;
	if (rune >= 0x2581 && rune <= 0x2588) /* lower eighths */
		return rune < 0x2584 ? '_' : rune < 0x2586 ? 'o' : rune < 0x2587 ? 'O' : '@';
	if (rune >= 0x2589 && rune <= 0x258f) /* left eighths: the end of a bar */
		return rune <= 0x258c ? '*' : ' ';
	switch (rune) {
	case 0x25be: /* fold open */
		return 'v';
	case 0x25b8: /* fold closed */
		return '+';
	case 0x25bc: /* cursor mark */
		return 'V';
	case 0x2500:
	case 0x2504: /* a bound */
		return '-';
	case 0x2502:
	case 0x2577: /* a band's end */
		return '|';
	case 0x2593: /* above a lane's least */
		return '#';
	case 0x2026:
		return '.';
	}
	return '?';
}

int text_cells(const char *text)
{
	int cells = 0;
	uint32_t rune;

	while (*text) {
		text += text_rune(text, &rune);
		cells += text_rune_cells(rune);
	}
	return cells;
}

size_t text_head(const char *text, int cells)
{
	size_t bytes = 0;
	uint32_t rune;

	while (text[bytes]) {
		size_t size = text_rune(text + bytes, &rune);
		cells -= text_rune_cells(rune);
		if (cells < 0)
			break;
		bytes += size;
	}
	return bytes;
}

size_t text_tail(const char *text, int cells)
{
	int skip = text_cells(text) - cells;
	size_t bytes = 0;
	uint32_t rune;

	while (text[bytes] && skip > 0) {
		bytes += text_rune(text + bytes, &rune);
		skip -= text_rune_cells(rune);
	}
	return strlen(text) - bytes;
}

void text_clean(char *out, size_t size_bytes, const char *raw, bool is_ascii)
{
	size_t used = 0;
	uint32_t rune;

	while (*raw) {
		size_t size = text_rune(raw, &rune);
		bool is_drawn = text_rune_cells(rune) > 0 && !(size == 1 && rune == 0xfffd);

		if (is_drawn && (rune < 0x80 || !is_ascii)) {
			if (used + size >= size_bytes)
				break;
			memcpy(out + used, raw, size);
			used += size;
		} else {
			if (used + 4 * size >= size_bytes)
				break;
			for (size_t i = 0; i < size; i++)
				used += (size_t)sprintf(out + used, "\\x%02X", (unsigned char)raw[i]);
		}
		raw += size;
	}
	if (size_bytes)
		out[used] = '\0';
}
