/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_map.h - the modules that the dynamic loader has mapped, by address. Lock-free, safe in the sampling
 * handler.
 */
#ifndef RECORD_AGENT_MODULE_MAP_H
#define RECORD_AGENT_MODULE_MAP_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapped module. `name` is the loader's, valid while the module is loaded. */
struct module_map_entry {
	uint64_t begin, end;
	uint64_t bias;	       /* runtime address - address in the file's program headers */
	uint64_t frame_header; /* runtime address of .eh_frame_hdr; 0: none */
	const char *name;      /* "": the executable */
};

/* Once per program, before other calls and while it has one thread: it takes the loader's locks, which in
 * a fork child a lost thread may hold. */
void module_map_init(char **envp);

/* The program's own headers, `count` of them, and its bias. NULL: unknown. */
const ElfW(Phdr) * module_map_program(size_t *count, uint64_t *bias);

/* The module that contains an address; false: none. */
bool module_map_find(uint64_t address, struct module_map_entry *found);

/* True for the kernel's vDSO, which has no file. */
bool module_map_is_vdso(const struct module_map_entry *module);

/* The mapped range of the module that contains an address, and of the dynamic loader. 0 or -1. */
int module_map_range(uint64_t address, uint64_t *begin, uint64_t *end);
int module_map_loader_range(uint64_t *begin, uint64_t *end);

/* Call after the program loaded or unloaded libraries, for C libraries without _dl_find_object. Not from a
 * handler. */
void module_map_refresh(void);

#endif
