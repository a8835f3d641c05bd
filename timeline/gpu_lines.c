/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_lines.c - .debug_line of a GPU binary (DWARF 2 to 5), which often has no other debug information:
 * compilers write it alone (-lineinfo), and with addresses left to the linker. Each unit's program is run
 * once. NVIDIA's rows also say which call was inlined there: its name, and the row of the call.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/gpu_code_parts.h"

#define FILES_MAX 65536u
#define PATHS_MAX (1u << 20) /* of all units */
#define FORMATS_MAX 16u
#define PATH_BYTES_MAX 4096
#define PATHS_BYTES_MAX ((size_t)64 << 20) /* of all files of a binary */

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

/* Paths of a unit's files, by number. */
struct paths {
	const char **list;
	size_t count, room;
};

struct unit {
	struct gpu_code *code;
	struct gpu_bytes strings, line_strings;
	uint16_t version;
	bool is_wide; /* 64-bit DWARF */
	size_t row;   /* of the code's, the first of this sequence */
	uint8_t least_bytes, line_range, opcode_base, lengths[256];
	int8_t line_base;
	struct paths directories, files;
};

/* ---- numbers and strings ---- */

static uint64_t fixed(struct cursor *in, size_t size)
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

static uint64_t leb(struct cursor *in, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)fixed(in, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !in->bad);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= UINT64_MAX << shift;
	return value;
}

static const char *text(struct cursor *in)
{
	const uint8_t *begin = in->at, *nul = memchr(begin, '\0', (size_t)(in->end - begin));

	if (nul && nul - begin > PATH_BYTES_MAX)
		nul = NULL;

	if (!nul) {
		in->bad = true;
		in->at = in->end;
		return "";
	}
	in->at = nul + 1;
	return (const char *)begin;
}

static void skip(struct cursor *in, uint64_t size)
{
	if (size > (uint64_t)(in->end - in->at))
		in->bad = true;
	in->at = in->bad ? in->end : in->at + size;
}

/* ---- the tables of files ---- */

static bool path_add(struct unit *unit, struct paths *paths, const char *path)
{
	if (paths->count == FILES_MAX || unit->code->path_count++ >= PATHS_MAX)
		return false;
	if (paths->count == paths->room) {
		size_t room = paths->room ? 2 * paths->room : 16;
		const char **list = realloc(paths->list, room * sizeof *list);

		if (!list)
			return false;
		paths->list = list;
		paths->room = room;
	}
	paths->list[paths->count++] = path;
	return true;
}

static const char *path_at(const struct paths *paths, uint64_t i)
{
	return i < paths->count ? paths->list[i] : "";
}

static bool file_add(struct unit *unit, const char *name, uint64_t directory)
{
	const char *in = path_at(&unit->directories, directory), *base = path_at(&unit->directories, 0);
	struct gpu_code *code = unit->code;
	bool is_below = in[0] != '/' && base[0] == '/' && directory;

	if (name[0] == '/' || !in[0])
		return path_add(unit, &unit->files, name);
	code->path_bytes += strlen(name) + strlen(in) + (is_below ? strlen(base) : 0) + 3;
	if (code->path_bytes > PATHS_BYTES_MAX)
		return false;
	name = is_below ? arena_printf(&code->arena, "%s/%s/%s", base, in, name)
			: arena_printf(&code->arena, "%s/%s", in, name);
	return name && path_add(unit, &unit->files, name);
}

/* Up to DWARF 4: strings, an empty one ends each table; numbers count from 1, directory 0 is the compiler's
 * own, which only other debug information names. */
static void tables_old(struct unit *unit, struct cursor *in)
{
	const char *name;

	path_add(unit, &unit->directories, "");
	while (*(name = text(in)) && path_add(unit, &unit->directories, name))
		;
	path_add(unit, &unit->files, "");
	while (!in->bad && *(name = text(in))) {
		uint64_t directory = leb(in, false);

		leb(in, false);
		leb(in, false);
		if (!file_add(unit, name, directory))
			in->bad = true;
	}
}

static const char *form_text(const struct unit *unit, struct cursor *in, uint64_t form, uint64_t *number)
{
	size_t offset = unit->is_wide ? 8 : 4;

	switch (form) {
	case DW_FORM_string:
		return text(in);
	case DW_FORM_line_strp:
		return gpu_string_at(unit->line_strings, fixed(in, offset));
	case DW_FORM_strp:
		return gpu_string_at(unit->strings, fixed(in, offset));
	case DW_FORM_data1:
		*number = fixed(in, 1);
		return "";
	case DW_FORM_data2:
		*number = fixed(in, 2);
		return "";
	case DW_FORM_data4:
		*number = fixed(in, 4);
		return "";
	case DW_FORM_udata:
		*number = leb(in, false);
		return "";
	case DW_FORM_data16:
		skip(in, 16);
		return "";
	case DW_FORM_block:
		skip(in, leb(in, false));
		return "";
	default:
		in->bad = true;
		return "";
	}
}

