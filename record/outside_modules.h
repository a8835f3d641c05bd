/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_modules.h - the modules of another process with their unwind tables, copied out of its memory: a
 * file could be cut short under a mapping of ours.
 */
#ifndef RECORD_OUTSIDE_MODULES_H
#define RECORD_OUTSIDE_MODULES_H

#include "record/agent/cfi.h"
#include "store/store.h"

struct outside_module {
	struct cfi_module cfi; /* slot: its index */
	uint64_t bias;
	bool is_vdso;
	uint8_t build_id_bytes, build_id[32];
	uint32_t id; /* the collector's: of the store, plus 1; 0: not asked for yet */
	char *path;
};

struct outside_modules {
	uint32_t pid;
	struct outside_module *list;
	unsigned count, room;
	uint64_t copied_bytes;
	char *maps; /* what they were read from */
};

/* Reads what is mapped, unless it is the same as last time. 0 or an errno. *is_new: what was known is gone.
 */
int outside_modules_read(struct outside_modules *modules, bool *is_new);
void outside_modules_fini(struct outside_modules *modules);

/* NULL: none. */
struct outside_module *outside_modules_find(struct outside_modules *modules, uint64_t pc);

/* Memory of the process. 0 or negative. */
int outside_read(uint32_t pid, uint64_t address, void *to, size_t bytes);

#endif
