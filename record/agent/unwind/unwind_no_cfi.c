/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_no_cfi.c - frames of code without tables: hand-written assembly, JIT code, stripped libraries. Tries
 * in this order: a scan of the machine code (prologue_scan.h), a leaf that has pushed nothing, the chain of
 * frame pointers. For JIT code, which usually has frame pointers, the scan comes last, as does a scan that
 * leads there from a file. All are guesses, so each must lead to an address after a call.
 */
#include "record/agent/unwind/unwind_step.h"

#include <string.h>

#define SWITCHED_MAX 16u
#define PROLOGUE_SCAN_FRAME_MAX (UINT64_C(1) << 20) /* bytes, of frames with another base than SP */
#define CALLED_STACK_MAX 4096u			    /* bytes in which a caller is sought */
#define CALLED_CODE_MAX 65536u			    /* of a function */
#define CALLED_SCANS_MAX 16u			    /* of functions: each may be 3000 instructions long */
#define SWITCHING_BYTES 4096u	/* of a function of Go's runtime that switches the stack */
#define STANDING_BYTES_MAX 512u /* of an interpreter's frame, and of what is below it */
#define STANDING_WORDS 16u
#define MADE_CODE_BYTES (UINT64_C(256) << 20) /* a JIT compiler keeps its code together */

/* Where a guess leads to. */
struct unwind_caller {
	uint64_t base, cfa, pc, fp;
};

static bool is_called(struct unwinder *u, uint64_t pc)
{
	const struct unwind_rule *known = unwind_cache_entry(u, pc);

	return known->pc == pc && (known->flags & RULE_CALLED);
}

/* `anywhere`: also in code without a file, such as JIT code. */
static bool is_return_address(struct unwinder *u, uint64_t address, bool anywhere)
{
	uint8_t code[ARCH_CALL_BYTES_MAX];

	if (is_called(u, address - 1))
		return true;
	if (!anywhere && !u->space.module_find(u->space.context, address - 1))
		return false;
	return !u->space.memory.read(u->space.memory.context, address - sizeof(code), code, sizeof(code)) &&
	       arch_is_call(code + sizeof(code));
}

bool unwind_is_called(struct unwinder *u, uint64_t address)
{
	return is_return_address(u, address, true);
}

void unwind_called_note(struct unwinder *u, uint64_t pc)
{
	struct unwind_rule *rule = unwind_cache_entry(u, pc);

	if (rule->pc != pc || rule->kind == RULE_EMPTY)
		unwind_rule_fill(u, rule, pc);
	rule->flags |= RULE_CALLED;
}

/* Go's runtime inserts a call where a signal interrupted long-running code: the return address follows no
 * call. */
static bool is_injected(struct unwinder *u, uint64_t pc)
{
	return u->space.is_go && u->space.module_find(u->space.context, pc);
}

/* Go runs a C call on the thread's stack, with the frame pointer of the goroutine's stack. */
static bool is_switched(struct unwinder *u)
{
	return u->space.is_go && u->switched++ < SWITCHED_MAX;
}

uint64_t unwind_called_at(struct unwinder *u, uint64_t address)
{
	uint8_t code[5];
	int32_t by;

	if (u->space.memory.read(u->space.memory.context, address - sizeof(code), code, sizeof(code)) ||
		code[0] != 0xe8)
		return 0;
	memcpy(&by, code + 1, sizeof(by));
	return address + (uint64_t)(int64_t)by;
}

uint64_t unwind_call_find(struct unwinder *u, uint64_t function, uint64_t callee)
{
	uint8_t code[SWITCHING_BYTES];
	uint64_t target;
	int32_t by;

	if (!function || u->space.memory.read(u->space.memory.context, function, code, sizeof(code)))
		return 0;
	for (unsigned at = 0; at + 5 <= sizeof(code); at++) {
		memcpy(&by, code + at + 1, sizeof(by));
		target = function + at + 5 + (uint64_t)(int64_t)by;
		if (code[at] == 0xe8 && target <= callee && callee - target < UNWIND_SWITCH_BYTES)
			return function + at + 5;
	}
	return 0;
}

/* Go's runtime.systemstack runs a function on the thread's own stack, with the frame pointer of the
 * goroutine. Of a copied stack that one is read when the goroutine may have gone on: its caller must be of a
 * function that calls systemstack. */