/* DWARF 5: one table as its own formats say. */
static void table_new(struct unit *unit, struct cursor *in, bool is_files)
{
	uint64_t formats[FORMATS_MAX][2];
	uint8_t format_count = (uint8_t)fixed(in, 1);
	uint64_t count;

	if (format_count > FORMATS_MAX) {
		in->bad = true;
		return;
	}
	for (uint8_t i = 0; i < format_count; i++) {
		formats[i][0] = leb(in, false);
		formats[i][1] = leb(in, false);
	}
	count = format_count ? leb(in, false) : 0; /* each takes a byte at least */
	for (uint64_t i = 0; i < count && i < FILES_MAX && !in->bad; i++) {
		const char *name = "";
		uint64_t directory = 0, number = 0;

		for (uint8_t f = 0; f < format_count; f++) {
			const char *said = form_text(unit, in, formats[f][1], &number);

			if (formats[f][0] == DW_LNCT_path)
				name = said;
			else if (formats[f][0] == DW_LNCT_directory_index)
				directory = number;
		}
		if (!(is_files ? file_add(unit, name, directory) : path_add(unit, &unit->directories, name)))
			in->bad = true;
	}
}

/* ---- the program ---- */

#define NVIDIA_INLINED_CALL \
	0x90 /* row of the call, counted from 1 in its sequence; offset of the name; 0: none */
#define INLINES_MAX (1u << 20)
#define INLINE_DEPTH_MAX 60u

struct registers {
	uint64_t address, file;
	int64_t line;
	uint32_t call;
};

static bool row_put(struct unit *unit, const struct registers *now, bool is_end)
{
	struct gpu_code *code = unit->code;
	const char *file = path_at(&unit->files, now->file);

	if (code->line_count == code->line_room) {
		size_t room = code->line_room ? 2 * code->line_room : 256;
		struct gpu_line *lines =
			room <= GPU_LINES_MAX ? realloc(code->lines, room * sizeof *lines) : NULL;

		if (!lines)
			return false;
		code->lines = lines;
		code->line_room = room;
	}
	code->lines[code->line_count++] = (struct gpu_line){.address = now->address,
		.file = *file ? file : NULL,
		.line = is_end || now->line < 0 || now->line > UINT32_MAX ? 0 : (uint32_t)now->line,
		.call = now->call};
	return true;
}

/* The call as an entry of code->inlines; rows that follow are in it. A call is found by its own row, which
 * came before, so no chain has an end in itself. */
static uint32_t call_put(struct unit *unit, uint64_t row, const char *name)
{
	struct gpu_code *code = unit->code;
	const struct gpu_line *at;

	if (!row || row > code->line_count - unit->row)
		return 0;
	at = &code->lines[unit->row + row - 1];
	for (size_t i = code->inline_count; i-- > 0 && code->inline_count - i <= 16;)
		if (code->inlines[i].line == at->line && code->inlines[i].file == at->file &&
			code->inlines[i].outer == at->call && !strcmp(code->inlines[i].name, name))
			return (uint32_t)i + 1;
	if (code->inline_count == code->inline_room) {
		size_t room = code->inline_room ? 2 * code->inline_room : 64;
		struct gpu_inline *inlines =
			room <= INLINES_MAX ? realloc(code->inlines, room * sizeof *inlines) : NULL;

		if (!inlines)
			return 0;
		code->inlines = inlines;
		code->inline_room = room;
	}
	code->inlines[code->inline_count++] =
		(struct gpu_inline){.name = name, .file = at->file, .line = at->line, .outer = at->call};
	return (uint32_t)code->inline_count;
}

static void extended(struct unit *unit, struct cursor *in, struct registers *now)
{
	uint64_t size = leb(in, false);
	struct cursor own = {in->at, in->at, false};

	skip(in, size);
	own.end = in->at;
	if (in->bad || !size)
		return;
	switch (fixed(&own, 1)) {
	case DW_LNE_end_sequence:
		in->bad |= !row_put(unit, now, true);
		*now = (struct registers){.file = 1, .line = 1};
		unit->row = unit->code->line_count;
		break;
	case DW_LNE_set_address:
		now->address = fixed(&own, size - 1 < 8 ? (size_t)size - 1 : 8);
		break;
	case NVIDIA_INLINED_CALL:
		if (gpu_header(unit->code).e_machine == EM_CUDA) {
			uint64_t row = leb(&own, false), name = leb(&own, false);

			now->call = own.bad ? 0 : call_put(unit, row, gpu_string_at(unit->strings, name));
		}
		break;
	default: /* a vendor's */
		break;
	}
}

