/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute_write.h - "key=value,..." as spans carry it (design, Output): inside a value `,` `=` and
 * the backslash are escaped by a backslash, tab, newline and return by their letters, other control bytes by
 * \xHH in small letters, as readers write fields (timeline/base/escape.h).
 */
#ifndef RECORD_ATTRIBUTE_WRITE_H
#define RECORD_ATTRIBUTE_WRITE_H

#include "store/base/bytes.h"

/* Appends `,key=value` (without the comma at the beginning). */
void attribute_write(struct store_bytes *out, const char *key, const char *value);
void attribute_write_number(struct store_bytes *out, const char *key, uint64_t value);

/* `words` as event_process.command holds them, as a shell would need them typed. In `out`, NUL-terminated. */
void command_quote(struct store_bytes *out, const char *words, size_t size_bytes);

#endif
