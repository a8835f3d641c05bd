/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - who started this rank, where the environment numbers ranks but does not name the launch
 * (MPICH's hydra): the nearest ancestor that has no rank itself, by pid and start time. All ranks of a host
 * have the same one.
 */
#ifndef RECORD_LAUNCHER_H
#define RECORD_LAUNCHER_H

#include <stddef.h>

/* Writes "PID.START". Negative: this is no rank, or its ancestors cannot be read. */
int launcher_find(char *text, size_t room);

#endif
