/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_anchor.c - see clock_anchor.h. Reads the wall clock between two readings of CLOCK_MONOTONIC, several
 * times, and takes the closest pair.
 */
#include "record/base/clock_anchor.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/timex.h>
#include <time.h>

#include "record/agent/base/vdso.h"
#include "store/write/writer.h"

#define TRIES 5
#define SECOND_NS UINT64_C(1000000000)

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	vdso_clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* The kernel's maximum error of the wall clock (NTP, PTP). */
static uint64_t sync_error_ns(void)
{
	struct timex timex = {0};

	if (adjtimex(&timex) < 0 || timex.status & STA_UNSYNC || timex.maxerror < 0)
		return CLOCK_ANCHOR_UNKNOWN;
	return (uint64_t)timex.maxerror * 1000;
}

struct clock_anchor clock_anchor_take(void)
{
	struct clock_anchor best = {.error_ns = CLOCK_ANCHOR_UNKNOWN};
	uint64_t sync_ns = sync_error_ns();

	for (int i = 0; i < TRIES; i++) {
		uint64_t before_ns = clock_ns(CLOCK_MONOTONIC), wall_ns = clock_ns(CLOCK_REALTIME);
		uint64_t half_ns = (clock_ns(CLOCK_MONOTONIC) - before_ns) / 2;

		if (half_ns < best.error_ns)
			best = (struct clock_anchor){before_ns + half_ns, wall_ns, half_ns};
	}
	best.error_ns = sync_ns == CLOCK_ANCHOR_UNKNOWN ? CLOCK_ANCHOR_UNKNOWN : best.error_ns + sync_ns;
	return best;
}

void clock_anchor_put_first(struct store_writer *writer, const struct clock_anchor *first, uint64_t origin_ns)
{
	store_writer_meta_number(writer, "wall_ns", first->wall_ns - (first->monotonic_ns - origin_ns));
	if (first->error_ns != CLOCK_ANCHOR_UNKNOWN)
		store_writer_meta_number(writer, "wall_error_ns", first->error_ns);
}

void clock_anchor_put_last(
	struct store_writer *writer, const struct clock_anchor *first, const struct clock_anchor *last)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRId64,
		(int64_t)((last->wall_ns - last->monotonic_ns) - (first->wall_ns - first->monotonic_ns)));
	store_writer_meta(writer, "wall_drift_ns", text);
}
