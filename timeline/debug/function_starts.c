/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_starts.c - the start of code without a symbol: from unwind entries (FDEs) and PLT entries, which
 * get the name of the function they jump to. Reads the file's raw bytes and checks every access against the
 * file's size.
 */
#include "timeline/debug/symbols.h"

#include <elf.h>
#include <gelf.h>
#include <string.h>

#define PLT_ENTRY_BYTES 16u

/* The file's bytes of the segment that has an address, from there on; NULL: none. */
static const uint8_t *loaded_from(Elf *elf, uint64_t address, uint64_t *room)
{
	size_t segments, file_bytes;
	const char *file = elf_rawfile(elf, &file_bytes);

	if (!file || elf_getphdrnum(elf, &segments))
		return NULL;
	for (size_t i = 0; i < segments; i++) {
		GElf_Phdr segment;
		uint64_t inside;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
			address < segment.p_vaddr)
			continue;
		inside = address - segment.p_vaddr;
		if (inside >= segment.p_filesz)
			continue;
		if (segment.p_offset > file_bytes || segment.p_filesz > file_bytes - segment.p_offset)
			return NULL;
		*room = segment.p_filesz - inside;
		return (const uint8_t *)file + segment.p_offset + inside;
	}
	return NULL;
}

const uint8_t *elf_image(Elf *elf, uint64_t address, size_t size)
{
	uint64_t room = 0;
	const uint8_t *bytes = loaded_from(elf, address, &room);

	return size <= room ? bytes : NULL;
}

uint64_t elf_image_room(Elf *elf, uint64_t address)
{
	uint64_t room = 0;

	return loaded_from(elf, address, &room) ? room : 0;
}

bool elf_image_read(Elf *elf, uint64_t address, void *value, size_t size)
{
	const uint8_t *bytes = elf_image(elf, address, size);

	if (bytes)
		memcpy(value, bytes, size);
	return bytes != NULL;
}

/* ---- unwind entries ---- */

/* .eh_frame_hdr: version, three encodings, pointer to .eh_frame, count, table of (begin, FDE). Only the one
 * form that linkers write is read: 32-bit values relative to the header. */
struct unwind_table {
	uint64_t header; /* address */
	uint32_t count;
};

#define UNWIND_ENTRY_BYTES 8u
#define UNWIND_TABLE_AT 12u
#define ENCODING_UDATA4 0x03
#define ENCODING_PCREL_SDATA4 0x1b
#define ENCODING_DATAREL_SDATA4 0x3b

static bool unwind_table_find(Elf *elf, struct unwind_table *table)
{
	size_t segments;

	if (elf_getphdrnum(elf, &segments))
		return false;
	for (size_t i = 0; i < segments; i++) {
		GElf_Phdr segment;
		uint8_t head[UNWIND_TABLE_AT];

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_GNU_EH_FRAME)
			continue;
		if (!elf_image_read(elf, segment.p_vaddr, head, sizeof head) || head[0] != 1 ||
			(head[1] & 0x0f) > 0x0c || head[2] != ENCODING_UDATA4 ||
			head[3] != ENCODING_DATAREL_SDATA4)
			return false;
		if ((head[1] & 0x0f) != 0x0b && (head[1] & 0x0f) != ENCODING_UDATA4)
			return false; /* the pointer before the count is not of four bytes */
		table->header = segment.p_vaddr;
		memcpy(&table->count, head + 8, sizeof table->count);
		return elf_image(elf, segment.p_vaddr,
			       UNWIND_TABLE_AT + (size_t)table->count * UNWIND_ENTRY_BYTES) != NULL;
	}
	return false;
}

