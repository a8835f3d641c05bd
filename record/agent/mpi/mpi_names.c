/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_names.c - hpct-agent-mpi.so: MPI's names, ahead of the library's, each a jump
 * to the agent's wrapper (wrap_mpi.c). Only programs that MPI is likely in get it
 * preloaded (exec_target_linked.c): elsewhere the names would answer who asks for MPI by
 * dlsym or a weak reference. Stands ahead of the agent, whose search for the next
 * MPI_Init must not find this one.
 */
#include "record/agent/base/wrap.h"
#include "record/agent/mpi/mpi_calls.h"

/* The agent may be missing, as a file that was removed meanwhile. */
#define NAME_OF_C(name, fortran, n, m, ...)                                  \
	__attribute__((weak)) int hpct_MPI_##name(P##n);                     \
	int MPI_##name(P##n);                                                \
	WRAPPER int MPI_##name(P##n)                                         \
	{                                                                    \
		return hpct_MPI_##name ? hpct_MPI_##name(A##n) : MPI_ABSENT; \
	}
MPI_CALLS(NAME_OF_C)

#define NAME_OF_FORTRAN(symbol, m)                      \
	__attribute__((weak)) void hpct_##symbol(P##m); \
	void symbol(P##m);                              \
	WRAPPER void symbol(P##m)                       \
	{                                               \
		if (hpct_##symbol)                      \
			hpct_##symbol(A##m);            \
	}
#define NAME_OF_F77(name, fortran, n, m, ...) NAME_OF_FORTRAN(mpi_##fortran##_, m)
#define NAME_OF_F08(name, fortran, n, m, ...) NAME_OF_FORTRAN(mpi_##fortran##_f08_, m)
MPI_CALLS(NAME_OF_F77)
MPI_CALLS(NAME_OF_F08)
