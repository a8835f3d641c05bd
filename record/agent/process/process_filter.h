/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_filter.h - which processes of a run are measured: --no-children, --ranks, --process-fraction. Asked
 * in each process, by its pid and the rank that a launcher announced, so that an exec changes nothing;
 * hpct-record asks the same of the program that it starts.
 *
 *   HPCT_EVENTS   " ALONE=PID"             this process alone
 *                 " RANKS=0-3,8/2"         ranks 0 to 3, and 8, 10, 12 ...; processes without a rank are
 * measured " FRACTION=LIMIT,SEED"   those whose number, drawn of 2^32, is below LIMIT; rank 0 always
 */
#ifndef RECORD_AGENT_PROCESS_FILTER_H
#define RECORD_AGENT_PROCESS_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Is it among those to be measured? rank -1: none. Async-signal-safe. */
bool process_filter_wants(const char *events, pid_t pid, int32_t rank);

/* Is a rank on that list ("0-3,8:2", '/' being as good as ':')? *is_wrong: it is no such list. */
bool process_filter_has_rank(const char *list, int32_t rank, bool *is_wrong);

/* Why a process may be left out, in words; NULL: none is. */
const char *process_filter_reason(const char *events);

#endif