static bool is_stale(struct unwinder *u, uint64_t from, uint64_t fp, uint64_t return_address)
{
	const struct cfi_memory *memory = &u->space.memory;

	return u->space.is_go && u->space.is_copy && (fp < memory->low || fp >= memory->high) &&
	       !unwind_call_find(u, unwind_called_at(u, return_address), from);
}

/* What a signal interrupted is on a goroutine's stack, not on the copied one. */
static bool is_left(const struct unwinder *u, uint64_t sp)
{
	return u->space.is_go && u->space.is_copy && (sp < u->space.memory.low || sp >= u->space.memory.high);
}

/* Return address of a function that has pushed nothing. 0 or negative. */
static int leaf_return(struct unwinder *u, uint64_t *pc)
{
	const uint64_t *link = arch_leaf_return(u->registers.value);

	if (!link)
		return cfi_word_read(&u->space.memory, u->registers.value[ARCH_SP], pc);
	*pc = arch_return_address(*link);
	return 0;
}

/* Packs a scan's base into ra_words: a register, and 12 bits of words from it. */
static bool base_pack(const struct prologue_scan *scan, int16_t *packed)
{
	int32_t words = scan->load_at / 8;

	if (scan->base >= 16 || words < -2048 || words >= 2048)
		return false;
	*packed = (int16_t)(words * 16 + (int32_t)scan->base);
	return true;
}

static unsigned base_number(const struct unwind_rule *rule)
{
	return (unsigned)rule->ra_words & 15u;
}

/* False: unknown. */
static bool base_find(struct unwinder *u, const struct unwind_rule *rule, uint64_t *base)
{
	unsigned number = base_number(rule);
	int64_t at = 8 * (int64_t)((rule->ra_words - (int)number) / 16);

	if (number != ARCH_SP && !((u->registers.known | u->unchanged_registers) & UINT64_C(1) << number))
		return false;
	*base = u->registers.value[number];
	return !(rule->flags & RULE_LOADED) || !cfi_word_read(&u->space.memory, *base + (uint64_t)at, base);
}

static unsigned guesses_find(struct unwinder *u, uint64_t next, struct prologue_scan *scans, unsigned most)
{
	const struct cfi_module *module = u->space.module_find(u->space.context, next - 1);
	uint64_t begin = module ? module->begin : next - MADE_CODE_BYTES;
	uint64_t end = module ? module->end : next + MADE_CODE_BYTES;

	return begin > next || end < next
		       ? 0
		       : prologue_scan_find(next, begin, end, &u->space.memory, &u->reading, scans, most);
}

static void guess_set(struct unwind_rule *rule, const struct prologue_scan *scan)
{
	rule->flags &= (uint8_t) ~(RULE_PROLOGUE_SCAN | RULE_LOADED);
	if (scan->fp_offset / 8 != (int16_t)(scan->fp_offset / 8) || !base_pack(scan, &rule->ra_words))
		return;
	rule->flags |= RULE_PROLOGUE_SCAN | (scan->is_loaded ? RULE_LOADED : 0);
	rule->cfa_offset = scan->cfa_offset;
	rule->fp_words = (int16_t)(scan->fp_offset / 8);
}

/* Scans the code from `next`, once per pc. */
static void prologue_scan_fill(struct unwinder *u, struct unwind_rule *rule, uint64_t next)
{
	struct prologue_scan scan;

	rule->flags |= RULE_READ;
	if (guesses_find(u, next, &scan, 1))
		guess_set(rule, &scan);
}

static void read_keep(struct unwinder *u, const struct unwind_rule *rule, uint64_t caller)
{
	struct unwind_read read = {caller, rule->cfa_offset, rule->fp_words, rule->slot};

	for (unsigned i = 0; i < UNWIND_READ_KEPT; i++)
		if (u->read[i].caller == caller && u->read[i].offset == read.offset)
			return;
	u->read[u->read_next] = read;
	u->read_next = (u->read_next + 1) % UNWIND_READ_KEPT;
}

/* True if the frame pointer points below the return address: it was set up there, whatever the scan has seen.
 */
static bool has_frame_pointer(const struct unwinder *u, uint64_t cfa)
{
	return u->registers.value[ARCH_FP] == cfa - 16;
}

/* Where the rule's guess leads to; false: to no place after a call. */
static bool guess_follow(
	struct unwinder *u, const struct unwind_rule *rule, bool anywhere, struct unwind_caller *caller)
{
	const struct cfi_memory *memory = &u->space.memory;
	const uint64_t *value = u->registers.value;
	int16_t fp_words;
	uint64_t cfa;

