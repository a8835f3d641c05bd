/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_cache.h - debug information that its file holds compressed, unpacked once and kept by build id: for
 * one address nobody has asked for yet, unpacking that of libc costs fifteen times what all the rest does.
 *
 *   DIRECTORY/debug/BUILD-ID   an ELF file of the sections that names are read from | u64 key | u64 checksum
 *
 * Files are replaced as a whole; the key says of which file they were made, as it was then. Those that nobody
 * has read for longest go when all together would be large. Deleting all of it costs time only.
 */
#ifndef TIMELINE_DEBUG_CACHE_H
#define TIMELINE_DEBUG_CACHE_H

#include "timeline/debug/debug_files.h"

/* Opens what was unpacked of `file`, and unpacks it ahead of that where nothing was kept. False: `file`
 * itself is to be read, for its sections are not compressed, it has no build id, is too large to be kept, or
 * memory is out. One thread. */
bool debug_cache_open(struct module_elf *unpacked, const struct module_elf *file, const char *directory);

#endif
