/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seed.h - one rule for every test that draws: the same seed each time, so that what passes once passes
 * always; HPCT_RANDOM=1 in the environment takes another one, which is printed, and HPCT_SEED=N repeats that.
 */
#ifndef TESTS_UNIT_SEED_H
#define TESTS_UNIT_SEED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static inline bool seed_is_given(void)
{
	const char *given = getenv("HPCT_SEED");

	return given && *given;
}

/* At most nine digits: fit for srand() and easily typed. Never 0, which some generators cannot leave. */
static inline uint64_t seed_take(const char *test, uint64_t fixed)
{
	const char *random = getenv("HPCT_RANDOM");
	uint64_t seed = fixed;

	if (seed_is_given())
		seed = strtoull(getenv("HPCT_SEED"), NULL, 0);
	else if (random && *random && getrandom(&seed, sizeof seed, 0) == sizeof seed)
		seed = seed % 999999999 + 1;
	printf("%s: HPCT_SEED=%llu\n", test, (unsigned long long)seed);
	return seed;
}

/* The next number of all 64 bits, by xorshift (Marsaglia 2003). */
static inline uint64_t seed_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* For rounds whose number is their seed: the first, and in *end the one behind the last. A seed that is given
 * is that of the one round. */
static inline uint64_t seed_rounds(const char *test, uint64_t rounds, uint64_t *end)
{
	uint64_t first = seed_take(test, 1);

	*end = first + (seed_is_given() ? 1 : rounds);
	return first;
}

#endif
