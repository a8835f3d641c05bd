/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_storm.c - is calm for almost a second, then calls MPI 1000 times every 20 ms for a fifth of a second;
 * four times. Compiled by e2e.record.mpi for each MPI there is.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#define STORMS 4
#define BURSTS 10
#define CALLS 1000

int main(int argc, char **argv)
{
	int sent = 1, received, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &received);
	for (int burst = 0; burst < STORMS * BURSTS; burst++) {
		usleep(burst % BURSTS ? 20000 : 800000);
		for (int i = 0; i < CALLS; i++, sum += received)
			MPI_Sendrecv(&sent, 1, MPI_INT, 0, 0, &received, 1, MPI_INT, 0, 0, MPI_COMM_SELF,
				MPI_STATUS_IGNORE);
	}
	printf("%d calls\n", sum);
	MPI_Finalize();
	return 0;
}
