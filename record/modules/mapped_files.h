/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped_files.h - code, constants and unwind tables of mapped ELF files, read from the files themselves:
 * they stand in for the memory of a process that has ended, or that executes another program by now. Such
 * processes come by the hundred a second and share few files, so the last ones stay open. Files are read,
 * never mapped: one that is cut short meanwhile gives an error.
 */
#ifndef RECORD_MAPPED_FILES_H
#define RECORD_MAPPED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPPED_FILES_MAX 24u /* open at a time */
#define MAPPED_SEGMENTS_MAX 16u

/* A part of the file that is loaded, at an address before the bias is added. */
struct mapped_segment {
	uint64_t address, offset, bytes;
	bool is_written; /* by the process, too: the file does not say what its memory holds */
	bool is_code;
};

/* Which file was mapped, as the kernel tells of the mapping. */
struct mapped_identity {
	uint64_t inode;
	uint32_t major, minor; /* of its device */
	uint64_t generation;   /* that tells it from files of the same number before and after; 0: not told */
};

struct mapped_file {
	char *path; /* NULL: a free place */
	struct mapped_identity identity;
	uint64_t used;
	int fd;
	unsigned count;
	struct mapped_segment segments[MAPPED_SEGMENTS_MAX];
};

struct mapped_files {
	struct mapped_file list[MAPPED_FILES_MAX];
	uint64_t uses;
};

/* Known generations are the same, and so is all else. */
bool mapped_identity_is_same(const struct mapped_identity *one, const struct mapped_identity *other);

/* The file at `path` as one of the processes `pids` sees it, 0 for none, or as this one does, if it is the
 * one that was mapped. NULL: there is no such file of ELF's 64 bits. Valid until the next call. */
const struct mapped_file *mapped_files_find(struct mapped_files *files, const uint32_t pids[2],
	const char *path, const struct mapped_identity *identity);

/* Bytes at an address less the bias. 0 or -EFAULT: they are not all in a segment that only the file fills. */
int mapped_file_read(const struct mapped_file *file, uint64_t address, void *to, size_t bytes);

/* Where the whole file lies in a process that has its code from `offset` on mapped at `address`: the bias,
 * and the pages of all segments as the file has them. False: no code of the file is there. */
bool mapped_file_place(const struct mapped_file *file, uint64_t address, uint64_t offset, uint64_t *bias,
	uint64_t *begin, uint64_t *end);

void mapped_files_fini(struct mapped_files *files);

#endif
