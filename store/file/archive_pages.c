/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_pages.c - decompresses frames of an archived store on first use. They go to an unlinked file, not
 * to memory, so that reading a whole large archive takes no more memory than reading a store.
 */
#include "store/file/archive_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "store/base/bytes.h"
#include "store/base/hash.h"

#define FRAME_BYTES_MIN ((uint32_t)1 << 16) /* the first two hold the head of the LMDB file */
#define FRAME_BYTES_MAX ((uint32_t)1 << 24)

struct store_archive_pages {
	int fd, scratch; /* the archive: the caller's; the file without a name */
	const char *path;
	uint64_t bytes, frame_bytes, frame_count, first_at;
	uint64_t *ends;	   /* of the frames, from first_at */
	uint8_t *is_there; /* [frame] */
	uint8_t *map;
	uint8_t *input, *output; /* of the current frame */
	size_t input_bytes;
	ZSTD_DCtx *zstd;
	const char *why;
	pthread_mutex_t lock; /* of all from `is_there` on; that and `why` are read without */
};

bool store_archive_pages_is(const void *head, size_t size)
{
	return size >= 8 && memcmp(head, STORE_ARCHIVE_PAGES_MAGIC, 8) == 0;
}

/* ---- opening ---- */

static int damaged(const char *path, const char *what, struct error *error)
{
	return error_set(error, ERROR_RUN, "'%s' is damaged (%s); restore it from a copy", path, what);
}

static bool read_all(int fd, void *to, size_t size, uint64_t at)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = pread(fd, (uint8_t *)to + done, size - done, (off_t)(at + done));

		if (got <= 0 && !(got < 0 && errno == EINTR))
			return false;
		done += got > 0 ? (size_t)got : 0;
	}
	return true;
}

static int read_header(struct store_archive_pages *packed, uint64_t *checksum, struct error *error)
{
	struct store_archive_pages_header header;

	if (!read_all(packed->fd, &header, sizeof header, 0) ||
		!store_archive_pages_is(&header, sizeof header))
		return damaged(packed->path, "its first bytes", error);
	if (header.version != STORE_ARCHIVE_PAGES_VERSION)
		return error_set(error, ERROR_RUN,
			"'%s' was archived by a newer hpct (version %u, this one reads %u); install a newer "
			"hpct",
			packed->path, header.version, STORE_ARCHIVE_PAGES_VERSION);
	if (header.frame_bytes < FRAME_BYTES_MIN || header.frame_bytes > FRAME_BYTES_MAX ||
		header.frame_bytes & (header.frame_bytes - 1) || !header.bytes || header.bytes >> 48)
		return damaged(packed->path, "the size of its frames", error);
	packed->bytes = header.bytes;
	packed->frame_bytes = header.frame_bytes;
	packed->frame_count = (header.bytes + header.frame_bytes - 1) / header.frame_bytes;
	packed->first_at = sizeof header + packed->frame_count * sizeof *packed->ends;
	*checksum = header.checksum;
	return 0;
}

/* A packed frame is never larger than zstd makes the worst one. */
static bool ends_are_sound(const struct store_archive_pages *packed)
{
	const uint64_t most = ZSTD_compressBound(packed->frame_bytes);
	uint64_t before = 0;

	for (uint64_t i = 0; i < packed->frame_count; i++) {
		if (packed->ends[i] <= before || packed->ends[i] - before > most)
			return false;
		before = packed->ends[i];
	}
	return true;
}

static int read_ends(struct store_archive_pages *packed, uint64_t checksum, struct error *error)
{
	const size_t size = packed->frame_count * sizeof *packed->ends;
	struct stat facts;

	if (fstat(packed->fd, &facts) != 0)
		return error_set(error, ERROR_RUN, "cannot read '%s': %s", packed->path, strerror(errno));
	if (packed->first_at > (uint64_t)facts.st_size)
		goto cut_short;
	packed->ends = malloc(size);
	packed->is_there = calloc(packed->frame_count, 1);
	if (!packed->ends || !packed->is_there)
		return error_memory(error);
	if (!read_all(packed->fd, packed->ends, size, sizeof(struct store_archive_pages_header)))
		return error_set(error, ERROR_RUN, "cannot read '%s': %s", packed->path, strerror(errno));
	if (!store_sum_fits(checksum, store_hash64(packed->ends, size, 0)) || !ends_are_sound(packed))
		return damaged(packed->path, "the places of its frames", error);
	if (packed->first_at + packed->ends[packed->frame_count - 1] > (uint64_t)facts.st_size)
		goto cut_short;
	return 0;
cut_short:
	return error_set(error, ERROR_RUN, "'%s' is cut short (%llu bytes); copy it again", packed->path,
		(unsigned long long)facts.st_size);
}

/* On a disk rather than in memory, if there is one; unlinked before another process can open it. */
static int scratch_open(void)
{
	const char *const places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	int fd = -1;

	for (size_t i = 0; i < sizeof places / sizeof *places && fd < 0; i++)
		if (places[i] && places[i][0] == '/')
			fd = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd >= 0 ? fd : memfd_create("hpct-archive", MFD_CLOEXEC);
}