	caller->fp = value[ARCH_FP];
	if (!(rule->flags & RULE_PROLOGUE_SCAN) || !base_find(u, rule, &caller->base))
		return false;
	caller->cfa = cfa = caller->base + (uint64_t)(int64_t)rule->cfa_offset;
	fp_words = !rule->fp_words && has_frame_pointer(u, cfa) ? -2 : rule->fp_words;
	return !(cfa % 8 || cfa <= value[ARCH_SP] ||
		 (caller->base != value[ARCH_SP] && cfa - value[ARCH_SP] > PROLOGUE_SCAN_FRAME_MAX) ||
		 cfi_word_read(memory, cfa - 8, &caller->pc) ||
		 (fp_words && cfi_word_read(memory, cfa + (uint64_t)(fp_words * 8L), &caller->fp)) ||
		 !is_return_address(u, caller->pc, anywhere || rule->slot == UNWIND_NO_SLOT));
}

static bool is_hopeless(const struct unwinder *u, uint64_t pc)
{
	for (unsigned i = 0; i < UNWIND_HOPELESS_KEPT; i++)
		if (u->hopeless[i] == pc)
			return true;
	return false;
}

/* The word at `at` of the stack is the return address of a call of the function that comes to `next` with
 * that much on the stack. *scans: how many functions may still be scanned. */
static bool is_caller(struct unwinder *u, const struct cfi_module *module, uint64_t next, uint64_t at,
	uint64_t address, unsigned *scans)
{
	uint64_t function;

	if (address <= module->begin || address >= module->end || !is_return_address(u, address, false))
		return false;
	function = unwind_called_at(u, address);
	return function >= module->begin && function <= next && next - function < CALLED_CODE_MAX &&
	       (*scans)-- &&
	       prologue_scan_depth(function, next, module->begin, module->end, &u->space.memory,
		       &u->reading) == (int64_t)(at - u->registers.value[ARCH_SP]);
}

/* A function that ends by a call which does not return (exit, longjmp) has no way to a return: its caller is
 * sought on the stack. */
static bool caller_find(struct unwinder *u, uint64_t next, struct prologue_scan *scan)
{
	const struct cfi_module *module = u->space.module_find(u->space.context, next - 1);
	uint64_t sp = u->registers.value[ARCH_SP], word;
	unsigned scans = CALLED_SCANS_MAX;

	if (!module || u->space.is_go)
		return false;
	for (uint64_t at = sp; scans && at < sp + CALLED_STACK_MAX; at += 8) {
		if (at < u->space.memory.low || at + 8 > u->space.memory.high)
			return false; /* each word would take a call of the kernel */
		memcpy(&word, (const void *)(uintptr_t)(at + u->space.memory.shift), sizeof(word));
		if (is_caller(u, module, next, at, word, &scans)) {
			*scan = (struct prologue_scan){.base = ARCH_SP, .cfa_offset = (int32_t)(at - sp) + 8};
			return true;
		}
	}
	return false;
}

/* The other guesses. One that leads somewhere is kept for the place. */
static bool guesses_follow(struct unwinder *u, struct unwind_rule *rule, uint64_t next, bool anywhere,
	struct unwind_caller *caller)
{
	struct prologue_scan scans[PROLOGUE_SCAN_GUESSES + 1];
	struct unwind_rule other = *rule;
	unsigned count = 0;

	if (is_hopeless(u, next))
		return false;
	if (rule->flags & RULE_PROLOGUE_SCAN)
		count = guesses_find(u, next, scans, PROLOGUE_SCAN_GUESSES);
	for (unsigned i = 0; i <= count; i++) {
		if (i == count && !caller_find(u, next, &scans[i]))
			break;
		guess_set(&other, &scans[i]);
		if (guess_follow(u, &other, anywhere, caller)) {
			*rule = other;
			return true;
		}
	}
	u->hopeless[u->hopeless_next] = next;
	u->hopeless_next = (u->hopeless_next + 1) % UNWIND_HOPELESS_KEPT;
	return false;
}

