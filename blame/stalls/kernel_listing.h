/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_listing.h - the instructions of a kernel as data: their text, lines, samples by reason, and the
 * instructions that they wait for. hpct-advise --annotate prints them, the view draws them.
 *
 *   struct kernel_function --one instruction--> listing_figures, listing_cause
 *   struct kernel          --all, copied------> kernel_listing
 *
 * Weights are samples x period.
 */
#ifndef BLAME_KERNEL_LISTING_H
#define BLAME_KERNEL_LISTING_H

#include <stdint.h>

#include "blame/stalls/stall.h"
#include "store/base/arena.h"
#include "store/base/error.h"

struct gpu_instruction;
struct gpu_isa;
struct gpu_set;
struct kernel;
struct kernel_function;

/* ---- one instruction ---- */

struct listing_figures {
	double all, issued, latency;
	enum stall stall; /* most frequent reason but "issued" */
	double of_stall;
};
void listing_figures_find(
	struct listing_figures *figures, const struct kernel_function *function, uint32_t at);

#define LISTING_CAUSES 16u

/* What an instruction waits for, over all reasons together. */
struct listing_cause {
	uint32_t define; /* may be the instruction itself, around a loop */
	double samples;	 /* of the instruction, because of it */
};
/* The causes elsewhere, the largest first; returns their number. Beyond LISTING_CAUSES the smallest are left
 * out. */
unsigned listing_causes_find(
	const struct kernel_function *function, uint32_t use, struct listing_cause causes[LISTING_CAUSES]);

/* Room for the resources of one instruction; what has no room is left out. */
#define LISTING_SET 160u
#define LISTING_TEXT (2 * LISTING_SET + 64)
/* "R4-R7 P0 B0" */
void listing_set_write(char *text, size_t size_bytes, const struct gpu_isa *isa, const struct gpu_set *set);
/* "@!P0 "; "" if it always runs */
void listing_guard_write(char *text, size_t size_bytes, const struct gpu_instruction *instruction);
/* "@P0 LDG R4-R7 B0 <- R2 R3" */
void listing_instruction_write(
	char *text, size_t size_bytes, const struct gpu_isa *isa, const struct gpu_instruction *instruction);

/* ---- a kernel ---- */

#define LISTING_FILES 256u /* lines of further files are unknown */
#define LISTING_NO_FILE UINT32_MAX

struct listing_instruction {
	const char *text;
	uint64_t address;			  /* from its function's begin */
	uint32_t function, file, line, loop_line; /* file: LISTING_NO_FILE: unknown; loop_line: 0: in none */
	double all, by[STALL_COUNT];
	uint32_t first_source, source_count; /* what it waits for, the largest first */
};

/* One instruction that another waits for. */
struct listing_source {
	uint32_t at;	 /* number of it in the listing */
	double share;	 /* of the other's stalls, 0 to 1 */
	bool is_feeding; /* the other waits for none itself: a link of the chain (cause_chain.h), or the wait
			  * for its operands; the share is of what the link has */
};

struct listing_function {
	const char *name;      /* demangled */
	uint32_t first, count; /* instructions */
	double all;
	bool is_kernel; /* false: a device function that it calls */
};

struct listing_file {
	const char *path; /* as the binary has it */
	double all;
};

/* Nothing in it points into the run. */
struct kernel_listing {
	struct arena arena;
	const char *name;		    /* as the run has it */
	uint64_t time_ns, launches, period; /* period: cycles between samples; 0: unknown */
	double kernel_share;		    /* of the time of all kernels in the window */
	double all, unread;		    /* unread: of code that could not be read */
	double by[STALL_COUNT];
	struct listing_function *functions;	  /* the kernel first */
	struct listing_instruction *instructions; /* by function and address */
	struct listing_source *sources;
	struct listing_file *files; /* the one with most samples first */
	uint32_t function_count, count, source_count, file_count;
};

/* `kernel_ns`: time of all kernels. An all-zero listing is empty. Free in any case. */
int kernel_listing_make(
	struct kernel_listing *listing, const struct kernel *kernel, uint64_t kernel_ns, struct error *error);
void kernel_listing_fini(struct kernel_listing *listing);

#endif
