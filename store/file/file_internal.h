/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_internal.h - what file.c, file_write.c and snapshot.c share: an LMDB file that is open, in the list of
 * those of this process.
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
	bool is_packed;	  /* known before it is opened */
	size_t map_bytes; /* of the writer */
	struct store_stale_readers slow;
	struct store_file *next;
};

/* Of one user, in no list, nothing open; NULL: memory is out. */
struct store_file *store_file_new(const char *path);
void store_file_free(struct store_file *file);
bool store_file_identify(struct store_file *file); /* by its descriptor; false: not a file */
void store_file_register(struct store_file *file);
/* A new environment; LMDB wants a fresh one after each failed open. LMDB's code. */
int store_file_env_open(struct store_file *file, size_t map_bytes, unsigned flags);
/* LMDB opens the path once more: has it got the same file? Another one may have taken the path since. */
bool store_file_is_in_env(const struct store_file *file);
/* Gives the new lock file of `path` its bytes. 0 or a code. */
int store_file_lock_reserve(const char *path);
/* The directory of a path that is about to be created; -1: none. */
int store_file_directory_open(const char *path);
/* A reader's: the file has outgrown the limit of LMDB's map. */
void store_file_raise_limit(struct store_file *file);

#endif
