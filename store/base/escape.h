/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.h - escapes names from traced programs for table fields, and back (design, Output): backslash, tab,
 * newline and return have escapes of their own; other control characters become \xHH for each byte, also
 * U+0080 to U+009F (in UTF-8 or as single bytes), because terminals obey them. Inside a frame ';' is "\;",
 * inside an attribute ',' and '=' are "\,", "\=". All else stays.
 * Texts in pictures (SVG) have XML's own escapes.
 */
#ifndef STORE_ESCAPE_H
#define STORE_ESCAPE_H

#include "store/base/bytes.h"

/* Append to `out`; without memory they set its `failed`. */
void escape_field(struct store_bytes *out, const char *bytes, size_t size);
void escape_frame(struct store_bytes *out, const char *bytes, size_t size);
void escape_attribute(struct store_bytes *out, const char *bytes, size_t size);

/* For a text that is already escaped (a path, attributes): escapes only bytes that would break a line. */
void escape_composed(struct store_bytes *out, const char *bytes, size_t size);

/* The inverse of escape_composed(): undoes escapes of control bytes only. */
void escape_composed_undo(struct store_bytes *out, const char *text, size_t size);

/* Appends the unescaped text; false for an unknown escape. */
bool escape_undo(struct store_bytes *out, const char *field, size_t size);

/* For XML and HTML: nothing in the text is markup; control characters and what is not UTF-8 become '?'. */
void escape_xml(struct store_bytes *out, const char *bytes, size_t size);

#endif
