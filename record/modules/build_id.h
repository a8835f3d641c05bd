/* SPDX-License-Identifier: Apache-2.0 */
/* build_id.h - the build id in the notes of an ELF file, whose bytes may be anything. */
#ifndef RECORD_BUILD_ID_H
#define RECORD_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_BYTES_MAX 32u
#define BUILD_ID_NOTES_MAX 16384u /* larger note segments are passed over */

struct build_id {
	uint8_t size; /* 0: none */
	uint8_t bytes[BUILD_ID_BYTES_MAX];
};

/* Takes it from a note segment's bytes, if it is there and none was taken yet. */
void build_id_take(struct build_id *id, const uint8_t *notes, size_t bytes);
/* true: the file is a 64-bit ELF file with this id. */
bool build_id_is_of_file(int fd, const uint8_t *wanted, size_t bytes);

#endif