static void standard(struct unit *unit, struct cursor *in, uint8_t opcode, struct registers *now)
{
	switch (opcode) {
	case DW_LNS_copy:
		in->bad |= !row_put(unit, now, false);
		break;
	case DW_LNS_advance_pc:
		now->address += leb(in, false) * unit->least_bytes;
		break;
	case DW_LNS_advance_line:
		now->line = (int64_t)((uint64_t)now->line + leb(in, true));
		break;
	case DW_LNS_set_file:
		now->file = leb(in, false);
		break;
	case DW_LNS_const_add_pc:
		now->address += (uint64_t)((255 - unit->opcode_base) / unit->line_range) * unit->least_bytes;
		break;
	case DW_LNS_fixed_advance_pc:
		now->address += fixed(in, 2);
		break;
	default: /* those without meaning here, and new ones: as many numbers as the header says */
		for (uint8_t i = 0; i < unit->lengths[opcode]; i++)
			leb(in, false);
	}
}

static void program_run(struct unit *unit, struct cursor *in)
{
	struct registers now = {.file = 1, .line = 1};

	unit->row = unit->code->line_count;
	while (in->at < in->end && !in->bad) {
		uint8_t opcode = (uint8_t)fixed(in, 1);

		if (opcode >= unit->opcode_base) {
			opcode = (uint8_t)(opcode - unit->opcode_base);
			now.address += (uint64_t)(opcode / unit->line_range) * unit->least_bytes;
			now.line =
				(int64_t)((uint64_t)now.line +
					  (uint64_t)(int64_t)(unit->line_base + opcode % unit->line_range));
			in->bad |= !row_put(unit, &now, false);
		} else if (opcode) {
			standard(unit, in, opcode, &now);
		} else {
			extended(unit, in, &now);
		}
	}
}

/* ---- units ---- */

static void unit_read(struct unit *unit, struct cursor in)
{
	uint64_t header;
	struct cursor tables;

	unit->version = (uint16_t)fixed(&in, 2);
	if (unit->version < 2 || unit->version > 5)
		return;
	if (unit->version == 5)
		fixed(&in, 2); /* sizes of addresses and segments */
	header = fixed(&in, unit->is_wide ? 8 : 4);
	tables = in;
	skip(&in, header);
	tables.end = in.at;
	unit->least_bytes = (uint8_t)fixed(&tables, 1);
	if (unit->version >= 4)
		fixed(&tables, 1); /* operations of an instruction */
	fixed(&tables, 1);
	unit->line_base = (int8_t)fixed(&tables, 1);
	unit->line_range = (uint8_t)fixed(&tables, 1);
	unit->opcode_base = (uint8_t)fixed(&tables, 1);
	for (unsigned i = 1; i < unit->opcode_base; i++)
		unit->lengths[i] = (uint8_t)fixed(&tables, 1);
	if (in.bad || tables.bad || !unit->line_range || !unit->opcode_base)
		return;
	if (unit->version < 5) {
		tables_old(unit, &tables);
	} else {
		table_new(unit, &tables, false);
		table_new(unit, &tables, true);
	}
	if (!tables.bad)
		program_run(unit, &in);
}

/* Rows of one address: the last one counts, but an end gives way to what begins there. */
static int line_compare(const void *left, const void *right)
{
	const struct gpu_line *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (!a->line != !b->line)
		return a->line ? 1 : -1;
	return 0;
}

/* qsort() keeps no order: among equal rows the last of the program is moved to the end first. */
static void lines_sort(struct gpu_code *code)
{
	size_t kept = 0;

	for (size_t i = 0; i < code->line_count; i++) {
		struct gpu_line line = code->lines[i];

		if (kept && line.line && code->lines[kept - 1].line &&
			code->lines[kept - 1].address == line.address)
			kept--;
		code->lines[kept++] = line;
	}
	code->line_count = kept;
	if (kept)
		qsort(code->lines, kept, sizeof *code->lines, line_compare);
}

void gpu_lines_read(struct gpu_code *code)
{
	struct gpu_bytes section = gpu_code_section(code, ".debug_line");
	uint8_t *copy = section.size ? malloc(section.size) : NULL;
	struct cursor in;

	if (!copy)
		return;
	memcpy(copy, section.at, section.size);
	gpu_code_relocate(code, ".debug_line", copy, section.size);
	in = (struct cursor){copy, copy + section.size, false};
	while (in.at < in.end && !in.bad) {
		struct unit unit = {.code = code,
			.strings = gpu_code_section(code, ".debug_str"),
			.line_strings = gpu_code_section(code, ".debug_line_str")};
		uint64_t size = fixed(&in, 4);
		struct cursor own;

		unit.is_wide = size == UINT32_MAX;
		size = unit.is_wide ? fixed(&in, 8) : size;
		own = (struct cursor){in.at, in.at, false};
		skip(&in, size);
		own.end = in.at;
		if (!in.bad)
			unit_read(&unit, own);
		free(unit.directories.list);
		free(unit.files.list);
	}
	lines_sort(code);
	code->line_bytes = copy;
}
