/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_wait_functions.c - what the built-in table says of paths: MPI by each of its names, OpenMP runtimes
 * with names and without, tasks that run in barriers.
 */
#include "tests/unit/blame_trace.h"

#include "blame/base/mpi_name.h"
#include "blame/base/runtime_calls.h"
#include "blame/base/wait_functions.h"
#include "timeline/scan/extent.h"

static const struct {
	const char *path;
	enum wait_target wait_functions_target;
} cases[] = {
	{"main;MPI_Wait", WAITS_FOR_RANK},
	{"main;PMPI_Wait", WAITS_FOR_RANK},
	{"main;mpi_wait_", WAITS_FOR_RANK},
	{"main;mpi_waitall__", WAITS_FOR_RANK},
	{"main;pmpi_wait_f08_", WAITS_FOR_RANK},
	{"main;mpi_wait_f08ts_", WAITS_FOR_RANK},
	{"main;MPI_WAITANY;opal_progress", WAITS_FOR_RANK},
	{"main;MPI_Recv_c", WAITS_FOR_RANK},
	{"main;MPI_Ssend", WAITS_FOR_RANK},
	{"main;mpi_allreduce", WAITS_FOR_RANKS},
	{"main;mpi_allreduce_", WAITS_FOR_RANKS},
	{"main;mpi_allreduce_f08_;PMPI_Allreduce", WAITS_FOR_RANKS},
	{"main;mpi_allreduce_f08ts_large_", WAITS_FOR_RANKS},
	{"main;PMPI_ALLREDUCE", WAITS_FOR_RANKS},
	{"main;MPI_Allreduce_f08", WAITS_FOR_RANKS},
	{"main;ompi_allreduce_f", WAITS_FOR_RANKS},
	{"main;MPI_Alltoallw", WAITS_FOR_RANKS},
	{"main;mpi_neighbor_alltoallv_", WAITS_FOR_RANKS},
	{"main;MPI_Comm_split", WAITS_FOR_RANKS},
	/* What does not wait, and what is the program's. */
	{"main;MPI_Iallreduce", WAITS_FOR_NOTHING},
	{"main;mpi_isend_", WAITS_FOR_NOTHING},
	{"main;MPI_Reduce_local", WAITS_FOR_NOTHING},
	{"main;MPI_Allreduce_init", WAITS_FOR_NOTHING},
	{"main;mpi_wait_and_print_", WAITS_FOR_NOTHING},
	{"main;mpi_late", WAITS_FOR_NOTHING},
	{"main;ompi_coll_base_barrier", WAITS_FOR_NOTHING},
	/* OpenMP with names. */
	{"main;GOMP_parallel;main._omp_fn.0;GOMP_barrier;futex_wait", WAITS_FOR_THREADS},
	{"main;__kmpc_barrier;sched_yield", WAITS_FOR_THREADS},
	{"main;solve;GOMP_critical_start;libgomp.so.1+0x100", WAITS_FOR_THREAD},
	{"main;__kmpc_fork_call;__kmp_fork_call;__kmp_invoke_microtask;.omp_outlined.;solve",
		WAITS_FOR_NOTHING},
	/* Without. */
	{"<thread root>;libgomp.so.1+0x1cc40;libgomp.so.1+0x1f5e0", WAITS_FOR_THREADS},
	{"main;GOMP_parallel;libgomp.so.1+0x1f780", WAITS_FOR_THREADS},
	{"main;libomp.so.5+0x73f80;sched_yield", WAITS_FOR_THREADS},
	{"main;libiomp5.so+0x10;futex_wait", WAITS_FOR_THREADS},
	{"main;GOMP_parallel;libgomp.so.1+0x1cfd0;pthread_create", WAITS_FOR_NOTHING},
	{"<thread root>;libgomp.so.1+0x1cc40;main._omp_fn.0;solve", WAITS_FOR_NOTHING},
	{"main;libother.so.1+0x10", WAITS_FOR_NOTHING},
	/* Tasks run in a barrier, and what waits in a task. */
	{"main;__kmpc_barrier;libomp.so.5+0x6cd60;.omp_task_entry.;sort", WAITS_FOR_NOTHING},
	{"main;GOMP_barrier;gomp_barrier_handle_tasks;main._omp_fn.1;sort", WAITS_FOR_NOTHING},
	{"main;__kmpc_barrier;.omp_task_entry.;sort;pthread_mutex_lock;futex_wait", WAITS_FOR_THREAD},
	{"main;__kmpc_barrier;.omp_task_entry.;send;MPI_Wait", WAITS_FOR_RANK},
};
#define CASES (sizeof cases / sizeof *cases)

static void test_paths(void **unused)
{
	struct small_run small;
	struct error error;
	struct wait_functions *waits;
	uint32_t thread, contexts[CASES];
	struct extent extent;

	(void)unused;
	small_begin(&small);
	thread = trace_thread(small.writer, 1, 0, CASES);
	for (size_t i = 0; i < CASES; i++)
		trace_run(small.writer, thread, i, cases[i].path);
	small_ready(&small);
	assert_int_equal(wait_functions_new(&waits, small.run, NULL, &error), 0);
	for (size_t i = 0; i < CASES; i++) {
		assert_int_equal(extent_at(small.run, 0, i, &extent, &error), 0);
		contexts[i] = extent.context;
		if (wait_functions_target(waits, contexts[i]) != cases[i].wait_functions_target)
			fail_msg("%s: %d", cases[i].path, (int)wait_functions_target(waits, contexts[i]));
	}
	wait_functions_free(waits);
	small_end(&small);
}

/* Names of Fortran may be the program's: only MPI's own file tells. */
static void test_calls(void **unused)
{
	static const struct {
		struct run_function function;
		bool is_call;
	} functions[] = {
		{{.name = "MPI_Wait", .module = ""}, true},
		{{.name = "PMPI_Wait", .module = "/bin/a"}, true},
		{{.name = "mpi_wait_", .module = "/usr/lib/libmpi_mpifh.so.40"}, true},
		{{.name = "mpi_wait_f08_", .module = "/usr/lib/libmpi_usempif08.so.40"}, true},
		{{.name = "mpi_wait_f08ts_", .module = "/usr/lib/libmpichfort.so.12"}, true},
		{{.name = "mpi_exchange_", .module = "/bin/a"}, false},
		{{.name = "progress", .module = "/usr/lib/libmpich.so.12"}, false},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		assert_int_equal(runtime_calls_is_call(&functions[i].function), functions[i].is_call);
}

static void test_long_name(void **unused)
{
	char name[200] = "mpi_", plain[MPI_NAME_BYTES];

	(void)unused;
	memset(name + 4, 'x', sizeof name - 5);
	assert_false(mpi_name(plain, name));
	assert_false(mpi_name(plain, "mpi_"));
	assert_false(mpi_name(plain, "mpi__"));
	assert_false(mpi_name(plain, "ompi_wait"));
	assert_true(mpi_name(plain, "mpi_x"));
	assert_string_equal(plain, "MPI_X");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths), cmocka_unit_test(test_calls), cmocka_unit_test(test_long_name)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
