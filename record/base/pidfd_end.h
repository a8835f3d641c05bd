/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pidfd_end.h - finds how a process that is not our child ended: from its pidfd once its parent has reaped it
 * (Linux 6.15), before that from /proc.
 */
#ifndef RECORD_PIDFD_END_H
#define RECORD_PIDFD_END_H

#include <stdbool.h>
#include <stdint.h>

#define PIDFD_END_SOON_NS UINT64_C(5000000000) /* a loaded machine may need this long to start a program */

enum pidfd_end { PIDFD_END_UNKNOWN, PIDFD_END_BY_ITSELF, PIDFD_END_BY_SIGNAL };

/* `pid` in our namespace; `pidfd` of the process or -1. Any thread. pidfd_end_status(): its status as of
 * wait(); false: not known. */
bool pidfd_end_status(uint32_t pid, int pidfd, int *status);
enum pidfd_end pidfd_end_how(uint32_t pid, int pidfd);

#endif
