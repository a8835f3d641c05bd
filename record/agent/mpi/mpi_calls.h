/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_calls.h - table of the MPI calls that wait or communicate, and the meaning of their arguments: used by
 * wrap_mpi.c, so that no mpi.h is needed.
 */
#ifndef RECORD_AGENT_MPI_CALLS_H
#define RECORD_AGENT_MPI_CALLS_H

enum mpi_kind {
	MPI_PLAIN,
	MPI_COLLECTIVE, /* counts as a collective call on its communicator */
	MPI_NEW,   /* as above, and its last argument is a new communicator of the same processes or fewer */
	MPI_SPLIT, /* as above, its last is a communicator per color, the argument after the communicator */
	MPI_FREE,  /* its first argument points to a communicator that is freed */
	MPI_RANK,
	MPI_INIT,
	MPI_TEST /* the argument after its requests points to whether they are over */
};

/* X(name, in Fortran, arguments, Fortran's with its error code, index of the communicator, of a count, of its
 * type, of the other rank or the root, of the tag, of the rank that it receives from while it sends (the
 * tag of that comes next), of a request or, where a number of them comes first, of several, kind);
 * -1: it has none. */
#define MPI_CALLS(X)                                                                              \
	X(Allgather, allgather, 7, 8, 6, 1, 2, -1, -1, -1, -1, COLLECTIVE)                        \
	X(Allgatherv, allgatherv, 8, 9, 7, 1, 2, -1, -1, -1, -1, COLLECTIVE)                      \
	X(Allreduce, allreduce, 6, 7, 5, 2, 3, -1, -1, -1, -1, COLLECTIVE)                        \
	X(Alltoall, alltoall, 7, 8, 6, 1, 2, -1, -1, -1, -1, COLLECTIVE)                          \
	X(Alltoallv, alltoallv, 9, 10, 8, -1, -1, -1, -1, -1, -1, COLLECTIVE)                     \
	X(Alltoallw, alltoallw, 9, 10, 8, -1, -1, -1, -1, -1, -1, COLLECTIVE)                     \
	X(Barrier, barrier, 1, 2, 0, -1, -1, -1, -1, -1, -1, COLLECTIVE)                          \
	X(Bcast, bcast, 5, 6, 4, 1, 2, 3, -1, -1, -1, COLLECTIVE)                                 \
	X(Bsend, bsend, 6, 7, 5, 1, 2, 3, 4, -1, -1, PLAIN)                                       \
	X(Comm_create, comm_create, 3, 4, 0, -1, -1, -1, -1, -1, -1, NEW)                         \
	X(Comm_dup, comm_dup, 2, 3, 0, -1, -1, -1, -1, -1, -1, NEW)                               \
	X(Comm_free, comm_free, 1, 2, -1, -1, -1, -1, -1, -1, -1, FREE)                           \
	X(Comm_rank, comm_rank, 2, 3, -1, -1, -1, -1, -1, -1, -1, RANK)                           \
	X(Comm_split, comm_split, 4, 5, 0, -1, -1, -1, -1, -1, -1, SPLIT)                         \
	X(Exscan, exscan, 6, 7, 5, 2, 3, -1, -1, -1, -1, COLLECTIVE)                              \
	X(Finalize, finalize, 0, 1, -1, -1, -1, -1, -1, -1, -1, PLAIN)                            \
	X(Gather, gather, 8, 9, 7, 1, 2, 6, -1, -1, -1, COLLECTIVE)                               \
	X(Gatherv, gatherv, 9, 10, 8, 1, 2, 7, -1, -1, -1, COLLECTIVE)                            \
	X(Iallgather, iallgather, 8, 9, 6, 1, 2, -1, -1, -1, 7, COLLECTIVE)                       \
	X(Iallgatherv, iallgatherv, 9, 10, 7, 1, 2, -1, -1, -1, 8, COLLECTIVE)                    \
	X(Iallreduce, iallreduce, 7, 8, 5, 2, 3, -1, -1, -1, 6, COLLECTIVE)                       \
	X(Ialltoall, ialltoall, 8, 9, 6, 1, 2, -1, -1, -1, 7, COLLECTIVE)                         \
	X(Ialltoallv, ialltoallv, 10, 11, 8, -1, -1, -1, -1, -1, 9, COLLECTIVE)                   \
	X(Ibarrier, ibarrier, 2, 3, 0, -1, -1, -1, -1, -1, 1, COLLECTIVE)                         \
	X(Ibcast, ibcast, 6, 7, 4, 1, 2, 3, -1, -1, 5, COLLECTIVE)                                \
	X(Ibsend, ibsend, 7, 8, 5, 1, 2, 3, 4, -1, 6, PLAIN)                                      \
	X(Igather, igather, 9, 10, 7, 1, 2, 6, -1, -1, 8, COLLECTIVE)                             \
	X(Init, init, 2, 1, -1, -1, -1, -1, -1, -1, -1, INIT)                                     \
	X(Init_thread, init_thread, 4, 3, -1, -1, -1, -1, -1, -1, -1, INIT)                       \
	X(Irecv, irecv, 7, 8, 5, 1, 2, 3, 4, -1, 6, PLAIN)                                        \
	X(Ireduce, ireduce, 8, 9, 6, 2, 3, 5, -1, -1, 7, COLLECTIVE)                              \
	X(Ireduce_scatter_block, ireduce_scatter_block, 7, 8, 5, 2, 3, -1, -1, -1, 6, COLLECTIVE) \
	X(Irsend, irsend, 7, 8, 5, 1, 2, 3, 4, -1, 6, PLAIN)                                      \
	X(Iscatter, iscatter, 9, 10, 7, 4, 5, 6, -1, -1, 8, COLLECTIVE)                           \
	X(Isend, isend, 7, 8, 5, 1, 2, 3, 4, -1, 6, PLAIN)                                        \
	X(Issend, issend, 7, 8, 5, 1, 2, 3, 4, -1, 6, PLAIN)                                      \
	X(Mprobe, mprobe, 5, 6, 2, -1, -1, 0, 1, -1, -1, PLAIN)                                   \
	X(Probe, probe, 4, 5, 2, -1, -1, 0, 1, -1, -1, PLAIN)                                     \
	X(Recv, recv, 7, 8, 5, 1, 2, 3, 4, -1, -1, PLAIN)                                         \
	X(Reduce, reduce, 7, 8, 6, 2, 3, 5, -1, -1, -1, COLLECTIVE)                               \
	X(Reduce_scatter, reduce_scatter, 6, 7, 5, -1, -1, -1, -1, -1, -1, COLLECTIVE)            \
	X(Reduce_scatter_block, reduce_scatter_block, 6, 7, 5, 2, 3, -1, -1, -1, -1, COLLECTIVE)  \
	X(Rsend, rsend, 6, 7, 5, 1, 2, 3, 4, -1, -1, PLAIN)                                       \
	X(Scan, scan, 6, 7, 5, 2, 3, -1, -1, -1, -1, COLLECTIVE)                                  \
	X(Scatter, scatter, 8, 9, 7, 4, 5, 6, -1, -1, -1, COLLECTIVE)                             \
	X(Scatterv, scatterv, 9, 10, 8, 5, 6, 7, -1, -1, -1, COLLECTIVE)                          \
	X(Send, send, 6, 7, 5, 1, 2, 3, 4, -1, -1, PLAIN)                                         \
	X(Sendrecv, sendrecv, 12, 13, 10, 1, 2, 3, 4, 8, -1, PLAIN)                               \
	X(Sendrecv_replace, sendrecv_replace, 9, 10, 7, 1, 2, 3, 4, 5, -1, PLAIN)                 \
	X(Ssend, ssend, 6, 7, 5, 1, 2, 3, 4, -1, -1, PLAIN)                                       \
	X(Test, test, 3, 4, -1, -1, -1, -1, -1, -1, 0, TEST)                                      \
	X(Testall, testall, 4, 5, -1, -1, -1, -1, -1, -1, 1, TEST)                                \
	X(Wait, wait, 2, 3, -1, -1, -1, -1, -1, -1, 0, PLAIN)                                     \
	X(Waitall, waitall, 3, 4, -1, -1, -1, -1, -1, -1, 1, PLAIN)                               \
	X(Waitany, waitany, 4, 5, -1, -1, -1, -1, -1, -1, 1, PLAIN)                               \
	X(Waitsome, waitsome, 5, 6, -1, -1, -1, -1, -1, -1, 1, PLAIN)                             \
	X(Win_fence, win_fence, 2, 3, -1, -1, -1, -1, -1, -1, -1, PLAIN)

#define MPI_ABSENT 16 /* MPI_ERR_OTHER in both libraries: the program calls MPI but has none */

/* Parameters and arguments for that many machine words. */
#define P0 void
#define P1 long a0
#define P2 P1, long a1
#define P3 P2, long a2
#define P4 P3, long a3
#define P5 P4, long a4
#define P6 P5, long a5
#define P7 P6, long a6
#define P8 P7, long a7
#define P9 P8, long a8
#define P10 P9, long a9
#define P11 P10, long a10
#define P12 P11, long a11
#define P13 P12, long a12
#define A0
#define A1 a0
#define A2 A1, a1
#define A3 A2, a2
#define A4 A3, a3
#define A5 A4, a4
#define A6 A5, a5
#define A7 A6, a6
#define A8 A7, a7
#define A9 A8, a8
#define A10 A9, a9
#define A11 A10, a10
#define A12 A11, a11
#define A13 A12, a12

#endif
