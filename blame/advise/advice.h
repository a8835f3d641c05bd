/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - what the optimizers say of a kernel, best first, each with its estimate and its hotspots (S2 V,
 * Fig 8).
 */
#ifndef BLAME_ADVICE_H
#define BLAME_ADVICE_H

#include "blame/advise/optimizer.h"

#define ADVICE_HOTSPOTS 5u
#define ADVICE_LEAST 0.01 /* gain that is worth saying: 1 % */

#define ADVICE_MOST 1000.0 /* a speedup that is as good as without end: nothing would be left */

/* A definition and a use that the change concerns. */
struct advice_hotspot {
	const struct kernel_function *function;
	struct cause cause;
	double speedup; /* of this one alone */
};

struct advice {
	const struct optimizer *optimizer;
	double matched, matched_latency; /* M and M_L of S2, in samples x period */
	double stays;			 /* samples of M that stay nevertheless */
	double speedup;			 /* estimate: S2 Eq 2 to 10 */
	double low, high;		 /* interval: sampling error, and what the model cannot know */
	struct advice_hotspot hotspots[ADVICE_HOTSPOTS];
	unsigned hotspot_count;
	char say[160]; /* "", or of its judge: what to change from and to, or what it found */
};

/* Keeps the hotspots of most samples, most first. For optimizers. */
void advice_hotspot_put(struct advice *advice, const struct advice_hotspot *hotspot);
/* Fills `advice`, room for optimizer_count, best first; returns their number, those that promise less than
 * ADVICE_LEAST left out; negative: no memory. The kernel must be analysed and outlive them. */
int advice_find(const struct kernel *kernel, struct advice *advice, struct error *error);

#endif
