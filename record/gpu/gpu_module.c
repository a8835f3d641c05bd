/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_module.c - see gpu_module.h. The memory is untrusted: seals keep it unchanged, and all offsets in its
 * headers are checked against its size.
 */
#include "record/gpu/gpu_module.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/base/memfd_check.h"
#include "store/base/hash.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_WRITE)
#define MODULE_BYTES_MAX ((size_t)256 << 20)
#define CODE ".text."

/* ---- kernels by name ---- */

static struct u64_map_key key_of(const char *name, size_t bytes)
{
	struct store_hash hash = store_hash128(name, bytes);

	return (struct u64_map_key){hash.high, hash.low};
}

/* Index of the hash; 0: no memory. */
static uint32_t module_add(struct gpu_module_kernels *kernels, uint64_t hash)
{
	for (uint32_t i = 1; i < kernels->count; i++)
		if (kernels->modules[i] == hash)
			return i;
	if (kernels->count + 1 >= kernels->capacity) {
		uint32_t room = kernels->capacity ? 2 * kernels->capacity : 16;
		uint64_t *wider = realloc(kernels->modules, room * sizeof(*wider));

		if (!wider)
			return 0;
		kernels->modules = wider;
		kernels->capacity = room;
	}
	if (!kernels->count)
		kernels->modules[kernels->count++] = 0;
	kernels->modules[kernels->count] = hash;
	return kernels->count++;
}

static void kernel_note(struct gpu_module_kernels *kernels, const char *name, size_t bytes, uint32_t module)
{
	struct u64_map_key key = key_of(name, bytes);
	uint32_t known = u64_map_get(&kernels->by_name, key);

	if (known == U64_MAP_NONE && kernels->by_name.count < GPU_MODULE_KERNELS_MAX)
		u64_map_put(&kernels->by_name, key, module);
	else if (known != U64_MAP_NONE && known != module)
		u64_map_put(&kernels->by_name, key, 0);
}

uint64_t gpu_module_of(const struct gpu_module_kernels *kernels, const char *name, size_t bytes)
{
	uint32_t place =
		kernels->by_name.count ? u64_map_get(&kernels->by_name, key_of(name, bytes)) : U64_MAP_NONE;

	return place == U64_MAP_NONE ? 0 : kernels->modules[place];
}

void gpu_module_fini(struct gpu_module_kernels *kernels)
{
	for (uint32_t i = 0; i < kernels->symbol_count; i++)
		free(kernels->symbols[i].begins);
	free(kernels->symbols);
	u64_map_fini(&kernels->by_name);
	free(kernels->modules);
	*kernels = (struct gpu_module_kernels){0};
}

/* ---- the image ---- */

struct image {
	const char *bytes;
	size_t size;
	uint64_t at, count; /* section headers */
	Elf64_Shdr names;
};

static bool section_read(const struct image *image, uint64_t number, Elf64_Shdr *section)
{
	if (number >= image->count)
		return false;
	memcpy(section, image->bytes + image->at + number * sizeof(*section), sizeof(*section));
	return true;
}

/* Checks that headers and section names lie within the image. */
static bool image_open(struct image *image, const void *bytes, size_t size)
{
	Elf64_Ehdr header;

	if (size < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
		header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shentsize != sizeof(Elf64_Shdr) ||
		header.e_shoff >= size)
		return false;
	*image = (struct image){.bytes = bytes,
		.size = size,
		.at = header.e_shoff,
		.count = (size - header.e_shoff) / sizeof(Elf64_Shdr)};
	if (header.e_shnum && header.e_shnum < image->count)
		image->count = header.e_shnum;
	if (header.e_shstrndx == SHN_XINDEX) { /* then the first section header holds both */
		Elf64_Shdr first;

		if (!section_read(image, 0, &first))
			return false;
		image->count = first.sh_size && first.sh_size < image->count ? first.sh_size : image->count;
		return section_read(image, first.sh_link, &image->names);
	}
	return section_read(image, header.e_shstrndx, &image->names);
}

static bool names_are_inside(const struct image *image)
{
	return image->names.sh_type == SHT_STRTAB && image->names.sh_offset < image->size &&
	       image->names.sh_size <= image->size - image->names.sh_offset;
}

