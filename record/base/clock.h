/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the clock of all records. */
#ifndef RECORD_CLOCK_H
#define RECORD_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "record/agent/base/vdso.h"

static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	vdso_clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
