/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_lines_files.c - strings, directories and files of one unit of a line table. Builds each path once;
 * bounds the number and size of all paths.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/code/gpu_lines_internal.h"

#define FILES_MAX 65536u
#define PATHS_MAX (1u << 20) /* of all units */
#define FORMATS_MAX 16u
#define PATH_BYTES_MAX 4096
#define PATHS_BYTES_MAX ((size_t)64 << 20) /* of all files of a binary */

/* ---- strings ---- */

const char *gpu_text(struct gpu_cursor *in)
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

void gpu_skip(struct gpu_cursor *in, uint64_t size)
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
	if (!array_widen((void **)&paths->list, &paths->capacity, paths->count, sizeof *paths->list))
		return false;
	paths->list[paths->count++] = path;
	return true;
}

const char *gpu_path_at(const struct gpu_paths *paths, uint64_t i)
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

void gpu_unit_read_files(struct gpu_unit *unit, struct gpu_cursor *in)
{
	if (unit->version < 5) {
		tables_old(unit, in);
	} else {
		table_new(unit, in, false);
		table_new(unit, in, true);
	}
}

void gpu_unit_fini(struct gpu_unit *unit)
{
	free(unit->directories.list);
	free(unit->files.list);
}
