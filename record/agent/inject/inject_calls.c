/* SPDX-License-Identifier: Apache-2.0 */
/* inject_calls.c - see inject_calls.h. */
#include "record/agent/inject/inject_calls.h"

#include <stddef.h>

#include "record/agent/inject/inject_io.h"
#include "record/agent/inject/inject_slots.h"
#include "record/agent/mpi/mpi_call.h"
#include "record/agent/process/process.h"

/* The wrappers of wrap_mpi.c. */
#define DECLARE_C(name, fortran, n, m, ...) int hpct_MPI_##name(P##n);
MPI_CALLS(DECLARE_C)
#define DECLARE_FORTRAN(name, fortran, n, m, ...) \
	void hpct_mpi_##fortran##_(P##m);         \
	void hpct_mpi_##fortran##_f08_(P##m);
MPI_CALLS(DECLARE_FORTRAN)

static void *const mpi_wrappers[MPI_CALL_COUNT][MPI_BINDING_COUNT] = {
#define WRAPPERS(name, fortran, ...)                                                   \
	{(void *)(uintptr_t)hpct_MPI_##name, (void *)(uintptr_t)hpct_mpi_##fortran##_, \
		(void *)(uintptr_t)hpct_mpi_##fortran##_f08_},
	MPI_CALLS(WRAPPERS)
#undef WRAPPERS
};

static struct inject_slots_call calls[INJECT_SLOTS_CALLS_MAX];
static unsigned count;
static bool has_mpi;

_Static_assert(
	INJECT_IO_COUNT + MPI_CALL_COUNT * MPI_BINDING_COUNT <= INJECT_SLOTS_CALLS_MAX, "all have room");

static void io_add(void)
{
	for (unsigned i = 0; i < INJECT_IO_COUNT; i++)
		calls[count++] = (struct inject_slots_call){
			inject_io[i].name, inject_io[i].wrapper, &inject_io[i].real};
}

static void mpi_add(void)
{
	for (unsigned i = 0; i < MPI_CALL_COUNT; i++)
		for (unsigned binding = 0; binding < MPI_BINDING_COUNT; binding++)
			calls[count++] = (struct inject_slots_call){mpi_call_name(i, binding),
				mpi_wrappers[i][binding], mpi_call_real(i, binding)};
}

void inject_calls_begin(uint64_t locks)
{
	count = 0;
	has_mpi = false;
	if (process.settings.io)
		io_add();
	inject_slots_begin(locks);
	inject_slots_calls(calls, count);
}

/* A library of MPI may come later, as the module of an interpreter. */
static void mpi_look(void)
{
	if (has_mpi || process.settings.no_mpi || !inject_slots_find("MPI_Init"))
		return;
	has_mpi = true;
	mpi_call_library(inject_slots_find);
	mpi_add();
	inject_slots_calls(calls, count);
}

uint32_t inject_calls_look(void)
{
	mpi_look();
	return inject_slots_look();
}

bool inject_calls_are_wanted(void)
{
	return count > 0;
}

void inject_calls_end(void)
{
	inject_slots_restore();
}
