/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_lines_internal.h - shared by gpu_lines.c and gpu_lines_files.c: one unit of a line table and a reader
 * of its bytes. A read beyond the end, or of an implausible length, sets the cursor bad and returns 0 or "".
 */
#ifndef TIMELINE_GPU_LINES_INTERNAL_H
#define TIMELINE_GPU_LINES_INTERNAL_H

#include <string.h>

#include "timeline/code/gpu_code_internal.h"

struct gpu_cursor {
	const uint8_t *at, *end;
	bool bad;
};

/* Paths of a unit's files, by number. */
struct gpu_paths {
	const char **list;
	size_t count, capacity;
};

struct gpu_unit {
	struct gpu_code *code;
	struct gpu_bytes strings, line_strings;
	uint16_t version;
	bool is_wide; /* 64-bit DWARF */
	size_t row;   /* index of this sequence's first row among the code's rows */
	uint8_t least_bytes, line_range, opcode_base, lengths[256];
	int8_t line_base;
	struct gpu_paths directories, files;
};

/* A number of `size` bytes. */
static inline uint64_t gpu_fixed(struct gpu_cursor *in, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(in->end - in->at) < size) {
		in->bad = true;
		in->at = in->end;
		return 0;
	}
	memcpy(&value, in->at, size); /* both are little endian */
	in->at += size;
	return value;
}

/* A LEB128 number. */
static inline uint64_t gpu_leb(struct gpu_cursor *in, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)gpu_fixed(in, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !in->bad);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= UINT64_MAX << shift;
	return value;
}

/* A string, not copied. */
const char *gpu_text(struct gpu_cursor *in);
void gpu_skip(struct gpu_cursor *in, uint64_t size);

/* Reads the unit's directories and files, in the format of its version. */
void gpu_unit_read_files(struct gpu_unit *unit, struct gpu_cursor *in);
void gpu_unit_fini(struct gpu_unit *unit);
/* "": no file of that number. */
const char *gpu_path_at(const struct gpu_paths *paths, uint64_t i);

#endif
