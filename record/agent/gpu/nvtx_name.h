/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_name.h - names of NVTX ranges. A registered name is kept as the finished attributes of its ranges, so
 * that pushing it a hundred times per step costs one lookup. Thread safe, not signal safe; kept names live as
 * long as the process.
 */
#ifndef RECORD_AGENT_NVTX_NAME_H
#define RECORD_AGENT_NVTX_NAME_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "record/agent/sample/thread.h"

#define NVTX_NAME_BYTES 200 /* with its NUL; longer names are cut */

struct nvtx_registered {
	uint64_t hash;
	uint32_t length;
	char text[]; /* "name=...,domain=..." */
};

/* Identified by its registered name or, if that is NULL, by a name in a domain, which may be NULL. */
struct nvtx_name {
	const struct nvtx_registered *registered;
	const char *domain, *name;
};

/* nvtxEventAttributes_t of NVTX 3. */
struct nvtx_attributes {
	uint16_t version, bytes;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *wide;
		const struct nvtx_registered *registered;
	} message;
};

/* Keeps a domain's name; "" if there is no space. */
const char *nvtx_domain_keep(const char *name);

/* Keeps a registered name; returns an empty name if there is no space. */
const struct nvtx_registered *nvtx_register(const char *domain, const char *name);

/* Wraps the program's string, NULL counts as "". Valid while the program's string is. */
struct nvtx_name nvtx_name_ascii(const char *name);
/* Likewise for wide characters: non-ASCII becomes `?`. `text` is the caller's, of NVTX_NAME_BYTES, and
 * must live as long as the result. */
struct nvtx_name nvtx_name_wide(const wchar_t *name, char *text);
/* The name of a range from its attributes (NULL: none); `wide` is a buffer like `text` above. */
struct nvtx_name nvtx_name_of(const char *domain, const struct nvtx_attributes *attributes, char *wide);

/* Text id of the attributes in the ring of `t`, which trace_begin has entered; 0: none. */
uint32_t nvtx_name_text(struct thread *t, const struct nvtx_name *name);

#endif
