/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_graph_launch.c - kernels shorter than the calls that launch them (kernels_chains.c): the queue
 * waits for each. A CUDA graph launches them all with one call. */
#include "blame/advise/optimizer.h"

#include <math.h>
#include <stdio.h>

#include "blame/advise/advice.h"

#define CHAINED_LEAST 10u
#define NODE_NS 300.0	   /* between two kernels of a graph (H200) */
#define RECORDED_NS 1000.0 /* what recording adds to a launch, and so to the gap before its kernel */
#define RECORDED_MOST_NS 3000.0

static double gap_without(double gap_ns, double recorded_ns)
{
	return fmax(NODE_NS, gap_ns - recorded_ns);
}

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	double each, gap, gain;

	if (kernel->chained < CHAINED_LEAST || !kernel->time_ns)
		return false;
	each = (double)kernel->chained_ns / (double)kernel->chained;
	gap = (double)kernel->chained_gap_ns / (double)kernel->chained;
	gain = each + NODE_NS;
	advice->speedup = (each + gap_without(gap, RECORDED_NS)) / gain;
	advice->low = (each + gap_without(gap, RECORDED_MOST_NS)) / gain;
	advice->high = (each + gap_without(gap, 0)) / gain;
	advice->matched = kernel->total * gap / (each + gap);
	snprintf(advice->say, sizeof advice->say,
		"%llu launches of %.1f us follow a gap of %.1f us each that only their own call ends "
		"(speedup: of gap "
		"and kernel)",
		(unsigned long long)kernel->chained, each * 1e-3, gap * 1e-3);
	return true;
}

const struct optimizer optimizer_graph_launch = {.name = "graph-launch",
	.title = "Graph Launch",
	.category = OPTIMIZER_PARALLEL,
	.judge = judge,
	.hints = "The GPU waits for launches: these kernels take less time than the calls that launch them.\n"
		 "1. Capture the chain as a CUDA graph (cudaStreamBeginCapture) and launch that, "
		 "or torch.cuda.graph, jax.jit.\n"
		 "2. Fuse kernels of the chain into one.\n"
		 "Recording lengthens each launch by 1 to 3 us; the estimate takes 1 us off, its lower end "
		 "3."};