/* Steps without CFI, by a scan. The result must be valid: false, and nothing has changed. */
static bool step_prologue_scan(struct unwinder *u, uint64_t pc, bool exact, bool anywhere)
{
	struct unwind_rule *rule = unwind_cache_entry(u, pc);
	uint64_t *value = u->registers.value;
	struct unwind_caller caller;

	if (rule->pc != pc || !unwind_rule_has_no_cfi(rule) || (rule->flags & RULE_LOADER))
		return false;
	if (!(rule->flags & RULE_READ))
		prologue_scan_fill(u, rule, pc + !exact);
	if (!guess_follow(u, rule, anywhere, &caller) &&
		!guesses_follow(u, rule, pc + !exact, anywhere, &caller))
		return false;
	if (caller.base == value[ARCH_SP] && (rule->fp_words || !has_frame_pointer(u, caller.cfa)))
		read_keep(u, rule, caller.pc);
	value[ARCH_PC] = caller.pc;
	value[ARCH_SP] = caller.cfa;
	value[ARCH_FP] = caller.fp;
	u->registers.known = (u->registers.known & QUICK_KNOWN) | (rule->fp_words ? FP_KNOWN : 0);
	unwind_called_note(u, caller.pc - 1); /* comes last: it may evict the rule */
	return true;
}

bool unwind_step_as_made(struct unwinder *u, const struct unwind_rule *rule)
{
	const struct cfi_memory *memory = &u->space.memory;
	uint64_t *value = u->registers.value, fp = value[ARCH_FP], caller;
	uint64_t cfa = value[ARCH_SP] + (uint64_t)(int64_t)rule->cfa_offset;

	if (!unwind_rule_has_no_cfi(rule) || u->space.is_go ||
		(rule->flags & (RULE_PROLOGUE_SCAN | RULE_LOADED)) != RULE_PROLOGUE_SCAN ||
		(rule->slot == UNWIND_NO_SLOT && rule->kind != RULE_MADE) || base_number(rule) != ARCH_SP ||
		cfa % 8 || cfa <= value[ARCH_SP] || (!rule->fp_words && has_frame_pointer(u, cfa)) ||
		cfi_word_read(memory, cfa - 8, &caller) || !is_called(u, caller - 1) ||
		(rule->fp_words && cfi_word_read(memory, cfa + (uint64_t)(rule->fp_words * 8L), &fp)))
		return false;
	value[ARCH_PC] = caller;
	value[ARCH_SP] = cfa;
	value[ARCH_FP] = fp;
	u->registers.known = (u->registers.known & QUICK_KNOWN) | (rule->fp_words ? FP_KNOWN : 0);
	return true;
}

/* JIT code without frame pointers: Python's perf trampolines. From then on the scan is tried first. */
static bool step_made(struct unwinder *u, uint64_t pc, bool exact)
{
	struct unwind_rule *rule = unwind_cache_entry(u, pc);

	if (!step_prologue_scan(u, pc, exact, true))
		return false;
	if (!exact && rule->pc == pc && rule->kind == RULE_MISSING && rule->slot == UNWIND_NO_SLOT)
		rule->kind = RULE_MADE;
	return true;
}

/* Translators, and Haskell's compiler, use one frame for all their code, whose parts jump to each other by
 * unknown targets: if the caller of a scanned frame is at the same place, it is that frame. */
static bool step_as_read(struct unwinder *u, uint64_t pc)
{
	uint64_t *value = u->registers.value, caller, fp = value[ARCH_FP];
	uint16_t slot = unwind_cache_entry(u, pc)->slot;

	for (unsigned i = 0; i < UNWIND_READ_KEPT; i++) {
		const struct unwind_read *read = &u->read[i];
		uint64_t cfa = value[ARCH_SP] + (uint64_t)(int64_t)read->offset;

		if (!read->caller || read->slot != slot ||
			cfi_word_read(&u->space.memory, cfa - 8, &caller) || caller != read->caller ||
			(read->fp_words &&
				cfi_word_read(&u->space.memory, cfa + (uint64_t)(read->fp_words * 8L), &fp)))
			continue;
		value[ARCH_PC] = caller;
		value[ARCH_SP] = cfa;
		value[ARCH_FP] = fp;
		u->registers.known = (u->registers.known & QUICK_KNOWN) | (read->fp_words ? FP_KNOWN : 0);
		return true;
	}
	return false;
}

static bool is_beside(struct unwinder *u, uint64_t pc, uint64_t address)
{
	uint8_t code;

	return address - pc + MADE_CODE_BYTES < 2 * MADE_CODE_BYTES &&
	       !u->space.module_find(u->space.context, address) &&
	       !u->space.memory.read(u->space.memory.context, address, &code, sizeof(code));
}

