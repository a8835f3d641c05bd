/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_spool.h - chooses where the collector writes its store. Normally in the run. If the run is on a file
 * system without coherent mmap and locks, on a local disk, from which it is copied into the run periodically.
 *
 *   run/HOST-BOOT.mdb  <-- copies, each whole --  TMPDIR/hpct-store.XXXXXX/HOST-BOOT.mdb  <-- collector
 */
#ifndef RECORD_LOCAL_SPOOL_H
#define RECORD_LOCAL_SPOOL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/base/error.h"

struct local_spool {
	bool is_used;		    /* the store is not written in the run */
	char file_system[16];	    /* of the run: the reason */
	char store[PATH_MAX + 512]; /* the store that the collector writes */
	char run_store[PATH_MAX + 512];
	char directory[PATH_MAX];
	pid_t copier;	    /* 0: no copy runs */
	uint64_t copied_ns; /* when the last copy began */
	uint64_t took_ns;
};

/* Chooses for the store `path` in `run`. ERROR_IO: no local directory is usable. */
int local_spool_choose(struct local_spool *spool, const char *run, const char *path, struct error *error);
/* Starts a copy in a child process if one is due and the store has changed. */
void local_spool_copy_if_due(struct local_spool *spool, uint64_t now_ns);
/* Copies and waits. */
int local_spool_copy(struct local_spool *spool, struct error *error);
/* After the store was closed: makes the last copy, then deletes the local store. Keeps it if the copy
 * fails. */
void local_spool_end(struct local_spool *spool);
/* The store could not be made: removes the local directory. */
void local_spool_forget(struct local_spool *spool);

#endif
