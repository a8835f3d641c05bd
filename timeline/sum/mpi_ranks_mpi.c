/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_ranks_mpi.c - the plug-in of mpi_ranks.h, compiled once by each MPI's own compiler: their binary
 * interfaces differ.
 */
#include <limits.h>
#include <mpi.h>

#include "timeline/sum/mpi_ranks.h"

#define TAG 1
#define PIECE_MAX                                                                           \
	((uint64_t)1 << 20) /* MPI counts in int, and dropping a message needs memory for a \
			       piece */

static char dropped[PIECE_MAX];

static void begin(uint32_t *rank, uint32_t *count)
{
	int own, all;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &own);
	MPI_Comm_size(MPI_COMM_WORLD, &all);
	*rank = (uint32_t)own;
	*count = (uint32_t)all;
}

static void send_bytes(const void *bytes, uint64_t size)
{
	MPI_Send(&size, 1, MPI_UINT64_T, 0, TAG, MPI_COMM_WORLD);
	for (uint64_t at = 0; at < size; at += PIECE_MAX)
		MPI_Send((const char *)bytes + at, (int)(size - at < PIECE_MAX ? size - at : PIECE_MAX),
			MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
}

static uint64_t probe(uint32_t from)
{
	uint64_t size = 0;

	MPI_Recv(&size, 1, MPI_UINT64_T, (int)from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return size;
}

static void receive(uint32_t from, void *bytes, uint64_t size)
{
	for (uint64_t at = 0; at < size; at += PIECE_MAX)
		MPI_Recv(bytes ? (char *)bytes + at : dropped,
			(int)(size - at < PIECE_MAX ? size - at : PIECE_MAX), MPI_BYTE, (int)from, TAG,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void end(void)
{
	MPI_Finalize();
}

extern const struct mpi_ranks_plugin hpct_ranks;
__attribute__((visibility("default")))
const struct mpi_ranks_plugin hpct_ranks = {begin, send_bytes, probe, receive, end};
