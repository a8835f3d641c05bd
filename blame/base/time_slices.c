/* SPDX-License-Identifier: Apache-2.0 */
/* time_slices.c - see time_slices.h: ranges of equal length, as many as the streams' record counts require.
 */
#include "blame/base/time_slices.h"

/* What a sweep remembers of a record, at most, while lists grow: its launch, and when its work was queued. */
#define RECORD_BYTES 32u
#define TIME_SLICES_MAX 65536u /* of 5e11 records; a damaged store may claim any number */

uint64_t time_slices_records = 8388608;

/* About; a stream's records are taken as spread over its life. */
static double records_between(const struct run *run, const struct process *processes, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns)
{
	double records = 0;

	for (uint32_t p = 0; p < count; p++)
		for (uint32_t i = 0; i < processes[p].stream_count; i++) {
			const struct store_stream *s = &run_stream(run, processes[p].streams[i])->s;
			uint64_t last_ns = s->end_ns == STORE_OPEN_NS ? end_ns : s->end_ns;
			uint64_t from_ns = s->begin_ns > begin_ns ? s->begin_ns : begin_ns;
			uint64_t to_ns = last_ns < end_ns ? last_ns : end_ns;

			if (to_ns > from_ns)
				records += (double)(s->count[STORE_SPANS] + s->count[STORE_SAMPLES]) *
					   (double)(to_ns - from_ns) / (double)(last_ns - s->begin_ns);
		}
	return records;
}

struct time_slices time_slices_of(const struct run *run, const struct process *processes, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns)
{
	double records = records_between(run, processes, count, begin_ns, end_ns);
	double wanted = records / (double)run_mem_bytes(run, RECORD_BYTES, time_slices_records) + 1;
	uint64_t length_ns = end_ns - begin_ns,
		 blocks = wanted < TIME_SLICES_MAX ? (uint64_t)wanted : TIME_SLICES_MAX;

	return (struct time_slices){.end_ns = begin_ns,
		.of_begin_ns = begin_ns,
		.of_end_ns = end_ns,
		.count = blocks < length_ns ? blocks : length_ns};
}

bool time_slices_next(struct time_slices *blocks)
{
	uint64_t length_ns = blocks->of_end_ns - blocks->of_begin_ns;

	blocks->is_first = !blocks->number;
	blocks->begin_ns = blocks->end_ns;
	while (blocks->number < blocks->count && blocks->end_ns == blocks->begin_ns) {
		double part = (double)++blocks->number / (double)blocks->count;
		uint64_t to_ns = (uint64_t)((double)length_ns * part);

		blocks->end_ns = blocks->of_begin_ns +
				 (blocks->number < blocks->count && to_ns < length_ns ? to_ns : length_ns);
	}
	blocks->is_last = blocks->end_ns == blocks->of_end_ns;
	return blocks->end_ns > blocks->begin_ns;
}
