/* SPDX-License-Identifier: Apache-2.0 */
/* content_id.c - see content_id.h. */
#include "store/base/content_id.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/hash.h"

#define BLOCK_BYTES 65536u
#define BLOCKS_MAX 256u

enum kind { OF_FILE, OF_MEMORY };

static void id_set(uint8_t id[CONTENT_ID_BYTES], enum kind kind, struct store_hash hash)
{
	id[0] = (uint8_t)kind;
	memcpy(id + 1, &hash.high, sizeof(hash.high));
	memcpy(id + 1 + sizeof(hash.high), &hash.low, sizeof(hash.low));
}

/* One block behind the hash of those before it. */
static bool block_add(int fd, uint8_t *block, uint64_t at, uint64_t end, struct store_hash *hash)
{
	size_t wanted = end - at < BLOCK_BYTES ? (size_t)(end - at) : BLOCK_BYTES, got = 0;

	memcpy(block, hash, sizeof(*hash));
	while (got < wanted) {
		ssize_t more = pread(fd, block + sizeof(*hash) + got, wanted - got, (off_t)(at + got));

		if (more <= 0)
			return false;
		got += (size_t)more;
	}
	*hash = store_hash128(block, sizeof(*hash) + wanted);
	return true;
}

bool content_id_of_file(int fd, uint8_t id[CONTENT_ID_BYTES])
{
	struct store_hash hash = {0};
	uint8_t *block = malloc(sizeof(hash) + BLOCK_BYTES);
	struct stat status;
	bool is_read = block && !fstat(fd, &status) && status.st_size > 0;
	uint64_t size = is_read ? (uint64_t)status.st_size : 0,
		 blocks = (size + BLOCK_BYTES - 1) / BLOCK_BYTES;
	uint64_t count = blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX;

	hash.low = size;
	for (uint64_t i = 0; is_read && i < count; i++) {
		/* the first, the last, and others between them */
		uint64_t which = count < 2 ? 0 : i * (blocks - 1) / (count - 1);

		is_read = block_add(fd, block, which * BLOCK_BYTES, size, &hash);
	}
	free(block);
	if (is_read)
		id_set(id, OF_FILE, hash);
	return is_read;
}

void content_id_of_memory(uint8_t id[CONTENT_ID_BYTES], const void *known, size_t size)
{
	id_set(id, OF_MEMORY, store_hash128(known, size));
}

bool content_id_is(const uint8_t *id, size_t bytes)
{
	return bytes == CONTENT_ID_BYTES && id[0] <= OF_MEMORY;
}

bool content_id_is_of_memory(const uint8_t *id, size_t bytes)
{
	return content_id_is(id, bytes) && id[0] == OF_MEMORY;
}
