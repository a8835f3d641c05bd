/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_file.c - libFuzzer: whole stores, plain and archived, as their writer left them when it was killed
 * and when it ended in order, with some bytes that are anybody's (image.h). In this build seals and checksums
 * count as right (store/base/bytes.h), so that what stands behind them is reached: pages, tables, chunks,
 * rollups, names, open spans, kept files.
 */
#include <stdbool.h>
#include <stdio.h>

#include "store/catalog/zstd_block.h"
#include "store/read/reader.h"
#include "store/rollup/rollup.h"
#include "store/write/archive.h"
#include "store/write/writer.h"
#include "tests/fuzz/image.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KINDS 5u /* of stores, each plain and as an archive; then those of killed writers */

static struct image images[2 * KINDS + 2];
static unsigned image_count = 2 * KINDS;
static int target = -1; /* the file that is read: it keeps its name */
static char target_path[64];

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

static _Noreturn void fail(const struct error *error)
{
	fprintf(stderr, "%s\n", error->text);
	abort();
}

/* Small, or every input would take its time; all that a store can hold. The last two have a list of their
 * streams, so that streams and texts are decoded as they are asked for, and of these the last has its dense
 * values unpacked. */
static void make_image(const char *directory, unsigned which)
{
	const bool is_listed = which >= 3, is_live = which == 1 || which == 2;
	struct store_stream stream = {.end_ns = STORE_OPEN_NS};
	struct store_writer *writer;
	struct error error;
	char from[64], to[64];

	store_zstd_block_packs_nothing = which == 4;
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
	if (store_writer_commit(writer, &error))
		fail(&error);
	if (is_live)
		images[image_count++] = image_of(from);
	if (store_writer_close(writer, &error) || store_archive(from, to, &error))
		fail(&error);
	images[2 * which] = image_of(from);
	images[2 * which + 1] = image_of(to);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char directory[] = "/tmp/hpct-fuzz.XXXXXX", command[64];

	(void)argc, (void)argv;
	if (!mkdtemp(directory))
		abort();
	for (unsigned which = 0; which < KINDS; which++)
		make_image(directory, which);
	snprintf(command, sizeof command, "rm -rf %s", directory);
	if (system(command))
		abort();
	target = memfd_create("store", MFD_CLOEXEC);
	snprintf(target_path, sizeof target_path, "/proc/self/fd/%d", target);
	return target < 0 ? -1 : 0;
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
	struct store_reader *reader;

	if (!image_put(target, images, image_count, data, size))
		return 0;
	if (store_reader_open(&reader, target_path, NULL) == 0) {
		read_all(reader);
		store_reader_close(reader);
	}
	return 0;
}
