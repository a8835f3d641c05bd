/* SPDX-License-Identifier: Apache-2.0 */
/* hash_seed.c - see hash_seed.h. */
#include "record/base/hash_seed.h"

#include <sys/random.h>
#include <time.h>

/* Early at boot the kernel has no random numbers: then time and stack address must do. */
uint64_t hash_seed_new(void)
{
	struct timespec now;
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
		return seed;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_nsec << 32 ^ (uintptr_t)&now) * UINT64_C(0x9e3779b97f4a7c15);
}
