/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv_stream.h - parses the text of a stream's identity (design, Output).
 */
#ifndef FORMATS_TSV_STREAM_H
#define FORMATS_TSV_STREAM_H

#include "store/store.h"

/* Fills the identity of `stream` except its host, which is a part of `text`; '-' gives the values that run.h
 * uses for none. False: no identity. */
bool tsv_stream_parse(
	const char *text, size_t size, struct store_stream *stream, const char **host, size_t *host_size);

#endif
