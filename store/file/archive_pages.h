/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_pages.h - reads an archived store: the pages of an LMDB file in frames, each compressed with zstd.
 * A reader decompresses a frame when it first needs one of its pages, into an unlinked file that is mapped
 * where tree.c reads pages; so the same code reads stores and archives. archive.h makes them; FORMAT.md
 * draws them.
 *
 *   | header 40 | frame_count x u64 end of a frame, from the first one's begin | frame | frame | ...
 *
 * Everything in the file is distrusted. Thread-safe.
 */
#ifndef STORE_ARCHIVE_PAGES_H
#define STORE_ARCHIVE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/base/error.h"

#define STORE_ARCHIVE_PAGES_MAGIC "hpct-arc"
#define STORE_ARCHIVE_PAGES_VERSION 1u
#define STORE_ARCHIVE_PAGES_FRAME_BYTES ((uint32_t)256 << 10)

struct store_archive_pages_header {
	uint8_t magic[8];
	uint32_t version; /* a reader refuses any other version */
	uint32_t frame_bytes;
	uint64_t bytes;	   /* of all frames, unpacked */
	uint64_t checksum; /* XXH3-64 of the ends of the frames */
	uint64_t reserved; /* 0 */
};
_Static_assert(sizeof(struct store_archive_pages_header) == 40, "header of an archived store");

struct store_archive_pages;

/* True when a file that starts with these bytes is an archived store. */
bool store_archive_pages_is(const void *head, size_t size);

/* The descriptor and the path must stay valid until close. ERROR_RUN: damaged, cut short, too new. */
int store_archive_pages_open(
	struct store_archive_pages **packed, int fd, const char *path, struct error *error);
void store_archive_pages_close(struct store_archive_pages *packed); /* NULL is allowed */

/* The mapped LMDB file; only bytes requested with need() are valid. */
const uint8_t *store_archive_pages_bytes(const struct store_archive_pages *packed);
uint64_t store_archive_pages_size(const struct store_archive_pages *packed);

/* Decompresses these bytes. False: that failed, and store_archive_pages_why() tells the reason. */
bool store_archive_pages_need(struct store_archive_pages *packed, uint64_t at, uint64_t size);
/* The last error, NULL: none. */
const char *store_archive_pages_why(const struct store_archive_pages *packed);

#endif
