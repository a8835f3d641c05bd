/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_binary.h - what unit tests of GPU binaries share: files of GPU_BINARIES, loops by the marks in their
 * sources. */
#ifndef TESTS_UNIT_GPU_BINARY_H
#define TESTS_UNIT_GPU_BINARY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"
#include "timeline/code/gpu_code.h"
#include "timeline/names/names.h"

static inline void *gpu_file_read(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	void *bytes = malloc(1 << 20);

	assert_non_null(file);
	assert_non_null(bytes);
	*size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

/* The bytes are the caller's, after the code is closed. */
static inline struct gpu_code *gpu_file_open(const char *path, void **bytes)
{
	struct gpu_code *code;
	struct error error;
	size_t size;

	*bytes = gpu_file_read(path, &size);
	assert_int_equal(gpu_code_open(&code, *bytes, size, &error), 0);
	return code;
}

/* The line that ends with "MARK mark"; one behind the last where none does. */
static inline uint32_t gpu_marked(const char *source, const char *mark)
{
	char line[1024], wanted[64];
	FILE *file = fopen(source, "r");
	uint32_t number = 0;

	assert_non_null(file);
	snprintf(wanted, sizeof wanted, "MARK %s\n", mark);
	while (fgets(line, sizeof line, file) && ++number)
		if (strstr(line, wanted))
			break;
	fclose(file);
	return number;
}

/* "nest/37 row_sum/21": functions, behind each the loops in it by their lines. */
static inline void gpu_nest_text(const struct symbol_answer *answer, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < answer->scope_count && used < size; i++) {
		const struct names_scope *scope = &answer->scopes[i];

		used += scope->kind == NAMES_LOOP
				? (size_t)snprintf(text + used, size - used, "/%u", scope->decl_line)
				: (size_t)snprintf(
					  text + used, size - used, "%s%s", i ? " " : "", scope->name);
	}
}

/* How many places of [begin, end), step bytes apart, lie in the nest. */
static inline unsigned gpu_in_nest(
	const char *path, uint64_t begin, uint64_t end, unsigned step, const char *wanted)
{
	struct names_options options = {0};
	struct symbol_request request = {.kind = STORE_MODULE_ELF, .real_path = "", .path = path};
	static struct symbol_answer answer;
	struct names_module *module;
	struct names *names;
	unsigned found = 0;
	char text[1024];

	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	for (uint64_t at = begin; at < end; at += step) {
		assert_int_equal(names_find(module, at, &answer, NULL), 0);
		gpu_nest_text(&answer, text, sizeof text);
		found += !strcmp(text, wanted);
	}
	if (strstr(path, "debug-")) /* of -G, and of nothing else, inlined calls may be missing */
		assert_non_null(strstr(names_module_note(module), "(-G)"));
	else
		assert_string_equal(names_module_note(module), "");
	names_close(names);
	return found;
}

#endif
