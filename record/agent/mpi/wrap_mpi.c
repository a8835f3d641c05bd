/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_mpi.c - the wrappers of MPI, for C and both of Fortran's bindings. mpi_call.c does the work, in a
 * separate file, so that a static checker follows it once and not from each call. The MPI names are in
 * another library (mpi_names.c), which only MPI programs get: here each begins with hpct_.
 */
#include "record/agent/base/wrap.h"
#include "record/agent/mpi/mpi_call.h"

#define CALL_OF_C(name, fortran, n, m, ...)                                                             \
	int hpct_MPI_##name(P##n);                                                                      \
	WRAPPER int hpct_MPI_##name(P##n)                                                               \
	{                                                                                               \
		const long arguments[MPI_ARGUMENTS_MAX] = {A##n};                                       \
		struct mpi_call call;                                                                   \
		int result = MPI_ABSENT;                                                                \
                                                                                                        \
		mpi_call_begin(                                                                         \
			&call, MPI_CALL_##name, MPI_BINDING_C, arguments, __builtin_return_address(0)); \
		if (call.real)                                                                          \
			result = ((int (*)(P##n))call.real)(A##n);                                      \
		mpi_call_end(&call, !result);                                                           \
		return result;                                                                          \
	}
MPI_CALLS(CALL_OF_C)

/* The error code is the last argument and optional in the newest binding; without it the call counts as
 * successful. */
#define CALL_OF_FORTRAN(name, symbol, binding, m)                                                        \
	void symbol(P##m);                                                                               \
	WRAPPER void symbol(P##m)                                                                        \
	{                                                                                                \
		const long arguments[MPI_ARGUMENTS_MAX] = {A##m};                                        \
		const int *error = (const int *)arguments[(m)-1];                                        \
		struct mpi_call call;                                                                    \
                                                                                                         \
		mpi_call_begin(&call, MPI_CALL_##name, binding, arguments, __builtin_return_address(0)); \
		if (call.real)                                                                           \
			((void (*)(P##m))call.real)(A##m);                                               \
		mpi_call_end(&call, !error || !*error);                                                  \
	}
#define CALL_OF_F77(name, fortran, n, m, ...) \
	CALL_OF_FORTRAN(name, hpct_mpi_##fortran##_, MPI_BINDING_FORTRAN, m)
#define CALL_OF_F08(name, fortran, n, m, ...) \
	CALL_OF_FORTRAN(name, hpct_mpi_##fortran##_f08_, MPI_BINDING_F08, m)
MPI_CALLS(CALL_OF_F77)
MPI_CALLS(CALL_OF_F08)
