/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_reader.h - a thread of the collector that copies switch records from the kernel's rings, when one
 * holds 2048 records or is an eighth full. It does nothing else: in a burst a ring fills in a tenth of a
 * second, and the collector may take longer to commit or to get a processor.
 *
 *   rings  --- this thread, or the collector itself ---> switches.fresh --- collector ---> spans
 *
 * switch_reader_lock protects what both use: the rings and the records read but not yet taken. Only the
 * collector's thread calls these functions.
 */
#ifndef RECORD_SWITCH_READER_H
#define RECORD_SWITCH_READER_H

#include <stdbool.h>

struct switches;

/* Starts the thread. Negative: no thread; the collector reads the rings itself. */
int switch_reader_start(void);
/* Ends the thread, if there is one. */
void switch_reader_stop(void);
/* True if the thread runs and has had rings to read. */
bool switch_reader_is_there(void);
/* Descriptor that becomes readable once so many records were read that the collector should drain; clear
 * with switch_reader_event_clear. -1: no thread, or it has read nothing yet. */
int switch_reader_descriptor(void);
void switch_reader_event_clear(void);

/* Adds the rings of `switches`, also those added to it since the last call. Without a thread, or if
 * descriptors are short, the collector reads them itself. */
void switch_reader_watch(struct switches *switches);
/* Removes `switches` from the reader, if present. */
void switch_reader_forget(struct switches *switches);
/* Descriptors of rings were closed: the reader rebuilds its poll set before their numbers are reused. */
void switch_reader_renew(void);

void switch_reader_lock(void);
void switch_reader_unlock(void);

#endif
