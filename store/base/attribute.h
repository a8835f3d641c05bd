/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute.h - reads a span's attributes, "key=value,key=value". A backslash escapes ',', '=' and itself
 * (design, Output).
 */
#ifndef STORE_ATTRIBUTE_H
#define STORE_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Index of the first separator that is not escaped; `size` when there is none. */
size_t attribute_find(const char *bytes, size_t size, char separator);
/* Copies the value of the first such key, unescaped, cut to fit, with a NUL; false when there is none. */
bool attribute_get(
	const char *attributes, size_t size_bytes, const char *key, char *value, size_t value_bytes);
/* The value as a decimal number; `otherwise` when the key is missing or its value is no number. */
uint64_t attribute_number(const char *attributes, size_t size_bytes, const char *key, uint64_t otherwise);

#endif
