/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.h - unwinds a call stack from the innermost frame outwards. The common step is one lookup in a cache
 * of small rules and two loads from the stack; all else goes to cfi.c. Runs in the sampling handler on its
 * own thread, or on another process through other callbacks.
 */
#ifndef RECORD_AGENT_UNWIND_H
#define RECORD_AGENT_UNWIND_H

#include "record/agent/unwind/cfi.h"
#include "record/agent/unwind/prologue_scan.h"
#include "record/agent/unwind/unwind_reuse.h"

#define UNWIND_FRAMES_MAX 16384	   /* of a path with folded recursion: enough for nearly all */
#define UNWIND_WALK_MAX (1u << 20) /* frames of a walk at most, some 10 ms */
#define UNWIND_CYCLE_MAX 4	   /* longest cycle of calls that is folded as recursion */
/* A PyTorch training step has some 3000 call sites, in paths of more than 100: with one rule per set, two
 * sites of most paths would evict each other each time. */
#define UNWIND_CACHE_ENTRIES 8192
#define UNWIND_CACHE_WAYS 4 /* rules of a set: those whose pcs have the same hash */
#define UNWIND_CACHE_SETS (UNWIND_CACHE_ENTRIES / UNWIND_CACHE_WAYS)
#define UNWIND_READ_KEPT 4
#define UNWIND_NO_SLOT 0xffffu
#define UNWIND_RESERVED_SLOT 0xfffeu /* as a frame's: its address is an enum event_frame */

/* What the maker of code without a file tells of the code at a pc. */
struct unwind_told {
	uint64_t begin;	      /* of its instructions */
	uint32_t frame_bytes; /* of its frame, with the return address at its end and, before that, the
				 caller's frame pointer; 0: no fixed size */
	int32_t complete;     /* bytes of instructions after which the frame is there; negative: unknown */
	bool is_interpreter;  /* HotSpot's: a frame pointer, and below it the caller's own stack pointer */
};

/* Return addresses of a thread by its frame pointers, as the kernel found them together with the registers.
 */
struct unwind_chain {
	const uint64_t *address; /* innermost first, the pc before them */
	unsigned count;		 /* 0: none is known */
	uint64_t fp;		 /* the frame pointer that they begin with */
	/* Reads what the thread's memory holds by now, with the space's context. */
	int (*read_now)(void *context, uint64_t address, void *to, size_t bytes);
};

/* Source of frames: modules and memory of the measured process. */
struct unwind_space {
	struct cfi_memory memory;
	/* The module that contains pc, valid until the next call; NULL: none. */
	const struct cfi_module *(*module_find)(void *context, uint64_t pc);
	void *context;
	uint64_t fence_begin; /* code at which stacks end, itself no frame */
	uint64_t fence_end;
	uint64_t hidden_begin; /* code whose frames are skipped */
	uint64_t hidden_end;
	uint64_t own_begin; /* code whose frames are skipped, with all that it called */
	uint64_t own_end;
	bool (*hides)(uint64_t pc); /* more such code, called once per pc; NULL: none */
	/* Of code outside all modules, signal safe; false: nothing. NULL: none. */
	bool (*told_find)(uint64_t pc, struct unwind_told *told);
	bool is_go;   /* Go's code: switches stacks below a frame pointer, inserts calls */
	bool is_copy; /* the memory is a copy of one stack: what others hold is of later by now */
	struct unwind_chain chain; /* ... but for what this tells */
	uint64_t loader_begin;	   /* the dynamic loader: its entry code has no CFI and ends a stack */
	uint64_t loader_end;
};

/* Rule of one pc: the caller's registers are at fixed offsets from the CFA; for an aligned frame, from the
 * frame pointer. */
struct unwind_rule {
	uint64_t pc;
	int32_t cfa_offset;
	uint16_t slot;
	int16_t fp_words; /* saved frame pointer, in words from the CFA; 0: not saved */
	int16_t ra_words; /* of a rule from prologue_scan.h: its base, see unwind.c */
	uint8_t kind;	  /* enum rule_kind, unwind_step.h; 0: entry is empty */
	uint8_t flags;
	uint32_t function; /* identifies the function; 0: unknown */
};

#define UNWIND_HOPELESS_KEPT 16u

