/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - see kernel.h. */
#include "record/kernel.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/clock.h"

#define PARTS_MAX 512u
#define KERNEL_SPACE (UINT64_C(1) << 63)
#define NAME_AGAIN_NS UINT64_C(5000000000)
#define SYMBOL_BYTES 128u
#define READ_BYTES (256u << 10) /* the kernel writes its list anew for each reader, by so much at a time */

/* [0] is the kernel itself. */
static struct part {
	uint64_t begin, end;
	uint32_t module; /* of the store; 0: not met */
	char name[60];
} parts[PARTS_MAX];
static uint32_t part_count;
static bool is_hidden; /* addresses mean nothing here */

/* A frame that has no name yet, and the nearest symbol below it. */
static struct waiting {
	uint64_t address, offset, symbol;
	uint32_t module;
	char name[SYMBOL_BYTES];
} * waiting;
static uint32_t waiting_count, waiting_room;
static uint64_t named_ns;

/* "ffffffff81000000 T _text", perhaps with "\t[module]". */
static bool symbol_parse(const char *line, uint64_t *address, char *type, char *name)
{
	unsigned long long number;

	if (sscanf(line, "%llx %c %127s", &number, type, name) != 3)
		return false;
	*address = number;
	return true;
}

static uint64_t text_find(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[256], name[SYMBOL_BYTES], type;
	uint64_t address = 0, found = 0;

	while (file && !found && fgets(line, sizeof(line), file))
		if (symbol_parse(line, &address, &type, name) && !strcmp(name, "_text"))
			break;
	if (file) {
		found = feof(file) ? 0 : address;
		fclose(file);
	}
	return found;
}

/* "ext4 1130496 2 - Live 0xffffffffc0a00000" */
static void modules_read(void)
{
	FILE *file = fopen("/proc/modules", "re");
	unsigned long long size, begin;
	char line[1024], name[48];

	while (file && part_count < PARTS_MAX && fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, " 0x");

		if (!at || sscanf(line, "%47s %llu", name, &size) != 2 || sscanf(at, " %llx", &begin) != 1 ||
			!begin)
			continue;
		parts[part_count] = (struct part){.begin = begin, .end = begin + size};
		snprintf(parts[part_count++].name, sizeof(parts[0].name), "[%s]", name);
	}
	if (file)
		fclose(file);
}

static void parts_find(void)
{
	parts[0] = (struct part){.begin = text_find(), .end = UINT64_MAX, .name = "[kernel]"};
	part_count = 1;
	is_hidden = !parts[0].begin;
	if (!is_hidden)
		modules_read();
}

/* The kernel's build id, from the notes that it shows. */
static void build_id_read(struct store_module *module)
{
	_Alignas(4) char notes[1024];
	FILE *file = fopen("/sys/kernel/notes", "re");
	size_t got = file ? fread(notes, 1, sizeof(notes), file) : 0, at = 0;

	if (file)
		fclose(file);
	while (at + sizeof(Elf64_Nhdr) < got) {
		const Elf64_Nhdr *note = (const void *)(notes + at);
		size_t data = at + sizeof(*note) + ((note->n_namesz + 3u) & ~3u);

		if (data > got || note->n_descsz > got - data)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz <= sizeof(module->build_id)) {
			module->build_id_bytes = (uint8_t)note->n_descsz;
			memcpy(module->build_id, notes + data, note->n_descsz);
			return;
		}
		at = data + ((note->n_descsz + 3u) & ~3u);
	}
}

static struct part *part_at(uint64_t address)
{
	for (uint32_t i = 1; i < part_count; i++)
		if (address >= parts[i].begin && address < parts[i].end)
			return &parts[i];
	return &parts[0];
}

static struct part *part_of(struct store_writer *writer, uint64_t address)
{
	struct part *part;

	if (!part_count)
		parts_find();
	part = part_at(address);
	if (!part->module) {
		struct store_module module = {.kind = STORE_MODULE_KERNEL,
			.path = store_writer_text(writer, part->name, strlen(part->name))};

		if (part == &parts[0])
			build_id_read(&module);
		part->module = store_writer_module(writer, &module);
	}
	return part;
}

