/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_lines.c - .debug_line of a GPU binary (DWARF 2 to 5), which often has no other debug information:
 * compilers write it alone (-lineinfo), with addresses left to the linker. Runs each unit's line program
 * once, with the files that gpu_lines_files.c found. NVIDIA's rows also name the inlined call, and the row
 * of the call.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/code/gpu_lines_internal.h"

/* Row of the call, counted from 1 in its sequence; offset of the name; 0: none. */
#define NVIDIA_INLINED_CALL 0x90
#define INLINES_MAX (1u << 20)
#define INLINE_DEPTH_MAX 60u /* deeper ones are taken for what they are in */

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

	if (code->line_count == code->line_capacity) {
		size_t capacity = code->line_capacity ? 2 * code->line_capacity : 256;
		struct gpu_line *lines =
			capacity <= GPU_LINES_MAX ? realloc(code->lines, capacity * sizeof *lines) : NULL;

		if (!lines)
			return false;
		code->lines = lines;
		code->line_capacity = capacity;
	}
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
	if (code->inline_count == code->inline_capacity) {
		size_t capacity = code->inline_capacity ? 2 * code->inline_capacity : 64;
		struct gpu_inline *inlines =
			capacity <= INLINES_MAX ? realloc(code->inlines, capacity * sizeof *inlines) : NULL;

		if (!inlines)
			return 0;
		code->inlines = inlines;
		code->inline_capacity = capacity;
	}
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
