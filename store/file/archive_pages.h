/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_pages.h - an archived store: the pages of an LMDB file in frames, each packed with zstd. A reader
 * unpacks a frame when a page of it is first looked at, into a file without a name, mapped where tree.c looks
 * for pages: what reads a store reads an archived one. archive.h makes them; FORMAT.md draws them.
 *
 *   | header 40 | frame_count x u64 end of a frame, from the first one's begin | frame | frame | ...
 *
 * Everything in the file is distrusted. Any thread may ask.
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
	uint32_t version; /* a reader refuses another one */
	uint32_t frame_bytes;
	uint64_t bytes;	   /* of all frames, unpacked */
	uint64_t checksum; /* XXH3-64 of the ends of the frames */
	uint64_t reserved; /* 0 */
};
_Static_assert(sizeof(struct store_archive_pages_header) == 40, "header of an archived store");

struct store_archive_pages;

/* Does an archived store start like this? */
bool store_archive_pages_is(const void *head, size_t size);

/* Takes what stays valid while it is open: the descriptor and the path. ERROR_RUN: damaged, cut short, too
 * new. */
int store_archive_pages_open(
	struct store_archive_pages **packed, int fd, const char *path, struct error *error);
void store_archive_pages_close(struct store_archive_pages *packed); /* NULL: nothing */

/* The whole of what was packed, as it lies in memory; only what was asked for is there. */
const uint8_t *store_archive_pages_bytes(const struct store_archive_pages *packed);
uint64_t store_archive_pages_size(const struct store_archive_pages *packed);

/* Makes these bytes be there. false: they cannot be, and store_archive_pages_why() says why. */
bool store_archive_pages_need(struct store_archive_pages *packed, uint64_t at, uint64_t size);
/* What went wrong last, NULL: nothing did. */
const char *store_archive_pages_why(const struct store_archive_pages *packed);

#endif
