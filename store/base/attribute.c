/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute.c - finds one key in a span's attributes. They come from traced programs, so any bytes may
 * occur.
 */
#include "store/base/attribute.h"

#include <string.h>

size_t attribute_find(const char *bytes, size_t size, char separator)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == separator)
			return i;
		if (bytes[i] == '\\')
			i++;
	}
	return size;
}

static bool unprotect(const char *from, size_t size, char *value, size_t value_bytes)
{
	size_t used = 0;

	for (size_t i = 0; i < size && used + 1 < value_bytes; i++) {
		if (from[i] == '\\' && i + 1 < size && strchr(",=\\", from[i + 1]))
			i++;
		value[used++] = from[i];
	}
	if (value_bytes)
		value[used] = '\0';
	return true;
}

bool attribute_get(
	const char *attributes, size_t size_bytes, const char *key, char *value, size_t value_bytes)
{
	size_t key_bytes = strlen(key);

	while (size_bytes) {
		size_t size = attribute_find(attributes, size_bytes, ',');
		size_t equals = attribute_find(attributes, size, '=');

		if (equals < size && equals == key_bytes && !memcmp(attributes, key, key_bytes))
			return unprotect(attributes + equals + 1, size - equals - 1, value, value_bytes);
		size += size < size_bytes;
		attributes += size;
		size_bytes -= size;
	}
	return false;
}

uint64_t attribute_number(const char *attributes, size_t size_bytes, const char *key, uint64_t otherwise)
{
	char text[24];
	uint64_t number = 0;

	if (!attribute_get(attributes, size_bytes, key, text, sizeof text) || !*text)
		return otherwise;
	for (const char *c = text; *c; c++) {
		if (*c < '0' || *c > '9' || number > (UINT64_MAX - (uint64_t)(*c - '0')) / 10)
			return otherwise;
		number = number * 10 + (uint64_t)(*c - '0');
	}
	return number;
}
