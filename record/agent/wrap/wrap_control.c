/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_control.c - the functions behind record/program/hpct.h, and the two functions of HPCToolkit's
 * interface, for programs that already use those.
 */
#include <errno.h>
#include <hpct.h>

#include "record/agent/base/wrap.h"
#include "record/agent/sample/start_stop.h"

void hpctoolkit_sampling_start(void);
void hpctoolkit_sampling_stop(void);
void hpctoolkit_sampling_start_(void);
void hpctoolkit_sampling_stop_(void);

#define KEEPING_ERRNO(call)         \
	do {                        \
		int error_ = errno; \
                                    \
		call;               \
		errno = error_;     \
	} while (0)

WRAPPER void hpct_agent_start(void)
{
	KEEPING_ERRNO(start_stop_switch_on());
}

WRAPPER void hpct_agent_stop(void)
{
	KEEPING_ERRNO(start_stop_switch_off());
}

WRAPPER void hpct_agent_mark(const char *name)
{
	KEEPING_ERRNO(start_stop_mark(name));
}

WRAPPER void hpct_agent_mark_begin(const char *name)
{
	KEEPING_ERRNO(start_stop_span_open(STORE_OP_MARK, name));
}

WRAPPER void hpct_agent_mark_end(void)
{
	KEEPING_ERRNO(start_stop_span_close(STORE_OP_MARK));
}

WRAPPER void hpct_agent_range_begin(const char *name)
{
	KEEPING_ERRNO(start_stop_span_open(STORE_OP_RANGE, name));
}

WRAPPER void hpct_agent_range_end(void)
{
	KEEPING_ERRNO(start_stop_span_close(STORE_OP_RANGE));
}

WRAPPER void hpctoolkit_sampling_start(void)
{
	KEEPING_ERRNO(start_stop_switch_on());
}

WRAPPER void hpctoolkit_sampling_stop(void)
{
	KEEPING_ERRNO(start_stop_switch_off());
}

/* Fortran's names. */
WRAPPER void hpctoolkit_sampling_start_(void)
{
	KEEPING_ERRNO(start_stop_switch_on());
}

WRAPPER void hpctoolkit_sampling_stop_(void)
{
	KEEPING_ERRNO(start_stop_switch_off());
}