static int map_scratch(struct store_archive_pages *packed, struct error *error)
{
	void *map;

	packed->scratch = scratch_open();
	if (packed->scratch < 0 || ftruncate(packed->scratch, (off_t)packed->bytes) != 0)
		return error_set(error, ERROR_IO, "cannot unpack '%s': %s%s", packed->path, strerror(errno),
			errno == EMFILE || errno == ENFILE ? error_place(errno)
							   : "; say where there is room with TMPDIR");
	map = mmap(NULL, packed->bytes, PROT_READ, MAP_SHARED, packed->scratch, 0);
	if (map == MAP_FAILED)
		return error_set(error, ERROR_IO, "cannot map '%s': %s", packed->path, strerror(errno));
	packed->map = map;
	packed->input_bytes = ZSTD_compressBound(packed->frame_bytes);
	packed->input = malloc(packed->input_bytes);
	packed->output = malloc(packed->frame_bytes);
	packed->zstd = ZSTD_createDCtx();
	return packed->input && packed->output && packed->zstd ? 0 : error_memory(error);
}

int store_archive_pages_open(
	struct store_archive_pages **packed_out, int fd, const char *path, struct error *error)
{
	struct store_archive_pages *packed = calloc(1, sizeof *packed);
	uint64_t checksum = 0;
	int rc;

	if (!packed)
		return error_memory(error);
	*packed = (struct store_archive_pages){.fd = fd, .path = path, .scratch = -1};
	pthread_mutex_init(&packed->lock, NULL);
	rc = read_header(packed, &checksum, error);
	rc = rc ? rc : read_ends(packed, checksum, error);
	rc = rc ? rc : map_scratch(packed, error);
	if (rc) {
		store_archive_pages_close(packed);
		return rc;
	}
	*packed_out = packed;
	return 0;
}

void store_archive_pages_close(struct store_archive_pages *packed)
{
	if (!packed)
		return;
	if (packed->map)
		munmap(packed->map, packed->bytes);
	if (packed->scratch >= 0)
		close(packed->scratch);
	ZSTD_freeDCtx(packed->zstd);
	pthread_mutex_destroy(&packed->lock);
	free(packed->ends);
	free(packed->is_there);
	free(packed->input);
	free(packed->output);
	free(packed);
}

const uint8_t *store_archive_pages_bytes(const struct store_archive_pages *packed)
{
	return packed->map;
}

uint64_t store_archive_pages_size(const struct store_archive_pages *packed)
{
	return packed->bytes;
}

const char *store_archive_pages_why(const struct store_archive_pages *packed)
{
	return __atomic_load_n(&packed->why, __ATOMIC_RELAXED);
}

/* ---- frames ---- */

static bool write_all(int fd, const uint8_t *from, size_t size, uint64_t at)
{
	for (size_t done = 0; done < size;) {
		ssize_t put = pwrite(fd, from + done, size - done, (off_t)(at + done));

		if (put <= 0 && !(put < 0 && errno == EINTR))
			return false;
		done += put > 0 ? (size_t)put : 0;
	}
	return true;
}

/* Written with pwrite: through the map a full disk would be a signal, and not an error. */
static const char *unpack(struct store_archive_pages *packed, uint64_t frame)
{
	const uint64_t at = frame ? packed->ends[frame - 1] : 0, to = frame * packed->frame_bytes;
	const size_t size = (size_t)(packed->ends[frame] - at);
	const uint64_t left = packed->bytes - to;
	const size_t expected = (size_t)(left < packed->frame_bytes ? left : packed->frame_bytes);

	if (!read_all(packed->fd, packed->input, size, packed->first_at + at))
		return "a frame of it cannot be read; copy it again";
	if (ZSTD_decompressDCtx(packed->zstd, packed->output, expected, packed->input, size) != expected)
		return "a frame of it is damaged; restore it from a copy";
	if (!write_all(packed->scratch, packed->output, expected, to))
		return "there is no room to unpack it; say where there is with TMPDIR";
	return NULL;
}

static bool need_frame(struct store_archive_pages *packed, uint64_t frame)
{
	const char *why = NULL;

	if (__atomic_load_n(&packed->is_there[frame], __ATOMIC_ACQUIRE))
		return true;
	pthread_mutex_lock(&packed->lock);
	if (!packed->is_there[frame]) {
		why = unpack(packed, frame);
		if (why)
			__atomic_store_n(&packed->why, why, __ATOMIC_RELAXED);
		else
			__atomic_store_n(&packed->is_there[frame], 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&packed->lock);
	return !why;
}

bool store_archive_pages_need(struct store_archive_pages *packed, uint64_t at, uint64_t size)
{
	if (!size || at >= packed->bytes || size > packed->bytes - at)
		return false;
	for (uint64_t frame = at / packed->frame_bytes; frame <= (at + size - 1) / packed->frame_bytes;
		frame++)
		if (!need_frame(packed, frame))
			return false;
	return true;
}
