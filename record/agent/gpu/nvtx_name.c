/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_name.c - see nvtx_name.h. */
#include "record/agent/gpu/nvtx_name.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "record/agent/sample/trace.h"

#define RANGE_BYTES (4 * NVTX_NAME_BYTES + 16) /* a name and a domain, with each byte escaped */
#define STRINGS_BYTES (256u * 1024u)	       /* a block of kept strings */
#define STRINGS_BLOCKS 256u /* XLA registers a string for each instruction that it compiles */

enum { MESSAGE_ASCII = 1, MESSAGE_WIDE, MESSAGE_REGISTERED };

static_assert(offsetof(struct nvtx_attributes, message) == 40, "nvtxEventAttributes_t");

/* Memory of registered strings, in blocks. Lock-free, as another thread may fork meanwhile. */
static struct strings {
	_Atomic size_t used;
	alignas(struct nvtx_registered) char text[STRINGS_BYTES];
} * _Atomic strings;
static _Atomic unsigned strings_blocks;

/* The next block, allocated by the first thread that needs it; NULL: no memory. */
static struct strings *strings_next(struct strings *full)
{
	struct strings *next;

	if (atomic_fetch_add(&strings_blocks, 1) >= STRINGS_BLOCKS)
		return NULL;
	next = mmap(NULL, sizeof(*next), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (next == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong(&strings, &full, next))
		return next;
	munmap(next, sizeof(*next));
	atomic_fetch_sub(&strings_blocks, 1);
	return full;
}

/* Permanent memory, aligned for a struct nvtx_registered. NULL: none left. */
static void *strings_take(size_t bytes)
{
	struct strings *block = atomic_load(&strings);
	size_t at;

	bytes = (bytes + alignof(struct nvtx_registered) - 1) & ~(alignof(struct nvtx_registered) - 1);
	for (;; block = strings_next(block)) {
		if (!block && !(block = strings_next(NULL)))
			return NULL;
		at = atomic_fetch_add(&block->used, bytes);
		if (at + bytes <= sizeof(block->text))
			return block->text + at;
		atomic_store(&block->used, sizeof(block->text)); /* not for shorter strings, either */
	}
}

const char *nvtx_domain_keep(const char *name)
{
	size_t length = strnlen(name, NVTX_NAME_BYTES - 1);
	char *kept = strings_take(length + 1);

	if (!kept)
		return "";
	memcpy(kept, name, length);
	kept[length] = '\0';
	return kept;
}

struct nvtx_name nvtx_name_ascii(const char *name)
{
	return (struct nvtx_name){.name = name ? name : ""};
}

struct nvtx_name nvtx_name_wide(const wchar_t *name, char *text)
{
	size_t used = 0;

	for (; name && *name && used + 1 < NVTX_NAME_BYTES; name++)
		text[used++] = *name < 0x80 ? (char)*name : '?';
	text[used] = '\0';
	return nvtx_name_ascii(text);
}

struct nvtx_name nvtx_name_of(const char *domain, const struct nvtx_attributes *attributes, char *wide)
{
	struct nvtx_name name = nvtx_name_ascii(NULL);

	if (attributes && attributes->message.ascii && attributes->message_type == MESSAGE_REGISTERED)
		name.registered = attributes->message.registered;
	else if (attributes && attributes->message_type == MESSAGE_WIDE)
		name = nvtx_name_wide(attributes->message.wide, wide);
	else if (attributes && attributes->message_type == MESSAGE_ASCII)
		name = nvtx_name_ascii(attributes->message.ascii);
	name.domain = domain;
	return name;
}

/* Copies at most NVTX_NAME_BYTES - 1 of `from`, with `,` `=` and `\` escaped. Returns the end. */
static char *escape(char *to, const char *from)
{
	for (unsigned i = 0; i < NVTX_NAME_BYTES - 1 && from[i]; i++) {
		if (from[i] == ',' || from[i] == '=' || from[i] == '\\')
			*to++ = '\\';
		*to++ = from[i];
	}
	return to;
}

/* "name=...,domain=...". Returns its length. */
static size_t range_text(char text[RANGE_BYTES], const char *domain, const char *name)
{
	char *end = escape(stpcpy(text, "name="), name);

	if (domain)
		end = escape(stpcpy(end, ",domain="), domain);
	return (size_t)(end - text);
}

const struct nvtx_registered *nvtx_register(const char *domain, const char *name)
{
	static const struct nvtx_registered nameless;
	char text[RANGE_BYTES];
	size_t length = range_text(text, domain, name);
	struct nvtx_registered *kept = strings_take(sizeof(*kept) + length);

	if (!kept)
		return &nameless;
	kept->hash = trace_text_hash(text, length);
	kept->length = (uint32_t)length;
	memcpy(kept->text, text, length);
	return kept;
}

uint32_t nvtx_name_text(struct thread *t, const struct nvtx_name *name)
{
	const struct nvtx_registered *registered = name->registered;
	char text[RANGE_BYTES];
	size_t length;

	if (registered)
		return trace_text_hashed(t, registered->text, registered->length, registered->hash);
	length = range_text(text, name->domain, name->name);
	return trace_text_hashed(t, text, length, trace_text_hash(text, length));
}