/* ---- where functions begin ---- */

#define SYMBOLS_MAX (1u << 20)

static bool symbols_find(const struct image *image, Elf64_Shdr *table)
{
	for (uint64_t i = 0; section_read(image, i, table); i++)
		if (table->sh_type == SHT_SYMTAB)
			return table->sh_offset < image->size &&
			       table->sh_size <= image->size - table->sh_offset;
	return false;
}

/* Sections of GPU code begin at address 0: then what counts is their place in the file. */
static uint64_t symbol_begin(const struct image *image, const Elf64_Sym *symbol)
{
	Elf64_Shdr section;

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !section_read(image, symbol->st_shndx, &section))
		return 0;
	return symbol->st_value + (section.sh_addr ? 0 : section.sh_offset);
}

static void symbols_note(struct gpu_module_kernels *kernels, const struct image *image, uint64_t hash)
{
	struct gpu_module_symbols *wider, symbols = {.hash = hash};
	Elf64_Shdr table;

	for (uint32_t i = 0; i < kernels->symbol_count; i++)
		if (kernels->symbols[i].hash == hash)
			return;
	if (!symbols_find(image, &table) || table.sh_size / sizeof(Elf64_Sym) > SYMBOLS_MAX)
		return;
	symbols.count = (uint32_t)(table.sh_size / sizeof(Elf64_Sym));
	symbols.begins = calloc(symbols.count + 1u, sizeof(*symbols.begins));
	wider = realloc(kernels->symbols, (kernels->symbol_count + 1u) * sizeof(*wider));
	if (wider)
		kernels->symbols = wider;
	if (!wider || !symbols.begins) {
		free(symbols.begins);
		return;
	}
	for (uint32_t i = 0; i < symbols.count; i++) {
		Elf64_Sym symbol;

		memcpy(&symbol, image->bytes + table.sh_offset + i * sizeof(symbol), sizeof(symbol));
		symbols.begins[i] = symbol_begin(image, &symbol);
	}
	kernels->symbols[kernels->symbol_count++] = symbols;
}

uint64_t gpu_module_address(
	const struct gpu_module_kernels *kernels, uint64_t hash, uint32_t symbol, uint32_t offset)
{
	for (uint32_t i = 0; i < kernels->symbol_count; i++) {
		const struct gpu_module_symbols *symbols = &kernels->symbols[i];

		if (symbols->hash == hash)
			return symbol < symbols->count && symbols->begins[symbol]
				       ? symbols->begins[symbol] + offset
				       : 0;
	}
	return 0;
}

void gpu_module_note(struct gpu_module_kernels *kernels, const void *bytes, size_t size, uint64_t hash)
{
	struct image image;
	Elf64_Shdr section;
	uint32_t module;

	if (!image_open(&image, bytes, size) || !names_are_inside(&image))
		return;
	symbols_note(kernels, &image, hash);
	module = module_add(kernels, hash);
	for (uint64_t i = 0; module && section_read(&image, i, &section); i++) {
		bool is_named = section.sh_name < image.names.sh_size;
		size_t room = is_named ? image.names.sh_size - section.sh_name : 0;
		const char *name = image.bytes + image.names.sh_offset + (is_named ? section.sh_name : 0);
		size_t length = strnlen(name, room);

		if (section.sh_type == SHT_PROGBITS && length < room && length > strlen(CODE) &&
			!memcmp(name, CODE, strlen(CODE)))
			kernel_note(kernels, name + strlen(CODE), length - strlen(CODE), module);
	}
}

void gpu_module_take(
	struct store_writer *writer, int memory, uint64_t hash, struct gpu_module_kernels *kernels)
{
	size_t bytes;
	void *image;

	if (memfd_check(memory, SEALS, &bytes) && bytes > 0 && bytes <= MODULE_BYTES_MAX) {
		image = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, memory, 0);
		if (image != MAP_FAILED) {
			store_writer_blob(writer, hash, image, bytes);
			if (kernels)
				gpu_module_note(kernels, image, bytes, hash);
			munmap(image, bytes);
		}
	}
	close(memory);
}
