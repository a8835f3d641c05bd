/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive.c - copies a store's values in key order to a fresh LMDB file (compact.h), then compresses its
 * pages frame by frame with zstd.
 */
#include "store/write/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "store/base/hash.h"
#include "store/file/archive_pages.h"
#include "store/read/reader_internal.h"
#include "store/write/compact.h"

#define LEVEL 19

/* ---- values into a fresh file ---- */

/* A map that never grows while it is written to. */
static int make_room(struct store_file *file, uint64_t bytes, struct error *error)
{
	MDB_envinfo info;
	int rc = 0;

	mdb_env_info(store_file_env(file), &info);
	for (size_t room = info.me_mapsize; room / 2 < bytes + ((size_t)1 << 20) && !rc;) {
		rc = store_file_grow(file, error);
		mdb_env_info(store_file_env(file), &info);
		room = info.me_mapsize;
	}
	return rc;
}

static int copy_values(const struct store_reader *reader, struct store_file *to, struct error *error)
{
	const struct store_pages *pages = &reader->snapshot.pages;
	int rc = make_room(to, pages->page_count * pages->page_bytes, error), failed;

	rc = rc ? rc : store_compact(&reader->snapshot, to, 0, error);
	if (rc)
		return rc;
	failed = mdb_env_sync(store_file_env(to), 1); /* to the file; the disk may take its time */
	return failed ? store_file_failed(to, "write", failed, error) : 0;
}

/* ---- pages to frames ---- */

struct pack {
	FILE *from, *to;
	const char *to_path;
	ZSTD_CCtx *zstd;
	uint8_t *input, *output;
	uint64_t *ends;
	struct store_archive_pages_header header;
	size_t frame_count;
};

static int failed(const struct pack *pack, struct error *error)
{
	return error_set(error, ERROR_IO, "cannot write '%s': %s; make room on the disk", pack->to_path,
		strerror(errno));
}

static int pack_frame(struct pack *pack, size_t frame, uint64_t *at, struct error *error)
{
	const size_t most = ZSTD_compressBound(STORE_ARCHIVE_PAGES_FRAME_BYTES);
	size_t size = fread(pack->input, 1, STORE_ARCHIVE_PAGES_FRAME_BYTES, pack->from), packed;

	if (!size || ferror(pack->from))
		return error_set(
			error, ERROR_IO, "cannot read back '%s" STORE_ARCHIVE_MAKING "'", pack->to_path);
	packed = ZSTD_compress2(pack->zstd, pack->output, most, pack->input, size);
	if (ZSTD_isError(packed))
		return error_memory(error);
	if (fwrite(pack->output, 1, packed, pack->to) != packed)
		return failed(pack, error);
	*at += packed;
	pack->ends[frame] = *at;
	return 0;
}

/* The ends are known at last: room is left for them first. */
static int pack_frames(struct pack *pack, struct error *error)
{
	const size_t ends_bytes = pack->frame_count * sizeof *pack->ends;
	uint64_t at = 0;
	int rc = 0;

	if (fseek(pack->to, (long)(sizeof pack->header + ends_bytes), SEEK_SET) != 0)
		return failed(pack, error);
	for (size_t frame = 0; frame < pack->frame_count && !rc; frame++)
		rc = pack_frame(pack, frame, &at, error);
	if (rc)
		return rc;
	pack->header.checksum = store_hash64(pack->ends, ends_bytes, 0);
	if (fseek(pack->to, 0, SEEK_SET) != 0 ||
		fwrite(&pack->header, sizeof pack->header, 1, pack->to) != 1 ||
		fwrite(pack->ends, 1, ends_bytes, pack->to) != ends_bytes || fflush(pack->to) != 0 ||
		fsync(fileno(pack->to)) != 0)
		return failed(pack, error);
	return 0;
}

static int pack_init(struct pack *pack, uint64_t bytes, struct error *error)
{
	pack->header = (struct store_archive_pages_header){.version = STORE_ARCHIVE_PAGES_VERSION,
		.frame_bytes = STORE_ARCHIVE_PAGES_FRAME_BYTES,
		.bytes = bytes};
	memcpy(pack->header.magic, STORE_ARCHIVE_PAGES_MAGIC, sizeof pack->header.magic);
	pack->frame_count = (bytes + STORE_ARCHIVE_PAGES_FRAME_BYTES - 1) / STORE_ARCHIVE_PAGES_FRAME_BYTES;
	pack->zstd = ZSTD_createCCtx();
	pack->input = malloc(STORE_ARCHIVE_PAGES_FRAME_BYTES);
	pack->output = malloc(ZSTD_compressBound(STORE_ARCHIVE_PAGES_FRAME_BYTES));
	pack->ends = calloc(pack->frame_count + 1, sizeof *pack->ends);
	if (!pack->zstd || !pack->input || !pack->output || !pack->ends)
		return error_memory(error);
	ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_checksumFlag, 1);
	return 0;
}

static void pack_fini(struct pack *pack)
{
	ZSTD_freeCCtx(pack->zstd);
	free(pack->input);
	free(pack->output);
	free(pack->ends);
	if (pack->from)
		fclose(pack->from);
	if (pack->to)
		fclose(pack->to);
}

static int pack_file(const char *from, const char *to, struct error *error)
{
	struct pack pack = {.to_path = to, .from = fopen(from, "re")};
	struct stat facts;
	int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), rc;

	if (fd >= 0)
		pack.to = fdopen(fd, "w");
	if (!pack.to || !pack.from || fstat(fileno(pack.from), &facts) != 0)
		rc = error_set(
			error, ERROR_IO, "cannot create '%s': %s%s", to, strerror(errno), error_place(errno));
	else
		rc = pack_init(&pack, (uint64_t)facts.st_size, error);
	rc = rc ? rc : pack_frames(&pack, error);
	pack_fini(&pack);
	if (rc && fd >= 0)
		unlink(to);
	return rc;
}

/* ---- copies ---- */

int store_copy(const char *from, const char *to, struct error *error)
{
	struct store_file *file;
	int rc = store_file_open(&file, from, error);

	if (rc)
		return rc;
	rc = store_file_copy(file, to, error);
	store_file_close(file);
	return rc;
}

/* ---- the whole ---- */

static int archive(
	const struct store_reader *reader, const char *temporary, const char *to, struct error *error)
{
	struct store_file *file;
	int rc = store_file_create(&file, temporary, error);

	if (rc)
		return rc;
	rc = copy_values(reader, file, error);
	store_file_close(file);
	return rc ? rc : pack_file(temporary, to, error);
}

int store_archive(const char *from, const char *to, struct error *error)
{
	struct store_reader *reader;
	char *temporary, *lock = NULL;
	int rc = store_reader_open(&reader, from, error);

	if (rc)
		return rc;
	if (asprintf(&temporary, "%s" STORE_ARCHIVE_MAKING, to) < 0)
		temporary = NULL;
	if (temporary && asprintf(&lock, "%s-lock", temporary) < 0)
		lock = NULL;
	rc = lock ? store_reader_check(reader, error) : error_memory(error);
	if (lock && !rc) {
		rc = archive(reader, temporary, to, error);
		unlink(temporary);
		unlink(lock);
	}
	free(temporary);
	free(lock);
	store_reader_close(reader);
	return rc;
}
