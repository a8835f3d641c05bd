/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_import.c - see stack_import.h. A stack's sample stands where its time begins.
 */
#include "formats/base/stack_import.h"

#include <string.h>

#define TIME_MAX (UINT64_MAX / 4)

bool stack_import_begin(
	struct stack_import *stacks, struct import_run *run, const char *metric, const char *unit)
{
	uint32_t process = import_process(run, "0", 1);

	*stacks = (struct stack_import){.run = run};
	if (process == IMPORT_NONE)
		return false;
	stacks->stream = import_thread(run, process, "0", 1);
	if (stacks->stream == IMPORT_NONE)
		return false;
	stacks->metric = store_writer_metric(import_run_writer(run), metric, unit, false);
	import_stream_at(run, stacks->stream)->metric = import_name(run, metric, strlen(metric));
	return true;
}

static int put(struct stack_import *stacks, uint32_t metric, uint32_t context, uint64_t weight,
	bool is_source, uint64_t at_ns, struct error *error)
{
	const struct import_record record = {.begin_ns = at_ns,
		.shape = IMPORT_SAMPLE,
		.stream = stacks->stream,
		.op = metric,
		.name = context,
		.bytes = weight,
		.is_source = is_source};

	return import_record(stacks->run, &record, error);
}

int stack_import_add(struct stack_import *stacks, uint32_t context, uint64_t weight, struct error *error)
{
	uint64_t at_ns = stacks->now_ns;

	if (weight > TIME_MAX - at_ns)
		return error_set(error, ERROR_RUN,
			"the weights of the stacks sum up to more than a run can hold; are they of this "
			"format?");
	stacks->now_ns += weight;
	return put(stacks, stacks->metric, context, weight, true, at_ns, error);
}

int stack_import_also(
	struct stack_import *stacks, uint32_t metric, uint32_t context, uint64_t weight, struct error *error)
{
	return put(stacks, metric, context, weight, false, stacks->now_ns, error);
}

int stack_import_end(struct stack_import *stacks, struct error *error)
{
	return put(stacks, stacks->metric, 0, 0, true, stacks->now_ns, error);
}
