/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute_write.h - writes the attributes of spans, "key=value,..." (design, Output), values escaped as
 * store/base/escape.h escapes attributes.
 */
#ifndef RECORD_ATTRIBUTE_WRITE_H
#define RECORD_ATTRIBUTE_WRITE_H

#include "store/base/bytes.h"

/* Appends `,key=value`; the first attribute gets no comma. */
void attribute_write(struct store_bytes *out, const char *key, const char *value);
void attribute_write_number(struct store_bytes *out, const char *key, uint64_t value);

/* How a process ended, from its status as of wait(): `exit=CODE` or `signal=NUMBER`. */
void attribute_write_end(struct store_bytes *out, int status);

/* Appends `words` (NUL-separated, the form of event_process.command), quoted for a shell. NUL-terminates
 * `out`. */
void command_quote(struct store_bytes *out, const char *words, size_t size_bytes);

#endif
