/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_first_use.c - see gpu_first_use.h. */
#include "blame/base/gpu_first_use.h"

#include <string.h>

#include "store/base/attribute.h"
#include "timeline/scan/scan.h"

#define NONE UINT32_MAX

/* The queue with the earliest begin. */
static uint32_t first_queue(const struct run *run, const struct process *processes, uint32_t count)
{
	uint32_t first = NONE;

	for (uint32_t p = 0; p < count; p++)
		for (uint32_t i = 0; i < processes[p].stream_count; i++) {
			const struct store_stream *s = &run_stream(run, processes[p].streams[i])->s;

			if (s->kind == STORE_STREAM_GPU &&
				(first == NONE || s->begin_ns < run_stream(run, first)->s.begin_ns))
				first = processes[p].streams[i];
		}
	return first;
}

/* A `monitored` span of that begin. */
static bool says_first_use(const struct run *run, const struct batch *batch, size_t row)
{
	char since[16];
	size_t size;
	const char *attributes = batch_attributes(run, batch, row, &size);

	return attribute_get(attributes, size, "since", since, sizeof since) && !strcmp(since, "first-use");
}

static int is_said(bool *said, struct run *run, uint32_t stream, uint64_t begin_ns, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	int result = scan_open(&scan, run, stream, STORE_SPANS, begin_ns, begin_ns + 1,
		STORE_WHAT | STORE_ATTRIBUTES, 0, error);

	*said = false;
	if (result)
		return result;
	while ((count = scan_next(scan, &batch, error)) > 0)
		for (long row = 0; row < count; row++)
			*said |= batch->what[row] == STORE_OP_MONITORED && batch->begin_ns[row] == begin_ns &&
				 says_first_use(run, batch, (size_t)row);
	scan_close(scan);
	return (int)count;
}

int gpu_first_use_since(uint64_t *since_ns, struct run *run, const struct process *processes, uint32_t count,
	struct error *error)
{
	uint32_t first = first_queue(run, processes, count);
	uint64_t begin_ns = first == NONE ? 0 : run_stream(run, first)->s.begin_ns;
	bool said;
	int result;

	*since_ns = 0;
	if (!begin_ns)
		return 0;
	result = is_said(&said, run, first, begin_ns, error);
	if (!result && said)
		*since_ns = begin_ns;
	return result;
}

uint64_t gpu_first_use_until(const struct run *run, const struct process *processes, uint32_t count)
{
	uint64_t until_ns = 0;

	for (uint32_t p = 0; p < count; p++)
		for (uint32_t i = 0; i < processes[p].stream_count; i++) {
			uint64_t end_ns = run_stream(run, processes[p].streams[i])->s.end_ns;

			until_ns = end_ns > until_ns ? end_ns : until_ns;
		}
	return until_ns;
}