/* HotSpot's interpreter pushes its return address and jumps: the address follows no call. It is code
 * without a file next to the called code, and the next frame must be of the same kind, or follow a call. */
static bool is_interpreters(struct unwinder *u, uint64_t pc, uint64_t caller_fp)
{
	uint64_t from = u->registers.value[ARCH_PC], fp = u->registers.value[ARCH_FP], next;

	if (u->space.module_find(u->space.context, from) || !is_beside(u, from, pc) || caller_fp <= fp ||
		caller_fp % 8 || cfi_word_read(&u->space.memory, caller_fp + 8, &next))
		return false;
	next = arch_return_address(next);
	return is_return_address(u, next, true) || is_beside(u, pc, next);
}

/* To the return address at that place, with the frame pointer as it is. */
static bool step_return(struct unwinder *u, uint64_t at)
{
	uint64_t pc;

	if (cfi_word_read(&u->space.memory, at, &pc) || !is_return_address(u, pc, false))
		return false;
	u->registers.value[ARCH_PC] = pc;
	u->registers.value[ARCH_SP] = at + ARCH_CALL_PUSHES;
	u->registers.known = QUICK_KNOWN;
	return true;
}

/* Without CFI: a leaf that has pushed nothing, else a chain of frame pointers. Both must lead to an
 * address after a call; where the chain ends (0, by the ABI), the stack ends. */
static enum step step_guess(struct unwinder *u, uint64_t from, bool leaf, bool *exact)
{
	const struct cfi_memory *memory = &u->space.memory;
	uint64_t *value = u->registers.value, sp = value[ARCH_SP], fp = value[ARCH_FP], pc, caller_fp, depth;
	enum unwind_go_leaf go = UNWIND_GO_LEAF_UNKNOWN;

	if (!leaf && !is_called(u, from) && unwind_step_trampoline(u, exact))
		return STEP_ON;
	if (is_left(u, sp))
		return STEP_PARTIAL;
	u->registers.known = QUICK_KNOWN;
	if (leaf && u->space.is_go)
		go = unwind_go_leaf(u, from, &depth);
	if (go == UNWIND_GO_LEAF_RETURNS && step_return(u, sp + depth)) {
		*exact = false;
		return STEP_ON;
	}
	if (leaf && go == UNWIND_GO_LEAF_UNKNOWN && !leaf_return(u, &pc) &&
		((*exact = !is_return_address(u, pc, false)) == false || is_injected(u, pc))) {
		value[ARCH_PC] = pc;
		value[ARCH_SP] = sp + ARCH_CALL_PUSHES;
		return STEP_ON;
	}
	*exact = false;
	if (unwind_chain_goes_on(u, fp))
		return unwind_chain_follow(u, fp);
	if (fp % 8 || (fp < sp && !is_switched(u)) || cfi_word_read(memory, fp, &caller_fp) ||
		cfi_word_read(memory, fp + 8, &pc))
		return STEP_PARTIAL;
	pc = arch_return_address(pc);
	if (!is_return_address(u, pc, true) && !is_interpreters(u, pc, caller_fp))
		return !caller_fp && is_injected(u, pc) ? STEP_FULL : STEP_PARTIAL;
	if (is_stale(u, from, fp, pc))
		return STEP_PARTIAL;
	unwind_called_note(u, pc - 1);
	u->unchanged_registers = 0;
	value[ARCH_PC] = pc;
	value[ARCH_FP] = caller_fp;
	value[ARCH_SP] = fp + 16;
	return STEP_ON;
}

/* The row of the function that the call before `address` calls, if it is in the same module. */
static const struct cfi_row *called_row(struct unwinder *u, const struct cfi_module *module, uint64_t address)
{
	const struct cfi_row *row = &u->scratch.row;
	uint64_t target = unwind_called_at(u, address);

	return target >= module->begin && target < module->end && !cfi_row_find(module, target, &u->scratch)
		       ? row
		       : NULL;
}

/* True for an assembly interpreter whose tables describe one frame from its first instruction on, as if it
 * existed before the call: LuaJIT. Its JIT code is entered by jumps and keeps that frame above its own
 * data. */
