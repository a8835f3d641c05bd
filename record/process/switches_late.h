/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches_late.h - switch records of a process that began without them (hpct-record --dormant): an event for
 * each thread that is there when sampling begins, opened by the collector. Later threads send their own.
 */
#ifndef RECORD_SWITCHES_LATE_H
#define RECORD_SWITCHES_LATE_H

#include "record/process/process.h"

/* Opens them. Call once, when the process has done what it was asked (event_process.control_done). Refused
 * ones are counted in process->switches_refused. */
void switches_late_open(struct measured_process *process);

#endif
