/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_unwind_modules.h - the modules of another process with their unwind tables, copied out of its
 * memory: a file could be cut short under a mapping of ours. Of a module's tables only those parts are copied
 * that were asked for, a block at a time: libraries of machine learning have a gigabyte in the segment of
 * their tables.
 */
#ifndef RECORD_REMOTE_UNWIND_MODULES_H
#define RECORD_REMOTE_UNWIND_MODULES_H

#include "record/agent/unwind/cfi.h"
#include "store/store.h"

struct remote_unwind_module {
	struct cfi_module cfi; /* slot: its index; the image has holes */
	uint64_t bias, inode;
	uint64_t tables_begin, tables_end; /* the segment that holds the tables; empty: there are none */
	uint64_t header, header_end;
	uint64_t copied_bytes;
	uint8_t *blocks; /* of the image, a bit each: it is copied; NULL: none was asked for yet */
	bool is_vdso;
	uint8_t build_id_bytes, build_id[32];
	uint32_t id; /* the collector's: of the store, plus 1; 0: not asked for yet */
	char *path;
};

struct remote_unwind_modules {
	uint32_t pid;
	struct remote_unwind_module *list; /* by address */
	unsigned count, capacity;
	uint64_t copied_bytes;
	char *maps; /* what they were read from */
};

/* Reads what is mapped; modules that still are keep their tables and their id. 0 or an errno, ESRCH for a
 * process that has ended or is about to. *is_new: there are others than last time. */
int remote_unwind_modules_read(struct remote_unwind_modules *modules, bool *is_new);
void remote_unwind_modules_fini(struct remote_unwind_modules *modules);

/* NULL: none. Valid until the next remote_unwind_modules_read. */
struct remote_unwind_module *remote_unwind_modules_find(struct remote_unwind_modules *modules, uint64_t pc);

/* Copies what the module's tables say of pc, should there be any. */
void remote_unwind_modules_tables(
	struct remote_unwind_modules *modules, struct remote_unwind_module *module, uint64_t pc);

/* Memory of the process. 0 or a negative errno, -EFAULT where not all of it is there. */
int remote_unwind_read(uint32_t pid, uint64_t address, void *to, size_t bytes);
/* As many of them as are there from `address` on, by whole pages of the process. */
size_t remote_unwind_read_some(uint32_t pid, uint64_t address, void *to, size_t bytes);

#endif
