/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_symbols_file.c - symbol tables in the user's cache directory: kernel_symbols.h draws the file. Its
 * content is untrusted. An open file never changes: writers rename a new file into place.
 */
#include "record/kernel/kernel_symbols_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/base/hash.h"
#include "store/base/user_cache.h"

#define MAGIC "hpctksy2"
#define FILE_MAX (64u << 20)
#define BLOCK_BYTES 4096u /* approximate: functions at the same offset share a block */
#define BLOCK_BYTES_MAX (1u << 20)
#define PATH_BYTES 4096
#define BUILD_ID_LEAST 8u
#define BUILD_ID_MOST 32u

struct file_head {
	char magic[8];
	uint32_t block_count, count, span, _pad;
};

struct file_block {
	uint32_t first, end;
	uint64_t checksum;
};

struct kernel_symbols_file {
	int fd;
	uint32_t block_count;
	uint32_t begin; /* of the first block */
	struct file_block *index;
	struct kernel_symbols *blocks; /* `list` is NULL: not fetched */
};

static bool path_of(char path[PATH_BYTES], const uint8_t *build_id, size_t bytes)
{
	char hex[2 * BUILD_ID_MOST + 1] = "", *directory;
	bool is_known;

	if (bytes < BUILD_ID_LEAST || bytes > BUILD_ID_MOST)
		return false;
	for (size_t i = 0; i < bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", build_id[i]);
	directory = store_user_cache_directory();
	is_known = directory && snprintf(path, PATH_BYTES, "%s/kernel/%s", directory, hex) < PATH_BYTES;
	free(directory);
	return is_known;
}

/* ---- writing ---- */

/* Number of functions from `begin` on that form a block. */
static uint32_t block_length(const struct kernel_symbols *symbols, uint32_t begin)
{
	size_t bytes = sizeof(uint32_t);
	uint32_t i = begin;

	for (; i < symbols->count; i++) {
		bytes += sizeof(*symbols->list) + strlen(symbols->names + symbols->list[i].name) + 1;
		if (bytes > BLOCK_BYTES && i > begin && symbols->list[i].at != symbols->list[i - 1].at)
			break;
	}
	return i - begin;
}

static void block_put(
	struct store_bytes *out, const struct kernel_symbols *symbols, uint32_t begin, uint32_t count)
{
	uint32_t place = 0;

	store_bytes_put(out, &count, sizeof(count));
	for (uint32_t i = begin; i < begin + count; i++) {
		struct kernel_symbol symbol = {.at = symbols->list[i].at, .name = place};

		store_bytes_put(out, &symbol, sizeof(symbol));
		place += (uint32_t)strlen(symbols->names + symbols->list[i].name) + 1;
	}
	for (uint32_t i = begin; i < begin + count; i++) {
		const char *name = symbols->names + symbols->list[i].name;

		store_bytes_put(out, name, strlen(name) + 1);
	}
	/* Lists are aligned to their numbers. */
	while (out->size % sizeof(uint32_t) && !out->failed)
		store_bytes_put(out, "", 1);
}

/* Writes the blocks and their index, whose ends count from the first block. Returns the number of blocks. */
static uint32_t blocks_put(
	const struct kernel_symbols *symbols, struct store_bytes *blocks, struct store_bytes *index)
{
	uint32_t block_count = 0, count;

	for (uint32_t i = 0; i < symbols->count && !blocks->failed; i += count) {
		size_t begin = blocks->size;
		struct file_block block = {.first = symbols->list[i].at};

		count = block_length(symbols, i);
		block_put(blocks, symbols, i, count);
		if (blocks->failed)
			break;
		block.end = (uint32_t)blocks->size;
		block.checksum = store_hash64(blocks->data + begin, blocks->size - begin, 0);
		store_bytes_put(index, &block, sizeof(block));
		block_count++;
	}
	return block_count;
}

void kernel_symbols_save(const struct kernel_symbols *symbols, const uint8_t *build_id, size_t bytes)
{
	struct file_head head = {.magic = MAGIC, .count = symbols->count, .span = symbols->span};
	struct store_bytes out = {0}, index = {0}, blocks = {0};
	char path[PATH_BYTES];
	uint64_t checksum;

	if (!symbols->count || symbols->file || !path_of(path, build_id, bytes))
		return;
	head.block_count = blocks_put(symbols, &blocks, &index);
	store_bytes_put(&out, &head, sizeof(head));
	store_bytes_put(&out, index.data, index.size);
	if (!out.failed) {
		checksum = store_hash64(out.data, out.size, 0);
		store_bytes_put(&out, &checksum, sizeof(checksum));
	}
	store_bytes_put(&out, blocks.data, blocks.size);
	if (!out.failed && !index.failed && !blocks.failed && out.size <= FILE_MAX) {
		store_user_cache_make(path);
		store_user_cache_replace(path, &out);
	}
	store_bytes_fini(&out);
	store_bytes_fini(&index);
	store_bytes_fini(&blocks);
}

/* ---- reading ---- */

static bool read_at(int fd, void *to, size_t bytes, uint64_t at)
{
	return pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

void kernel_symbols_file_close(struct kernel_symbols_file *file)
{
	if (!file)
		return;
	for (uint32_t i = 0; file->blocks && i < file->block_count; i++)
		free(file->blocks[i].list);
	free(file->blocks);
	free(file->index);
	close(file->fd);
	free(file);
}

static uint32_t block_begin(const struct kernel_symbols_file *file, uint32_t block)
{
	return file->begin + (block ? file->index[block - 1].end : 0);
}

/* Checks that the blocks fill the file without gaps. */
static bool index_is_sound(const struct kernel_symbols_file *file, size_t size)
{
	uint32_t begin = 0;

	for (uint32_t i = 0; i < file->block_count; begin = file->index[i++].end)
		if (file->index[i].end < begin + sizeof(uint32_t) ||
			file->index[i].end - begin > BLOCK_BYTES_MAX ||
			(i && file->index[i].first < file->index[i - 1].first))
			return false;
	return file->block_count && size == (size_t)file->begin + begin;
}

/* Reads head and index. */
static bool file_begin(struct kernel_symbols_file *file, size_t size, struct file_head *head)
{
	size_t bytes;
	uint64_t checksum;
	uint8_t *text;
	bool is_whole;

	if (!read_at(file->fd, head, sizeof(*head), 0) ||
		memcmp(head->magic, MAGIC, sizeof(head->magic)) != 0 ||
		head->block_count > size / sizeof(struct file_block))
		return false;
	bytes = sizeof(*head) + head->block_count * sizeof(struct file_block);
	text = malloc(bytes + sizeof(checksum));
	/* Read the head again: another process may write to the file at the same time. */
	is_whole = text && read_at(file->fd, text, bytes + sizeof(checksum), 0) &&
		   !memcmp(head, text, sizeof(*head));
	if (is_whole) {
		memcpy(&checksum, text + bytes, sizeof(checksum));
		is_whole = store_sum_fits(checksum, store_hash64(text, bytes, 0));
	}
	if (is_whole) {
		memmove(text, text + sizeof(*head), bytes - sizeof(*head));
		file->index = (void *)text;
		file->block_count = head->block_count;
		file->begin = (uint32_t)(bytes + sizeof(checksum));
		file->blocks = calloc(file->block_count, sizeof(*file->blocks));
		return file->blocks && index_is_sound(file, size);
	}
	free(text);
	return false;
}

bool kernel_symbols_load(struct kernel_symbols *symbols, const uint8_t *build_id, size_t bytes)
{
	struct kernel_symbols_file *file;
	struct file_head head;
	char path[PATH_BYTES];
	size_t size;

	if (!path_of(path, build_id, bytes))
		return false;
	file = calloc(1, sizeof(*file));
	if (!file)
		return false;
	file->fd = store_user_cache_open(path, FILE_MAX, &size);
	if (file->fd < 0) {
		free(file);
		return false;
	}
	if (!file_begin(file, size, &head)) {
		kernel_symbols_file_close(file);
		return false;
	}
	*symbols = (struct kernel_symbols){.count = head.count, .span = head.span, .file = file};
	return true;
}

/* The block that contains `at`, or the first one if it is before all. */
static uint32_t block_of(const struct kernel_symbols_file *file, uint32_t at)
{
	uint32_t low = 0, high = file->block_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (file->index[middle].first <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* A writer of the file could fake its checksum, too: rejects names outside the block. */
static bool block_is_sound(const struct kernel_symbols *block, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (block->list[i].name >= block->name_bytes)
			return false;
	return count && block->name_bytes && !block->names[block->name_bytes - 1];
}

static bool block_read(struct kernel_symbols_file *file, uint32_t at, struct kernel_symbols *block)
{
	uint32_t begin = block_begin(file, at), bytes = file->begin + file->index[at].end - begin, count;
	uint8_t *text = malloc(bytes);

	block->list = (void *)text;
	if (!text || !read_at(file->fd, text, bytes, begin) ||
		!store_sum_fits(file->index[at].checksum, store_hash64(text, bytes, 0)))
		return false;
	memcpy(&count, text, sizeof(count));
	if (count > (bytes - sizeof(count)) / sizeof(*block->list))
		return false;
	block->count = count;
	block->name_bytes = bytes - (uint32_t)sizeof(count) - count * (uint32_t)sizeof(*block->list);
	memmove(text, text + sizeof(count), bytes - sizeof(count));
	block->names = (char *)(text + count * sizeof(*block->list));
	return block_is_sound(block, count);
}

bool kernel_symbols_fetch(struct kernel_symbols *symbols, uint32_t at)
{
	struct kernel_symbols_file *file = symbols->file;
	struct kernel_symbols *block;

	if (!file)
		return true;
	block = &file->blocks[block_of(file, at)];
	if (block->list || block_read(file, block_of(file, at), block))
		return true;
	kernel_symbols_fini(symbols);
	return false;
}

bool kernel_symbols_file_block(
	const struct kernel_symbols_file *file, uint32_t at, struct kernel_symbols *block)
{
	*block = file->blocks[block_of(file, at)];
	return block->list != NULL;
}
