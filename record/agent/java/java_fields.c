/* SPDX-License-Identifier: Apache-2.0 */
/* java_fields.c - see java_fields.h. */
#include "record/agent/java/java_fields.h"

#include <string.h>

#include "record/agent/base/safe_read.h"

#define ENTRIES_MAX 16384u
#define NAME_BYTES 64u

struct type {
	const char *name, *super;
	int32_t is_oop, is_integer, is_unsigned;
	uint64_t size;
};

static uint64_t word_at(uint64_t address)
{
	uint64_t word = 0;

	return address && safe_read(&word, (const void *)(uintptr_t)address, sizeof(word)) ? word : 0;
}

/* A name that begins right before a page which cannot be read is none that is looked for. */
static bool is_text(uint64_t text, const char *is)
{
	char copy[NAME_BYTES];
	size_t bytes = strlen(is) + 1;

	return text && bytes <= sizeof(copy) && safe_read(copy, (const void *)(uintptr_t)text, bytes) &&
	       !memcmp(copy, is, bytes);
}

bool java_fields_find(
	const struct java_fields *of, const char *type, const char *name, struct java_field *field)
{
	uint64_t at = word_at(of->structs);

	if (word_at(of->struct_bytes) != sizeof(*field))
		return false;
	for (unsigned i = 0; i < ENTRIES_MAX && at; i++, at += sizeof(*field)) {
		if (!safe_read(field, (const void *)(uintptr_t)at, sizeof(*field)) || !field->type)
			break;
		if (is_text((uintptr_t)field->name, name) && is_text((uintptr_t)field->type, type))
			return true;
	}
	return false;
}

/* 0: not known. */
static uint64_t type_size(const struct java_fields *of, const char *name)
{
	uint64_t at = word_at(of->types);
	struct type type;

	if (word_at(of->type_bytes) != sizeof(type))
		return 0;
	for (unsigned i = 0; i < ENTRIES_MAX && at; i++, at += sizeof(type)) {
		if (!safe_read(&type, (const void *)(uintptr_t)at, sizeof(type)) || !type.name)
			break;
		if (is_text((uintptr_t)type.name, name))
			return type.size;
	}
	return 0;
}

bool java_fields_has_switch(const struct java_fields *of, const char *name)
{
	struct java_field flags, count, address, text;
	uint64_t size = type_size(of, "JVMFlag"), at, left;
	bool is_on = false;

	if (!size || !java_fields_find(of, "JVMFlag", "flags", &flags) || !flags.is_static ||
		!java_fields_find(of, "JVMFlag", "numFlags", &count) || !count.is_static ||
		!java_fields_find(of, "JVMFlag", "_addr", &address) ||
		!java_fields_find(of, "JVMFlag", "_name", &text))
		return false;
	at = word_at(flags.address);
	left = word_at(count.address);
	for (unsigned i = 0; i < ENTRIES_MAX && i < left; i++, at += size)
		if (is_text(word_at(at + text.offset), name))
			return safe_read(&is_on, (const void *)(uintptr_t)word_at(at + address.offset),
				       sizeof(is_on)) &&
			       is_on;
	return false;
}
