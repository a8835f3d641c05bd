/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_cache.h - decompresses a file's debug sections once and caches them by build id: for a single new
 * address, decompressing those of libc costs fifteen times the rest.
 *
 *   DIRECTORY/debug/BUILD-ID   an ELF file of the sections that names are read from | u64 key | u64 checksum
 *
 * Files are replaced as a whole; the key identifies the file they were made from. When the cache grows too
 * large, the files unused for longest are deleted. Deleting all of it costs only time.
 */
#ifndef TIMELINE_DEBUG_CACHE_H
#define TIMELINE_DEBUG_CACHE_H

#include "timeline/debug/debug_files.h"

/* Opens the cached sections of `file`, and creates them first if needed. False: read `file` itself (its
 * sections are not compressed, it has no build id, it is too large, or no memory). One thread. */
bool debug_cache_open(struct module_elf *unpacked, const struct module_elf *file, const char *directory);

#endif
