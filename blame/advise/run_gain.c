/* SPDX-License-Identifier: Apache-2.0 */
/* run_gain.c - see run_gain.h. */
#include "blame/advise/run_gain.h"

#include <math.h>
#include <stdlib.h>

#include "blame/advise/run_replay.h"

struct run_gains {
	struct run *run;
	const struct select *select;
	const struct kernels *kernels;
	struct run_replay *replay;
	uint32_t *kernel_of; /* by context: number in the list plus 2, 1: none, 0: not looked at */
	uint32_t context_count;
	const struct kernel *asked;
};

int run_gains_new(struct run_gains **out, struct run *run, const struct select *select,
	const struct kernels *kernels, struct error *error)
{
	struct run_replay *replay;
	struct run_gains *gains;
	int rc = run_replay_new(&replay, run, select, error);

	*out = NULL;
	if (rc || !replay)
		return rc;
	gains = calloc(1, sizeof *gains);
	if (!gains) {
		run_replay_free(replay);
		return error_memory(error);
	}
	*gains = (struct run_gains){.run = run,
		.select = select,
		.kernels = kernels,
		.replay = replay,
		.context_count = run_context_count(run)};
	gains->kernel_of = calloc((size_t)gains->context_count + 1, sizeof *gains->kernel_of);
	if (!gains->kernel_of) {
		run_gains_free(gains);
		return error_memory(error);
	}
	*out = gains;
	return 0;
}

void run_gains_free(struct run_gains *gains)
{
	if (!gains)
		return;
	run_replay_free(gains->replay);
	free(gains->kernel_of);
	free(gains);
}

static bool is_asked(void *own, uint32_t context)
{
	struct run_gains *gains = own;
	size_t count;
	const struct kernel *list = kernels_list(gains->kernels, &count), *found;
	uint32_t *known;

	if (context >= gains->context_count)
		return false;
	known = &gains->kernel_of[context];
	if (!*known) {
		found = select_wants_context(gains->select, context)
				? kernels_of_context(gains->kernels, context)
				: NULL;
		*known = found ? (uint32_t)(found - list) + 2 : 1;
	}
	return *known == (uint32_t)(gains->asked - list) + 2;
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

	gains->asked = kernel;
	if (advice->optimizer == &optimizer_graph_launch ||
		!run_replay_ask(gains->replay, &(struct run_replay_work){is_asked, gains}, speedups, saved_ns,
			&kernel_ns))
		return false;
	gain->window_ns = run_replay_window_ns(gains->replay);
	gain->high = most(gains, kernel_ns, advice->speedup);
	gain->most = most(gains, kernel_ns, advice->high);
	/* Of an operation in several queues, and by rounding, never more than that. */
	gain->low = fmin(faster_by(gains, (double)saved_ns[0]), gain->high);
	gain->least = fmin(faster_by(gains, (double)saved_ns[1]), gain->low);
	return true;
}
