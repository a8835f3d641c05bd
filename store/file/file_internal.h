/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_internal.h - what file.c, file_write.c and snapshot.c share: an open LMDB file, in the list of this
 * process's open files.
 */
#ifndef STORE_FILE_INTERNAL_H
#define STORE_FILE_INTERNAL_H

#include <sys/types.h>

#include "store/file/file.h"

#define STORE_LOCK_BYTES 32768 /* of a lock file with room for all readers */

struct store_file {
	MDB_env *env; /* NULL: archived */
	struct store_archive_pages *packed;
	char *path;
	int fd;	       /* for mapping; LMDB has its own */
	int directory; /* of the writer */
	dev_t device;
	ino_t inode;
	pid_t owner; /* LMDB's environments do not survive a fork: a child opens its own */
	unsigned users;
	bool is_packed;	  /* set before it is opened */
	size_t map_bytes; /* of the writer */
	struct store_stale_readers slow;
	struct store_file *next;
};

/* For one user, in no list, not open; NULL: no memory. */
struct store_file *store_file_new(const char *path);
void store_file_free(struct store_file *file);
bool store_file_identify(struct store_file *file); /* by its descriptor; false: no regular file */
void store_file_register(struct store_file *file);
/* Opens a new environment; LMDB needs a fresh one after each failed open. Returns LMDB's code. */
int store_file_env_open(struct store_file *file, size_t map_bytes, unsigned flags);
/* LMDB opens the path itself: false when it got another file, which has taken the path since. */
bool store_file_is_in_env(const struct store_file *file);
/* Allocates the blocks of `path`'s new lock file. 0 or a code. */
int store_file_lock_reserve(const char *path);
/* Opens the directory of a path about to be created; -1: none. */
int store_file_directory_open(const char *path);
/* For readers: the file has outgrown the limit of LMDB's map. */
void store_file_raise_limit(struct store_file *file);

#endif
