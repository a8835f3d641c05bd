/* SPDX-License-Identifier: Apache-2.0 */
/* dwp.c - see dwp.h. Checks every offset of the index before use. */
#include "timeline/debug/dwp.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/bytes.h"
#include "timeline/debug/debug_files.h"
#include "timeline/debug/dwp_directory.h"

#define COLUMNS_MAX 8u
#define STRING_BYTES_MAX (64u << 20) /* of one unit */
#define PATH_BYTES 4096u

enum section {
	SECTION_INFO,
	SECTION_ABBREV,
	SECTION_LINE,
	SECTION_LISTS, /* of places: .debug_loc, .debug_loclists */
	SECTION_OFFSETS,
	SECTION_RANGES,
	SECTION_COUNT,
	SECTION_STRINGS = SECTION_COUNT /* of all units */
};
static const char *const names[] = {".debug_info.dwo", ".debug_abbrev.dwo", ".debug_line.dwo",
	".debug_loclists.dwo", ".debug_str_offsets.dwo", ".debug_rnglists.dwo", ".debug_str.dwo"};

struct part {
	const uint8_t *at;
	size_t size;
};

struct dwp {
	struct module_elf file;
	struct part index, sections[SECTION_COUNT + 1];
	uint16_t machine, version;
	uint32_t columns, units, slots;
	struct dwp_directory directory;
	char shown[PATH_BYTES];
};

/* ---- the file ---- */

static uint32_t u32_at(struct part part, size_t at)
{
	uint32_t value;

	memcpy(&value, part.at + at, sizeof value);
	return value;
}

static struct part part_of(Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = header->sh_flags & SHF_COMPRESSED ? NULL : elf_rawdata(section, NULL);

	return data && data->d_buf ? (struct part){data->d_buf, data->d_size} : (struct part){NULL, 0};
}

static void sections_read(struct dwp *package)
{
	Elf *elf = package->file.elf;
	Elf_Scn *section = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name =
			gelf_getshdr(section, &header) ? elf_strptr(elf, strings, header.sh_name) : NULL;

		if (!name)
			continue;
		if (!strcmp(name, ".debug_cu_index"))
			package->index = part_of(section, &header);
		if (!strcmp(name, ".debug_loc.dwo"))
			package->sections[SECTION_LISTS] = part_of(section, &header);
		for (unsigned i = 0; i <= SECTION_COUNT; i++)
			if (!strcmp(name, names[i]))
				package->sections[i] = part_of(section, &header);
	}
}

/* version | columns | units | slots; slots x u64 id; slots x u32 row; columns x u32 kind; units x columns x
 * u32 offset; as many sizes */
static bool index_read(struct dwp *package)
{
	struct part index = package->index;
	uint64_t cells;

	if (index.size < 16)
		return false;
	package->version = (uint16_t)u32_at(index, 0);
	package->columns = u32_at(index, 4);
	package->units = u32_at(index, 8);
	package->slots = u32_at(index, 12);
	if ((package->version != 2 && package->version != 5) || package->columns > COLUMNS_MAX)
		return false;
	cells = (uint64_t)package->columns * package->units;
	return 16 + (uint64_t)package->slots * 12 + (uint64_t)package->columns * 4 + cells * 8 <= index.size;
}

struct dwp *dwp_open(const char *path)
{
	struct dwp *package = calloc(1, sizeof *package);
	GElf_Ehdr header;

	if (!package)
		return NULL;
	package->directory.place = package->file.fd = -1;
	if (module_elf_open(&package->file, path, NULL) || !gelf_getehdr(package->file.elf, &header) ||
		header.e_ident[EI_CLASS] != ELFCLASS64)
		goto none;
	package->machine = header.e_machine;
	sections_read(package);
	if (index_read(package) && !dwp_directory_make(&package->directory))
		return package;
none:
	dwp_close(package);
	return NULL;
}

