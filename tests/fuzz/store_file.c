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
#include "store/dense.h"
#include "store/reader.h"
#include "store/rollup.h"
#include "store/writer.h"

#define CHANGE_BYTES 4

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct image {
	uint8_t *bytes;
	size_t size;
} images[12];
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

static uint32_t put_context(struct store_writer *writer, unsigned i)
{
	struct store_module elf = {.kind = STORE_MODULE_ELF, .build_id_bytes = 2, .build_id = {1, 2}};
	struct store_scope scope = {.name = store_writer_text(writer, "f", 1), .line = i, .start = 16};
	uint32_t parent = i < 2 ? STORE_CONTEXT_PROGRAM_ROOT : STORE_CONTEXT_FIRST + i / 2, module;

	if (i % 3 == 0)
		return store_writer_context(
			writer, parent, store_writer_text_module(writer), store_writer_text(writer, "t", 1));
	elf.path = store_writer_text(writer, "/lib/a.so", 9);
	module = store_writer_module(writer, &elf);
	store_writer_symbol(writer, module, i, &scope, 1);
	return store_writer_context(writer, parent, module, i);
}

static void put_records(struct store_writer *writer, uint32_t stream, unsigned count)
{
	uint32_t late = store_writer_text(writer, "kind=late,n=1", 13);
	struct store_record record = {0};

	for (unsigned i = 0; i < count; i++) {
		record.begin_ns = record.end_ns = i * 1000000u + i * i % 977;
		record.context = STORE_CONTEXT_FIRST + i * 7 % 20;
		record.what = 0;
		record.amount = 1000000;
		record.attributes = 0;
		record.flags = stream == 0 ? STORE_RECORD_EXTENT : 0;
		store_writer_append(writer, stream, STORE_SAMPLES, &record, 1);
		record.flags = 0;
		if (i % 16 == 0)
			store_writer_append(writer, stream, STORE_VALUES, &record, 1);
		record.end_ns += i * 5000u;
		record.what = i % 32 ? STORE_OP_KERNEL : STORE_OP_BLOCKED;
		record.attributes = i % 8 ? 0 : late;
		record.link = i;
		if (i % 4 == 0)
			store_writer_append(writer, stream, STORE_SPANS, &record, 1);
	}
	record.end_ns = STORE_OPEN_NS;
	store_writer_span_open(writer, stream, 1, &record);
}

/* Small, or every input would take its time; all that a store can hold. The last two have a list of their
 * streams, so that streams and texts are decoded as they are asked for, and of these the last has its dense
 * values unpacked. */
static void make_image(const char *directory, unsigned which)
{
	const bool is_listed = which >= 3;
	struct store_stream stream = {.end_ns = STORE_OPEN_NS};
	struct store_writer *writer;
	struct error error;
	char from[64], to[64];

	store_dense_packs_nothing = which == 4;
	snprintf(from, sizeof from, "%s/%u.mdb", directory, which);
	snprintf(to, sizeof to, "%s/%u.mdz", directory, which);
	if (store_writer_create(&writer, from, &error))
		abort();
	store_writer_meta(writer, "command", "fuzz");
	store_writer_metric(writer, "CPUTIME", "ns", false);
	store_writer_metric(writer, "POWER", "W", true);
	for (unsigned i = 0; i < 24; i++)
		put_context(writer, i);
	store_writer_blob(writer, 5, "some bytes of a kept file", 25);
	for (uint32_t i = 0; i < 2; i++) {
		stream.kind = i ? STORE_STREAM_GPU : STORE_STREAM_CPU;
		stream.end_ns = is_listed ? UINT64_C(1000000000000) : STORE_OPEN_NS;
		put_records(writer, store_writer_stream(writer, &stream), which ? 1500 : 300);
	}
	if (which == 2)
		store_writer_keep(writer, 1500000000, 500000000);
	if (store_writer_commit(writer, &error) || store_writer_close(writer, &error) ||
		store_archive(from, to, &error)) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	read_image(from);
	read_image(to);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char directory[] = "/tmp/hpct-fuzz.XXXXXX", command[64];

	(void)argc, (void)argv;
	if (!mkdtemp(directory))
		abort();
	for (unsigned which = 0; which < 5; which++)
		make_image(directory, which);
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

static void read_track(struct store_reader *reader, uint32_t stream, enum store_track track,
	uint64_t begin_ns, uint64_t end_ns)
{
	struct store_rollup_part part;
	struct store_rollup *rollup;
	struct store_record record;
	int rc = store_rollup_open(&rollup, reader, stream, track, begin_ns, end_ns, NULL);

	store_reader_sample_before(reader, stream, end_ns, &record, NULL);
	if (rc)
		return;
	while (store_rollup_next(rollup, &part, NULL) == 1)
		;
	store_rollup_close(rollup);
}

static void read_stream(struct store_reader *reader, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	read_track(reader, stream, STORE_SAMPLES, begin_ns, end_ns);
	read_track(reader, stream, STORE_VALUES, begin_ns, end_ns);
}

/* What is decoded as it is asked for: from the end, and then from the begin, when it is there. */
static void read_names(struct store_reader *reader)
{
	struct store_scope scopes[STORE_SCOPE_MAX];
	uint32_t modules;
	size_t size;

	store_reader_modules(reader, &modules);
	for (uint32_t i = store_reader_stream_count(reader); i-- > 0;)
		store_reader_stream_peek(reader, i);
	for (uint32_t i = 64; i-- > 0;)
		store_reader_text(reader, i, &size);
	for (uint32_t module = modules < 4 ? modules : 4; module-- > 0;)
		for (uint64_t offset = 32; offset-- > 0;)
			store_reader_symbol(reader, module, offset, scopes, NULL);
}

static void read_all(struct store_reader *reader)
{
	uint32_t streams;
	bool changed;

	read_names(reader);
	store_reader_check(reader, NULL);
	store_reader_renew(reader, &changed, NULL);
	read_names(reader);
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
