/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.h - the modules of one measured process: maps slots of the shared table to modules of the store.
 * Opens a module's file at first use, so that a binary that is deleted or replaced later can still be
 * symbolized.
 */
#ifndef RECORD_MODULES_H
#define RECORD_MODULES_H

#include "record/modules/module_file.h"
#include "store/ring/ring.h"
#include "store/write/writer.h"

#define MODULES_NONE UINT32_MAX

struct modules {
	uint32_t ids[EVENT_MODULE_MAX]; /* store module + 1; 0: not used yet */
	uint32_t jit;			/* store module of code without a file; 0: none yet */
	uint32_t python;		/* store module of Python's frames; 0: none yet */
	uint8_t gone[EVENT_MODULE_MAX]; /* 1: its unload time is in the store */
};

/* Store module of a slot; MODULES_NONE for an invalid slot. `table` is in shared memory. */
uint32_t modules_find(struct modules *modules, struct store_writer *writer, struct event_module *table,
	uint32_t slot, uint32_t pid, const char *executable);
/* Writes new unload times to the store. */
void modules_unloaded(
	struct modules *modules, struct store_writer *writer, struct event_module *table, uint32_t count);

/* Enters a module, whose path and, where it has no build id, identity are set here, and keeps its file. */
uint32_t modules_enter(
	struct store_writer *writer, struct store_module *module, const struct module_file *file);
/* Descriptor of a store module's file, -1: none was kept. Stays the table's. */
int modules_file(uint32_t module);
/* True if one of the programs has GNU's OpenMP runtime linked in, from an archive, as its symbols say. */
bool modules_have_openmp(void);
/* Closes all files when the collector ends. */
void modules_close(void);

#endif
