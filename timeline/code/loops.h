/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.h - the loop nests of one ELF file's functions, found when a function is first asked about: only what
 * was sampled is looked at (S4 2.2). It knows code, neither lines nor names: those are put to the loops by
 * timeline/names/names_loops.h.
 */
#ifndef TIMELINE_LOOPS_H
#define TIMELINE_LOOPS_H

#include <libelf.h>

#include "store/base/error.h"
#include "store/catalog/symbol_protocol.h"
#include "timeline/code/cfg.h"
#include "timeline/code/gpu_code.h"
#include "timeline/code/loop_forest.h"

#define LOOPS_PLACES_MAX 24u
#define LOOPS_BODY_MAX 16u

/* One loop around an offset. */
struct loops_one {
	uint64_t header;	/* of its first instruction */
	const uint64_t *places; /* the header, then branches back to it, then branches out */
	const uint64_t *body;	/* places spread evenly over its code, inner loops included */
	uint32_t *level;	/* for the caller: 0 at first, kept with the loop */
	uint32_t place_count, back_count, body_count;
	bool is_irreducible;
};

struct loops;

/* Only a function's code. */
struct loops_function {
	struct cfg_range ranges[CFG_RANGES_MAX];
	unsigned range_count;
	uint64_t entry;
};

/* `elf` holds code and outlives it. Returns 0; 1 when there is nothing to read (another machine, no code):
 * loops_lacks() says why, and *loops is NULL; negative: memory. One thread. */
int loops_open(struct loops **loops, Elf *elf);
/* The same of a GPU binary, which outlives it. */
int loops_open_gpu(struct loops **loops, struct gpu_code *code);
void loops_close(struct loops *loops);
const char *loops_lacks(Elf *elf);
/* Whether that is only because the decoder of such code is not installed. */
bool loops_may_come(Elf *elf);
const char *loops_lacks_gpu(const struct gpu_code *code);
/* What the next look-ups may cost together: CPU time (0: any) and, always, instructions. */
void loops_allow(struct loops *loops, uint64_t cpu_ns);
bool loops_is_spent(const struct loops *loops);

/* The loops that hold `offset`, outermost first, at most LOOP_DEPTH_MAX; their number, negative: memory. What
 * they point to lives until the next call. The stretch is cut to the addresses around that they hold, too. */
int loops_find(struct loops *loops, const struct loops_function *function, uint64_t offset,
	struct loops_one nest[LOOP_DEPTH_MAX], struct symbol_stretch *stretch);

#endif
