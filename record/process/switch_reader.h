/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_reader.h - a thread of the collector's that moves switch records out of the kernel's rings when one
 * holds 2048 or is an eighth full, and does nothing else: a storm fills a ring in a tenth of a second, and a
 * commit that waits for its disk, or a wait for a processor among others, may take longer.
 *
 *   rings  --- this thread, or the collector when it comes ---> switches.fresh --- collector ---> spans
 *
 * What both touch is theirs between switch_reader_lock and _unlock: the rings, what was read from them and
 * not yet taken. All but that thread itself is for the collector's.
 */
#ifndef RECORD_SWITCH_READER_H
#define RECORD_SWITCH_READER_H

#include <stdbool.h>

struct switches;

/* Starts it. Negative: there is none, and rings are read when the collector comes. */
int switch_reader_start(void);
/* Ends it, if there is one. */
void switch_reader_stop(void);
/* It is there, and has had rings to read. */
bool switch_reader_is_there(void);
/* Readable when so much has been read that what threads write themselves, waits above all, should be taken as
 * well; until _heard. -1: there is no reader, or nothing for it to read so far. */
int switch_reader_descriptor(void);
void switch_reader_event_clear(void);

/* Its rings are read from now on, those as well that have come to it since the last time; where there is no
 * reader, or descriptors are short, by the collector alone. */
void switch_reader_watch(struct switches *switches);
/* It is not looked at any more, if it was. */
void switch_reader_forget(struct switches *switches);
/* Descriptors of rings were closed: what stands in for them now is none of theirs. */
void switch_reader_renew(void);

void switch_reader_lock(void);
void switch_reader_unlock(void);

#endif
