/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - identifies the process that started this rank, if the environment numbers ranks but does not
 * name the launch (MPICH's hydra): the nearest ancestor without a rank, by pid and start time. It is the same
 * for all ranks of a host.
 */
#ifndef RECORD_LAUNCHER_H
#define RECORD_LAUNCHER_H

#include <stddef.h>

/* Writes "PID.START". Negative: this process has no rank, or its ancestors cannot be read. */
int launcher_find(char *text, size_t room);

#endif
