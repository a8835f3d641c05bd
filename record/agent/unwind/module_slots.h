/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_slots.h - finds the loaded module of a pc, and its slot in the table that the collector reads. All
 * of it may run in the sampling handler: modules are found without a lock and entered in the table when a
 * call path first uses them.
 */
#ifndef RECORD_AGENT_MODULE_SLOTS_H
#define RECORD_AGENT_MODULE_SLOTS_H

#include "record/agent/unwind/cfi.h"

#define MODULE_CACHE_ENTRIES 16

/* Modules that one thread used recently. */
struct module_cache {
	struct cfi_module entry[MODULE_CACHE_ENTRIES];
	unsigned count;
	unsigned next; /* entry to replace */
};

/* Once per process, before any lookup, after module_map_init. */
void module_slots_init(void);

/* The module at pc with tables and slot, or NULL. `cache` is a struct module_cache of the calling thread;
 * the result is valid until the cache changes. Signature of unwind_space.module_find. */
const struct cfi_module *module_find(void *cache, uint64_t pc);

/* Slot for code outside all modules; UNWIND_NO_SLOT when the table is full. */
uint32_t module_slots_anonymous(void);

/* Slot of Python's own frames, made at the first call, and another slot of the same file, for frames that
 * they stand for; UNWIND_NO_SLOT when the table is full. */
uint32_t module_slots_python(void);
uint32_t module_slots_twin(uint32_t slot);

/* Number of slots given out, some perhaps not yet filled. */
uint32_t module_slots_count(void);
bool module_slots_is_live(uint32_t slot);
/* True while a slot that was given out is not filled. */
bool module_slots_is_written(uint32_t slot);

/* Runtime address of a slot's file address 0. */
uint64_t module_slots_bias(uint32_t slot);

/* Number of unloads; a thread drops caches with an older number. */
uint32_t module_slots_generation(void);

/* True if a call path used a module whose file name begins with one of `names`, NULL-terminated. */
bool module_slots_is_met(const char *const *names);

/* Call after a dlclose: marks unloaded modules. Not from a handler. */
void module_slots_unloaded(void);

#endif
