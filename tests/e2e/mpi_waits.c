/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_waits.c STATE - two ranks and one wait state of MPI, ROUNDS times: the late one works in late(). Prints
 * how much later the late rank came than the other, in nanoseconds, all rounds together: whoever waits may
 * then wait for a core, too. Both are on one host, with one clock; MPI_Wtime() of Open MPI is no such clock,
 * since it begins in each rank for itself.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5
#define SECONDS 0.04

static volatile double sink;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

__attribute__((noinline, noclone)) static void late(void)
{
	double until = now() + SECONDS, x = 1;

	while (now() < until)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1;
	sink = x;
}

/* One round; when this rank came to the call. */
static double turn(const char *state, int rank)
{
	int value = rank, all;
	double begin;
	MPI_Request request;

	if (rank == (strcmp(state, "late_receiver") && strcmp(state, "late_broadcast") ? 1 : 0) ||
		!strcmp(state, "none"))
		late();
	begin = now();
	if (!strcmp(state, "late_sender")) {
		if (rank)
			MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
		else
			MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (!strcmp(state, "late_receiver")) {
		if (rank)
			MPI_Ssend(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
		else
			MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (!strcmp(state, "nonblocking")) { /* a late sender; the receiver waits where it asks */
		if (rank) {
			MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
		} else {
			MPI_Irecv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
	} else if (!strcmp(state, "wait_at_barrier")) {
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (!strcmp(state, "wait_at_n_to_n")) {
		MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	} else if (!strcmp(state, "late_broadcast")) {
		MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
	} else if (!strcmp(state, "early_reduce")) {
		MPI_Reduce(&value, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	}
	return begin;
}

/* Rank 1 never comes to the second barrier; until somebody kills them. */
static void hang(int rank)
{
	MPI_Barrier(MPI_COMM_WORLD);
	printf("pid %d\n", getpid());
	fflush(stdout);
	while (rank)
		pause();
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	double came[ROUNDS], all[2 * ROUNDS], waited = 0;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(argv[1], "hang"))
		hang(rank);
	for (int round = 0; round < ROUNDS; round++) {
		MPI_Barrier(MPI_COMM_WORLD);
		came[round] = turn(argv[1], rank);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Allgather(came, ROUNDS, MPI_DOUBLE, all, ROUNDS, MPI_DOUBLE, MPI_COMM_WORLD);
	for (int round = 0; round < ROUNDS; round++)
		waited += all[round] < all[ROUNDS + round] ? all[ROUNDS + round] - all[round]
							   : all[round] - all[ROUNDS + round];
	if (!rank)
		printf("%.0f\n", waited * 1e9);
	MPI_Finalize();
	return 0;
}
