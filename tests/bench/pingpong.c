/* SPDX-License-Identifier: Apache-2.0 */
/* pingpong.c - 8 bytes from rank to rank and back: rank 0 prints nanoseconds of a message. */
#include <mpi.h>
#include <stdio.h>

#define MESSAGES 1000000

int main(int argc, char **argv)
{
	char bytes[8] = {0};
	double begin;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	begin = MPI_Wtime();
	for (int i = 0; i < MESSAGES / 2; i++) {
		if (!rank)
			MPI_Send(bytes, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(bytes, 8, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank)
			MPI_Send(bytes, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	}
	if (!rank)
		printf("%.1f\n", (MPI_Wtime() - begin) / MESSAGES * 1e9);
	MPI_Finalize();
	return 0;
}
