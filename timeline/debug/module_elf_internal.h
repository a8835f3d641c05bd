/* SPDX-License-Identifier: Apache-2.0 */
/* module_elf_internal.h - shared by module_elf.c, which opens one file, and debug_files.c, which searches for
 * it. */
#ifndef TIMELINE_MODULE_ELF_INTERNAL_H
#define TIMELINE_MODULE_ELF_INTERNAL_H

#include "timeline/debug/debug_files.h"

/* What an accepted file must match. */
struct module_identity {
	uint8_t bytes[NAMES_BUILD_ID_MAX];
	size_t size; /* 0: unknown */
};

/* From its build id, size 0: none. */
struct module_identity module_elf_identity(Elf *elf);
bool module_identity_equal(const struct module_identity *a, const struct module_identity *b);
/* The file is the one that is wanted: by its build id, or by its content where the wanted one has none. */
bool module_elf_is(const struct module_elf *file, const struct module_identity *wanted);
/* Opens `path` if it is an ELF file of that identity. */
bool module_elf_open_matching(
	struct module_elf *file, const char *path, const struct module_identity *wanted);
/* NULL: no such section, or an empty one. */
Elf_Scn *module_elf_section(Elf *elf, const char *name);

#endif
