/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - the kernels of a run that have PC samples: reads the samples of the window, the binaries that
 * the run keeps, and the launches.
 *
 *   gpu:.../pc   time of the read-out | <gpu kernel>;FUNCTION;KEY+0xADDRESS | GINST:STL_... | weight
 *
 * The address tells which function of the binary was sampled; device functions belong to the kernel that
 * FUNCTION names.
 */
#ifndef BLAME_KERNELS_H
#define BLAME_KERNELS_H

#include "blame/stalls/kernel.h"
#include "timeline/select/select.h"

struct kernels;

struct kernels_options {
	const char *kernel;	     /* glob of names; NULL: all */
	const char *const *binaries; /* files to search for what the run does not keep */
	size_t binary_count;
	bool has_unsampled; /* kernels that were launched but have no samples are in the list, too */
};

struct kernels_summary {
	uint64_t kernel_ns;	       /* of all kernels in the window */
	uint64_t lost;		       /* samples that were dropped, as far as it is known */
	uint64_t instructions, opaque; /* of the code read; those that the decoder does not know */
};

/* ERROR_EMPTY: no samples in the window (no kernels, with has_unsampled), or no kernel of such a name. */
int kernels_open(struct kernels **kernels, struct run *run, const struct select *select,
	const struct kernels_options *options, struct error *error);
void kernels_close(struct kernels *kernels);
/* By time, longest first; those without a launch by samples, last. */
const struct kernel *kernels_list(const struct kernels *kernels, size_t *count);
/* The one of the list that a context of the run launched; NULL: none. */
const struct kernel *kernels_of_context(const struct kernels *kernels, uint32_t context);
const struct kernels_summary *kernels_summary(const struct kernels *kernels);

#endif
