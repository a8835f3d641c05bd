/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_debug_cache.c - libFuzzer: debug information that its file holds compressed, any bytes, and what
 * the user's cache has of it, with bytes that are anybody's (image.h), its checksum counting as right. All
 * sections of what is opened can be read.
 *
 *   u8 | so many changes to what was kept | the file
 */
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/image.h"
#include "timeline/debug/debug_cache.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/dev/shm/hpct-fuzz.XXXXXX";
static char file[64], pattern[64], command[64];

static void clean(void)
{
	char all[64];

	snprintf(all, sizeof all, "rm -rf %s", directory);
	if (system(all))
		_exit(1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (!mkdtemp(directory))
		abort();
	snprintf(file, sizeof file, "%s/file", directory);
	snprintf(pattern, sizeof pattern, "%s/debug/*", directory);
	snprintf(command, sizeof command, "rm -rf %s/debug", directory);
	return atexit(clean);
}

static void file_write(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *out = fopen(path, "wb");

	if (!out || fwrite(bytes, 1, size, out) != size || fclose(out))
		abort();
}

static void sections_read(Elf *elf)
{
	static volatile uint8_t sum;

	for (Elf_Scn *at = NULL; (at = elf_nextscn(elf, at));) {
		const Elf_Data *data = elf_getdata(at, NULL);

		for (size_t i = 0; data && data->d_buf && i < data->d_size; i++)
			sum ^= ((const uint8_t *)data->d_buf)[i];
	}
	(void)sum;
}

/* Whether there was something to unpack, or it was kept. */
static bool look(void)
{
	struct module_elf debug = {.fd = -1}, unpacked;
	bool is_made;

	if (module_elf_open(&debug, file, NULL))
		return false;
	is_made = debug_cache_open(&unpacked, &debug, directory);
	if (is_made) {
		sections_read(unpacked.elf);
		module_elf_close(&unpacked);
	}
	module_elf_close(&debug);
	return is_made;
}

static void kept_change(const uint8_t *changes, size_t size)
{
	struct image image;
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return; /* it could not be kept */
	image = image_of(found.gl_pathv[0]);
	image_change(image.bytes, image.size, changes, size);
	file_write(found.gl_pathv[0], image.bytes, image.size);
	free(image.bytes);
	globfree(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t changes = size ? (size_t)data[0] * IMAGE_CHANGE_BYTES : 0;

	if (size < 1 + changes)
		return 0;
	file_write(file, data + 1 + changes, size - 1 - changes);
	if (!look())
		return 0;
	if (!look())
		abort();
	if (changes) {
		kept_change(data + 1, changes);
		look();
	}
	return system(command);
}
