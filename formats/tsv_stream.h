/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv_stream.h - the text of a stream's identity, read back (design, Output).
 */
#ifndef FORMATS_TSV_STREAM_H
#define FORMATS_TSV_STREAM_H

#include "store/store.h"

/* Fills the identity of `stream` but for its host, which is a part of `text`; what is '-' is what run.h says
 * a stream without it has. False when it is no identity. */
bool tsv_stream_parse(
	const char *text, size_t size, struct store_stream *stream, const char **host, size_t *host_size);

#endif
