/* SPDX-License-Identifier: Apache-2.0 */
/* run_gain.c - see run_gain.h. */
#include "blame/advise/run_gain.h"

#include <math.h>
#include <stdlib.h>

#include "blame/advise/run_replay.h"

struct run_gains {
	const struct select *select;
	const struct kernels *kernels;
	struct run_replay *replay;
};

/* A kernel's place in the list. */
static uint32_t row_of(void *own, uint32_t context)
{
	const struct run_gains *gains = own;
	size_t count;
	const struct kernel *list = kernels_list(gains->kernels, &count), *found;

	found = select_wants_context(gains->select, context) ? kernels_of_context(gains->kernels, context)
							     : NULL;
	return found ? (uint32_t)(found - list) : RUN_REPLAY_NO_ROW;
}

int run_gains_new(struct run_gains **out, struct run *run, const struct select *select,
	const struct kernels *kernels, struct error *error)
{
	struct run_gains *gains = calloc(1, sizeof *gains);
	struct run_replay_rows rows = {.row_of = row_of, .own = gains};
	size_t count;
	int rc;

	*out = NULL;
	if (!gains)
		return error_memory(error);
	*gains = (struct run_gains){.select = select, .kernels = kernels};
	kernels_list(kernels, &count);
	rows.count = (uint32_t)count;
	rc = run_replay_new(&gains->replay, run, select, &rows, error);
	if (rc == 0 && gains->replay) {
		*out = gains;
		return 0;
	}
	free(gains);
	return rc;
}

void run_gains_free(struct run_gains *gains)
{
	if (!gains)
		return;
	run_replay_free(gains->replay);
	free(gains);
}

static double faster_by(const struct run_gains *gains, double saved_ns)
{
	double window_ns = (double)run_replay_window_ns(gains->replay);

	return saved_ns < window_ns ? window_ns / (window_ns - saved_ns) : 1;
}

static double most(const struct run_gains *gains, uint64_t kernel_ns, double speedup)
{
	return faster_by(gains, speedup > 1 ? (double)kernel_ns * (1 - 1 / speedup) : 0);
}

bool run_gains_of(struct run_gains *gains, const struct kernel *kernel, const struct advice *advice,
	struct run_gain *gain)
{
	const double speedups[RUN_REPLAY_SPEEDUPS] = {advice->speedup, advice->low};
	uint64_t saved_ns[RUN_REPLAY_SPEEDUPS], kernel_ns;
	size_t count;
	const struct kernel *list = kernels_list(gains->kernels, &count);

	if (advice->optimizer == &optimizer_graph_launch ||
		!run_replay_ask(gains->replay, (uint32_t)(kernel - list), speedups, saved_ns, &kernel_ns))
		return false;
	gain->window_ns = run_replay_window_ns(gains->replay);
	gain->high = most(gains, kernel_ns, advice->speedup);
	gain->most = most(gains, kernel_ns, advice->high);
	/* Of an operation in several queues, and by rounding, never more than that. */
	gain->low = fmin(faster_by(gains, (double)saved_ns[0]), gain->high);
	gain->least = fmin(faster_by(gains, (double)saved_ns[1]), gain->low);
	return true;
}
