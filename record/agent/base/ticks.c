/* SPDX-License-Identifier: Apache-2.0 */
/* ticks.c - see ticks.h. */
#include "record/agent/base/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/base/real.h"
#include "record/agent/base/vdso.h"

#define LEAST_NS 1000000u
#define SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

#define NEAR_NS 200u	/* readings of the counter further apart were interrupted */
#define SLEPT_NS 100000 /* no suspend of the system is as short; the readings of one moment are nearer */

_Atomic uint64_t ticks_scale;

static struct moment {
	uint64_t clock_ns, ticks;
	int64_t asleep_ns; /* how far the clock that goes on while the system is suspended is ahead */
} first;
static _Atomic bool is_begun, is_known; /* first */
static atomic_flag is_measuring = ATOMIC_FLAG_INIT;

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	vdso_clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

/* Of several readings the one that took least: others were interrupted in between. */
static struct moment moment_now(void)
{
	struct moment best = {0, 0, 0};
	uint64_t least_ns = UINT64_MAX;

	for (unsigned i = 0; i < 5; i++) {
		uint64_t before_ns = clock_ns(), ticks = ticks_now(), awake_ns = read_ns(CLOCK_BOOTTIME),
			 after_ns = clock_ns();

		if (after_ns - before_ns < least_ns) {
			least_ns = after_ns - before_ns;
			best = (struct moment){before_ns, ticks, (int64_t)(awake_ns - before_ns)};
		}
	}
	return best;
}

/* The kernel has found that the counter runs evenly, and alike on all cores. */
static bool is_clock(void)
{
#ifdef __x86_64__
	char name[8] = {0};
	int file;
	ssize_t count;

	if (!vdso_may_read_counter())
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

	if (atomic_load_explicit(&is_begun, memory_order_relaxed) || atomic_exchange(&is_begun, true))
		return;
	if (is_clock()) {
		first = moment_now();
		atomic_store(&is_known, true);
		if (!vdso_may_read_counter()) /* left meanwhile */
			atomic_store(&is_known, false);
	}
	errno = before;
}

void ticks_leave(void)
{
	atomic_store(&is_begun, true);
	atomic_store(&is_known, false);
	atomic_store(&ticks_scale, 0);
}

/* The clock stood still meanwhile; the counter went on, or began anew. */
static bool has_slept(const struct moment *now)
{
	return llabs(now->asleep_ns - first.asleep_ns) > SLEPT_NS;
}

static void measure(void)
{
	struct moment now = moment_now();

	if (has_slept(&now)) {
		first = now; /* a scale from before is still right */
		return;
	}
	if (now.clock_ns < first.clock_ns + LEAST_NS || now.ticks <= first.ticks)
		return;
	atomic_store_explicit(&ticks_scale,
		(uint64_t)(((unsigned __int128)(now.clock_ns - first.clock_ns) << TICKS_SHIFT) /
			   (now.ticks - first.ticks)),
		memory_order_seq_cst);
	if (!atomic_load(&is_known)) /* left meanwhile */
		atomic_store(&ticks_scale, 0);
}

/* One thread at a time: it may put `first` anew. A fork child that begins while another thread measures keeps
 * the scale of then. */
void ticks_measure(void)
{
	if (!atomic_load(&is_known) || atomic_flag_test_and_set(&is_measuring))
		return;
	measure();
	atomic_flag_clear(&is_measuring);
}

/* Of a thread that reads often: so it is not measured at each reading. */
static void measure_sometimes(struct ticks_clock *clock, uint64_t now_ns)
{
	clock->span = 0;
	if (now_ns - clock->ns < LEAST_NS)
		return;
	clock->ns = now_ns;
	ticks_measure();
}

uint64_t ticks_clock_read(struct ticks_clock *clock)
{
	uint64_t scale = atomic_load_explicit(&ticks_scale, memory_order_relaxed), before, now_ns, took;

	if (!scale) {
		now_ns = clock_ns();
		measure_sometimes(clock, now_ns);
		return now_ns;
	}
	before = ticks_now();
	now_ns = clock_ns();
	took = ticks_now() - before;
	clock->ns = now_ns;
	clock->ticks = before + took / 2;
	clock->span = took * scale >> TICKS_SHIFT < NEAR_NS ? (TICKS_CLOCK_NS << TICKS_SHIFT) / scale : 0;
	return now_ns;
}
