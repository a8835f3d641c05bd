/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute.h - reads the attributes of a span, "key=value,key=value", in which a backslash protects
 * ',' '=' and itself (design, Output).
 */
#ifndef STORE_ATTRIBUTE_H
#define STORE_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Place of the first separator that no backslash protects; `size` when there is none. */
size_t attribute_find(const char *bytes, size_t size, char separator);
/* Copies the value of the first such key, unprotected, cut to fit, with a NUL; false when there is none. */
bool attribute_get(
	const char *attributes, size_t size_bytes, const char *key, char *value, size_t value_bytes);
/* The value as a decimal number; `otherwise` when there is none or it is not one. */
uint64_t attribute_number(const char *attributes, size_t size_bytes, const char *key, uint64_t otherwise);

#endif
