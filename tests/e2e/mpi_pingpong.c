/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_pingpong.c - two ranks send 8 bytes to and fro, N times, and meet every thousand times; N: the
 * argument. What the trace must show: of each rank N calls of MPI_Send and N of MPI_Recv below main;play, as
 * spans or as sums, none lost, 8 bytes in each; and N / 1000 calls of MPI_Barrier, each a span.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void play(int count, int rank)
{
	char bytes[8] = {0};

	for (int i = 0; i < count; i++) {
		if (rank == 0)
			MPI_Send(bytes, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(bytes, 8, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(bytes, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
		if (i % 1000 == 999)
			MPI_Barrier(MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int rank, count = argc > 1 ? atoi(argv[1]) : 1000;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	play(count, rank);
	MPI_Finalize();
	if (rank == 0)
		printf("%d messages each\n", count);
	return 0;
}
