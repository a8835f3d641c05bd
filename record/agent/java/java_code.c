/* SPDX-License-Identifier: Apache-2.0 */
/* java_code.c - see java_code.h. */
#include "record/agent/java/java_code.h"

#include <string.h>

#include "record/agent/process/process.h"

size_t java_code_name(char *to, size_t room, const char *class_signature, const char *method)
{
	size_t used = 0;

	class_signature += *class_signature == 'L';
	for (; *class_signature && *class_signature != ';' && used + 2 < room; class_signature++)
		to[used++] = *class_signature == '/' ? '.' : *class_signature;
	if (used + 2 < room)
		to[used++] = '.';
	for (; *method && used + 1 < room; method++)
		to[used++] = *method;
	to[used] = '\0';
	return used;
}

void java_code_put(const void *begin, uint64_t size, const char *name, size_t name_bytes)
{
	struct event_process *shared = process.shared;
	uint64_t bytes, at;
	struct event_code *code;

	if (!process_is_live() || !shared->code_at || !size || !name_bytes)
		return;
	name_bytes = name_bytes < EVENT_NAME_BYTES_MAX ? name_bytes : EVENT_NAME_BYTES_MAX;
	bytes = (sizeof(*code) + name_bytes + 7) & ~UINT64_C(7);
	if (atomic_load_explicit(&shared->code_used, memory_order_relaxed) + bytes > EVENT_CODE_DATA)
		return;
	at = atomic_fetch_add(&shared->code_used, bytes);
	if (at + bytes > EVENT_CODE_DATA)
		return;
	code = (struct event_code *)((char *)shared + shared->code_at + at);
	code->begin = (uintptr_t)begin;
	code->size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	memcpy(code->text, name, name_bytes);
	atomic_store_explicit(&code->bytes, (uint32_t)name_bytes, memory_order_release);
}
