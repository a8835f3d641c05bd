/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_step.h - part of the walk: the rule of a pc, and one step from a frame to its caller. Only unwind*.c
 * includes it. Steps by simple rules are in unwind.c, runs of them in unwind_simple.c, by all other tables in
 * unwind_table.c, without tables in unwind_no_cfi.c.
 */
#ifndef RECORD_AGENT_UNWIND_STEP_H
#define RECORD_AGENT_UNWIND_STEP_H

#include "record/agent/base/hot_section.h"
#include "record/agent/unwind/unwind.h"

enum rule_kind {
	RULE_EMPTY,
	RULE_SP,      /* CFA = stack pointer + cfa_offset */
	RULE_FP,      /* CFA = frame pointer + cfa_offset */
	RULE_ALIGNED, /* CFA = frame pointer + cfa_offset, in a frame that the compiler aligned for wide
			 vectors; the caller's frame pointer is at fp_words from the frame pointer */
	RULE_COMPLEX, /* the row is interpreted each time */
	RULE_MISSING, /* no CFI */
	RULE_MADE,    /* neither CFI nor a file (JIT): scanning its machine code worked where frame pointers
			 did not, so it is tried first */
	RULE_OUTERMOST,
	RULE_FENCE
};

#define RULE_HIDDEN 1u
#define RULE_LOADER 2u
#define RULE_CALLED 4u	/* a step without CFI led here, to the place after a call */
#define RULE_OWN 8u	/* skip what it called, too */
#define RULE_READ 16u	/* without CFI: its machine code was scanned, which gave ... */
#define RULE_RAISES 16u /* with CFI: continues where an exception is caught, unwind_exception.c */
#define RULE_PROLOGUE_SCAN 32u
#define RULE_LOADED 64u	  /* ... a rule whose base is on the stack */
#define RULE_PLANTED 128u /* as a return address: no call stored it, the stack ends */

enum step { STEP_ON, STEP_FULL, STEP_PARTIAL, STEP_AGAIN };

#define UNWIND_SWITCH_BYTES 256u /* of Go's runtime.systemstack */

#define FP_KNOWN (UINT64_C(1) << ARCH_FP)
#define UNWIND_CACHE_SHIFT 53
static_assert(UNWIND_CACHE_SETS == 1u << (64 - UNWIND_CACHE_SHIFT), "the hash keeps eleven bits");

#define QUICK_KNOWN (UINT64_C(1) << ARCH_SP | FP_KNOWN | UINT64_C(1) << ARCH_PC)

/* The rule of pc, or the one that it will replace. */
static inline struct unwind_rule *unwind_cache_entry(struct unwinder *u, uint64_t pc)
{
	uint64_t number = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> UNWIND_CACHE_SHIFT;
	struct unwind_rule *set = &u->cache[number * UNWIND_CACHE_WAYS];

	for (unsigned way = 0; way < UNWIND_CACHE_WAYS; way++)
		if (set[way].pc == pc)
			return &set[way];
	return &set[u->cache_next[number]];
}

static inline bool unwind_rule_has_no_cfi(const struct unwind_rule *rule)
{
	return rule->kind == RULE_MISSING || rule->kind == RULE_MADE;
}

static inline bool unwind_rule_is_simple(const struct unwind_rule *rule)
{
	return rule->kind >= RULE_SP && rule->kind <= RULE_ALIGNED;
}

static inline bool unwind_rule_takes_fp(const struct unwind_rule *rule)
{
	return rule->kind == RULE_FP || rule->kind == RULE_ALIGNED;
}

static inline bool unwind_rule_saves_fp(const struct unwind_rule *rule)
{
	return rule->fp_words || rule->kind == RULE_ALIGNED;
}

/* Where the caller's frame pointer is, if saved. */
static inline uint64_t unwind_rule_fp_place(const struct unwind_rule *rule, uint64_t cfa, uint64_t fp)
{
	return (rule->kind == RULE_ALIGNED ? fp : cfa) + (uint64_t)(rule->fp_words * 8L);
}

static_assert(UNWIND_CYCLE_MAX == 4, "as many frames are looked at first");

/* Folds recursion that the newest frame completed; returns the remaining number of frames. */
static inline unsigned unwind_frames_fold(struct unwind_frame *frames, unsigned count)
{
	const struct unwind_frame *last = &frames[count - 1];
	uint32_t function = last->function;

	/* The common case. */
	if (count >= 3 * UNWIND_CYCLE_MAX && last[-1].function != function && last[-2].function != function &&
		last[-3].function != function && last[-4].function != function)
		return count;
	for (unsigned round = 1; round <= UNWIND_CYCLE_MAX && 3 * round <= count; round++) {
		unsigned same = 0;

		if (frames[count - 1 - round].function != function)
			continue;
		while (same < 2 * round &&
			frames[count - 1 - same].function == frames[count - 1 - same - round].function &&
			frames[count - 1 - same].function)
			same++;
		if (same < 2 * round)
			continue;
		for (unsigned i = count - round; i < count; i++) {
			frames[i - round] = frames[i];
			hot_loop();
		}
		return count - round;
	}
	return count;
}

