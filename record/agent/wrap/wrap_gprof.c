/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_gprof.c - programs built with -pg count each call and take their own samples, which would dominate a
 * trace. With --disable-gprof neither starts, and no gmon.out is written; what remains is a call of mcount
 * that returns at once.
 */
#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/process.h"

static bool is_disabled(void)
{
	return process_is_live() && process.settings.no_gprof;
}

WRAPPER void __monstartup(unsigned long begin, unsigned long end)
{
	if (!is_disabled() && REAL(__monstartup))
		real.__monstartup(begin, end);
}

WRAPPER void _mcleanup(void)
{
	if (!is_disabled() && REAL(_mcleanup))
		real._mcleanup();
}
