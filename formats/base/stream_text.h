/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_text.h - parses the text of a stream's identity (design, Output).
 */
#ifndef FORMATS_STREAM_TEXT_H
#define FORMATS_STREAM_TEXT_H

#include "store/store.h"

/* Fills the identity of `stream` except its host, which is a part of `text`; '-' gives the values that run.h
 * uses for none. False: no identity. */
bool stream_text_parse(
	const char *text, size_t size, struct store_stream *stream, const char **host, size_t *host_size);

#endif
