/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_name.h - what ranges of NVTX are called. A registered name is kept as the finished attributes of its
 * ranges, so that one which is pushed a hundred times a step costs a lookup. Any thread; never from a signal
 * handler; what is kept lives for good.
 */
#ifndef RECORD_AGENT_NVTX_NAME_H
#define RECORD_AGENT_NVTX_NAME_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "record/agent/sample/thread.h"

#define NVTX_NAME_BYTES 200 /* with its end; what is longer is cut */

struct nvtx_registered {
	uint64_t hash;
	uint32_t length;
	char text[]; /* "name=...,domain=..." */
};

/* By what was registered or, if that is NULL, by a name in a domain, which may be NULL, too. */
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

/* A domain's name, kept; "" when there is no room. */
const char *nvtx_domain_keep(const char *name);

/* Without room a name that is "". */
const struct nvtx_registered *nvtx_register(const char *domain, const char *name);

/* A name as the program has it, which may be NULL: "". Used while the program's text is there. */
struct nvtx_name nvtx_name_ascii(const char *name);
/* The same of wide characters: what is not ASCII becomes `?`. `text` is the caller's, of NVTX_NAME_BYTES, and
 * stays as long as the result is used. */
struct nvtx_name nvtx_name_wide(const wchar_t *name, char *text);
/* A range's, by whatever its attributes (NULL: none) hold; `wide` as `text` above, for wide characters. */
struct nvtx_name nvtx_name_of(const char *domain, const struct nvtx_attributes *attributes, char *wide);

/* Id of the attributes in the ring of `t`, which trace_begin has entered; 0: none. */
uint32_t nvtx_name_text(struct thread *t, const struct nvtx_name *name);

#endif
