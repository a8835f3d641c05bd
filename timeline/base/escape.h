/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.h - names from traced programs as fields of a table, and back (design, Output):
 * backslash, tab, newline and return escape themselves, other control characters are \xHH for each
 * of their bytes, those from 0x80 to 0x9f too, in UTF-8 or as bytes that are none: terminals obey them.
 * Inside a frame ';' is "\;", inside an attribute ',' and '=' are "\,", "\=". All else passes.
 */
#ifndef TIMELINE_ESCAPE_H
#define TIMELINE_ESCAPE_H

#include "store/base/bytes.h"

/* Append to `out`, whose `failed` is set when memory is out. */
void escape_field(struct store_bytes *out, const char *bytes, size_t size);
void escape_frame(struct store_bytes *out, const char *bytes, size_t size);
void escape_attribute(struct store_bytes *out, const char *bytes, size_t size);

/* For a text that is escaped already (a path, attributes): only bytes that would break a line are escaped. */
void escape_composed(struct store_bytes *out, const char *bytes, size_t size);

/* The inverse of escape_composed(): only escapes of control bytes are undone, all others are left as they
 * are. */
void escape_composed_undo(struct store_bytes *out, const char *text, size_t size);

/* Appends what was escaped; false when a backslash is followed by what no escape starts with. */
bool escape_undo(struct store_bytes *out, const char *field, size_t size);

#endif
