// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz timeline_names_shared - hostile files of the cache between runs, their checksum made good: what is
 * answered is an answer, and the file can be written again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/bytes.h"
#include "store/base/hash.h"
#include "timeline/names/names_library_cache.h"

static char directory[] = "/tmp/hpct-fuzz-XXXXXX";
static char file[256];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void clean(void)
{
	char path[256];

	unlink(file);
	snprintf(path, sizeof path, "%s/names/01", directory);
	rmdir(path);
	snprintf(path, sizeof path, "%s/names", directory);
	rmdir(path);
	rmdir(directory);
}

static void setup(void)
{
	char path[256];

	if (file[0])
		return;
	if (!mkdtemp(directory))
		abort();
	snprintf(path, sizeof path, "%s/names", directory);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/names/01", directory);
	mkdir(path, 0700);
	snprintf(file, sizeof file, "%s/names/01/0203040506070809", directory);
	atexit(clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_request request = {.path = "x", .real_path = "", .build_id_bytes = 9};
	static struct symbol_answer answer;
	static const char key[] = "key";
	const uint32_t key_bytes = sizeof key - 1;
	struct store_bytes bytes = {0};
	struct names_library_cache *shared;
	uint64_t checksum;
	bool is_damaged;
	FILE *out;

	setup();
	for (uint8_t i = 0; i < 9; i++)
		request.build_id[i] = (uint8_t)(i + 1);
	store_bytes_put(&bytes, "hpctnam2", 8);
	store_bytes_put(&bytes, &key_bytes, sizeof key_bytes);
	store_bytes_put(&bytes, key, key_bytes);
	store_bytes_put(&bytes, data, size);
	checksum = store_hash64(bytes.data, bytes.size, 0);
	store_bytes_put(&bytes, &checksum, sizeof checksum);
	out = fopen(file, "wb");
	if (!out || fwrite(bytes.data, 1, bytes.size, out) != bytes.size || fclose(out))
		abort();
	store_bytes_fini(&bytes);
	shared = names_library_cache_open(directory, &request, key, &is_damaged);
	if (!shared)
		abort();
	for (size_t at = 0; at + 8 <= size && at < 4096; at++) {
		uint64_t offset;

		memcpy(&offset, data + at, sizeof offset);
		if (names_library_cache_find(shared, offset, &answer) &&
			(!answer.scope_count || answer.scope_count > NAMES_SCOPE_MAX ||
				!memchr(answer.scopes[0].name, 0, 1 << 20)))
			abort();
	}
	answer = (struct symbol_answer){.offset = 1000000, .source = NAMES_FROM_SYMBOL, .scope_count = 1};
	answer.scopes[0] = (struct names_scope){.name = "f", .linkage = "", .file = "", .decl_file = ""};
	names_library_cache_add(shared, &answer);
	names_library_cache_close(shared);
	return 0;
}
