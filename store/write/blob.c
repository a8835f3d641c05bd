/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob.c - whole files kept in the run (GPU binaries, sources), compressed with zstd: into the writer's
 * pending facts, and from the reader's snapshot.
 *
 *   blob | key u64 BE |  value | seal u32 | bytes unpacked varint | zstd frame |
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "store/base/hash.h"
#include "store/key.h"
#include "store/read/reader_internal.h"
#include "store/write/writer_internal.h"

#define LEVEL 3
#define SOURCE_SEED 0x736563727566u /* apart from hashes of content */
#define BLOB_BYTES_MAX ((size_t)1 << 30)

uint64_t store_source_key(const char *path)
{
	return store_hash64(path, strlen(path), SOURCE_SEED);
}

uint64_t store_gpu_module_key(const uint8_t *build_id, uint8_t size_bytes)
{
	uint64_t key = 0;

	for (unsigned i = 0; size_bytes == sizeof key && i < sizeof key; i++)
		key = key << 8 | build_id[i];
	return key;
}

static void key_put(uint8_t key[STORE_KEY_BLOB_BYTES], uint64_t id)
{
	for (unsigned i = 0; i < STORE_KEY_BLOB_BYTES; i++)
		key[i] = (uint8_t)(id >> (56 - 8 * i));
}

static uint64_t key_get(const uint8_t *key)
{
	uint64_t id = 0;

	for (unsigned i = 0; i < STORE_KEY_BLOB_BYTES; i++)
		id = id << 8 | key[i];
	return id;
}

void store_writer_blob(struct store_writer *writer, uint64_t id, const void *bytes, size_t size)
{
	uint8_t key[STORE_KEY_BLOB_BYTES], *place;
	size_t packed;

	if (size > BLOB_BYTES_MAX)
		return;
	key_put(key, id);
	store_bytes_begin_sealed(&writer->scratch);
	store_bytes_put_varint(&writer->scratch, size);
	place = store_bytes_reserve(&writer->scratch, ZSTD_compressBound(size));
	packed = place ? ZSTD_compress(place, ZSTD_compressBound(size), bytes, size, LEVEL) : 0;
	if (!place || ZSTD_isError(packed)) {
		writer->failed = true;
		return;
	}
	writer->scratch.size += packed;
	store_writer_fact(writer, STORE_TREE_BLOB, key, sizeof key);
}

static int unpack(struct store_reader *reader, struct store_input input, void **bytes, size_t *size,
	struct error *error)
{
	*size = (size_t)store_input_varint(&input);
	if (input.bad || *size > BLOB_BYTES_MAX)
		return store_reader_damaged(reader, "a kept file", error);
	*bytes = malloc(*size ? *size : 1);
	if (!*bytes)
		return error_memory(error);
	if (ZSTD_decompress(*bytes, *size, input.at, (size_t)(input.end - input.at)) == *size)
		return 1;
	free(*bytes);
	*bytes = NULL;
	return store_reader_damaged(reader, "a kept file", error);
}

int store_reader_blob(
	struct store_reader *reader, uint64_t id, void **bytes, size_t *size, struct error *error)
{
	uint8_t key[STORE_KEY_BLOB_BYTES];
	struct store_slice value;
	int rc;

	key_put(key, id);
	rc = store_tree_get_sealed(&reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_BLOB], key,
		sizeof key, &value, error);
	return rc <= 0 ? rc : unpack(reader, store_input_sealed(value, key, sizeof key), bytes, size, error);
}

int store_reader_blob_next(struct store_reader *reader, uint64_t *id, struct error *error)
{
	struct store_tree_cursor cursor;
	uint8_t key[STORE_KEY_BLOB_BYTES];
	int rc;

	key_put(key, *id);
	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_BLOB]);
	rc = store_tree_seek(&cursor, key, sizeof key, error);
	if (rc != 1)
		return rc;
	if (cursor.key.size != STORE_KEY_BLOB_BYTES)
		return store_reader_damaged(reader, "a kept file's key", error);
	*id = key_get(cursor.key.bytes);
	return 1;
}

int store_reader_blobs_check(struct store_reader *reader, struct error *error)
{
	struct store_tree_cursor cursor;
	size_t size;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_BLOB]);
	rc = store_tree_seek(&cursor, "", 0, error);
	for (; rc == 1; rc = store_tree_next(&cursor, error)) {
		void *bytes = NULL;

		if (cursor.key.size != STORE_KEY_BLOB_BYTES)
			return store_reader_damaged(reader, "a kept file's key", error);
		rc = store_reader_blob(reader, key_get(cursor.key.bytes), &bytes, &size, error);
		if (rc < 0)
			return rc;
		free(bytes);
	}
	return rc;
}
