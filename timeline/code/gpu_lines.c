/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_lines.c - .debug_line of a GPU binary (DWARF 2 to 5), which often has no other debug information:
 * compilers write it alone (-lineinfo), with addresses left to the linker. Runs each unit's line program
 * once, with the files of its header. NVIDIA's rows also name the inlined call, and the row of the call.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/code/gpu_code_internal.h"

#define FILES_MAX 65536u
#define PATHS_MAX (1u << 20) /* of all units */
#define FORMATS_MAX 16u
#define PATH_BYTES_MAX 4096
#define PATHS_BYTES_MAX ((size_t)64 << 20) /* of all files of a binary */
#define NVIDIA_INLINED_CALL 0x90
#define INLINES_MAX (1u << 20)
#define INLINE_DEPTH_MAX 60u /* deeper ones are taken for what they are in */

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

/* ---- strings ---- */

/* A string, not copied. */
static const char *gpu_text(struct gpu_cursor *in)
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

static void gpu_skip(struct gpu_cursor *in, uint64_t size)
{
	if (size > (uint64_t)(in->end - in->at))
		in->bad = true;
	in->at = in->bad ? in->end : in->at + size;
}

/* ---- paths ---- */

static bool path_add(struct gpu_unit *unit, struct gpu_paths *paths, const char *path)
{
	if (paths->count == FILES_MAX || unit->code->path_count++ >= PATHS_MAX)
		return false;
	if (!array_widen(&paths->list, &paths->capacity, paths->count, sizeof *paths->list))
		return false;
	paths->list[paths->count++] = path;
	return true;
}

/* "": no file of that number. */
static const char *gpu_path_at(const struct gpu_paths *paths, uint64_t i)
{
	return i < paths->count ? paths->list[i] : "";
}