static void waiting_add(const struct part *part, uint64_t address, uint64_t offset)
{
	if (waiting_count == waiting_room) {
		uint32_t room = waiting_room ? 2 * waiting_room : 256;
		struct waiting *grown = realloc(waiting, room * sizeof(*grown));

		if (!grown)
			return;
		waiting = grown;
		waiting_room = room;
	}
	waiting[waiting_count++] =
		(struct waiting){.address = address, .offset = offset, .module = part->module};
}

static uint32_t frame_add(struct store_writer *writer, uint32_t parent, uint64_t address)
{
	const struct part *part = part_of(writer, address);
	uint64_t offset = is_hidden ? 0 : address - part->begin;
	uint32_t before = store_writer_context_count(writer);
	uint32_t context = store_writer_context(writer, parent, part->module, offset);

	if (store_writer_context_count(writer) != before)
		waiting_add(part, address, offset);
	return context;
}

uint32_t kernel_context(struct store_writer *writer, uint32_t parent, const uint64_t *address, uint32_t depth)
{
	uint32_t context = parent;

	for (uint32_t i = depth; i-- > 0;) {
		if (address[i] < KERNEL_SPACE)
			continue;
		context = frame_add(writer, context, address[i] - (i > 0));
		if (is_hidden)
			break;
	}
	return context;
}

static int waiting_compare(const void *left, const void *right)
{
	const struct waiting *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* The first that a symbol at `address` may name. */
static uint32_t waiting_from(uint64_t address)
{
	uint32_t low = 0, high = waiting_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (waiting[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void symbols_walk(void)
{
	FILE *file = is_hidden ? NULL : fopen("/proc/kallsyms", "re");
	char line[256], name[SYMBOL_BYTES], type;

	if (file)
		setvbuf(file, NULL, _IOFBF, READ_BYTES);
	while (file && fgets(line, sizeof(line), file)) {
		uint64_t address = strtoull(line, NULL, 16);
		uint32_t at = waiting_from(address);

		if (at == waiting_count || address <= waiting[at].symbol ||
			!symbol_parse(line, &address, &type, name) || !strchr("tTwW", type))
			continue;
		waiting[at].symbol = address;
		memcpy(waiting[at].name, name, sizeof(name));
	}
	if (file)
		fclose(file);
}

void kernel_name(struct store_writer *writer, bool is_last)
{
	uint64_t now_ns = waiting_count ? clock_now_ns() : 0;

	if (!named_ns) /* the list takes a tenth of a second: short runs are named once, at their end */
		named_ns = now_ns;
	if (!waiting_count || (!is_last && now_ns - named_ns < NAME_AGAIN_NS))
		return;
	named_ns = now_ns;
	qsort(waiting, waiting_count, sizeof(*waiting), waiting_compare);
	symbols_walk();
	for (uint32_t i = 0; i < waiting_count; i++) {
		struct waiting *frame = &waiting[i];
		const char *name = is_hidden ? parts[0].name : frame->name;
		struct store_scope scope = {.kind = STORE_SCOPE_FUNCTION};

		/* A symbol that ends before one frame may begin before the next as well. */
		if (i && frame[-1].symbol > frame->symbol) {
			frame->symbol = frame[-1].symbol;
			memcpy(frame->name, frame[-1].name, sizeof(frame->name));
		}
		/* A module may have no symbols: what comes before it names nothing in it. */
		if (!*name || (!is_hidden && part_at(frame->symbol) != part_at(frame->address)))
			continue;
		scope.name = store_writer_text(writer, name, strlen(name));
		scope.start = frame->offset - (is_hidden ? 0 : frame->address - frame->symbol);
		store_writer_symbol(writer, frame->module, frame->offset, &scope, 1);
	}
	waiting_count = 0;
}

void kernel_close(void)
{
	free(waiting);
	waiting = NULL;
	waiting_count = waiting_room = 0;
}