struct unwind_frame {
	uint64_t address;  /* exact pc of leaf and signal frames, else return address - 1 */
	uint64_t sp;	   /* its stack pointer: the frame's memory begins there. 0: unknown */
	uint16_t slot;	   /* of its module; UNWIND_NO_SLOT: outside all modules */
	uint16_t exact;	   /* 1: address is the exact pc */
	uint32_t function; /* identifies the function; 0: unknown */
};

/* A frame whose machine code was scanned. */
struct unwind_read {
	uint64_t caller;  /* its return address; 0: none */
	int32_t offset;	  /* bytes of the frame, from its stack pointer up */
	int16_t fp_words; /* of its caller's frame pointer, as in a rule */
	uint16_t slot;
};

/* Where a walk left a function that continues where an exception is caught. */
struct unwind_exception {
	unsigned count;	 /* frames up to there; 0: none */
	unsigned walked; /* before folding */
	unsigned tries;
	bool is_settled;      /* no doubts remain */
	bool is_near;	      /* the first step from there failed */
	uint32_t frame_bytes; /* bytes of the next frame that were examined */
	uint64_t at;	      /* end of the stack words that were examined */
	struct arch_registers registers;
};

struct unwind_plugin;

struct unwinder {
	const struct unwind_plugin *plugin; /* replaces our unwinder; NULL: ours */
	struct unwind_space space;
	unsigned count;		      /* frames of the last walk, innermost first */
	bool folds;		      /* fold recursion during the walk: see unwind.c */
	unsigned walked;	      /* frames of the last walk, before folding */
	unsigned switched;	      /* stacks switched, by frame pointers */
	unsigned go_top;	      /* of the last walk: frames up to where Go's own unwinder ends; 0:
					 none */
	unsigned unreadable;	      /* of the last walk: stack words that could not be read */
	unsigned rows;		      /* of the last walk: table rows interpreted, each dear */
	uint64_t unchanged_registers; /* registers unchanged since the walk's begin: no table was used yet */
	struct unwind_frame *frames;  /* the caller's */
	unsigned most;		      /* space there: a deeper path keeps its innermost frames and is
					 partial */
	struct arch_registers registers;
	struct unwind_reuse reuse;	   /* the reusable steps of the last walk */
	struct unwind_exception exception; /* of the last walk */
	struct unwind_read read[UNWIND_READ_KEPT];
	unsigned read_next; /* index of the next entry */
	struct cfi_scratch scratch;
	struct prologue_scan_scratch reading;
	uint64_t hopeless[UNWIND_HOPELESS_KEPT]; /* where no guess of prologue_scan.h has led to a caller */
	unsigned hopeless_next;
	uint8_t cache_next[UNWIND_CACHE_SETS]; /* the rule of each set to replace next */
	struct unwind_rule cache[UNWIND_CACHE_ENTRIES];
};

enum unwind_result { UNWIND_FULL, UNWIND_PARTIAL };

/* Unwinds from `start`; frames[0..count) hold the stack, innermost first. */
enum unwind_result unwind_walk(struct unwinder *unwinder, const struct arch_registers *start);

/* A stack word that a walk passed, at an offset in bytes from the walk's initial stack pointer; readable
 * while the stack pointer is the same. Packed, as many are kept. */
struct unwind_word {
	uint64_t value;
	uint32_t offset;
} __attribute__((packed, aligned(4)));

/* The words used by unwind_walk, which has just unwound this stack completely: while they, and pc and
 * stack pointer of `start` (with *with_fp also its frame pointer), are unchanged, another walk gives the
 * same result. Returns their number; 0: more than `most`, or the walk depends on more. */
unsigned unwind_words(struct unwinder *unwinder, const struct arch_registers *start,
	struct unwind_word *words, unsigned most, bool *with_fp);

/* What unwind_frame.function is for the code at pc. */
uint32_t unwind_function(struct unwinder *unwinder, uint64_t pc);

/* Folds recursion in frames that were walked without (unwinder.folds); the remaining number. */
unsigned unwind_fold(struct unwind_frame *frames, unsigned count);

/* Drops all cached rules, after a module was unloaded. */
void unwind_cache_clear(struct unwinder *unwinder);

#endif
