/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_text.c - see gpu_text.h. */
#include "record/agent/gpu/gpu_text.h"

#include <string.h>

#include "record/agent/process/environment.h"

static const char *const copy_kinds[] = {
	"UNK", "H2D", "D2H", "H2A", "A2H", "A2A", "A2D", "D2A", "D2D", "H2H", "P2P"};
static const char *const memory_kinds[] = {"UNK", "PAG", "PIN", "DEV", "ARY", "MAN", "DST", "MST"};
static const char *const sync_kinds[] = {"UNK", "EVT", "STRE", "STR", "CTX"};

#define NAME_OF(kinds, kind) ((kinds)[(unsigned)(kind) < sizeof(kinds) / sizeof(*(kinds)) ? (kind) : 0])

struct text {
	char *at;
	size_t used;
};

/* All values are numbers or our own words, so nothing needs escaping, and GPU_TEXT_BYTES holds all keys. */
static void word_put(struct text *text, const char *key, const char *value)
{
	size_t key_length = strlen(key), value_length = strlen(value);

	if (text->used + key_length + value_length + 3 > GPU_TEXT_BYTES)
		return;
	if (text->used)
		text->at[text->used++] = ',';
	memcpy(text->at + text->used, key, key_length);
	text->used += key_length;
	text->at[text->used++] = '=';
	memcpy(text->at + text->used, value, value_length + 1);
	text->used += value_length;
}

static void number_put(struct text *text, const char *key, unsigned long value)
{
	char digits[24];

	environment_decimal(digits, value);
	word_put(text, key, digits);
}

static void known_put(struct text *text, const char *key, unsigned long value)
{
	if (value)
		number_put(text, key, value);
}

/* "x:y:z" */
static void extent_put(struct text *text, const char *key, const uint32_t extent[3])
{
	char value[80];

	if (!extent[0])
		return;
	environment_decimal(value, extent[0]);
	for (unsigned i = 1; i < 3; i++) {
		strcat(value, ":");
		environment_decimal(value + strlen(value), extent[i] ? extent[i] : 1);
	}
	word_put(text, key, value);
}

static void hash_put(struct text *text, const char *key, uint64_t hash)
{
	static const char digits[] = "0123456789abcdef";
	char value[17];

	for (unsigned i = 0; i < 16; i++)
		value[i] = digits[hash >> (60 - 4 * i) & 15];
	value[16] = '\0';
	if (hash)
		word_put(text, key, value);
}

/* Completely or not at all: a truncated list would be wrong. */
static void uses_put(struct text *text, const char *uses)
{
	size_t length = uses ? strlen(uses) : 0;

	if (!length || text->used + length + 2 > GPU_TEXT_BYTES)
		return;
	if (text->used)
		text->at[text->used++] = ',';
	memcpy(text->at + text->used, uses, length + 1);
	text->used += length;
}

static void kernel_put(struct text *text, const struct gpu_kernel *kernel)
{
	extent_put(text, "grid", kernel->grid);
	extent_put(text, "block", kernel->block);
	known_put(text, "registers", kernel->registers);
	known_put(text, "shared_static", kernel->static_shared_bytes);
	known_put(text, "shared_dynamic", kernel->dynamic_shared_bytes);
	known_put(text, "local", kernel->local_bytes);
	known_put(text, "occupancy_permille", kernel->occupancy_permille);
}

size_t gpu_text_attributes(char bytes[GPU_TEXT_BYTES], const struct gpu_activity *activity)
{
	struct text text = {bytes, 0};

	bytes[0] = '\0';
	switch (activity->operation) {
	case STORE_OP_KERNEL:
		kernel_put(&text, &activity->kernel);
		break;
	case STORE_OP_COPY:
		word_put(&text, "kind", NAME_OF(copy_kinds, activity->copy.kind));
		known_put(&text, "async", activity->copy.is_async);
		break;
	case STORE_OP_ALLOC:
	case STORE_OP_FREE:
		word_put(&text, "kind", NAME_OF(memory_kinds, activity->memory));
		hash_put(&text, "address", activity->address);
		break;
	case STORE_OP_SET:
		word_put(&text, "kind", NAME_OF(memory_kinds, activity->memory));
		break;
	case STORE_OP_SYNC:
		word_put(&text, "kind", NAME_OF(sync_kinds, activity->sync));
		break;
	case STORE_OP_GRAPH:
		known_put(&text, "graph", activity->graph);
		break;
	default:
		break;
	}
	known_put(&text, "node", activity->graph_node);
	hash_put(&text, "module", activity->module);
	uses_put(&text, activity->uses);
	return text.used;
}

size_t gpu_text_sync(char bytes[GPU_TEXT_BYTES], enum gpu_sync_kind kind, const struct gpu_queue *queue)
{
	struct text text = {bytes, 0};

	word_put(&text, "kind", NAME_OF(sync_kinds, kind));
	if (queue) {
		number_put(&text, "device", queue->device);
		number_put(&text, "context", queue->context);
		number_put(&text, "queue", queue->queue);
	}
	return text.used;
}

size_t gpu_text_memory(char bytes[GPU_TEXT_BYTES], enum gpu_memory_kind kind, uint64_t address)
{
	struct text text = {bytes, 0};

	word_put(&text, "kind", NAME_OF(memory_kinds, kind));
	hash_put(&text, "address", address);
	return text.used;
}
