/* SPDX-License-Identifier: Apache-2.0 */
/* python_lines.c - see python_lines.h. */
#include "record/agent/python/python_lines.h"

#define NO_LINE (-128) /* of 3.10's table */

/* Pairs: bytes of code, lines. */
static int64_t lnotab_find(const uint8_t *table, size_t bytes, int64_t line, int64_t offset)
{
	int64_t at = 0;

	for (size_t i = 0; i + 1 < bytes; i += 2) {
		at += table[i];
		if (at > offset)
			break;
		line += (int8_t)table[i + 1];
	}
	return line;
}

/* Pairs: bytes of code that follow, their line's distance from the last. */
static int64_t table_3_10_find(const uint8_t *table, size_t bytes, int64_t line, int64_t offset)
{
	int64_t end = 0;

	for (size_t i = 0; i + 1 < bytes; i += 2) {
		int8_t step = (int8_t)table[i + 1];

		end += table[i];
		line += step == NO_LINE ? 0 : step;
		if (offset < end)
			return step == NO_LINE ? 0 : line;
	}
	return 0;
}

/* A signed number of 6 bits a byte, lowest first; its lowest bit is the sign. */
static int64_t signed_read(const uint8_t *at, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned shift = 0; at < end && shift < 36; at++, shift += 6) {
		value |= (uint64_t)(*at & 63) << shift;
		if (!(*at & 64))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Entries begin with a byte whose high bit is set: 4 bits of kind, 3 of length in instructions, less 1. */
static int64_t locations_find(const uint8_t *table, size_t bytes, int64_t line, int64_t offset)
{
	const uint8_t *at = table, *end = table + bytes;
	int64_t code = 0;

	while (at < end) {
		unsigned kind = *at >> 3 & 15;

		code += 2 * ((*at & 7) + 1);
		at++;
		if (kind == 13 || kind == 14)
			line += signed_read(at, end);
		else if (kind >= 10 && kind <= 12)
			line += kind - 10;
		if (offset < code)
			return kind == 15 ? 0 : line;
		while (at < end && !(*at & 128))
			at++;
	}
	return 0;
}

uint32_t python_lines_find(
	enum python_lines kind, const uint8_t *table, size_t bytes, uint32_t first_line, int64_t offset)
{
	int64_t line;

	if (offset < 0)
		return first_line;
	switch (kind) {
	case PYTHON_LINES_LNOTAB:
		line = lnotab_find(table, bytes, first_line, offset);
		break;
	case PYTHON_LINES_3_10:
		line = table_3_10_find(table, bytes, first_line, offset);
		break;
	default:
		line = locations_find(table, bytes, first_line, offset);
	}
	return line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
}
