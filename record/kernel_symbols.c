/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_symbols.c - see kernel_symbols.h. A file that is read may hold anything. */
#include "record/kernel_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/cached.h"
#include "store/hash.h"

#define MAGIC "hpctksy1"
#define FILE_MAX (64u << 20)
#define PATH_BYTES 4096
#define BUILD_ID_LEAST 8u
#define BUILD_ID_MOST 32u

struct file_head {
	char magic[8];
	uint32_t count, name_bytes, span, _pad;
};

void kernel_symbols_fini(struct kernel_symbols *symbols)
{
	if (!symbols->file) {
		free(symbols->list);
		free(symbols->names);
	}
	free(symbols->file);
	*symbols = (struct kernel_symbols){0};
}

static bool list_room(struct kernel_symbols *symbols)
{
	uint32_t room = symbols->room ? 2 * symbols->room : 1024;
	struct kernel_symbol *grown;

	if (symbols->count < symbols->room)
		return true;
	grown = realloc(symbols->list, room * sizeof(*grown));
	if (!grown)
		return false;
	symbols->list = grown;
	symbols->room = room;
	return true;
}

static bool name_room(struct kernel_symbols *symbols)
{
	uint32_t room = symbols->name_room ? 2 * symbols->name_room : 64 * KERNEL_SYMBOL_BYTES;
	char *grown;

	if (symbols->name_room - symbols->name_bytes >= KERNEL_SYMBOL_BYTES)
		return true;
	grown = room <= FILE_MAX ? realloc(symbols->names, room) : NULL;
	if (!grown)
		return false;
	symbols->names = grown;
	symbols->name_room = room;
	return true;
}

bool kernel_symbols_add(struct kernel_symbols *symbols, uint32_t at, const char *name, size_t length)
{
	if (length >= KERNEL_SYMBOL_BYTES)
		length = KERNEL_SYMBOL_BYTES - 1;
	if (!list_room(symbols) || !name_room(symbols))
		return false;
	symbols->list[symbols->count++] = (struct kernel_symbol){at, symbols->name_bytes};
	memcpy(symbols->names + symbols->name_bytes, name, length);
	symbols->names[symbols->name_bytes + length] = '\0';
	symbols->name_bytes += (uint32_t)length + 1;
	return true;
}

/* Names lie in the order in which they were added. */
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
	uint32_t low = 0, high = symbols->count;

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

/* ---- the file ---- */

static bool path_of(char path[PATH_BYTES], const uint8_t *build_id, size_t bytes)
{
	char hex[2 * BUILD_ID_MOST + 1] = "", *directory;
	bool is_known;

	if (bytes < BUILD_ID_LEAST || bytes > BUILD_ID_MOST)
		return false;
	for (size_t i = 0; i < bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", build_id[i]);
	directory = store_cached_directory();
	is_known = directory && snprintf(path, PATH_BYTES, "%s/kernel/%s", directory, hex) < PATH_BYTES;
	free(directory);
	return is_known;
}

void kernel_symbols_save(const struct kernel_symbols *symbols, const uint8_t *build_id, size_t bytes)
{
	struct file_head head = {.magic = MAGIC,
		.count = symbols->count,
		.name_bytes = symbols->name_bytes,
		.span = symbols->span};
	struct store_bytes out = {0};
	char path[PATH_BYTES];
	uint64_t checksum;

	if (!symbols->count || !path_of(path, build_id, bytes))
		return;
	store_bytes_put(&out, &head, sizeof(head));
	store_bytes_put(&out, symbols->list, symbols->count * sizeof(*symbols->list));
	store_bytes_put(&out, symbols->names, symbols->name_bytes);
	checksum = store_hash64(out.data, out.size, 0);
	store_bytes_put(&out, &checksum, sizeof(checksum));
	if (!out.failed && out.size <= FILE_MAX) {
		store_cached_make(path);
		store_cached_replace(path, &out);
	}
	store_bytes_fini(&out);
}

/* Are its parts as large as it says, and does it say the same as when it was written? */
static bool is_whole(const uint8_t *file, size_t size, struct file_head *head)
{
	uint64_t checksum, wanted;

	if (size < sizeof(*head) + sizeof(checksum))
		return false;
	memcpy(head, file, sizeof(*head));
	memcpy(&checksum, file + size - sizeof(checksum), sizeof(checksum));
	wanted = sizeof(*head) + sizeof(struct kernel_symbol) * (uint64_t)head->count + head->name_bytes +
		 sizeof(checksum);
	return !memcmp(head->magic, MAGIC, sizeof(head->magic)) && size == wanted && head->count &&
	       head->name_bytes && store_sum_fits(checksum, store_hash64(file, size - sizeof(checksum), 0));
}

/* Who could write the file could write its checksum, too: a name that lies outside is none. */
static bool is_sound(const struct kernel_symbols *symbols)
{
	for (uint32_t i = 0; i < symbols->count; i++)
		if (symbols->list[i].name >= symbols->name_bytes ||
			(i && symbols->list[i].at < symbols->list[i - 1].at))
			return false;
	return !symbols->names[symbols->name_bytes - 1];
}

bool kernel_symbols_load(struct kernel_symbols *symbols, const uint8_t *build_id, size_t bytes)
{
	struct file_head head;
	char path[PATH_BYTES];
	uint8_t *file;
	size_t size;

	if (!path_of(path, build_id, bytes))
		return false;
	file = store_cached_read(path, FILE_MAX, &size);
	if (!file || !is_whole(file, size, &head)) {
		free(file);
		return false;
	}
	*symbols = (struct kernel_symbols){.list = (void *)(file + sizeof(head)),
		.names = (char *)file + sizeof(head) + sizeof(struct kernel_symbol) * (size_t)head.count,
		.count = head.count,
		.name_bytes = head.name_bytes,
		.span = head.span,
		.file = file};
	if (is_sound(symbols))
		return true;
	kernel_symbols_fini(symbols);
	return false;
}
