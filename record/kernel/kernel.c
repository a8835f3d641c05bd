/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - see kernel.h. */
#include "record/kernel/kernel.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/base/clock.h"
#include "record/kernel/kernel_symbols.h"
#include "store/base/array.h"

#define PARTS_MAX 512u
#define PART_NAME_BYTES 60u
#define KERNEL_SPACE (UINT64_C(1) << 63)
#define WALK_AGAIN_NS UINT64_C(5000000000)
#define LINE_BYTES 1024u
#define READ_BYTES (64u << 10)
#define LAST_FUNCTION_BYTES 65536u /* assumed maximum length of the kernel's last function */

/* [0] is the kernel itself, others are modules. */
static struct part {
	uint64_t begin, end;
	char name[PART_NAME_BYTES];
	struct store_module module; /* as in the store */
	uint32_t id;		    /* in the store; 0: not used yet */
	enum { PART_NEW, PART_WANTED, PART_HERE } state;
	struct kernel_symbols symbols;
} parts[PARTS_MAX];
static uint32_t part_count;
static struct kernel_symbols strays; /* JIT code, by its offset from the kernel */
static bool is_hidden;		     /* the kernel hides addresses */

/* A frame without a symbol. */
static struct waiting {
	uint64_t offset;
	uint32_t part;
} * waiting;
static uint32_t waiting_count;
static size_t waiting_capacity;
static uint64_t walked_ns;

/* ---- /proc/kallsyms and /proc/modules ---- */

/* "ffffffff81000000 T _text", perhaps with "\t[module]". */
struct line {
	uint64_t address;
	char type;
	const char *name, *module; /* module NULL: the kernel itself */
	size_t length;
};

static bool line_parse(char *text, struct line *line)
{
	char *at = text, *tab;

	line->address = strtoull(text, &at, 16);
	if (at == text || at[0] != ' ' || !at[1] || at[2] != ' ')
		return false;
	line->type = at[1];
	line->name = at + 3;
	tab = strchr(at + 3, '\t');
	line->length = tab ? (size_t)(tab - line->name) : strlen(line->name);
	line->module = tab ? tab + 1 : NULL;
	return true;
}

/* Takes the complete lines of a piece and moves the last, incomplete one to the front. Returns its length;
 * -1: `take` stopped. */
static ssize_t piece_take(
	char *text, size_t size, bool (*take)(void *context, const struct line *line), void *context)
{
	char *at = text, *end = text + size, *newline;
	struct line line;

	while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
		*newline = '\0';
		if (line_parse(at, &line) && !take(context, &line))
			return -1;
		at = newline + 1;
	}
	memmove(text, at, (size_t)(end - at));
	return end - at < (ssize_t)LINE_BYTES ? end - at : 0;
}

/* Reads all of /proc/kallsyms, until `take` returns false. True: complete. */
static bool symbols_walk(bool (*take)(void *context, const struct line *line), void *context)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : malloc(LINE_BYTES + READ_BYTES);
	ssize_t kept = 0, got = -1;

	while (text && kept >= 0 && (got = read(fd, text + kept, READ_BYTES)) > 0)
		kept = piece_take(text, (size_t)(kept + got), take, context);
	free(text);
	if (fd >= 0)
		close(fd);
	return !got;
}

static bool text_take(void *context, const struct line *line)
{
	if (line->length != 5 || memcmp(line->name, "_text", 5) != 0)
		return true;
	*(uint64_t *)context = line->address;
	return false;
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
		snprintf(parts[part_count++].name, PART_NAME_BYTES, "[%s]", name);
	}
	if (file)
		fclose(file);
}

static void install_paths_find(void)
{
	parts[0] = (struct part){.end = UINT64_MAX, .name = "[kernel]"};
	symbols_walk(text_take, &parts[0].begin);
	part_count = 1;
	is_hidden = !parts[0].begin;
	if (!is_hidden)
		modules_read();
}

