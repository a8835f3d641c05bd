/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_names.c - hpct-agent-mpi.so: MPI's function names, before the library's, each a jump to the agent's
 * wrapper (wrap_mpi.c). Preloaded only into programs that probably use MPI (exec_target_linked.c): in others
 * the names would wrongly answer a dlsym or a weak reference. Comes before the agent, so that the agent's
 * search for the next MPI_Init does not find this one.
 */
#include "record/agent/base/wrap.h"
#include "record/agent/mpi/mpi_calls.h"

/* The agent's file may have been removed meanwhile. */
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
