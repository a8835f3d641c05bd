/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_file.c - libFuzzer: whole stores, plain and archived, with some bytes that are anybody's. An input is
 * which store and what is changed in it; in this build seals and checksums count as right (store/bytes.h), so
 * that what stands behind them is reached: pages, tables, chunks, rollups, names, open spans, kept files.
 *
 *   input | store u8 | changes: | place u24 | value u8 | ...        the place counts from the store's begin,
 * or, with its top bit, in 256 bytes from the last one's
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/archive.h"
#include "store/reader.h"
#include "store/rollup.h"
#include "tests/simulate.h"

#define STORE "node01-0f0e0d0c-0b0a-4908-8706-050403020100"
#define CHANGE_BYTES 4

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct image {
	uint8_t *bytes;
	size_t size;
} images[8];
static unsigned image_count;
static int target = -1; /* the file that is read: it keeps its name */
static char target_path[64];

static void read_image(const char *path)
{
	struct image *image = &images[image_count++];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat facts;

	if (fd < 0 || fstat(fd, &facts))
		abort();
	image->size = (size_t)facts.st_size;
	image->bytes = malloc(image->size);
	if (!image->bytes || read(fd, image->bytes, image->size) != (ssize_t)image->size)
		abort();
	close(fd);
}

static void make_images(const char *directory)
{
	static const struct simulate_options shapes[] = {
		{.shape = "cpu", .streams = 2, .records = 600, .seed = 1},
		{.shape = "mixed", .streams = 2, .records = 500, .seed = 2},
		{.shape = "odd", .streams = 2, .records = 200, .seed = 3}};

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct simulate_options options = shapes[i];
		struct error error;
		char run[128], from[256], to[256];

		snprintf(run, sizeof run, "%s/%zu.hpct", directory, i);
		snprintf(from, sizeof from, "%s/" STORE ".mdb", run);
		snprintf(to, sizeof to, "%s/" STORE ".mdz", run);
		options.run = run;
		if (simulate_run(&options, &error) || store_archive(from, to, &error)) {
			fprintf(stderr, "%s\n", error.text);
			abort();
		}
		read_image(from);
		read_image(to);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char directory[] = "/tmp/hpct-fuzz.XXXXXX", command[64];

	(void)argc, (void)argv;
	if (!mkdtemp(directory))
		abort();
	make_images(directory);
	snprintf(command, sizeof command, "rm -rf %s", directory);
	if (system(command))
		abort();
	target = memfd_create("store", MFD_CLOEXEC);
	snprintf(target_path, sizeof target_path, "/proc/self/fd/%d", target);
	return target < 0 ? -1 : 0;
}

static void change(uint8_t *bytes, size_t size, const uint8_t *data, size_t data_size)
{
	size_t place = 0;

	for (; data_size >= CHANGE_BYTES; data += CHANGE_BYTES, data_size -= CHANGE_BYTES) {
		size_t to = data[0] | (size_t)data[1] << 8 | (size_t)(data[2] & 0x7f) << 16;

		place = (data[2] & 0x80 ? place + (to & 255) : to) % size;
		bytes[place] = data[3];
	}
}

static void read_stream(struct store_reader *reader, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	struct store_rollup_part part;
	struct store_rollup *rollup;
	struct store_record record;
	int rc = store_rollup_open(&rollup, reader, stream, begin_ns, end_ns, NULL);

	store_reader_sample_before(reader, stream, end_ns, &record, NULL);
	if (rc)
		return;
	while (store_rollup_next(rollup, &part, NULL) == 1)
		;
	store_rollup_close(rollup);
}

static void read_all(struct store_reader *reader)
{
	uint32_t streams;

	store_reader_check(reader, NULL);
	store_reader_streams(reader, &streams);
	for (uint32_t i = 0; i < streams && i < 8; i++) {
		read_stream(reader, i, 0, UINT64_MAX);
		read_stream(reader, i, 1000000000, 5000000000);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct image *image;
	struct store_reader *reader;
	uint8_t *map;

	if (size < 1 + CHANGE_BYTES)
		return 0;
	image = &images[data[0] % image_count];
	if (ftruncate(target, (off_t)image->size))
		abort();
	map = mmap(NULL, image->size, PROT_READ | PROT_WRITE, MAP_SHARED, target, 0);
	if (map == MAP_FAILED)
		abort();
	memcpy(map, image->bytes, image->size);
	change(map, image->size, data + 1, size - 1);
	munmap(map, image->size);
	if (store_reader_open(&reader, target_path, NULL) == 0) {
		read_all(reader);
		store_reader_close(reader);
	}
	return 0;
}
