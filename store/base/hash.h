/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - the only place that includes xxHash: checksums, hash tables, path hashes. store_hash128() is part
 * of the format, because path hashes must be equal across stores.
 */
#ifndef STORE_HASH_H
#define STORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/* XXH3, 64 bits. */
uint64_t store_hash64(const void *bytes, size_t size, uint64_t seed);
/* For hash.c only; requires store_cpu_has_avx2(). */
uint64_t store_hash64_wide(const void *bytes, size_t size, uint64_t seed);
/* XXH3, 128 bits, seed 0. */
struct store_hash store_hash128(const void *bytes, size_t size);

/* Negative, 0 or positive, like memcmp(). */
static inline int store_hash_compare(struct store_hash a, struct store_hash b)
{
	if (a.high != b.high)
		return a.high < b.high ? -1 : 1;
	return (a.low > b.low) - (a.low < b.low);
}

#endif
