/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content_id.h - what stands for a build id where the linker made none (Go, Free Pascal): a hash of the
 * file's content. It stands in the same field, and tells itself apart by its size and first byte:
 *
 *   | 00 | 16 bytes |   names come from a file of that content: it was there when the module was recorded,
 *                       or stands for it (record/modules/module_image.h)
 *   | 01 | 16 bytes |   its file had changed or was out of reach by then: no file has its names
 */
#ifndef STORE_CONTENT_ID_H
#define STORE_CONTENT_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENT_ID_BYTES 17u

/* Of an open file: all of it up to 16 MiB, beyond that 256 blocks of it, evenly spaced, and its size. Moves
 * no file position. false: it cannot be read, or memory is out. */
bool content_id_of_file(int fd, uint8_t id[CONTENT_ID_BYTES]);
/* Of what is known where the file is not. */
void content_id_of_memory(uint8_t id[CONTENT_ID_BYTES], const void *known, size_t size);

bool content_id_is(const uint8_t *id, size_t bytes);
/* No file has its names. */
bool content_id_is_of_memory(const uint8_t *id, size_t bytes);

#endif