void dwp_close(struct dwp *package)
{
	if (!package)
		return;
	dwp_hide(package);
	dwp_directory_remove(&package->directory);
	module_elf_close(&package->file);
	free(package);
}

int dwp_place(const struct dwp *package)
{
	return package->directory.place;
}

/* ---- one unit ---- */

static bool put(struct store_bytes *out, const void *bytes, size_t size)
{
	store_bytes_put(out, bytes, size);
	return !out->failed;
}

/* The index's number for each section, by its version. */
static int section_of(const struct dwp *package, uint32_t kind)
{
	switch (kind) {
	case 1:
		return SECTION_INFO;
	case 3:
		return SECTION_ABBREV;
	case 4:
		return SECTION_LINE;
	case 5:
		return SECTION_LISTS;
	case 6:
		return SECTION_OFFSETS;
	case 8:
		return package->version == 5 ? SECTION_RANGES : -1;
	default:
		return -1;
	}
}

/* 1 + the unit's row, 0: none. The slots are a hash table with a power of two of entries: each id steps
 * through it by a stride of its own until a slot is empty (DWARF 5, 7.3.5.3). */
static uint32_t row_find(const struct dwp *package, uint64_t id)
{
	uint32_t mask = package->slots - 1, slot = (uint32_t)id & mask,
		 stride = (uint32_t)(id >> 32 & mask) | 1;

	if (!package->slots || package->slots & mask)
		return 0;
	for (uint32_t tries = 0; tries < package->slots; tries++, slot = (slot + stride) & mask) {
		uint32_t row = u32_at(package->index, 16 + (size_t)package->slots * 8 + (size_t)slot * 4);
		uint64_t known;

		memcpy(&known, package->index.at + 16 + (size_t)slot * 8, sizeof known);
		if (!row || row > package->units)
			return 0;
		if (known == id)
			return row;
	}
	return 0;
}

static bool parts_find(const struct dwp *package, uint32_t row, struct part parts[SECTION_COUNT])
{
	size_t kinds = 16 + (size_t)package->slots * 12, offsets = kinds + (size_t)package->columns * 4;
	size_t sizes = offsets + (size_t)package->columns * package->units * 4;

	for (uint32_t i = 0; i < package->columns; i++) {
		int section = section_of(package, u32_at(package->index, kinds + (size_t)i * 4));
		size_t cell = ((size_t)(row - 1) * package->columns + i) * 4;
		uint64_t begin = u32_at(package->index, offsets + cell),
			 size = u32_at(package->index, sizes + cell);

		if (section < 0)
			continue;
		if (begin + size > package->sections[section].size)
			return false;
		if (size)
			parts[section] = (struct part){package->sections[section].at + begin, (size_t)size};
	}
	return parts[SECTION_INFO].size && parts[SECTION_ABBREV].size;
}

/* The strings that the unit names, and its offsets to them: those of all units together may be very long. */
static bool strings_pick(
	const struct dwp *package, struct part from, struct store_bytes *offsets, struct store_bytes *strings)
{
	struct part all = package->sections[SECTION_STRINGS];
	size_t head = package->version == 5 && from.size >= 8 ? 8 : 0;

	if (!from.size)
		return true;
	if (!put(offsets, from.at, head))
		return false;
	for (size_t at = head; at + 4 <= from.size; at += 4) {
		uint32_t offset = u32_at(from, at), picked = (uint32_t)strings->size;
		const uint8_t *nul = offset < all.size ? memchr(all.at + offset, 0, all.size - offset) : NULL;

		if (!put(offsets, &picked, sizeof picked) ||
			!put(strings, nul ? all.at + offset : (const uint8_t *)"",
				nul ? (size_t)(nul - (all.at + offset)) + 1 : 1) ||
			strings->size > STRING_BYTES_MAX)
			return false;
	}
	return true;
}

static bool section_put(struct store_bytes *out, struct store_bytes *headers,
	struct store_bytes *section_names, const char *name, struct part part)
{
	Elf64_Shdr header = {.sh_name = (Elf64_Word)section_names->size,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_EXCLUDE,
		.sh_offset = out->size,
		.sh_size = part.size,
		.sh_addralign = 1};

