/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_places.h - places of Python frames: a process's numbers of functions (event_name) become texts of
 * the store. The memory is the program's and is not trusted: each entry is read once, within its bounds.
 */
#ifndef RECORD_PYTHON_PLACES_H
#define RECORD_PYTHON_PLACES_H

#include "store/write/writer.h"

/* Texts by number, 0: not looked at yet. */
struct python_places {
	uint32_t *texts;
	uint32_t capacity;
};

/* The offset in the store's Python module, for one in a process's; `names`: EVENT_NAMES_DATA bytes of names,
 * NULL: none. A function without a valid name is the text 0. */
uint64_t python_place(
	struct python_places *places, const char *names, struct store_writer *writer, uint64_t offset);

void python_places_fini(struct python_places *places);

#endif