/* Fills `rule`, the cache's entry for pc, from the module's tables. */
const struct unwind_rule *unwind_rule_fill(struct unwinder *u, struct unwind_rule *rule, uint64_t pc);

static inline const struct unwind_rule *unwind_rule_find(struct unwinder *u, uint64_t pc)
{
	struct unwind_rule *rule = unwind_cache_entry(u, pc);

	return rule->pc == pc && rule->kind != RULE_EMPTY ? rule : unwind_rule_fill(u, rule, pc);
}

/* Takes simple steps while their rules are cached. True: it took none. *exact: whether pc is exact. */
bool unwind_walk_simple(struct unwinder *u, bool *exact);

static inline enum step unwind_step_unreadable(struct unwinder *u)
{
	u->unreadable++;
	return STEP_PARTIAL;
}

/* Interprets the row at pc; *interrupted: the caller's pc is exact. */
enum step unwind_step_row(struct unwinder *u, uint64_t pc, bool thorough, bool *interrupted);
/* Steps from a signal handler to the interrupted frame, if pc is the signal trampoline. False: nothing
 * changed. */
bool unwind_step_trampoline(struct unwinder *u, bool *interrupted);
/* True if pc + 1 is no return address of a call. `has_table`: u->scratch is of pc, and is overwritten. */
bool unwind_is_planted(struct unwinder *u, const struct cfi_module *module, uint64_t pc, bool has_table);
enum unwind_go_after {
	UNWIND_GO_ON,
	UNWIND_GO_RETURNS, /* with a ret: its return address is where the stack pointer is */
	UNWIND_GO_ENDS /* the stack ends; or the goroutine that the frame pointer leads to waits or has ended,
			and another thread may run it at once (mcall) */
};
/* What Go's code does after a call. Go's own unwinder ends where its scheduler switched to another stack and
 * called a function that never returns. The frame pointer leads on to the goroutine that it left, while no
 * other thread runs it: notes such a place. */
enum unwind_go_after unwind_go_after(struct unwinder *u, uint64_t return_address);
enum unwind_go_leaf {
	UNWIND_GO_LEAF_UNKNOWN,
	UNWIND_GO_LEAF_RETURNS, /* its return address is *depth bytes from the stack pointer, its frame
				 pointer is its caller's */
	UNWIND_GO_LEAF_FRAME	/* it has a frame, and the frame pointer */
};
/* Of the innermost frame, in Go's code at pc. */
enum unwind_go_leaf unwind_go_leaf(struct unwinder *u, uint64_t pc, uint64_t *depth);
/* Adds a frame of the rule's code to the walk. */
void unwind_frame_add(struct unwinder *u, const struct unwind_rule *rule, uint64_t pc, bool exact);
/* True if the frame that the pointer names is not in the copied stack, and the kernel may tell of it. */
bool unwind_chain_goes_on(const struct unwinder *u, uint64_t fp);
/* Target of the direct call before `address`. 0: none. */
uint64_t unwind_called_at(struct unwinder *u, uint64_t address);
/* Return address of the first call, in a function's first instructions, of the short function that `callee`
 * is in. 0: none. */
uint64_t unwind_call_find(struct unwinder *u, uint64_t function, uint64_t callee);
/* Adds that frame's caller and all further out: STEP_FULL, or STEP_PARTIAL. */
enum step unwind_chain_follow(struct unwinder *u, uint64_t fp);
/* Takes the step that a prologue_scan.h rule took from there, if it depends on the stack alone; false:
 * none, nothing changed. The return address was right below the CFA. */
bool unwind_step_as_made(struct unwinder *u, const struct unwind_rule *rule);
/* True for a function that continues where an exception is caught, after it saved the registers that it
 * passes there. */
bool unwind_row_raises(const struct cfi_row *row);
/* True at its very end, where it jumps to the landing pad. */
bool unwind_exception_lands(struct unwinder *u, const struct unwind_rule *rule);
/* Notes the state before the step out of it. */
void unwind_exception_note(struct unwinder *u);
/* A step further out was taken, or `is_lost`: none was possible. True: goes back to after the step out of
 * it, with a stack pointer further out. */
bool unwind_exception_doubts(struct unwinder *u, bool is_lost, bool *exact);
/* The next step must be examined. */
static inline bool unwind_exception_looks(const struct unwinder *u)
{
	return u->exception.count && u->walked == u->exception.walked && !u->exception.is_settled;
}
/* True if the address follows a call. */
bool unwind_is_called(struct unwinder *u, uint64_t address);
/* Caches that a call leads to pc: reading code takes a system call. */
void unwind_called_note(struct unwinder *u, uint64_t pc);
/* Steps from code whose maker tells its frames; `exact`: the frame may not be whole. False: nothing changed.
 */
bool unwind_step_told(struct unwinder *u, uint64_t pc, bool exact);
/* Steps from code without CFI. `leaf`: it may have pushed nothing; *exact: whether pc is exact, then
 * whether the caller's is. */
enum step unwind_step_no_cfi(struct unwinder *u, uint64_t pc, bool leaf, bool was_exact, bool *exact);

#endif
