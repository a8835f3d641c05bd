/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_near.h - a binary search that begins where the last one ended: in steps that double, then within the
 * last step. Whoever asks in order pays a constant, whoever does not O(log n). Inline with the question,
 * which the caller gives as a constant.
 */
#ifndef STORE_SEARCH_NEAR_H
#define STORE_SEARCH_NEAR_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the item of that number is before the one that is looked for; true for no item after a false one.
 */
typedef bool search_near_is_before(const void *own, size_t number);

/* The first of [low, high) that is not before; `high`: all are. `near`: where to begin, in [low, high]. */
static inline __attribute__((always_inline)) size_t search_near(
	size_t low, size_t high, size_t near, search_near_is_before *is_before, const void *own)
{
	size_t step = 1;

	if (near < high && is_before(own, near)) {
		for (low = near + 1; step < high - low && is_before(own, low + step); step *= 2)
			low += step + 1;
		high = step < high - low ? low + step : high;
	} else {
		for (high = near; high - low > step && !is_before(own, high - step); step *= 2)
			high -= step;
		low = high - low > step ? high - step + 1 : low;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(own, middle))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
