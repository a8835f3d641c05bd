/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_names.h - the event names that hpct knows itself, and their perf events. Only events*.c includes it.
 */
#ifndef RECORD_EVENTS_NAMES_H
#define RECORD_EVENTS_NAMES_H

#include <stddef.h>

#include "record/events/events.h"

struct events_known {
	const char *name, *alias; /* alias: NULL for none */
	uint32_t type;
	uint64_t config;
	bool is_time; /* a time source; time sources come first */
	const char *text;
};

/* Events that no perf event counts. */
struct events_other {
	const char *name, *text;
};

enum events_derived_index { EVENTS_DERIVED_REALTIME, EVENTS_DERIVED_BLOCKTIME, EVENTS_DERIVED_COUNT };
enum events_called_index { EVENTS_CALLED_IO, EVENTS_CALLED_MEMLEAK, EVENTS_CALLED_MPI, EVENTS_CALLED_COUNT };

extern const struct events_known events_known[];
extern const size_t events_known_count;
extern const struct events_other events_derived[EVENTS_DERIVED_COUNT];
extern const struct events_other events_called[EVENTS_CALLED_COUNT];

/* Finds by name or alias, ignoring modifiers; NULL: unknown. */
const struct events_known *events_known_find(const char *name);
bool events_is_derived(const char *name);
/* An enum events_called_index, ignoring a trailing `@...` or `=...`; negative: unknown. */
int events_called_find(const char *text);
/* Encodes an event by name, libpfm4's names included. Negative: unknown event. */
int events_code_find(struct events_code *code, const char *name, struct error *error);
/* Default samples per second of a counter, limited to the kernel's maximum. */
unsigned long long events_frequency_default(void);

#endif
