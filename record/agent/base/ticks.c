/* SPDX-License-Identifier: Apache-2.0 */
/* ticks.c - see ticks.h. */
#include "record/agent/base/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/base/real.h"
#include "record/agent/base/vdso.h"

#define LEAST_NS 1000000u
#define SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

_Atomic uint64_t ticks_scale;

static struct moment {
	uint64_t clock_ns, ticks;
} first;

static uint64_t clock_ns(void)
{
	struct timespec now;

	vdso_clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Of several readings the one that took least: others were interrupted in between. */
static struct moment moment_now(void)
{
	struct moment best = {0, 0};
	uint64_t least_ns = UINT64_MAX;

	for (unsigned i = 0; i < 5; i++) {
		uint64_t before_ns = clock_ns(), ticks = ticks_now(), after_ns = clock_ns();

		if (after_ns - before_ns < least_ns) {
			least_ns = after_ns - before_ns;
			best = (struct moment){before_ns + least_ns / 2, ticks};
		}
	}
	return best;
}

/* The kernel has found that the counter runs evenly, and alike on all cores. */
static bool is_clock(void)
{
#ifdef __x86_64__
	char name[8] = {0};
	int may_read = 0, file;
	ssize_t count;

	if (prctl(PR_GET_TSC, &may_read) || may_read != PR_TSC_ENABLE)
		return false;
	file = open(SOURCE, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	count = REAL(read)(file, name, sizeof name - 1);
	close(file);
	return count >= 3 && !strncmp(name, "tsc\n", 4);
#else
	return false;
#endif
}

void ticks_begin(void)
{
	int before = errno;

	if (!first.clock_ns && is_clock())
		first = moment_now();
	errno = before;
}

void ticks_measure(void)
{
	struct moment now;

	if (!first.clock_ns)
		return;
	now = moment_now();
	if (now.clock_ns < first.clock_ns + LEAST_NS || now.ticks <= first.ticks)
		return;
	atomic_store_explicit(&ticks_scale,
		(uint64_t)(((unsigned __int128)(now.clock_ns - first.clock_ns) << TICKS_SHIFT) /
			   (now.ticks - first.ticks)),
		memory_order_relaxed);
}
