/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_internal.h - for kernels.c and kernels_*.c only. */
#ifndef BLAME_KERNELS_INTERNAL_H
#define BLAME_KERNELS_INTERNAL_H

#include "blame/stalls/kernels.h"
#include "timeline/base/key_ids.h"
#include "timeline/sum/launch_samples.h"

struct kernels_sample {
	const char *function; /* the run's */
	uint64_t key, address;
	uint32_t metric;
	double weight;
};

struct kernels_metric {
	bool is_stall;
	struct stall_metric metric;
};

struct kernels_binary {
	uint64_t key;
	void *bytes;
	size_t size;
	struct gpu_code *code; /* NULL: not found, or not readable */
	bool is_of_file;       /* the code is a named file's */
};

struct kernels {
	struct run *run;
	struct kernels_metric *metrics; /* [metric_count] */
	uint32_t metric_count;
	struct launch_samples *read;
	struct kernels_sample *samples; /* by function, binary, address */
	size_t sample_count;
	struct kernels_binary *binaries; /* by key */
	size_t binary_count, binary_capacity;
	struct kernels_binary *files; /* named ones, all with code */
	size_t file_count;
	struct kernel *list;
	size_t count, capacity;
	bool has_unsampled;
	const char *glob; /* of names; NULL: all */
	uint64_t period;
	unsigned multiprocessors;
	struct kernels_summary summary;
};

/* Opens the named files. ERROR_USAGE: one cannot be read, or is no GPU binary. */
int kernels_files_open(struct kernels *kernels, const struct kernels_options *options, struct error *error);
/* The run's binary of that key, else a named file with code at the address; valid until the next call, its
 * code until the end. Without code: there is neither. NULL: no memory. */
struct kernels_binary *kernels_binary_of(struct kernels *kernels, uint64_t key, uint64_t address);
void kernels_binaries_close(struct kernels *kernels);
/* Samples under the name of a device function go to the kernels that call it. */
int kernels_callers(struct kernels *kernels, struct error *error);
/* The kernel of that name, new if there is none; NULL: no memory. */
struct kernel *kernels_named(struct kernels *kernels, const char *name);
/* The function's entry in the kernel, new if there is none; of code that cannot be decoded it has no
 * instructions. NULL: no memory. */
struct kernel_function *kernels_function(struct kernel *kernel, struct gpu_code *binary,
	const struct gpu_function *function, struct error *error);
void kernels_function_fini(struct kernel_function *function);

/* The kernel that a context of the run launched; NULL: none in the list. */
struct kernel *kernels_launched(struct kernels *kernels, uint32_t context);
/* Launches that their queue waited for. */
int kernels_chains(struct kernels *kernels, const struct select *select, struct error *error);
/* Times, launches, paths and shapes of the kernels in the window. */
int kernels_launches(struct kernels *kernels, const struct select *select, struct error *error);

#endif
