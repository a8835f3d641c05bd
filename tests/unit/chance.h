/* SPDX-License-Identifier: Apache-2.0 */
/* chance.h - numbers that look random and are the same for the same seed (splitmix64), for tests of the
 * store. */
#ifndef TESTS_UNIT_CHANCE_H
#define TESTS_UNIT_CHANCE_H

#include <stdint.h>

static uint64_t chance; /* the seed, then the state */

static uint64_t draw(void)
{
	uint64_t z = chance += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

#endif
