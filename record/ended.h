/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ended.h - how a process has ended that is not our child: its pidfd tells it once its parent has waited for
 * it (Linux 6.15), /proc before that.
 */
#ifndef RECORD_ENDED_H
#define RECORD_ENDED_H

#include <stdbool.h>
#include <stdint.h>

#define ENDED_SOON_NS UINT64_C(5000000000) /* a loaded machine may take that long to start a program */

/* Has a signal ended it? pid: as here; pidfd: of it, -1: none. false also where nobody knows. Any thread. */
bool ended_by_signal(uint32_t pid, int pidfd);

#endif
