/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_files.h - from what a recording knows of a module (path, build id) to the files on this
 * machine that say its names: the binary itself and the file with its debug information. Nothing
 * is taken that does not carry the build id asked for.
 */
#ifndef TIMELINE_DEBUG_FILES_H
#define TIMELINE_DEBUG_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "store/base/error.h"
#include "store/catalog/symbol_protocol.h"

/* Where to look besides the module's own path and /usr/lib/debug. Owned by the caller. */
struct debug_files_search {
	const char *const *debug_paths;
	size_t debug_path_count;
	bool debuginfod; /* ask the servers of DEBUGINFOD_URLS; may take minutes */
};

/* Whether `path` may be one of them: ERROR_USAGE where no directory is there, since a name that is mistyped
 * would find nothing, and nobody would know why. */
int debug_files_search_check(const char *path, struct error *error);

/* One open ELF file. */
struct module_elf {
	int fd;	  /* -1: not a file */
	Elf *elf; /* NULL: not open */
	char *path;
};

/* The files of one module. At least one of the first two is open after debug_files_open(). */
struct debug_files {
	struct module_elf binary;
	struct module_elf debug;     /* NULL elf: the binary holds it itself, or there is none */
	struct module_elf alternate; /* what dwz moved out of several debug files */
	char note[1024];	     /* one sentence about what was not found; "" when all was */
};

/* `request`: module, kind, build id and paths; its offsets are not looked at. Returns 0, or ERROR_IO with the
 * reason when neither file is there. */
int debug_files_open(struct debug_files *files, const struct symbol_request *request,
	const struct debug_files_search *search, struct error *error);
void debug_files_close(struct debug_files *files);

/* Opens any ELF file (a regular one, never a pipe or device). */
int module_elf_open(struct module_elf *file, const char *path, struct error *error);
void module_elf_close(struct module_elf *file);
bool module_elf_has_debug(Elf *elf);
bool module_elf_has_symbols(Elf *elf); /* besides the dynamic ones */
/* Its build id into `id`; the size, 0: it has none. */
uint8_t module_elf_build_id(Elf *elf, uint8_t id[NAMES_BUILD_ID_MAX]);

/* Symbols in the compressed ELF file that some distributions put into .gnu_debugdata; all-zero when there is
 * none. */
void module_elf_open_mini(struct module_elf *mini, Elf *elf);

#endif
