/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_ranks.h - uses the ranks of an MPI job as helpers of one reader: `mpirun -n 4 hpct-profile RUN`. All
 * run the same program with the same arguments; parallel_sum.c splits large sums, and only rank 0 prints.
 * MPI is in a plug-in, hpct-ranks-NAME.so beside the programs' libraries, one for each implementation that
 * was present when hpct was built: programs started without mpirun never load one.
 *
 *   rank 1..  rows, rows, ..., end  -->  rank 0: takes rows where it expects them, and all until each end
 */
#ifndef TIMELINE_MPI_RANKS_H
#define TIMELINE_MPI_RANKS_H

#include <stdint.h>

#include "store/base/bytes.h"
#include "store/base/error.h"

/* What a plug-in exports as `hpct_ranks`. Failures end the job, as in MPI. */
struct mpi_ranks_plugin {
	void (*begin)(uint32_t *rank, uint32_t *count);
	void (*send)(const void *bytes, uint64_t size);		    /* to rank 0 */
	uint64_t (*probe)(uint32_t from);			    /* size of the next one */
	void (*receive)(uint32_t from, void *bytes, uint64_t size); /* NULL: drops them */
	void (*end)(void);
};

/* Joins the job, if mpirun started this process: ranks above 0 stop printing. ERROR_USAGE: no plug-in for
 * this MPI. */
int mpi_ranks_begin(struct error *error);
/* Reports the exit code; rank 0 waits for all. Returns this process's exit code. */
int mpi_ranks_end(int exit_code);

uint32_t mpi_ranks_count(void); /* 1: alone */
uint32_t mpi_ranks_own(void);
int mpi_ranks_send(const struct store_bytes *bytes, struct error *error);
/* ERROR_IO: that rank has ended, or no memory for its message. */
int mpi_ranks_receive(uint32_t from, struct store_bytes *bytes, struct error *error);

#endif
