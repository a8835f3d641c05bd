/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_reader.h - bounds-checked reading of DWARF's number formats, for cfi.c and dwarf_expression.c. After
 * a read beyond the end all reads return 0 and `bad` stays set, so that callers check once.
 */
#ifndef RECORD_AGENT_DWARF_READER_H
#define RECORD_AGENT_DWARF_READER_H

#include "record/agent/unwind/cfi.h"

struct dwarf_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

static inline struct dwarf_reader dwarf_reader_at(
	const struct cfi_image *image, uint64_t address, uint64_t end)
{
	if (address < image->begin || end > image->end || address > end)
		return (struct dwarf_reader){.bad = true};
	return (struct dwarf_reader){
		.at = image->bytes + (address - image->begin), .end = image->bytes + (end - image->begin)};
}

static inline uint64_t dwarf_reader_address(const struct dwarf_reader *c, const struct cfi_image *image)
{
	return image->begin + (uint64_t)(c->at - image->bytes);
}

static inline bool dwarf_reader_has(struct dwarf_reader *c, uint64_t bytes)
{
	if (c->bad || (uint64_t)(c->end - c->at) < bytes)
		c->bad = true;
	return !c->bad;
}

static inline void dwarf_reader_skip(struct dwarf_reader *c, uint64_t bytes)
{
	if (dwarf_reader_has(c, bytes))
		c->at += bytes;
}

/* Little-endian number of 1, 2, 4 or 8 bytes. */
static inline uint64_t dwarf_reader_fixed(struct dwarf_reader *c, unsigned bytes)
{
	uint64_t value = 0;

	if (!dwarf_reader_has(c, bytes))
		return 0;
	__builtin_memcpy(&value, c->at, bytes);
	c->at += bytes;
	return value;
}

static inline int64_t dwarf_reader_signed(struct dwarf_reader *c, unsigned bytes)
{
	unsigned unused = 64 - 8 * bytes;

	return (int64_t)(dwarf_reader_fixed(c, bytes) << unused) >> unused;
}

static inline uint64_t dwarf_reader_uleb(struct dwarf_reader *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; dwarf_reader_has(c, 1); shift += 7) {
		uint8_t byte = *c->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return 0;
}

static inline int64_t dwarf_reader_sleb(struct dwarf_reader *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; dwarf_reader_has(c, 1);) {
		uint8_t byte = *c->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			value |= ~UINT64_C(0) << shift;
		return (int64_t)value;
	}
	return 0;
}

#endif
