/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_files.h - whole files that a run keeps and a part of it needs: sources that its symbols name, and GPU
 * binaries that its kernels come from. Inside slice_ids.h.
 */
#ifndef TIMELINE_SLICE_FILES_H
#define TIMELINE_SLICE_FILES_H

#include "store/read/reader.h"
#include "store/write/writer.h"
#include "timeline/base/key_ids.h"

struct slice_files {
	struct key_ids keys; /* uint64_t: of the store's blobs */
};

void slice_files_init(struct slice_files *files);
void slice_files_fini(struct slice_files *files);
/* By its key. False: memory is out. */
bool slice_files_want(struct slice_files *files, uint64_t key);
/* The same of a source, by its path. */
bool slice_files_want_source(struct slice_files *files, const char *path);
/* By a kernel's attributes: `module=HEX`. */
bool slice_files_want_binary(struct slice_files *files, const char *attributes, size_t size);
/* Copies those that are wanted and there, and says in the meta `sources` how many sources they are. */
int slice_files_copy(const struct slice_files *files, struct store_reader *reader,
	struct store_writer *writer, struct error *error);

#endif
