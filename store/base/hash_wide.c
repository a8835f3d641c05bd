/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_wide.c - the hash of long strings with AVX2; only this file is compiled for it (CMakeLists.txt). The
 * result is the same.
 */
#include "store/base/hash.h"

#ifdef __AVX2__
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t store_hash64_wide(const void *bytes, size_t size, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, size, seed);
}
#endif
