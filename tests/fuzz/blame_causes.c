// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz blame_causes - instructions of hostile GPU binaries, all of them stalled for each reason that has a
 * cause elsewhere: the search ends, and nothing of the stalls is lost or made. Seeds: tests/gpu/.
 */
#include <math.h>
#include <stdlib.h>

#include "blame/stalls/cause_chain.h"
#include "blame/stalls/causes.h"
#include "blame/stalls/kernel_code.h"

#define STEPS 2000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* From some of the causes back: chains end, in the function. */
static void look_for_roots(
	const struct kernel_code *code, struct cause_samples *samples, const struct causes *causes)
{
	struct kernel_function function = {.code = *code, .samples = samples, .causes = *causes};
	struct kernel kernel = {.functions = &function, .function_count = 1};

	for (size_t c = 0; c < causes->count; c += causes->count / 8 + 1) {
		struct cause_step steps[CAUSE_CHAIN_MAX];
		unsigned count = cause_chain_find(&kernel, &function, causes->list[c].define, steps);

		for (unsigned i = 0; i < count; i++)
			if (steps[i].at >= code->count || !(steps[i].share > 0 && steps[i].share < 1 + 1e-9))
				abort();
	}
}

static void look_for_causes(const struct kernel_code *code)
{
	struct cause_samples *samples = calloc((size_t)code->count + 1, sizeof *samples);
	struct parse_budget budget;
	struct causes causes;
	struct error error;
	double sum = 0;

	for (uint32_t i = 0; samples && i < code->count; i++) {
		samples[i].all[STALL_NONE] = samples[i].all[STALL_GMEM] = 1;
		samples[i].all[STALL_IDEP] = samples[i].all[STALL_SYNC] = 2;
		samples[i].fixed = samples[i].fence = 1;
	}
	parse_budget_allow(&budget, STEPS, 0);
	if (samples && !causes_find(&causes, &code->flow, samples,
			       architecture_of_isa(code->isa, code->generation), &budget, &error)) {
		for (size_t c = 0; c < causes.count; c++) {
			sum += causes.list[c].samples;
			if (causes.list[c].define >= code->count || causes.list[c].use >= code->count)
				abort();
		}
		if (fabs(sum - 6.0 * code->count) > 1e-6 * (code->count + 1))
			abort();
		look_for_roots(code, samples, &causes);
		causes_fini(&causes);
	}
	free(samples);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct gpu_function *functions;
	struct gpu_code *binary;
	struct error error;
	size_t count;

	if (gpu_code_open(&binary, data, size, &error))
		return 0;
	functions = gpu_code_functions(binary, &count);
	for (size_t i = 0; i < count && i < 8; i++) {
		struct kernel_code code;

		if (!kernel_code_read(&code, binary, &functions[i], &error))
			look_for_causes(&code);
		kernel_code_fini(&code);
	}
	gpu_code_close(binary);
	return 0;
}
