/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpct.h - functions with which a program controls its recording: start and stop sampling, mark a moment,
 * name a range. Include it; nothing is linked.
 *
 *	#include <hpct.h>
 *
 *	hpct_start();                           hpct-record -ds: sampling was off so far
 *	for (step = 0; step < steps; step++) {
 *		hpct_range_begin("step");
 *		...
 *		hpct_range_end();
 *	}
 *	hpct_stop();
 *
 * Under hpct-record the agent provides the functions; without it they do nothing and cost a load and a
 * branch. Any thread may call them at any time, except in a signal handler. Names are copied and cut to 255
 * bytes. errno is preserved.
 */
#ifndef HPCT_H
#define HPCT_H

#ifdef __cplusplus
extern "C" {
#endif

#define HPCT_WEAK __attribute__((weak))

void hpct_agent_start(void) HPCT_WEAK;
void hpct_agent_stop(void) HPCT_WEAK;
void hpct_agent_mark(const char *name) HPCT_WEAK;
void hpct_agent_mark_begin(const char *name) HPCT_WEAK;
void hpct_agent_mark_end(void) HPCT_WEAK;
void hpct_agent_range_begin(const char *name) HPCT_WEAK;
void hpct_agent_range_end(void) HPCT_WEAK;

#ifdef __cplusplus
}
#endif

/* Macros, so that call paths end in the program's own functions. */
#define HPCT_CALL(function) (function ? function() : (void)0)
#define HPCT_NAME(function, name) (function ? function(name) : (void)0)

/* True if this program is being recorded. */
#define hpct_is_recorded() (hpct_agent_start != 0)

/* Stop and start sampling in all threads of this process; the time from a stop to the next start is
 * `unmonitored`. Without hpct-record -ds, sampling is on from the start. Repeated calls have no effect.
 * Meant for phases, not for inner loops: a pair of calls costs some microseconds per thread. Marks, ranges
 * and GPU operations are recorded all the same. */
#define hpct_start() HPCT_CALL(hpct_agent_start)
#define hpct_stop() HPCT_CALL(hpct_agent_stop)

/* Marks this moment with a name: the readers' `--time @NAME..` begins here. */
#define hpct_mark(name) HPCT_NAME(hpct_agent_mark, name)

/* Marks an interval of the calling thread with a name: `--time @NAME`, `hpct-blame --by mark`. Marks of
 * one thread nest; an end closes the innermost open begin. At most 64 marks and ranges may be open. */
#define hpct_mark_begin(name) HPCT_NAME(hpct_agent_mark_begin, name)
#define hpct_mark_end() HPCT_CALL(hpct_agent_mark_end)

/* A step: a span of operation `range` in the calling thread's stream. Nests with marks. */
#define hpct_range_begin(name) HPCT_NAME(hpct_agent_range_begin, name)
#define hpct_range_end() HPCT_CALL(hpct_agent_range_end)

#endif
