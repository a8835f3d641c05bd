/* SPDX-License-Identifier: Apache-2.0 */
/* launch_samples_internal.h - for launch_samples.c: the launches of kernels by name and begin. */
#ifndef TIMELINE_LAUNCH_SAMPLES_INTERNAL_H
#define TIMELINE_LAUNCH_SAMPLES_INTERNAL_H

#include "timeline/base/key_ids.h"
#include "timeline/run/run.h"

struct launch_samples_launch {
	uint64_t begin_ns, end_ns;
	uint32_t context, kernel;
};

struct launch_samples_launches {
	struct run *run;
	struct key_ids kernels; /* of names, as the run interns them; number 0 has none */
	uint32_t *kernel_of;	/* by context: number plus 1; 0: not looked at */
	uint32_t context_count;
	struct launch_samples_launch *list; /* of one stream of samples, by kernel and begin */
	size_t count, capacity;
	size_t *first, *end; /* by kernel: what later read-outs may cover still */
	uint32_t first_count;
};

int launch_samples_launches_init(
	struct launch_samples_launches *launches, struct run *run, struct error *error);
void launch_samples_launches_fini(struct launch_samples_launches *launches);
/* The number of the kernel that a sample or a launch is of; KEY_IDS_NONE: no memory. */
uint32_t launch_samples_kernel(struct launch_samples_launches *launches, uint32_t context);
const char *launch_samples_name(const struct launch_samples_launches *launches, uint32_t kernel);
/* Those of the queues of that stream's GPU context. */
int launch_samples_launches_read(struct launch_samples_launches *launches, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);
/* At least those that overlap [begin, end); of a kernel neither may be less than the time before. */
const struct launch_samples_launch *launch_samples_covered(struct launch_samples_launches *launches,
	uint32_t kernel, uint64_t begin_ns, uint64_t end_ns, size_t *count);

static inline uint64_t launch_samples_overlap(
	const struct launch_samples_launch *launch, uint64_t begin_ns, uint64_t end_ns)
{
	begin_ns = launch->begin_ns > begin_ns ? launch->begin_ns : begin_ns;
	end_ns = launch->end_ns < end_ns ? launch->end_ns : end_ns;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

#endif
