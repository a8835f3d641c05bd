/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - compiles xxHash once, so that no other file includes its header.
 */
#include "store/base/hash.h"

#include "store/base/avx2.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t store_hash64(const void *bytes, size_t size, uint64_t seed)
{
#ifdef STORE_HAS_AVX2
	if (size > XXH3_MIDSIZE_MAX && store_cpu_has_avx2())
		return store_hash64_wide(bytes, size, seed);
#endif
	return XXH3_64bits_withSeed(bytes, size, seed);
}

struct store_hash store_hash128(const void *bytes, size_t size)
{
	XXH128_hash_t hash = XXH3_128bits(bytes, size);

	return (struct store_hash){.high = hash.high64, .low = hash.low64};
}
