/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_files.h - finds the files with a module's names on this machine, from what the recording knows of it
 * (path, build id): the binary itself and the file with its debug information. Files with another build id
 * are ignored.
 */
#ifndef TIMELINE_DEBUG_FILES_H
#define TIMELINE_DEBUG_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "store/base/error.h"
#include "store/catalog/symbol_protocol.h"

/* Where to search besides the module's path and /usr/lib/debug. Owned by the caller. */
struct debug_files_search {
	const char *const *debug_paths;
	size_t debug_path_count;
	bool debuginfod; /* query the servers of DEBUGINFOD_URLS; may take minutes */
};

/* Checks a directory for the search: ERROR_USAGE if it does not exist, because a mistyped name would
 * silently find nothing. */
int debug_files_search_check(const char *path, struct error *error);

/* One open ELF file. */
struct module_elf {
	int fd;	  /* -1: no file */
	Elf *elf; /* NULL: not open */
	char *path;
};

/* The files of one module. At least one of the first two is open after debug_files_open(). */
struct debug_files {
	struct module_elf binary;
	struct module_elf debug;     /* elf NULL: the binary has the debug information itself, or there is
					none */
	struct module_elf alternate; /* parts that dwz moved out of several debug files */
	char note[1024];	     /* one sentence about what is missing; "" if nothing is */
};

/* `request`: module, kind, build id and paths; its offsets are ignored. Returns 0, or ERROR_IO with the
 * reason when both files are missing. */
int debug_files_open(struct debug_files *files, const struct symbol_request *request,
	const struct debug_files_search *search, struct error *error);
void debug_files_close(struct debug_files *files);

/* Opens any ELF file (a regular one, never a pipe or device). */
int module_elf_open(struct module_elf *file, const char *path, struct error *error);
void module_elf_close(struct module_elf *file);
bool module_elf_has_debug(Elf *elf);
bool module_elf_has_symbols(Elf *elf); /* beside dynamic symbols */
/* Copies the build id to `id`; returns its size, 0: none. */
uint8_t module_elf_build_id(Elf *elf, uint8_t id[NAMES_BUILD_ID_MAX]);

/* Symbols of the compressed ELF file in .gnu_debugdata, which some distributions add; all-zero: none. */
void module_elf_open_mini(struct module_elf *mini, Elf *elf);

#endif