/* Reads the build id from the notes in sysfs. */
static void build_id_read(const struct part *part, struct store_module *module)
{
	_Alignas(4) char notes[4096];
	char path[PART_NAME_BYTES + 64] = "/sys/kernel/notes";
	FILE *file;
	size_t got, at = 0;

	if (part != &parts[0])
		snprintf(path, sizeof(path), "/sys/module/%.*s/notes/.note.gnu.build-id",
			(int)strlen(part->name) - 2, part->name + 1);
	file = fopen(path, "re");
	got = file ? fread(notes, 1, sizeof(notes), file) : 0;
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

/* ---- frames ---- */

static struct part *part_of(struct store_writer *writer, uint64_t address)
{
	struct part *part = &parts[0];

	if (!part_count)
		install_paths_find();
	for (uint32_t i = 1; i < part_count; i++)
		if (address >= parts[i].begin && address < parts[i].end)
			part = &parts[i];
	if (!part->id) {
		part->module = (struct store_module){.kind = STORE_MODULE_KERNEL,
			.path = store_writer_text(writer, part->name, strlen(part->name))};
		build_id_read(part, &part->module);
		part->id = store_writer_module(writer, &part->module);
	}
	return part;
}

static void waiting_add(const struct part *part, uint64_t offset)
{
	if (!array_widen((void **)&waiting, &waiting_capacity, waiting_count, sizeof *waiting))
		return;
	waiting[waiting_count++] = (struct waiting){.offset = offset, .part = (uint32_t)(part - parts)};
}

static uint32_t frame_add(struct store_writer *writer, uint32_t parent, uint64_t address)
{
	const struct part *part = part_of(writer, address);
	uint64_t offset = is_hidden ? 0 : address - part->begin;
	uint32_t before = store_writer_context_count(writer);
	uint32_t context = store_writer_context(writer, parent, part->id, offset);

	if (store_writer_context_count(writer) != before)
		waiting_add(part, offset);
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

/* ---- names ---- */

/* JIT code is at addresses after the kernel and belongs to no module. */
static bool is_stray(const struct waiting *frame)
{
	return !frame->part && parts[0].symbols.span && frame->offset >= parts[0].symbols.span;
}

/* True if no table has its name yet. Loads cached tables when they are needed. */
static bool is_wanted(const struct waiting *frame)
{
	struct part *part = &parts[frame->part];
	uint32_t at = frame->offset < UINT32_MAX ? (uint32_t)frame->offset : UINT32_MAX;

	if (part->state == PART_NEW)
		part->state = kernel_symbols_load(
				      &part->symbols, part->module.build_id, part->module.build_id_bytes)
				      ? PART_HERE
				      : PART_WANTED;
	if (part->state == PART_HERE && !kernel_symbols_fetch(&part->symbols, at))
		part->state = PART_WANTED;
	return part->state == PART_WANTED || is_stray(frame);
}

/* The module of a line; NULL: JIT code. A module's lines are consecutive. */
static struct part *part_named(const struct line *line)
{
	static struct part *last = parts;

	if (!line->module)
		return &parts[0];
	if (last >= parts + part_count || strcmp(last->name, line->module) != 0)
		for (last = parts + 1; last < parts + part_count; last++)
			if (!strcmp(last->name, line->module))
				break;
	return last < parts + part_count ? last : NULL;
}

static bool symbol_take(void *context, const struct line *line)
{
	struct part *part = part_named(line);
	struct kernel_symbols *symbols = part ? &part->symbols : &strays;
	const struct part *from = part ? part : &parts[0];
	uint64_t at = line->address - from->begin;

	(void)context;
	/* Until Linux 6.15 per-CPU variables are listed, too, with small numbers; and a module may have
	 * moved since. */
	if ((part && part->state != PART_WANTED) || line->address < from->begin ||
		line->address >= from->end || at > UINT32_MAX - LAST_FUNCTION_BYTES)
		return true;
	if (part == &parts[0] && at + LAST_FUNCTION_BYTES > symbols->span)
		symbols->span = (uint32_t)at + LAST_FUNCTION_BYTES;
	return !strchr("tTwW", line->type) ||
	       kernel_symbols_add(symbols, (uint32_t)at, line->name, line->length);
}

static void symbols_read(void)
{
	bool is_all;

	kernel_symbols_fini(&strays);
	is_all = symbols_walk(symbol_take, NULL);
	kernel_symbols_sort(&strays);
	for (uint32_t i = 0; i < part_count; i++) {
		struct part *part = &parts[i];

		if (part->state != PART_WANTED)
			continue;
		part->state = PART_HERE;
		kernel_symbols_sort(&part->symbols);
		if (is_all) /* a partial table would give wrong names later */
			kernel_symbols_save(
				&part->symbols, part->module.build_id, part->module.build_id_bytes);
	}
}

static void frame_name(struct store_writer *writer, const struct waiting *frame)
{
	const struct part *part = &parts[frame->part];
	uint32_t begin = 0;
	const char *name = is_hidden ? part->name
			   : frame->offset > UINT32_MAX
				   ? NULL
				   : kernel_symbols_find(is_stray(frame) ? &strays : &part->symbols,
					     (uint32_t)frame->offset, &begin);
	struct store_scope scope = {.kind = STORE_SCOPE_FUNCTION, .start = begin};

	if (!name || !*name)
		return;
	scope.name = store_writer_text(writer, name, strlen(name));
	store_writer_symbol(writer, part->id, frame->offset, &scope, 1);
}

/* Reading the list takes a tenth of a second: a short run reads it once, at its end. */
static bool may_walk(bool is_last)
{
	uint64_t now_ns = clock_now_ns();

	if (!walked_ns)
		walked_ns = now_ns;
	if (!is_last && now_ns - walked_ns < WALK_AGAIN_NS)
		return false;
	walked_ns = now_ns;
	return true;
}

void kernel_name(struct store_writer *writer, bool is_last)
{
	bool is_any_wanted = false;

	for (uint32_t i = 0; !is_hidden && i < waiting_count; i++)
		is_any_wanted |= is_wanted(&waiting[i]);
	if (is_any_wanted && !may_walk(is_last))
		return;
	if (is_any_wanted)
		symbols_read();
	for (uint32_t i = 0; i < waiting_count; i++)
		frame_name(writer, &waiting[i]);
	waiting_count = 0;
}

void kernel_close(void)
{
	for (uint32_t i = 0; i < part_count; i++)
		kernel_symbols_fini(&parts[i].symbols);
	kernel_symbols_fini(&strays);
	free(waiting);
	waiting = NULL;
	waiting_count = 0;
	waiting_capacity = 0;
}
