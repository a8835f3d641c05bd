/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_call.h - records an MPI call as an exact span, and the rank. All arguments are passed as machine words,
 * which matches every library's ABI.
 */
#ifndef RECORD_AGENT_MPI_CALL_H
#define RECORD_AGENT_MPI_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "record/agent/mpi/mpi_calls.h"
#include "record/agent/mpi/mpi_communicator.h"
#include "record/agent/mpi/mpi_sums.h"
#include "record/agent/wrap/passage.h"
#include "record/agent/wrap/wait.h"

#define MPI_ARGUMENTS_MAX 13
#define MPI_REQUESTS_MAX 8 /* of one call, by name */
#define MPI_REQUESTS_BYTES (MPI_REQUESTS_MAX * 20)

enum mpi_binding { MPI_BINDING_C, MPI_BINDING_FORTRAN, MPI_BINDING_F08, MPI_BINDING_COUNT };

enum mpi_call_index {
#define INDEX(name, ...) MPI_CALL_##name,
	MPI_CALLS(INDEX)
#undef INDEX
		MPI_CALL_COUNT
};

struct mpi_call_kind;

/* One call in progress, in the caller's memory. */
struct mpi_call {
	const struct mpi_call_kind *kind;
	enum mpi_binding binding;
	bool is_published; /* the outermost MPI call in a measured thread */
	bool is_passage;   /* the agent came later: see passage.h */
	bool is_summed;	   /* it is, if it is short: then what a span needs is found only at its end */
	struct mpi_sum sum;
	uint64_t handles[MPI_REQUESTS_MAX]; /* of requests that a sum's call takes away */
	void *real;			    /* the function to call; NULL: the program has none */
	const long *arguments;
	uint64_t communicator, number;
	char name[MPI_COMMUNICATOR_NAME];
	char requests[MPI_REQUESTS_BYTES]; /* "0x1f+0x2e" */
	struct wait wait;
	struct passage passage; /* instead of wait, with an agent that came later */
};

/* Call around the library's function, in the calling thread. `arguments`: all of them, valid until the
 * end; `caller`: a return address in the calling library or program. */
void mpi_call_begin(struct mpi_call *call, enum mpi_call_index index, enum mpi_binding binding,
	const long *arguments, void *caller);
void mpi_call_end(struct mpi_call *call, bool has_worked);

/* For an agent that comes later (record/agent/inject/): where the function behind a wrapper is kept, to be
 * set before anything leads to that; and what the wrappers have to know of the library, from the addresses of
 * its names: NULL where it has none. That agent names communicators by their handles and counts no calls:
 * what was before it, and when other ranks began, it does not know. */
void **mpi_call_real(enum mpi_call_index index, enum mpi_binding binding);
const char *mpi_call_name(enum mpi_call_index index, enum mpi_binding binding);
void mpi_call_library(void *(*find)(const char *name));

#endif
