/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_size.h - which page size a store takes least room in. Each tree's last page and the last page of each
 * value that is longer than half a page are half empty, which asks for small pages; values of a few hundred
 * bytes ask for large ones.
 */
#ifndef STORE_PAGE_SIZE_H
#define STORE_PAGE_SIZE_H

#include "store/file/file.h"

#define STORE_PAGE_BYTES_LEAST 512u
#define STORE_PAGE_BYTES_MAX 4096u

/* For the values of the snapshot, put in order into a fresh file; those that are going to be dense
 * (zstd_block.h) by about what they will take. That file's bytes come to *bytes; 0: they are not known. */
uint32_t store_page_size_choose(const struct store_snapshot *snapshot, uint64_t *bytes);

#endif