static bool file_add(struct gpu_unit *unit, const char *name, uint64_t directory)
{
	const char *in = gpu_path_at(&unit->directories, directory),
		   *base = gpu_path_at(&unit->directories, 0);
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
static void tables_old(struct gpu_unit *unit, struct gpu_cursor *in)
{
	const char *name;

	path_add(unit, &unit->directories, "");
	while (*(name = gpu_text(in)) && path_add(unit, &unit->directories, name))
		;
	path_add(unit, &unit->files, "");
	while (!in->bad && *(name = gpu_text(in))) {
		uint64_t directory = gpu_leb(in, false);

		gpu_leb(in, false);
		gpu_leb(in, false);
		if (!file_add(unit, name, directory))
			in->bad = true;
	}
}

static const char *form_text(
	const struct gpu_unit *unit, struct gpu_cursor *in, uint64_t form, uint64_t *number)
{
	size_t offset = unit->is_wide ? 8 : 4;

	switch (form) {
	case DW_FORM_string:
		return gpu_text(in);
	case DW_FORM_line_strp:
		return gpu_string_at(unit->line_strings, gpu_fixed(in, offset));
	case DW_FORM_strp:
		return gpu_string_at(unit->strings, gpu_fixed(in, offset));
	case DW_FORM_data1:
		*number = gpu_fixed(in, 1);
		return "";
	case DW_FORM_data2:
		*number = gpu_fixed(in, 2);
		return "";
	case DW_FORM_data4:
		*number = gpu_fixed(in, 4);
		return "";
	case DW_FORM_udata:
		*number = gpu_leb(in, false);
		return "";
	case DW_FORM_data16:
		gpu_skip(in, 16);
		return "";
	case DW_FORM_block:
		gpu_skip(in, gpu_leb(in, false));
		return "";
	default:
		in->bad = true;
		return "";
	}
}

/* DWARF 5: one table as its own formats say. */
static void table_new(struct gpu_unit *unit, struct gpu_cursor *in, bool is_files)
{
	uint64_t formats[FORMATS_MAX][2];
	uint8_t format_count = (uint8_t)gpu_fixed(in, 1);
	uint64_t count;

	if (format_count > FORMATS_MAX) {
		in->bad = true;
		return;
	}
	for (uint8_t i = 0; i < format_count; i++) {
		formats[i][0] = gpu_leb(in, false);
		formats[i][1] = gpu_leb(in, false);
	}
	count = gpu_leb(in, false);
	count = format_count ? count : 0; /* without a format there is a count, too; entries take no bytes */
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

/* Reads the unit's directories and files, in the format of its version. */
static void gpu_unit_read_files(struct gpu_unit *unit, struct gpu_cursor *in)
{
	if (unit->version < 5) {
		tables_old(unit, in);
	} else {
		table_new(unit, in, false);
		table_new(unit, in, true);
	}
}

static void gpu_unit_fini(struct gpu_unit *unit)
{
	free(unit->directories.list);
	free(unit->files.list);
}

/* Row of the call, counted from 1 in its sequence; offset of the name; 0: none. */

/* ---- the program ---- */

struct registers {
	uint64_t address, file;
	int64_t line;
	uint32_t call;
};

static bool row_put(struct gpu_unit *unit, const struct registers *now, bool is_end)
{
	struct gpu_code *code = unit->code;
	const char *file = gpu_path_at(&unit->files, now->file);

	if (code->line_count == GPU_LINES_MAX ||
		!array_widen(&code->lines, &code->line_capacity, code->line_count, sizeof *code->lines))
		return false;
	code->lines[code->line_count++] = (struct gpu_line){.address = now->address,
		.file = *file ? file : NULL,
		.line = is_end || now->line < 0 || now->line > UINT32_MAX ? 0 : (uint32_t)now->line,
		.call = now->call};
	return true;
}

/* The call as an entry of code->inlines; rows that follow are in it. A call is found by its own row, which
 * came before, so no chain has an end in itself. */
static uint32_t call_put(struct gpu_unit *unit, uint64_t row, const char *name)
{
	struct gpu_code *code = unit->code;
	const struct gpu_line *at;
	uint32_t depth;

	if (!row || row > code->line_count - unit->row)
		return 0;
	at = &code->lines[unit->row + row - 1];
	depth = at->call ? code->inlines[at->call - 1].depth + 1 : 1;
	if (depth > INLINE_DEPTH_MAX)
		return at->call;
	for (size_t i = code->inline_count; i-- > 0 && code->inline_count - i <= 16;)
		if (code->inlines[i].line == at->line && code->inlines[i].file == at->file &&
			code->inlines[i].outer == at->call && !strcmp(code->inlines[i].name, name))
			return (uint32_t)i + 1;
	if (code->inline_count == INLINES_MAX || !array_widen(&code->inlines, &code->inline_capacity,
							 code->inline_count, sizeof *code->inlines))
		return 0;
	code->inlines[code->inline_count++] = (struct gpu_inline){
		.name = name, .file = at->file, .line = at->line, .outer = at->call, .depth = depth};
	return (uint32_t)code->inline_count;
}

static void extended(struct gpu_unit *unit, struct gpu_cursor *in, struct registers *now)
{
	uint64_t size = gpu_leb(in, false);
	struct gpu_cursor own = {in->at, in->at, false};

	gpu_skip(in, size);
	own.end = in->at;
	if (in->bad || !size)
		return;
	switch (gpu_fixed(&own, 1)) {
	case DW_LNE_end_sequence:
		in->bad |= !row_put(unit, now, true);
		*now = (struct registers){.file = 1, .line = 1};
		unit->row = unit->code->line_count;
		break;
	case DW_LNE_set_address:
		now->address = gpu_fixed(&own, size - 1 < 8 ? (size_t)size - 1 : 8);
		break;
	case NVIDIA_INLINED_CALL:
		if (gpu_header(unit->code).e_machine == EM_CUDA) {
			uint64_t row = gpu_leb(&own, false), name = gpu_leb(&own, false);

			now->call = own.bad ? 0 : call_put(unit, row, gpu_string_at(unit->strings, name));
		}
		break;
	default: /* a vendor's */
		break;
	}
}

static void standard(struct gpu_unit *unit, struct gpu_cursor *in, uint8_t opcode, struct registers *now)
{
	switch (opcode) {
	case DW_LNS_copy:
		in->bad |= !row_put(unit, now, false);
		break;
	case DW_LNS_advance_pc:
		now->address += gpu_leb(in, false) * unit->least_bytes;
		break;
	case DW_LNS_advance_line:
		now->line = (int64_t)((uint64_t)now->line + gpu_leb(in, true));
		break;
	case DW_LNS_set_file:
		now->file = gpu_leb(in, false);
		break;
	case DW_LNS_const_add_pc:
		now->address += (uint64_t)((255 - unit->opcode_base) / unit->line_range) * unit->least_bytes;
		break;
	case DW_LNS_fixed_advance_pc:
		now->address += gpu_fixed(in, 2);
		break;
	default: /* those without meaning here, and new ones: as many numbers as the header says */
		for (uint8_t i = 0; i < unit->lengths[opcode]; i++)
			gpu_leb(in, false);
	}
}

static void program_run(struct gpu_unit *unit, struct gpu_cursor *in)
{
	struct registers now = {.file = 1, .line = 1};

	unit->row = unit->code->line_count;
	while (in->at < in->end && !in->bad) {
		uint8_t opcode = (uint8_t)gpu_fixed(in, 1);

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

static void unit_read(struct gpu_unit *unit, struct gpu_cursor in)
{
	uint64_t header;
	struct gpu_cursor tables;

	unit->version = (uint16_t)gpu_fixed(&in, 2);
	if (unit->version < 2 || unit->version > 5)
		return;
	if (unit->version == 5)
		gpu_fixed(&in, 2); /* sizes of addresses and segments */
	header = gpu_fixed(&in, unit->is_wide ? 8 : 4);
	tables = in;
	gpu_skip(&in, header);
	tables.end = in.at;
	unit->least_bytes = (uint8_t)gpu_fixed(&tables, 1);
	if (unit->version >= 4)
		gpu_fixed(&tables, 1); /* operations of an instruction */
	gpu_fixed(&tables, 1);
	unit->line_base = (int8_t)gpu_fixed(&tables, 1);
	unit->line_range = (uint8_t)gpu_fixed(&tables, 1);
	unit->opcode_base = (uint8_t)gpu_fixed(&tables, 1);
	for (unsigned i = 1; i < unit->opcode_base; i++)
		unit->lengths[i] = (uint8_t)gpu_fixed(&tables, 1);
	if (in.bad || tables.bad || !unit->line_range || !unit->opcode_base)
		return;
	gpu_unit_read_files(unit, &tables);
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

static void lines_read(struct gpu_code *code)
{
	struct gpu_bytes section = gpu_code_section(code, ".debug_line");
	uint8_t *copy = section.size ? malloc(section.size) : NULL;
	struct gpu_cursor in;

	if (!copy)
		return;
	memcpy(copy, section.at, section.size);
	gpu_code_relocate(code, ".debug_line", copy, section.size);
	in = (struct gpu_cursor){copy, copy + section.size, false};
	while (in.at < in.end && !in.bad) {
		struct gpu_unit unit = {.code = code,
			.strings = gpu_code_section(code, ".debug_str"),
			.line_strings = gpu_code_section(code, ".debug_line_str")};
		uint64_t size = gpu_fixed(&in, 4);
		struct gpu_cursor own;

		unit.is_wide = size == UINT32_MAX;
		size = unit.is_wide ? gpu_fixed(&in, 8) : size;
		own = (struct gpu_cursor){in.at, in.at, false};
		gpu_skip(&in, size);
		own.end = in.at;
		if (!in.bad)
			unit_read(&unit, own);
		gpu_unit_fini(&unit);
	}
	lines_sort(code);
	code->line_bytes = copy;
}

/* ---- questions ---- */

/* The row that says the address's line; NULL: none does. */
static const struct gpu_line *line_find(struct gpu_code *code, uint64_t address)
{
	size_t low = 0, high;

	if (!code->has_lines)
		lines_read(code);
	code->has_lines = true;
	high = code->line_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->lines[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && code->lines[low - 1].line && code->lines[low - 1].file ? &code->lines[low - 1] : NULL;
}

bool gpu_code_line(struct gpu_code *code, uint64_t address, const char **file, uint32_t *line)
{
	const struct gpu_line *row = line_find(code, address);

	if (!row)
		return false;
	*file = row->file;
	*line = row->line;
	return true;
}

unsigned gpu_code_chain(struct gpu_code *code, uint64_t address, struct gpu_frame *frames, unsigned max)
{
	const struct gpu_line *row = line_find(code, address);
	unsigned depth = 1;

	if (!row || !max)
		return 0;
	for (uint32_t call = row->call; call; call = code->inlines[call - 1].outer)
		depth++;
	if (depth <= max)
		frames[depth - 1] = (struct gpu_frame){"", row->file, row->line};
	for (uint32_t call = row->call, i = depth - 1; call; i--, call = code->inlines[call - 1].outer) {
		const struct gpu_inline *in = &code->inlines[call - 1];

		if (i < max)
			frames[i].name = in->name;
		if (i <= max)
			frames[i - 1] = (struct gpu_frame){"", in->file ? in->file : "", in->line};
	}
	return depth < max ? depth : max;
}