	return put(headers, &header, sizeof header) && put(section_names, name, strlen(name) + 1) &&
	       put(out, part.at ? part.at : (const uint8_t *)"", part.size);
}

/* An ELF file of nothing but these sections. */
static bool file_make(
	const struct dwp *package, const struct part parts[SECTION_COUNT + 1], struct store_bytes *out)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_REL,
		.e_machine = package->machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof header,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 1};
	struct store_bytes headers = {0}, section_names = {0};
	Elf64_Shdr nothing = {0}, *last;
	bool ok = put(out, &header, sizeof header) && put(&headers, &nothing, sizeof nothing) &&
		  put(&section_names, "", 1);

	for (unsigned i = 0; ok && i <= SECTION_COUNT; i++) {
		const char *name = i == SECTION_LISTS && package->version == 2 ? ".debug_loc.dwo" : names[i];

		if (!parts[i].size)
			continue;
		ok = section_put(out, &headers, &section_names, name, parts[i]);
		header.e_shnum++;
	}
	ok = ok && section_put(out, &headers, &section_names, ".shstrtab", (struct part){NULL, 0});
	if (ok) {
		last = (Elf64_Shdr *)(void *)(headers.data + headers.size - sizeof *last);
		last->sh_type = SHT_STRTAB;
		last->sh_size = section_names.size;
		header.e_shstrndx = header.e_shnum++;
		ok = put(out, section_names.data, section_names.size);
		while (ok && out->size % 8)
			ok = put(out, "", 1);
		header.e_shoff = out->size;
		ok = ok && put(out, headers.data, headers.size);
	}
	if (ok)
		memcpy(out->data, &header, sizeof header);
	store_bytes_fini(&headers);
	store_bytes_fini(&section_names);
	return ok;
}

/* ---- where libdw looks ---- */

/* Makes the directories above, and nothing outside of ours. */
static bool path_make(struct dwp *package, const char *name)
{
	size_t own = strlen(package->directory.path) + 1;
	int size = snprintf(package->shown, sizeof package->shown, "%s/%s", package->directory.path, name);

	if (!name[0] || name[0] == '/' || strstr(name, "..") || size < 0 ||
		(size_t)size >= sizeof package->shown) {
		package->shown[0] = '\0';
		return false;
	}
	for (char *slash = strchr(package->shown + own, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(package->shown, 0700);
		*slash = '/';
	}
	return true;
}

bool dwp_show(struct dwp *package, uint64_t id, const char *name)
{
	struct part parts[SECTION_COUNT + 1] = {0};
	struct store_bytes offsets = {0}, strings = {0}, file = {0};
	uint32_t row = row_find(package, id);
	bool ok = row && parts_find(package, row, parts) &&
		  strings_pick(package, parts[SECTION_OFFSETS], &offsets, &strings);
	int fd = -1;

	parts[SECTION_OFFSETS] = (struct part){(const uint8_t *)offsets.data, offsets.size};
	parts[SECTION_STRINGS] = (struct part){(const uint8_t *)strings.data, strings.size};
	ok = ok && file_make(package, parts, &file) && path_make(package, name);
	if (ok)
		fd = open(package->shown, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	ok = fd >= 0 && write(fd, file.data, file.size) == (ssize_t)file.size;
	if (fd >= 0)
		close(fd);
	store_bytes_fini(&offsets);
	store_bytes_fini(&strings);
	store_bytes_fini(&file);
	return ok;
}

void dwp_hide(struct dwp *package)
{
	size_t own = strlen(package->directory.path) + 1;
	char *slash;

	if (!package->shown[0])
		return;
	unlink(package->shown);
	while ((slash = strrchr(package->shown + own, '/'))) {
		*slash = '\0';
		rmdir(package->shown);
	}
	package->shown[0] = '\0';
}
