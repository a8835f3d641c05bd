/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpct.h - what a program can say to the recorder: measure from here to there, this
 * moment has a name, this stretch has one. To be included by programs; nothing is linked.
 *
 *	#include <hpct.h>
 *
 *	hpct_start();                           hpct-record -ds: nothing was measured so far
 *	for (step = 0; step < steps; step++) {
 *		hpct_range_begin("step");
 *		...
 *		hpct_range_end();
 *	}
 *	hpct_stop();
 *
 * Under hpct-record the functions are those of its agent; without it all of them do nothing, at
 * the price of a load and a branch. Any thread may call them, at any time but from a signal
 * handler. Names are copied; at most 255 bytes of them count. errno stays as it was.
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

/* Is this program being recorded? */
#define hpct_is_recorded() (hpct_agent_start != 0)

/* Ends and begins sampling in all threads of this process; what lies between a stop and the next start is
 * `unmonitored`. A process is sampled from its begin unless hpct-record was given -ds. Calling one
 * twice does nothing more. Meant for a program's phases, not for inner loops: two calls cost some
 * microseconds for each thread. Marks, ranges and GPU operations are recorded all the same. */
#define hpct_start() HPCT_CALL(hpct_agent_start)
#define hpct_stop() HPCT_CALL(hpct_agent_stop)

/* This moment has a name: `--time @NAME..` of the readers begins here. */
#define hpct_mark(name) HPCT_NAME(hpct_agent_mark, name)

/* A stretch of the calling thread with a name: `--time @NAME`, `hpct-blame --by mark`. Marks of one
 * thread nest; an end belongs to the last begin that has none. 64 marks and ranges may be open. */
#define hpct_mark_begin(name) HPCT_NAME(hpct_agent_mark_begin, name)
#define hpct_mark_end() HPCT_CALL(hpct_agent_mark_end)

/* A step: a span of operation `range` in the calling thread's stream. Nests like marks. */
#define hpct_range_begin(name) HPCT_NAME(hpct_agent_range_begin, name)
#define hpct_range_end() HPCT_CALL(hpct_agent_range_end)

#endif
