/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pidfd_end.h - how a process has ended that is not our child: its pidfd tells it once its parent has waited
 * for it (Linux 6.15), /proc before that.
 */
#ifndef RECORD_PIDFD_END_H
#define RECORD_PIDFD_END_H

#include <stdint.h>

#define PIDFD_END_SOON_NS UINT64_C(5000000000) /* a loaded machine may take that long to start a program */

enum pidfd_end { PIDFD_END_UNKNOWN, PIDFD_END_BY_ITSELF, PIDFD_END_BY_SIGNAL };

/* pid: as here; pidfd: of it, -1: none. Any thread. */
enum pidfd_end pidfd_end_how(uint32_t pid, int pidfd);

#endif
