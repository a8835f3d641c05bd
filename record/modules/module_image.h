/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_image.h - stands in for the file of a mapped module that cannot be opened (unlinked, replaced, a
 * memfd whose descriptor is closed): copies what is mapped of it into a file in memory, for hpct-names to
 * read. Only root may open the mapping itself (/proc/PID/map_files).
 *
 *   process: header | .dynsym .dynstr ... | code | data        image: the same bytes at the file's offsets
 *            ^ begin                         ^ left out                without sections: none are mapped
 *
 * Trusts nothing that it reads: all sizes are bounded, nothing is parsed but program headers and the dynamic
 * section's entries.
 */
#ifndef RECORD_MODULE_IMAGE_H
#define RECORD_MODULE_IMAGE_H

#include <stdint.h>

#define MODULE_IMAGE_BYTES_MAX (UINT64_C(64) << 20) /* copied of one module */

/* `pid`'s module whose ELF header is mapped at `begin`. A descriptor of the image, the caller's; -1: no
 * header there, its memory may not be read (kernel.yama.ptrace_scope), or all images together take too much
 * memory. Collector's thread only. */
int module_image_open(uint32_t pid, uint64_t begin);

/* Closes an image, or any file. */
void module_image_close(int fd);
/* The image says by itself that it has no sections, once it was compared with the module's memory. */
void module_image_finish(int fd);

#endif
