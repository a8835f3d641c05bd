/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_files.h - whole files of a run that a slice needs: sources that its symbols name, and GPU binaries
 * of its kernels. For slice_ids.h.
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
/* By its key. False: no memory. */
bool slice_files_want(struct slice_files *files, uint64_t key);
/* The same of a source, by its path. */
bool slice_files_want_source(struct slice_files *files, const char *path);
/* By a kernel's attributes: `module=HEX`. */
bool slice_files_want_binary(struct slice_files *files, const char *attributes, size_t size);
/* Copies the requested files that exist, and sets the fact `sources` to the number of sources. */
int slice_files_copy(const struct slice_files *files, struct store_reader *reader,
	struct store_writer *writer, struct error *error);

#endif
