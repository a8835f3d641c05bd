/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.h - the loop nests of an ELF file's functions, found when a function is first requested: only
 * sampled functions are analysed (S4 2.2). It knows addresses only; timeline/names/names_loops.h adds lines
 * and names.
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

/* One loop that contains an offset. */
struct loops_one {
	uint64_t header;	/* of its first instruction */
	const uint64_t *places; /* the header, then branches back to it, then branches out of it */
	const uint64_t *body;	/* addresses spread evenly over its code, inner loops included */
	uint32_t *level;	/* for the caller: 0 at first, kept with the loop */
	uint32_t place_count, back_count, body_count;
	bool is_irreducible;
	bool is_spin; /* waits: short, with a pause, and calls nothing */
};

struct loops;

/* The code of one function. */
struct loops_function {
	struct cfg_range ranges[CFG_RANGES_MAX];
	unsigned range_count;
	uint64_t entry;
};

/* `elf` holds code and must outlive it. Returns 0; 1: nothing to read (another machine, no code),
 * loops_lacks() tells why, *loops is NULL; negative: no memory. One thread. */
int loops_open(struct loops **loops, Elf *elf);
/* The same for a GPU binary, which must outlive it. */
int loops_open_gpu(struct loops **loops, struct gpu_code *code);
void loops_close(struct loops *loops);
const char *loops_lacks(Elf *elf);
/* True when only the decoder for that code is not installed. */
bool loops_may_come(Elf *elf);
const char *loops_lacks_gpu(const struct gpu_code *code);
/* Limits the next look-ups together: CPU time (0: no limit) and, always, instructions. */
void loops_allow(struct loops *loops, uint64_t cpu_ns);
bool loops_is_spent(const struct loops *loops);

/* The loops that contain `offset`, outermost first, at most LOOP_DEPTH_MAX; returns their number, negative:
 * no memory. Valid until the next call. Cuts the stretch to the addresses around it with the same loops. */
int loops_find(struct loops *loops, const struct loops_function *function, uint64_t offset,
	struct loops_one nest[LOOP_DEPTH_MAX], struct symbol_stretch *stretch);

#endif
