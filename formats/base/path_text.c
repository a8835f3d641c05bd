/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_text.c - see path_text.h. Frames of hpct's own, as <partial>, are known by their names.
 */
#include "formats/base/path_text.h"

#include <string.h>

#include "store/base/attribute.h"
#include "store/base/escape.h"

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_hex(const char *text, size_t size, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < size; i++) {
		if (hex_digit(text[i]) < 0)
			return false;
		*value = *value << 4 | (uint64_t)hex_digit(text[i]);
	}
	return size > 0 && size <= 16;
}

#define KEY_DIGITS 16u

/* "KEY+0xADDRESS" is an instruction of a GPU binary (timeline/run/run_frames.c), in the spelling of
 * hpct-slice. */
static bool parse_instruction(const char *name, size_t size, uint64_t *key, uint64_t *address)
{
	return size > KEY_DIGITS + 3 && memcmp(name + KEY_DIGITS, "+0x", 3) == 0 &&
	       (name[KEY_DIGITS + 3] != '0' || size == KEY_DIGITS + 4) && parse_hex(name, KEY_DIGITS, key) &&
	       parse_hex(name + KEY_DIGITS + 3, size - KEY_DIGITS - 3, address) && *key;
}

static uint32_t add_instruction(struct path_text *to, uint32_t parent, uint64_t key, uint64_t address)
{
	struct store_module module = {.kind = STORE_MODULE_GPU, .build_id_bytes = sizeof key};

	for (unsigned i = 0; i < sizeof key; i++)
		module.build_id[i] = (uint8_t)(key >> (56 - 8 * i));
	return store_writer_context(to->writer, parent, store_writer_module(to->writer, &module), address);
}

uint32_t path_text_frame(struct path_text *to, uint32_t parent, const char *name, size_t size)
{
	uint64_t reserved = size && *name == '<' ? store_frame_find(name, size) : STORE_FRAME_COUNT, key,
		 address;

	if (!parent && reserved == STORE_FRAME_PROGRAM_ROOT)
		return STORE_CONTEXT_PROGRAM_ROOT;
	if (!parent && reserved == STORE_FRAME_THREAD_ROOT)
		return STORE_CONTEXT_THREAD_ROOT;
	parent = parent ? parent : STORE_CONTEXT_PROGRAM_ROOT;
	if (reserved < STORE_FRAME_COUNT && reserved != STORE_FRAME_PROGRAM_ROOT)
		return store_writer_context(to->writer, parent, STORE_MODULE_RESERVED, reserved);
	if (parse_instruction(name, size, &key, &address))
		return add_instruction(to, parent, key, address);
	return store_writer_context(
		to->writer, parent, to->text_module, store_writer_text(to->writer, name, size));
}

int path_text_context(
	struct path_text *to, const char *text, size_t size, uint32_t *context, bool *is_partial)
{
	uint32_t parent = 0;

	for (size_t at = 0; at <= size;) {
		size_t length = attribute_find(text + at, size - at, ';');
		const char *name;

		to->name.size = 0;
		if (!escape_undo(&to->name, text + at, length))
			return ERROR_USAGE;
		if (to->name.failed)
			return ERROR_IO;
		name = (const char *)to->name.data;
		*is_partial |= to->name.size && *name == '<' &&
			       store_frame_find(name, to->name.size) == STORE_FRAME_PARTIAL;
		parent = path_text_frame(to, parent, name, to->name.size);
		at += length + 1;
	}
	*context = parent;
	return 0;
}
