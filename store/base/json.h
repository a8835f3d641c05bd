/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - JSON strings, for reports and the Chrome export.
 */
#ifndef STORE_JSON_H
#define STORE_JSON_H

#include "store/base/bytes.h"

/* Appends the quoted string. Bytes that are not UTF-8 become the text \xHH, because JSON cannot hold them. */
void json_put_string(struct store_bytes *out, const char *bytes, size_t size);

#endif
