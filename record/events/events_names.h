/* SPDX-License-Identifier: Apache-2.0 */
/* events_names.h - the names that -e knows by itself, and what perf calls them. Only events*.c includes it.
 */
#ifndef RECORD_EVENTS_NAMES_H
#define RECORD_EVENTS_NAMES_H

#include <stddef.h>

#include "record/events/events.h"

struct events_known {
	const char *name, *alias; /* alias: NULL for none */
	uint32_t type;
	uint64_t config;
	bool is_time; /* a time source; these come first */
	const char *text;
};

/* What no perf event counts. */
struct events_other {
	const char *name, *text;
};

enum events_derived_index { EVENTS_DERIVED_REALTIME, EVENTS_DERIVED_BLOCKTIME, EVENTS_DERIVED_COUNT };
enum events_called_index { EVENTS_CALLED_IO, EVENTS_CALLED_MEMLEAK, EVENTS_CALLED_COUNT };

extern const struct events_known events_known[];
extern const size_t events_known_count;
extern const struct events_other events_derived[EVENTS_DERIVED_COUNT];
extern const struct events_other events_called[EVENTS_CALLED_COUNT];

/* By name or alias, modifiers left aside; NULL: none of them. */
const struct events_known *events_known_find(const char *name);
bool events_is_derived(const char *name);
/* An enum events_called_index, an `@` and what follows left aside; negative: none of them. */
int events_called_find(const char *text);
/* The event of a name, libpfm4's names among them. 0; or negative with a sentence. */
int events_code_find(struct events_code *code, const char *name, struct error *error);
/* Samples a second of a counter that says nothing else: no more than the kernel grants. */
unsigned long long events_frequency_default(void);

#endif
