/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_unwind_modules.h - the modules of another process with their unwind tables, copied from its memory:
 * its files could be truncated while we map them. Copies only the blocks of the tables that are needed:
 * libraries for machine learning have a gigabyte in the segment that holds their tables.
 *
 * A process that has ended, or that executes another program by now, has no such memory and no list of
 * mappings any more: its files stand in for it (mapped_files.h), and what the kernel told of its mappings.
 */
#ifndef RECORD_REMOTE_UNWIND_MODULES_H
#define RECORD_REMOTE_UNWIND_MODULES_H

#include "record/agent/unwind/cfi.h"
#include "record/modules/build_id.h"
#include "record/modules/mapped_files.h"
#include "store/store.h"

struct remote_unwind_module {
	struct cfi_module cfi; /* slot: its index; the image has holes */
	struct mapped_identity identity;
	uint64_t bias;
	uint64_t tables_begin, tables_end; /* the segment of the unwind tables; empty: none */
	uint64_t header, header_end;
	uint64_t copied_bytes;
	uint8_t *blocks;     /* bitmap of the image's copied blocks; NULL: none */
	bool is_vdso, is_go; /* is_go: Go's linker made it */
	struct build_id build_id;
	uint32_t id; /* store module + 1; 0: not looked up yet */
	char *path;
};

/* A mapping of code, as the kernel told when it was made. */
struct remote_unwind_mapping {
	uint64_t begin, offset;
	struct mapped_identity identity;
	char *path;
};

struct remote_unwind_modules {
	uint32_t pid;
	uint32_t parent_pid;	    /* one that sees the same files; 0: none */
	struct mapped_files *files; /* the caller's; NULL: nothing stands in for the memory */
	bool is_gone;		    /* the memory that pid has is not that of these modules, or it has none */
	struct remote_unwind_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	struct remote_unwind_module *list; /* by address */
	unsigned count, capacity;
	uint64_t copied_bytes;
	bool is_go; /* one of them is */
	char *maps; /* the content of /proc/PID/maps behind `list` */
};

/* Reads /proc/PID/maps; modules that are still mapped keep tables and id. Returns 0 or an errno, ESRCH if
 * the process has ended or is ending and nothing stands in for it. *is_new: the modules changed. */
int remote_unwind_modules_read(struct remote_unwind_modules *modules, bool *is_new);
/* Keeps what the kernel told of a new mapping of code. Copies the path. */
void remote_unwind_modules_mapped(struct remote_unwind_modules *modules, uint64_t begin, uint64_t offset,
	const struct mapped_identity *identity, const char *path);
/* A process that was forked from another begins with its modules; `modules` has none yet. */
void remote_unwind_modules_inherit(
	struct remote_unwind_modules *modules, const struct remote_unwind_modules *from);
void remote_unwind_modules_fini(struct remote_unwind_modules *modules);

/* NULL: none. Valid until the next remote_unwind_modules_read. */
struct remote_unwind_module *remote_unwind_modules_find(struct remote_unwind_modules *modules, uint64_t pc);

/* Copies the parts of the module's unwind tables that cover pc, if any. */
void remote_unwind_modules_tables(
	struct remote_unwind_modules *modules, struct remote_unwind_module *module, uint64_t pc);

/* Reads memory of the process: or, once it is gone, what the files of its modules hold of it. As
 * remote_unwind_read. */
int remote_unwind_modules_memory(
	struct remote_unwind_modules *modules, uint64_t address, void *to, size_t bytes);

/* Reads memory of the process. 0 or a negative errno, -EFAULT if part of it is unmapped. */
int remote_unwind_read(uint32_t pid, uint64_t address, void *to, size_t bytes);
/* Reads whole pages from `address` up to the first unmapped one; returns the bytes read. */
size_t remote_unwind_read_some(uint32_t pid, uint64_t address, void *to, size_t bytes);

/* The agent's hash of a module without a build id, see store/ring/module_content.h; 0: its memory cannot be
 * read. */
uint64_t remote_unwind_module_hash(
	struct remote_unwind_modules *modules, const struct remote_unwind_module *module);

#endif
