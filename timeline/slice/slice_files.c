/* SPDX-License-Identifier: Apache-2.0 */
/* slice_files.c - see slice_files.h. */
#include "timeline/slice/slice_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "timeline/code/gpu_code.h"

#define MODULE "module="

void slice_files_init(struct slice_files *files)
{
	key_ids_init(&files->keys, sizeof(uint64_t));
}

void slice_files_fini(struct slice_files *files)
{
	key_ids_fini(&files->keys);
}

bool slice_files_want(struct slice_files *files, uint64_t key)
{
	return key_ids_put(&files->keys, &key, NULL) != KEY_IDS_NONE;
}

bool slice_files_want_source(struct slice_files *files, const char *path)
{
	return path[0] != '/' || slice_files_want(files, store_source_key(path));
}

bool slice_files_want_binary(struct slice_files *files, const char *attributes, size_t size)
{
	const char *at = attributes, *end = attributes + size;

	while (at && at < end) {
		if (!strncmp(at, MODULE, sizeof MODULE - 1))
			return slice_files_want(files, strtoull(at + sizeof MODULE - 1, NULL, 16));
		at = memchr(at, ',', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	return true;
}

int slice_files_copy(const struct slice_files *files, struct store_reader *reader,
	struct store_writer *writer, struct error *error)
{
	unsigned sources = 0;
	uint64_t key = 0;
	char text[64];
	int rc;

	while ((rc = store_reader_blob_next(reader, &key, error)) == 1) {
		void *bytes;
		size_t size;

		if (key_ids_find(&files->keys, &key) != KEY_IDS_NONE) {
			rc = store_reader_blob(reader, key, &bytes, &size, error);
			if (rc < 0)
				return rc;
			if (rc) {
				store_writer_blob(writer, key, bytes, size);
				sources += !gpu_code_is(bytes, size);
				free(bytes);
			}
		}
		if (key++ == UINT64_MAX)
			break;
	}
	if (rc < 0)
		return rc;
	snprintf(text, sizeof text, "%u kept", sources);
	if (store_reader_meta(reader, "sources"))
		store_writer_meta(writer, "sources", text);
	return 0;
}
