/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.h - walks a call stack from the innermost frame outwards. The common
 * step is one look into a cache of small rules and two loads from the stack; all
 * else goes to cfi.c. Runs in the sampling handler on the own thread, or on
 * another process through other callbacks.
 */
#ifndef RECORD_AGENT_UNWIND_H
#define RECORD_AGENT_UNWIND_H

#include "record/agent/unwind/cfi.h"
#include "record/agent/unwind/prologue_scan.h"
#include "record/agent/unwind/unwind_reuse.h"

#define UNWIND_FRAMES_MAX 16384	   /* of a path where recursion is folded: room enough for most */
#define UNWIND_WALK_MAX (1u << 20) /* frames that are walked at most, some 10 ms, and kept where all are */
#define UNWIND_CYCLE_MAX 4	   /* functions that call each other in turn, and are taken for recursion */
/* A training step of PyTorch has some 3000 call sites, in paths of more than 100: in sets of one rule, two
 * sites of most paths would be in each other's way each time. */
#define UNWIND_CACHE_ENTRIES 8192
#define UNWIND_CACHE_WAYS 4 /* rules of a set: all whose pc has one hash */
#define UNWIND_CACHE_SETS (UNWIND_CACHE_ENTRIES / UNWIND_CACHE_WAYS)
#define UNWIND_READ_KEPT 4
#define UNWIND_NO_SLOT 0xffffu

/* Where frames come from: modules and memory of the measured process. */
struct unwind_space {
	struct cfi_memory memory;
	/* The module that holds pc, valid until the next call; NULL: none. */
	const struct cfi_module *(*module_find)(void *context, uint64_t pc);
	void *context;
	uint64_t fence_begin; /* code at which stacks end, itself not a frame */
	uint64_t fence_end;
	uint64_t hidden_begin; /* code whose frames are passed over */
	uint64_t hidden_end;
	uint64_t own_begin; /* code whose frames are passed over, with all that it has called */
	uint64_t own_end;
	bool (*hides)(uint64_t pc); /* more of it, asked once per pc; NULL: none */
	bool is_go; /* Go's code: stacks are switched below a frame pointer, calls put in between */
	uint64_t loader_begin; /* the dynamic loader: its entry code has no CFI and ends a stack */
	uint64_t loader_end;
};

/* Rule of one place: the caller's registers lie at fixed distances from the CFA, of an aligned frame from the
 * frame pointer. */
struct unwind_rule {
	uint64_t pc;
	int32_t cfa_offset;
	uint16_t slot;
	int16_t fp_words; /* saved frame pointer, in words from the CFA; 0: not saved */
	int16_t ra_words; /* of a recipe: its base, see unwind.c */
	uint8_t kind;	  /* enum rule_kind, unwind_step.h; 0: entry is empty */
	uint8_t flags;
	uint32_t function; /* tells functions apart; 0: not known */
};

struct unwind_frame {
	uint64_t address;  /* exact pc of leaf and signal frames, else return address - 1 */
	uint16_t slot;	   /* of its module; UNWIND_NO_SLOT: outside all modules */
	uint16_t exact;	   /* 1: address is the exact pc */
	uint32_t function; /* tells functions apart; 0: not known */
};

/* A frame whose machine code was read. */
struct unwind_read {
	uint64_t caller;  /* where it returns to; 0: none */
	int32_t offset;	  /* its bytes, from its stack pointer up */
	int16_t fp_words; /* of its caller's frame pointer, as in a rule */
	uint16_t slot;
};

/* Where a walk stepped out of what goes on where an exception is caught. */
struct unwind_exception {
	unsigned count;	 /* frames up to there; 0: nowhere */
	unsigned walked; /* before folding */
	unsigned tries;
	bool is_settled;      /* no doubts any more */
	bool is_near;	      /* the first step from there was lost */
	uint32_t frame_bytes; /* of the next frame, that were looked at */
	uint64_t at;	      /* words of the stack that were looked at end here */
	struct arch_registers registers;
};

struct unwind_plugin;

struct unwinder {
	const struct unwind_plugin *plugin; /* walks in our place; NULL: we do */
	struct unwind_space space;
	unsigned count;		      /* frames of the last walk, innermost first */
	bool folds;		      /* recursion, as it goes: see unwind.c */
	unsigned walked;	      /* frames of the last walk, before folding */
	unsigned switched;	      /* stacks, by frame pointers */
	unsigned go_top;	      /* of the last walk: frames up to where Go's own walks end; 0: none */
	unsigned unreadable;	      /* of the last walk: stack words that could not be read */
	uint64_t unchanged_registers; /* registers that still are as the walk began: no table was used yet */
	struct unwind_frame *frames;  /* the caller's */
	unsigned most;		      /* room there: a deeper path keeps its innermost, and is partial */
	struct arch_registers registers;
	struct unwind_reuse reuse;	   /* of the last walk that had what is worth it */
	struct unwind_exception exception; /* of the last walk */
	struct unwind_read read[UNWIND_READ_KEPT];
	unsigned read_next; /* the place that the next one takes */
	struct cfi_scratch scratch;
	struct prologue_scan_scratch reading;
	uint8_t cache_next[UNWIND_CACHE_SETS]; /* the rule of each set that makes room */
	struct unwind_rule cache[UNWIND_CACHE_ENTRIES];
};

enum unwind_result { UNWIND_FULL, UNWIND_PARTIAL };

/* Walks from `start`; frames[0..count) hold the stack, innermost first. */
enum unwind_result unwind_walk(struct unwinder *unwinder, const struct arch_registers *start);

/* A word of the stack that a walk has gone by: so many bytes from the stack pointer that the walk began with,
 * and readable as long as that is where it was. Packed: many of them are kept. */
struct unwind_word {
	uint64_t value;
	uint32_t offset;
} __attribute__((packed, aligned(4)));

/* The words that unwind_walk, which has just found this stack full, has taken: while they hold, and pc and
 * stack pointer of `start`, for *with_fp its frame pointer too, another walk gives the same. Their number; 0:
 * more than `most`, or it depends on other things. */
unsigned unwind_words(struct unwinder *unwinder, const struct arch_registers *start,
	struct unwind_word *words, unsigned most, bool *with_fp);

/* Drops all cached rules: a module was unloaded. */
void unwind_cache_clear(struct unwinder *unwinder);

#endif
