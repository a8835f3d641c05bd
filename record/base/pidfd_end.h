/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pidfd_end.h - how a process has ended that is not our child: its pidfd tells it once its parent has waited
 * for it (Linux 6.15), /proc before that.
 */
#ifndef RECORD_PIDFD_END_H
#define RECORD_PIDFD_END_H

#include <stdint.h>

#define ENDED_SOON_NS UINT64_C(5000000000) /* a loaded machine may take that long to start a program */

enum ended { ENDED_UNKNOWN, ENDED_BY_ITSELF, ENDED_BY_SIGNAL };

/* pid: as here; pidfd: of it, -1: none. Any thread. */
enum ended ended_how(uint32_t pid, int pidfd);

#endif