static bool is_standing(const struct cfi_row *row)
{
	const struct cfi_rule *ra = &row->reg[row->return_register];

	return row->cfa.kind == CFI_REGISTER && row->cfa.reg == ARCH_SP &&
	       row->cfa.value > ARCH_CALL_PUSHES && ra->kind == CFI_OFFSET && ra->value == -8;
}

/* If `at` holds the return address of a call of the interpreter, continues with its caller. */
static bool standing_take(struct unwinder *u, uint64_t begin, uint64_t at, uint64_t address)
{
	const struct cfi_module *module = u->space.module_find(u->space.context, address - 1);
	const struct cfi_row *row = module ? called_row(u, module, address) : NULL;
	struct arch_registers registers = {.known = UINT64_C(1) << ARCH_SP};

	if (!row || !is_standing(row) || at + 8 - (uint64_t)row->cfa.value < begin)
		return false;
	registers.value[ARCH_SP] = at + 8 - (uint64_t)row->cfa.value;
	if (cfi_row_apply(row, &module->image, &u->space.memory, &registers))
		return false;
	u->registers = registers;
	u->registers.known &= QUICK_KNOWN;
	return true;
}

/* The interpreter's tables do not describe its pushes, so a walk fails there: goes back to its frame, if
 * the innermost frame is of it. */
static bool standing_leave(struct unwinder *u, uint64_t *begin)
{
	uint64_t pc = u->frames[0].address;
	const struct cfi_module *module = u->space.module_find(u->space.context, pc);

	if (u->count != 2 || !u->frames[0].exact || !module || cfi_row_find(module, pc, &u->scratch) ||
		!is_standing(&u->scratch.row))
		return false;
	*begin -= (uint64_t)u->scratch.row.cfa.value;
	u->count = 1;
	return true;
}

/* From JIT code to the caller of its interpreter: searches the interpreter's return address, some words at
 * a time: outside the readable stack, each read takes a system call. */
static bool step_standing(struct unwinder *u, uint64_t pc, bool exact)
{
	const struct cfi_memory *memory = &u->space.memory;
	uint64_t begin = u->registers.value[ARCH_SP], words[STANDING_WORDS];

	if (!ARCH_CALL_PUSHES || unwind_cache_entry(u, pc)->slot != UNWIND_NO_SLOT ||
		(!exact && !is_return_address(u, pc + 1, true) && !standing_leave(u, &begin)))
		return false;
	for (uint64_t at = begin; at - begin < STANDING_BYTES_MAX; at += sizeof(words)) {
		if (at >= memory->low && at < memory->high && memory->high - at >= sizeof(words))
			memcpy(words, (const void *)(uintptr_t)(at + memory->shift), sizeof(words));
		else if (memory->read(memory->context, at, words, sizeof(words)))
			return false;
		for (unsigned i = 0; i < STANDING_WORDS; i++)
			if (words[i] > STANDING_BYTES_MAX && standing_take(u, begin, at + 8 * i, words[i]))
				return true;
	}
	return false;
}

/* JIT and Go code usually has frame pointers: its code is scanned where they end. */
enum step unwind_step_no_cfi(struct unwinder *u, uint64_t pc, bool leaf, bool was_exact, bool *exact)
{
	const struct unwind_rule *rule = unwind_cache_entry(u, pc);
	bool is_read_first = !u->space.is_go && (rule->slot != UNWIND_NO_SLOT || rule->kind == RULE_MADE);
	enum unwind_go_after after = UNWIND_GO_ON;
	bool follows;
	enum step step;

	if (rule->slot == UNWIND_NO_SLOT && u->space.told_find && unwind_step_told(u, pc, was_exact)) {
		*exact = false;
		return STEP_ON;
	}
	if (!was_exact && u->space.is_go)
		after = unwind_go_after(u, pc + 1);
	if (after == UNWIND_GO_ENDS && u->space.is_copy)
		return STEP_FULL;
	if (after == UNWIND_GO_RETURNS && step_return(u, u->registers.value[ARCH_SP]))
		return STEP_ON;
	if (is_read_first && step_prologue_scan(u, pc, was_exact, false))
		return STEP_ON;
	/* Once a chain has been followed the registers are not those of the last frame. */
	follows = unwind_chain_goes_on(u, u->registers.value[ARCH_FP]);
	step = step_guess(u, pc, leaf, exact);
	if (step == STEP_PARTIAL && !follows &&
		(step_made(u, pc, was_exact) || step_as_read(u, pc) || step_standing(u, pc, was_exact)))
		step = STEP_ON;
	return step;
}
