/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_late.c - rank 1 sleeps 250 ms before each of four sums over all ranks; all else is quick: messages, on
 * `world` and on a communicator with other ranks. Compiled by e2e.record.mpi for each MPI there is.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void __attribute__((noinline)) step(int rank, double *sum)
{
	double mine = rank + 1;

	if (rank == 1)
		usleep(250000);
	MPI_Allreduce(&mine, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	__asm__ volatile("");
}

/* Rank 1 is rank 0 of `turned`, and sends to its rank 1. */
static void turn(int rank)
{
	int token = rank;
	MPI_Comm turned;
	MPI_Request requests[2];

	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
	if (rank == 1)
		MPI_Isend(&token, 1, MPI_INT, 1, 6, turned, &requests[0]);
	else
		MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 6, turned, &requests[0]);
	MPI_Ibarrier(turned, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Comm_free(&turned);
}

int main(int argc, char **argv)
{
	int rank, token = 7;
	double sum = 0;
	MPI_Comm half;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
	for (int i = 0; i < 4; i++)
		step(rank, &sum);
	MPI_Barrier(half);
	MPI_Comm_free(&half);
	if (rank == 0)
		MPI_Send(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	turn(rank);
	if (rank == 0)
		printf("sum %g token %d\n", sum, token);
	MPI_Finalize();
	return 0;
}
