/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fde.c - reads .eh_frame_hdr and the records of .eh_frame, and finds the FDE that covers a pc, by the search
 * table or, without one, by a scan.
 */
#include <dwarf.h>
#include <string.h>

#include "record/agent/unwind/fde.h"

/* Only personality routines use indirect pointers. */
uint64_t fde_pointer_read(
	struct dwarf_reader *c, const struct cfi_image *image, uint8_t encoding, uint64_t data_base)
{
	uint64_t here = dwarf_reader_address(c, image), value;

	if (encoding == DW_EH_PE_omit)
		return 0;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		value = dwarf_reader_fixed(c, 8);
		break;
	case DW_EH_PE_uleb128:
		value = dwarf_reader_uleb(c);
		break;
	case DW_EH_PE_udata2:
		value = dwarf_reader_fixed(c, 2);
		break;
	case DW_EH_PE_udata4:
		value = dwarf_reader_fixed(c, 4);
		break;
	case DW_EH_PE_udata8:
		value = dwarf_reader_fixed(c, 8);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)dwarf_reader_sleb(c);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)dwarf_reader_signed(c, 2);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)dwarf_reader_signed(c, 4);
		break;
	case DW_EH_PE_sdata8:
		value = dwarf_reader_fixed(c, 8);
		break;
	default:
		c->bad = true;
		return 0;
	}
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return value + here;
	case DW_EH_PE_datarel:
		return value + data_base;
	default:
		c->bad = true;
		return 0;
	}
}

int cfi_module_init(struct cfi_module *module, uint64_t header)
{
	const struct cfi_image *image = &module->image;
	struct dwarf_reader c = dwarf_reader_at(image, header, image->end);
	uint64_t version = dwarf_reader_fixed(&c, 1), count;
	uint8_t frame_encoding = (uint8_t)dwarf_reader_fixed(&c, 1),
		count_encoding = (uint8_t)dwarf_reader_fixed(&c, 1);
	uint8_t table_encoding = (uint8_t)dwarf_reader_fixed(&c, 1);

	module->header = header;
	module->table = 0;
	module->table_count = 0;
	module->eh_frame = fde_pointer_read(&c, image, frame_encoding, header);
	if (c.bad || version != 1 || module->eh_frame < image->begin || module->eh_frame >= image->end) {
		module->image = (struct cfi_image){0};
		return CFI_DAMAGED;
	}
	count = fde_pointer_read(&c, image, count_encoding, header);
	if (table_encoding == (DW_EH_PE_datarel | DW_EH_PE_sdata4) && count <= UINT32_MAX &&
		dwarf_reader_has(&c, count * 8)) {
		module->table = dwarf_reader_address(&c, image);
		module->table_count = (uint32_t)count;
	}
	return 0;
}