/* The last entry that begins at or before `offset`. */
static bool unwind_table_search(
	Elf *elf, const struct unwind_table *table, uint64_t offset, uint64_t *begin, uint64_t *fde)
{
	const uint8_t *entries =
		elf_image(elf, table->header + UNWIND_TABLE_AT, (size_t)table->count * UNWIND_ENTRY_BYTES);
	uint32_t low = 0, high = table->count;
	int32_t pair[2];

	while (entries && low < high) {
		uint32_t middle = low + (high - low) / 2;

		memcpy(pair, entries + (size_t)middle * UNWIND_ENTRY_BYTES, sizeof pair);
		if (table->header + (uint64_t)(int64_t)pair[0] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!entries || !low)
		return false;
	memcpy(pair, entries + (size_t)(low - 1) * UNWIND_ENTRY_BYTES, sizeof pair);
	*begin = table->header + (uint64_t)(int64_t)pair[0];
	*fde = table->header + (uint64_t)(int64_t)pair[1];
	return true;
}

bool unwind_entry_place(Elf *elf, uint64_t offset, uint64_t *begin, uint64_t *fde)
{
	struct unwind_table table;

	return unwind_table_find(elf, &table) && unwind_table_search(elf, &table, offset, begin, fde);
}

/* How an FDE's addresses are encoded is said by the CIE that it points back to: augmentation "z...R...". */
static bool fde_is_pcrel32(Elf *elf, uint64_t cie)
{
	uint8_t bytes[64];
	size_t at = 9, operand;
	const char *augmentation = (const char *)bytes + at;

	memset(bytes, 0, sizeof bytes);
	if (!elf_image_read(elf, cie, bytes, 48) || bytes[8] > 4 || augmentation[0] != 'z')
		return false;
	operand = at + strlen(augmentation) + 1;
	for (int field = 0; field < 3 && operand < 40; field++) { /* alignments, register */
		while (operand < 40 && bytes[operand] & 0x80)
			operand++;
		operand++;
	}
	operand++; /* length of the augmentation's data, always below 128 */
	for (const char *mark = augmentation + 1; *mark && operand < 40; mark++) {
		if (*mark == 'R')
			return bytes[operand] == ENCODING_PCREL_SDATA4;
		if (*mark == 'P')
			operand +=
				1 +
				((bytes[operand] & 0x0f) == 0x0b || (bytes[operand] & 0x0f) == 0x03 ? 4 : 8);
		else if (*mark == 'L')
			operand++;
		else if (*mark != 'S' && *mark != 'B')
			return false;
	}
	return false;
}

bool unwind_entry_find(Elf *elf, uint64_t offset, uint64_t *begin, uint64_t *end)
{
	uint64_t fde;
	int32_t begin_relative;
	uint32_t words[4]; /* length, distance to the CIE, begin, size */

	if (!unwind_entry_place(elf, offset, begin, &fde) || !elf_image_read(elf, fde, words, sizeof words))
		return false;
	memcpy(&begin_relative, &words[2], sizeof begin_relative);
	if (words[0] == UINT32_MAX || !fde_is_pcrel32(elf, fde + 4 - words[1]) ||
		fde + 8 + (uint64_t)(int64_t)begin_relative != *begin)
		return false;
	*end = *begin + words[3];
	return offset < *end;
}

/* ---- PLT entries ---- */

static const char *relocation_name(Elf *elf, const GElf_Shdr *section, const GElf_Rela *relocation)
{
	Elf_Scn *symbols = elf_getscn(elf, section->sh_link);
	Elf_Data *data = symbols ? elf_getdata(symbols, NULL) : NULL;
	GElf_Shdr header;
	GElf_Sym symbol;
	const char *name;

	if (!data || !gelf_getshdr(symbols, &header) ||
		!gelf_getsym(data, (int)(GELF_R_SYM(relocation->r_info) & INT32_MAX), &symbol))
		return NULL;
	name = elf_strptr(elf, header.sh_link, symbol.st_name);
	return name && name[0] ? name : NULL;
}

/* The symbol whose address the loader puts into the slot at `address`; or, with `index` >= 0, the one of that
 * lazily bound jump slot. */
static const char *slot_name(Elf *elf, uint64_t address, int64_t index)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		size_t count;
		int64_t jump_slot = 0;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize ||
			!(header.sh_flags & SHF_ALLOC) || !(data = elf_getdata(section, NULL)))
			continue;
		count = data->d_size / header.sh_entsize;
		for (size_t i = 0; i < count && i < INT32_MAX; i++) {
			GElf_Rela relocation;
			bool is_slot;

			if (!gelf_getrela(data, (int)i, &relocation))
				break;
			is_slot = GELF_R_TYPE(relocation.r_info) == R_X86_64_JUMP_SLOT;
			if (index >= 0 ? is_slot && jump_slot == index : relocation.r_offset == address)
				return relocation_name(elf, &header, &relocation);
			jump_slot += is_slot;
		}
	}
	return NULL;
}

/* A PLT entry is "[endbr64] [bnd] jmp *slot(%rip)", or the lazy "[endbr64] push $index; [bnd] jmp". */
static const char *entry_name(Elf *elf, uint64_t entry, const uint8_t *code, size_t code_bytes)
{
	size_t at = code_bytes >= 4 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;
	int32_t operand;

	if (at < code_bytes && code[at] == 0xf2)
		at++;
	if (at + 6 <= code_bytes && code[at] == 0xff && code[at + 1] == 0x25) {
		memcpy(&operand, code + at + 2, sizeof operand);
		return slot_name(elf, entry + at + 6 + (uint64_t)(int64_t)operand, -1);
	}
	if (at + 5 <= code_bytes && code[at] == 0x68) {
		memcpy(&operand, code + at + 1, sizeof operand);
		return operand >= 0 ? slot_name(elf, 0, operand) : NULL;
	}
	return NULL;
}

const char *plt_entry_find(Elf *elf, uint64_t offset, uint64_t *begin)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr ehdr;
	size_t names;

	if (!gelf_getehdr(elf, &ehdr) || ehdr.e_machine != EM_X86_64 || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		const uint8_t *code;
		uint64_t size;

		if (!gelf_getshdr(section, &header) || offset < header.sh_addr ||
			offset - header.sh_addr >= header.sh_size || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || strncmp(name, ".plt", 4))
			return NULL;
		size = !strcmp(name, ".plt.got") && header.sh_entsize == 8 ? 8 : PLT_ENTRY_BYTES;
		*begin = header.sh_addr + (offset - header.sh_addr) / size * size;
		code = elf_image(elf, *begin, size);
		return code ? entry_name(elf, *begin, code, size) : NULL;
	}
	return NULL;
}
