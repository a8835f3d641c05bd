/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_sum_ranks.c - MPI ranks that each take their group of streams and send rows to rank 0. */
#include "timeline/sum/mpi_ranks.h"
#include "timeline/sum/parallel_sum_internal.h"
#include "timeline/sum/parallel_sum_rows.h"

static uint32_t stretch(uint32_t count, uint32_t parts, uint32_t part)
{
	return (uint32_t)((uint64_t)count * part / parts);
}

/* Fewer streams than ranks: one rank adds them all, another one the next time. */
static bool is_for_one(const struct parallel_sum_job *job)
{
	return job->count < mpi_ranks_count();
}

static void own_stretch(const struct parallel_sum_job *job, uint32_t rank, uint32_t *from, uint32_t *to)
{
	const uint32_t ranks = mpi_ranks_count();

	if (is_for_one(job)) {
		*from = 0;
		*to = job->count && job->streams[0] % ranks == rank ? job->count : 0;
	} else {
		*from = stretch(job->count, ranks, rank);
		*to = stretch(job->count, ranks, rank + 1);
	}
}

/* Sends the group's sums to rank 0, and adds them to the window. They are summed separately: what the window
 * holds of the query before (weights, when values are summed) was sent with that. */
static int send_stretch(const struct parallel_sum_job *job, uint32_t from, uint32_t to, struct window *window,
	struct error *error)
{
	struct store_bytes rows = {0};
	struct window *part;
	int code = window_new(&part, job->run, error);

	if (code)
		return code;
	code = parallel_sum_add_all(job, from, to, part, error);
	if (!code)
		code = parallel_sum_rows_put(&rows, job->run, part) ? mpi_ranks_send(&rows, error)
								    : error_memory(error);
	if (!code)
		code = parallel_sum_rows_take(
			window, job->run, (struct store_slice){rows.data, rows.size}, error);
	store_bytes_fini(&rows);
	window_free(part);
	return code;
}

static int take_from_ranks(const struct parallel_sum_job *job, struct window *window, struct error *error)
{
	struct store_bytes rows = {0};
	uint32_t from, to;
	int code = 0;

	for (uint32_t rank = 1; rank < mpi_ranks_count() && !code; rank++) {
		own_stretch(job, rank, &from, &to);
		if (from == to)
			continue;
		code = mpi_ranks_receive(rank, &rows, error);
		if (!code && rows.failed)
			code = error_memory(error);
		code = code ? code
			    : parallel_sum_rows_take(
				      window, job->run, (struct store_slice){rows.data, rows.size}, error);
	}
	store_bytes_fini(&rows);
	return code;
}

int parallel_sum_ranks(const struct parallel_sum_job *job, struct window *window, struct error *error)
{
	uint32_t from, to;
	int code;

	own_stretch(job, mpi_ranks_own(), &from, &to);
	if (mpi_ranks_own() != 0)
		return from < to ? send_stretch(job, from, to, window, error) : 0;
	code = parallel_sum_add_all(job, from, to, window, error);
	return code ? code : take_from_ranks(job, window, error);
}
