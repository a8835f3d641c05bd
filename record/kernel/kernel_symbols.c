/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_symbols.c - see kernel_symbols.h. */
#include "record/kernel/kernel_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "record/kernel/kernel_symbols_file.h"

#define NAME_BYTES_MAX (64u << 20)

void kernel_symbols_fini(struct kernel_symbols *symbols)
{
	kernel_symbols_file_close(symbols->file);
	free(symbols->list);
	free(symbols->names);
	*symbols = (struct kernel_symbols){0};
}

static bool list_reserve(struct kernel_symbols *symbols)
{
	uint32_t room = symbols->capacity ? 2 * symbols->capacity : 1024;
	struct kernel_symbol *grown;

	if (symbols->count < symbols->capacity)
		return true;
	grown = realloc(symbols->list, room * sizeof(*grown));
	if (!grown)
		return false;
	symbols->list = grown;
	symbols->capacity = room;
	return true;
}

static bool name_reserve(struct kernel_symbols *symbols)
{
	uint32_t room = symbols->name_capacity ? 2 * symbols->name_capacity : 64 * KERNEL_SYMBOL_BYTES;
	char *grown;

	if (symbols->name_capacity - symbols->name_bytes >= KERNEL_SYMBOL_BYTES)
		return true;
	grown = room <= NAME_BYTES_MAX ? realloc(symbols->names, room) : NULL;
	if (!grown)
		return false;
	symbols->names = grown;
	symbols->name_capacity = room;
	return true;
}

bool kernel_symbols_add(struct kernel_symbols *symbols, uint32_t at, const char *name, size_t length)
{
	if (length >= KERNEL_SYMBOL_BYTES)
		length = KERNEL_SYMBOL_BYTES - 1;
	if (!list_reserve(symbols) || !name_reserve(symbols))
		return false;
	symbols->list[symbols->count++] = (struct kernel_symbol){at, symbols->name_bytes};
	memcpy(symbols->names + symbols->name_bytes, name, length);
	symbols->names[symbols->name_bytes + length] = '\0';
	symbols->name_bytes += (uint32_t)length + 1;
	return true;
}

/* Equal offsets keep the order in which their names were added. */
static int order(const void *left, const void *right)
{
	const struct kernel_symbol *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

void kernel_symbols_sort(struct kernel_symbols *symbols)
{
	uint32_t i = 1;

	while (i < symbols->count && order(&symbols->list[i - 1], &symbols->list[i]) <= 0)
		i++;
	if (i < symbols->count)
		qsort(symbols->list, symbols->count, sizeof(*symbols->list), order);
}

const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint32_t at, uint32_t *begin)
{
	struct kernel_symbols block;
	uint32_t low = 0, high;

	if (symbols->file) {
		if (!kernel_symbols_file_block(symbols->file, at, &block))
			return NULL;
		symbols = &block;
	}
	high = symbols->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (symbols->list[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	for (low--; low && symbols->list[low - 1].at == symbols->list[low].at;)
		low--;
	*begin = symbols->list[low].at;
	return symbols->names + symbols->list[low].name;
}
