/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_spool.h - where the collector's store lies: in the run, or, where the run is on a file system that
 * does not keep maps and locks coherent, on this host, from where it is copied into the run now and then.
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
	bool is_used;		    /* the store is not in the run */
	char file_system[16];	    /* why */
	char store[PATH_MAX + 512]; /* where it is written */
	char run_store[PATH_MAX + 512];
	char directory[PATH_MAX];
	pid_t copier;	    /* 0: none */
	uint64_t copied_ns; /* begin of the last copy */
	uint64_t took_ns;
};

/* Decides for a store that is to be at `path` in `run`. ERROR_IO: no place for it on this host. */
int local_spool_choose(struct local_spool *spool, const char *run, const char *path, struct error *error);
/* Copies in a process of its own, if it is time and something was committed. */
void local_spool_copy_if_due(struct local_spool *spool, uint64_t now_ns);
/* Copies now, and waits for it. */
int local_spool_copy(struct local_spool *spool, struct error *error);
/* The store is closed: copied for the last time, then forgotten, unless that fails: then it stays. */
void local_spool_end(struct local_spool *spool);
/* It could not be made. */
void local_spool_forget(struct local_spool *spool);

#endif
