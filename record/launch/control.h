/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - hpct-record --start, --stop and --status: finds the collectors of this user that are at work on
 * this host, and asks one of them, or all.
 *
 *   hpct-record   EVENT_HANDSHAKE_CONTROL -->   collector
 *                 <-- RENDEZVOUS_STATE: status = enum control_state, number = its processes, user_ns = those
 * that have not obeyed yet, begin_ns = the run's begin, text = the run's path, problem = the command
 */
#ifndef RECORD_CONTROL_H
#define RECORD_CONTROL_H

#include "record/base/rendezvous.h"
#include "store/ring/handshake.h"

enum control_state {
	CONTROL_MEASURES,
	CONTROL_PAUSED,	 /* all programs have called hpct_stop(), or wait for their hpct_start() */
	CONTROL_DORMANT, /* never started */
	CONTROL_STOPPED
};

/* Prints a line for each collector, or the one of `run`. ERROR_USAGE: none is at work on that. */
int control_list(const char *run, struct error *error);
/* Tells the collector of `run`, and waits a moment for its processes. *late: how many have not obeyed by
 * then. */
int control_order(const char *run, enum event_control what, uint64_t *late, struct error *error);

#endif
