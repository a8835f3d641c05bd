/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_size.h - chooses the page size at which a store is smallest. Each tree's last page, and the last page
 * of each value longer than half a page, is half empty, which favours small pages; values of a few hundred
 * bytes favour large ones.
 */
#ifndef STORE_PAGE_SIZE_H
#define STORE_PAGE_SIZE_H

#include "store/file/file.h"

#define STORE_PAGE_BYTES_LEAST 512u
#define STORE_PAGE_BYTES_MAX 4096u

/* For the snapshot's values, copied in order into a fresh file; values to be compressed (zstd_block.h) count
 * with their estimated size. Sets *bytes to that file's size; 0: unknown. */
uint32_t store_page_size_choose(const struct store_snapshot *snapshot, uint64_t *bytes);

#endif
