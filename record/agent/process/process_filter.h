/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_filter.h - selects the processes of a run to measure: --no-children, --ranks, --process-fraction.
 * Each process decides by its pid and its launcher's rank, so that an exec changes nothing; hpct-record uses
 * the same rule for the program it starts.
 *
 *   HPCT_EVENTS   " ALONE=PID"             this process alone
 *                 " RANKS=0-3,8/2"         ranks 0 to 3, and 8, 10, 12 ...; processes without a rank count
 *                 " FRACTION=LIMIT,SEED"   those whose random 32-bit number is below LIMIT; rank 0 always
 */
#ifndef RECORD_AGENT_PROCESS_FILTER_H
#define RECORD_AGENT_PROCESS_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* True if the process is to be measured. rank -1: none. Signal safe. */
bool process_filter_wants(const char *events, pid_t pid, int32_t rank);

/* True if the list ("0-3,8:2", '/' equals ':') contains the rank. *is_wrong: the list is invalid. */
bool process_filter_has_rank(const char *list, int32_t rank, bool *is_wrong);

/* Why a process may be excluded, as text; NULL: none is. */
const char *process_filter_reason(const char *events);

#endif
