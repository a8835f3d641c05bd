/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landing_pad.c - see landing_pad.h. Reads only encodings that compilers use on these machines: pointers of
 * four or eight bytes, absolute or self-relative, and varints.
 */
#include "timeline/code/landing_pad.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/debug/symbols.h"

#define PADS_MAX 4096u
#define OMITTED 0xff
#define TABLE_MAX (1u << 20)

/* Bytes that are read one after the other; `failed` once they end. */
struct bytes {
	Elf *elf;
	uint64_t address;
	bool failed;
};

static void take(struct bytes *in, void *value, size_t size)
{
	const uint8_t *bytes = in->failed ? NULL : elf_image(in->elf, in->address, size);

	if (bytes)
		memcpy(value, bytes, size);
	else
		memset(value, 0, size);
	in->failed |= !bytes;
	in->address += size;
}

static uint8_t take_byte(struct bytes *in)
{
	uint8_t byte;

	take(in, &byte, 1);
	return byte;
}

static uint64_t take_varint(struct bytes *in)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = take_byte(in);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !in->failed && shift < 70);
	return value;
}

/* DW_EH_PE_...: the format in the low four bits, 0x10: relative to where it stands. */
static uint64_t take_encoded(struct bytes *in, uint8_t encoding)
{
	uint64_t at = in->address, value = 0;
	int32_t four;

	switch (encoding & 0x0f) {
	case 0x01:
		return take_varint(in);
	case 0x03:
		take(in, &value, 4);
		break;
	case 0x0b:
		take(in, &four, 4);
		value = (uint64_t)(int64_t)four;
		break;
	case 0x00:
	case 0x04:
	case 0x0c:
		take(in, &value, 8);
		break;
	default:
		in->failed = true;
	}
	if ((encoding & 0x70) == 0x10 && value)
		value += at;
	else if (encoding & 0x70)
		in->failed = true;
	return value;
}

/* What the CIE says of its FDEs: how they point to their table, and to code. */
static bool cie_read(Elf *elf, uint64_t cie, uint8_t *pointer, uint8_t *table)
{
	struct bytes in = {elf, cie + 8, false};
	char augmentation[8];
	unsigned size = 0;

	if (take_byte(&in) > 4)
		return false;
	while (size < sizeof augmentation && (augmentation[size] = (char)take_byte(&in)))
		size++;
	if (in.failed || size == sizeof augmentation || augmentation[0] != 'z')
		return false;
	take_varint(&in);
	take_varint(&in);
	take_varint(&in);
	take_varint(&in);
	*pointer = 0;
	*table = OMITTED;
	for (unsigned i = 1; i < size; i++) {
		if (augmentation[i] == 'R') {
			*pointer = take_byte(&in);
		} else if (augmentation[i] == 'L') {
			*table = take_byte(&in);
		} else if (augmentation[i] == 'P') {
			uint8_t encoding = take_byte(&in);

			take_encoded(&in, encoding & 0x7f);
		}
	}
	return !in.failed && *table != OMITTED;
}

/* The table of the code at `address`, and where that code begins; 0: it has none. */
static uint64_t intern_table_find(Elf *elf, uint64_t address, uint64_t *begin)
{
	uint64_t fde;
	struct bytes in = {elf, 0, false};
	uint32_t words[2];
	uint8_t pointer, table;

	if (!unwind_entry_place(elf, address, begin, &fde))
		return 0;
	in.address = fde;
	take(&in, words, sizeof words);
	if (in.failed || words[0] == UINT32_MAX || !cie_read(elf, fde + 4 - words[1], &pointer, &table))
		return 0;
	take_encoded(&in, pointer);
	take_encoded(&in, pointer & 0x0f);
	if (take_varint(&in) < 4)
		return 0;
	address = take_encoded(&in, table & 0x7f);
	return in.failed ? 0 : address;
}

static size_t table_read(Elf *elf, uint64_t table, uint64_t begin, struct cfg_pad *pads, size_t count)
{
	struct bytes in = {elf, table, false};
	uint8_t encoding = take_byte(&in);
	uint64_t base = encoding == OMITTED ? begin : take_encoded(&in, encoding), size, end;

	encoding = take_byte(&in);
	if (encoding != OMITTED)
		take_varint(&in);
	encoding = take_byte(&in);
	size = take_varint(&in);
	end = in.address + (size < TABLE_MAX ? size : 0);
	while (in.address < end && !in.failed && count < PADS_MAX) {
		uint64_t start = take_encoded(&in, encoding & 0x0f);
		uint64_t length = take_encoded(&in, encoding & 0x0f);
		uint64_t pad = take_encoded(&in, encoding & 0x0f);

		take_varint(&in);
		if (pad && length && !in.failed)
			pads[count++] = (struct cfg_pad){begin + start, begin + start + length, base + pad};
	}
	return count;
}

size_t landing_pads_find(Elf *elf, const struct cfg_range *ranges, unsigned range_count, struct cfg_pad **out)
{
	struct cfg_pad *pads = NULL;
	size_t count = 0;

	*out = NULL;
	for (unsigned i = 0; i < range_count; i++) {
		uint64_t begin, table = intern_table_find(elf, ranges[i].begin, &begin);

		if (!table || begin < ranges[i].begin || begin >= ranges[i].end)
			continue;
		if (!pads)
			pads = malloc(PADS_MAX * sizeof *pads);
		if (!pads)
			return 0;
		count = table_read(elf, table, begin, pads, count);
	}
	*out = pads;
	return count;
}
