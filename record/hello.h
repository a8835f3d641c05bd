/* SPDX-License-Identifier: Apache-2.0 */
/* hello.h - the first message on a connection to the collector (store/event.h), read without trust and
 * without waiting. */
#ifndef RECORD_HELLO_H
#define RECORD_HELLO_H

#include <stdbool.h>

#include "store/event.h"

enum hello_result { HELLO_LATER, HELLO_BAD, HELLO_PROCESS, HELLO_LAUNCHER };

/* Whether the other end runs as the collector's user or as root. */
bool hello_peer_is_us(int connection);
/* HELLO_LATER: nothing there yet. HELLO_PROCESS: memory and pidfd are the caller's now. */
enum hello_result hello_read(int connection, int *memory, int *pidfd);

#endif