uint64_t cfi_fde_address(const struct cfi_module *module, uint64_t pc)
{
	const uint8_t *table = module->image.bytes + (module->table - module->image.begin);
	int64_t wanted = (int64_t)(pc - module->header);
	uint32_t low = 0, high = module->table_count;
	int32_t pair[2];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		memcpy(pair, table + (size_t)middle * 8, sizeof(pair));
		if (pair[0] <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	memcpy(pair, table + (size_t)(low - 1) * 8, sizeof(pair));
	return module->header + (uint64_t)(int64_t)pair[1];
}

/* Opens a length-prefixed record; *end_address: the next one. */
static struct dwarf_reader record_open(const struct cfi_image *image, uint64_t address, uint64_t *end_address)
{
	struct dwarf_reader c = dwarf_reader_at(image, address, image->end);
	uint64_t length = dwarf_reader_fixed(&c, 4);

	if (length == UINT32_MAX)
		length = dwarf_reader_fixed(&c, 8);
	if (!dwarf_reader_has(&c, length))
		return c;
	c.end = c.at + length;
	*end_address = dwarf_reader_address(&c, image) + length;
	return c;
}

static int cie_augmentation_read(
	struct dwarf_reader *c, const struct cfi_image *image, const char *letters, struct fde *fde)
{
	uint64_t length = dwarf_reader_uleb(c);
	struct dwarf_reader data = *c;

	dwarf_reader_skip(c, length);
	if (c->bad)
		return CFI_DAMAGED;
	data.end = c->at;
	fde->augmented = true;
	for (letters++; *letters; letters++) {
		if (*letters == 'L')
			dwarf_reader_skip(&data, 1);
		else if (*letters == 'R')
			fde->pointer_encoding = (uint8_t)dwarf_reader_fixed(&data, 1);
		else if (*letters == 'P') {
			uint8_t encoding = (uint8_t)dwarf_reader_fixed(&data, 1);

			fde_pointer_read(&data, image, encoding & 0x0f, 0);
		} else if (*letters == 'S')
			fde->signal_frame = true;
		else if (*letters != 'B')
			return CFI_DAMAGED;
	}
	return data.bad ? CFI_DAMAGED : 0;
}

static int cie_read(const struct cfi_image *image, uint64_t address, struct fde *fde)
{
	uint64_t end;
	struct dwarf_reader c = record_open(image, address, &end);
	uint64_t id = dwarf_reader_fixed(&c, 4), version = dwarf_reader_fixed(&c, 1);
	const char *letters = (const char *)c.at;

	while (dwarf_reader_fixed(&c, 1))
		;
	if (c.bad || id || (version != 1 && version != 3))
		return CFI_DAMAGED;
	fde->code_align = dwarf_reader_uleb(&c);
	fde->data_align = dwarf_reader_sleb(&c);
	fde->return_register = (uint8_t)(version == 1 ? dwarf_reader_fixed(&c, 1) : dwarf_reader_uleb(&c));
	fde->pointer_encoding = DW_EH_PE_absptr;
	if (fde->return_register >= ARCH_REGISTERS)
		return CFI_DAMAGED;
	if (letters[0] == 'z' && cie_augmentation_read(&c, image, letters, fde))
		return CFI_DAMAGED;
	if (letters[0] && letters[0] != 'z')
		return CFI_DAMAGED;
	fde->initial = c;
	return c.bad ? CFI_DAMAGED : 0;
}

/* Reads the record at `address`. 0, CFI_NONE for a CIE or the terminator, CFI_DAMAGED; *next: the address
 * after it. */
static int fde_read(const struct cfi_image *image, uint64_t address, struct fde *fde, uint64_t *next)
{
	struct dwarf_reader c = record_open(image, address, next);
	uint64_t id_address = dwarf_reader_address(&c, image), id = 0;

	if (c.bad)
		return CFI_DAMAGED;
	if (c.at == c.end)
		return CFI_NONE;
	id = dwarf_reader_fixed(&c, 4);
	if (!id)
		return CFI_NONE;
	*fde = (struct fde){0};
	if (c.bad || cie_read(image, id_address - id, fde))
		return CFI_DAMAGED;
	fde->pc_begin = fde_pointer_read(&c, image, fde->pointer_encoding, 0);
	fde->pc_end = fde->pc_begin + fde_pointer_read(&c, image, fde->pointer_encoding & 0x0f, 0);
	if (fde->augmented)
		dwarf_reader_skip(&c, dwarf_reader_uleb(&c));
	fde->instructions = c;
	return c.bad ? CFI_DAMAGED : 0;
}

static int fde_scan(const struct cfi_module *module, uint64_t pc, struct fde *fde)
{
	uint64_t at = module->eh_frame, next = 0;

	for (;; at = next) {
		int result = fde_read(&module->image, at, fde, &next);

		if (result == CFI_DAMAGED || next <= at)
			return result;
		if (!result && pc >= fde->pc_begin && pc < fde->pc_end)
			return 0;
		if (next - at == 4)
			return CFI_NONE;
	}
}

int fde_find(const struct cfi_module *module, uint64_t pc, struct fde *fde)
{
	uint64_t at, next;
	int result;

	if (module->image.begin == module->image.end)
		return CFI_NONE;
	if (!module->table)
		return fde_scan(module, pc, fde);
	at = cfi_fde_address(module, pc);
	if (!at)
		return CFI_NONE;
	result = fde_read(&module->image, at, fde, &next);
	if (result)
		return result;
	return pc >= fde->pc_begin && pc < fde->pc_end ? 0 : CFI_NONE;
}
