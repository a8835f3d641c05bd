/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_map.h - what the dynamic loader has mapped where, by address. May be asked from
 * the sampling handler, and takes no lock.
 */
#ifndef RECORD_AGENT_MODULE_MAP_H
#define RECORD_AGENT_MODULE_MAP_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A module as it lies in memory. `name` is the loader's, valid while the module is loaded. */
struct module_map_entry {
	uint64_t begin, end;
	uint64_t bias;	       /* runtime address - address in the file's program headers */
	uint64_t frame_header; /* runtime address of .eh_frame_hdr; 0: none */
	const char *name;      /* "": the executable */
};

/*
 * Once per program, before any question and while it has one thread: it asks the loader, whose locks a forked
 * child may find taken by a thread that the fork left behind.
 */
void module_map_init(char **envp);

/* The program's own headers, `count` of them, and its bias. NULL: not known. */
const ElfW(Phdr) * module_map_program(size_t *count, uint64_t *bias);

/* The module that holds an address; false: none does. */
bool module_map_find(uint64_t address, struct module_map_entry *found);

/* The kernel's own, which no file holds. */
bool module_map_is_vdso(const struct module_map_entry *module);

/* The mapped range of the module that holds an address, and of the dynamic loader. 0 or -1. */
int module_map_range(uint64_t address, uint64_t *begin, uint64_t *end);
int module_map_loader_range(uint64_t *begin, uint64_t *end);

/* After a program has loaded or unloaded libraries, for C libraries without _dl_find_object. Not from a
 * handler. */
void module_map_refresh(void);

#endif
