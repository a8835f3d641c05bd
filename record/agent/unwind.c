/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.c - the walk itself and its cache of rules.
 *
 * Quick walk: only pc, stack and frame pointer are followed. When a row asks for
 * another register, the walk starts again from the top and follows all of them:
 * rare enough that nobody else has to pay for it.
 *
 * Recursion is folded while it is walked: of a round of functions that comes three
 * times in a row the middle one is dropped, so that the innermost and the outermost
 * stay, and a stack of a million frames needs no more room than its path.
 *
 *   leaf  g g g g f m   ->   leaf g g f m          leaf  a b a b a b m   ->   leaf a b a b m
 */
#include "record/agent/unwind.h"

#include <string.h>

#include "record/agent/unwind_plugin.h"

enum rule_kind {
	RULE_EMPTY,
	RULE_SP,      /* CFA = stack pointer + cfa_offset */
	RULE_FP,      /* CFA = frame pointer + cfa_offset */
	RULE_COMPLEX, /* the row is interpreted each time */
	RULE_MISSING, /* no CFI */
	RULE_OUTERMOST,
	RULE_FENCE
};

#define RULE_HIDDEN 1u
#define RULE_LOADER 2u
#define RULE_READ 16u /* without CFI: its machine code was read, which gave ... */
#define RULE_RECIPE 32u
#define RULE_LOADED 64u /* ... one whose base lies on the stack */
#define RULE_OWN 8u	/* what it has called is passed over, too */
#define RULE_CALLED 4u	/* a frame pointer led here, right behind a call */

#define SWITCHED_MAX 16u

#define RECIPE_FRAME_MAX (UINT64_C(1) << 20) /* bytes, of frames whose base is not the stack pointer */

enum step { STEP_ON, STEP_FULL, STEP_PARTIAL, STEP_AGAIN };

#define FP_KNOWN (UINT64_C(1) << ARCH_FP)
#define QUICK_KNOWN (UINT64_C(1) << ARCH_SP | FP_KNOWN | UINT64_C(1) << ARCH_PC)

void unwind_cache_clear(struct unwinder *u)
{
	memset(u->cache, 0, sizeof(u->cache));
}

static struct unwind_rule *cache_entry(struct unwinder *u, uint64_t pc)
{
	return &u->cache[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

static_assert(UNWIND_CACHE_ENTRIES == 1u << (64 - 52), "the hash keeps twelve bits");

static bool fits_words(int32_t offset)
{
	return offset % 8 == 0 && offset / 8 == (int16_t)(offset / 8) && offset;
}

static uint8_t row_compress(const struct cfi_row *row, struct unwind_rule *rule)
{
	const struct cfi_rule *ra = &row->reg[row->return_register], *fp = &row->reg[ARCH_FP];

	if (ra->kind == CFI_UNDEFINED)
		return RULE_OUTERMOST;
	if (row->signal_frame || row->cfa.kind != CFI_REGISTER || ra->kind != CFI_OFFSET ||
		!fits_words(ra->value) || row->reg[ARCH_SP].kind != CFI_SAME)
		return RULE_COMPLEX;
	if (fp->kind != CFI_SAME && (fp->kind != CFI_OFFSET || !fits_words(fp->value)))
		return RULE_COMPLEX;
	rule->cfa_offset = row->cfa.value;
	rule->ra_words = (int16_t)(ra->value / 8);
	rule->fp_words = fp->kind == CFI_OFFSET ? (int16_t)(fp->value / 8) : 0;
	return row->cfa.reg == ARCH_SP ? RULE_SP : row->cfa.reg == ARCH_FP ? RULE_FP : RULE_COMPLEX;
}

static const struct unwind_rule *rule_fill(struct unwinder *u, struct unwind_rule *rule, uint64_t pc)
{
	const struct unwind_space *space = &u->space;
	const struct cfi_module *module = space->module_find(space->context, pc);

	*rule = (struct unwind_rule){.pc = pc, .slot = UNWIND_NO_SLOT, .kind = RULE_MISSING};
	if (pc >= space->loader_begin && pc < space->loader_end)
		rule->flags |= RULE_LOADER;
	if ((pc >= space->hidden_begin && pc < space->hidden_end) || (space->hides && space->hides(pc)))
		rule->flags |= RULE_HIDDEN;
	if (pc >= space->own_begin && pc < space->own_end)
		rule->flags |= RULE_HIDDEN | RULE_OWN;
	if (module) {
		rule->slot = (uint16_t)module->slot;
		if (!cfi_row_find(module, pc, &u->scratch)) {
			rule->kind = row_compress(&u->scratch.row, rule);
			rule->function = (uint32_t)u->scratch.pc_begin;
		}
	}
	if (pc >= space->fence_begin && pc < space->fence_end)
		rule->kind = RULE_FENCE;
	return rule;
}

static const struct unwind_rule *rule_find(struct unwinder *u, uint64_t pc)
{
	struct unwind_rule *rule = cache_entry(u, pc);

	return rule->pc == pc && rule->kind != RULE_EMPTY ? rule : rule_fill(u, rule, pc);
}

static enum step step_unreadable(struct unwinder *u)
{
	u->unreadable++;
	return STEP_PARTIAL;
}

static enum step step_simple(struct unwinder *u, const struct unwind_rule *rule)
{
	uint64_t *value = u->registers.value;
	uint64_t cfa = value[rule->kind == RULE_SP ? ARCH_SP : ARCH_FP] + (uint64_t)(int64_t)rule->cfa_offset;

	if (cfa <= value[ARCH_SP] || (rule->kind == RULE_FP && !(u->registers.known & FP_KNOWN)))
		return STEP_PARTIAL;
	if (cfi_word_read(&u->space.memory, cfa + (uint64_t)(rule->ra_words * 8L), &value[ARCH_PC]))
		return step_unreadable(u);
	value[ARCH_PC] = arch_return_address(value[ARCH_PC]);
	if (rule->fp_words &&
		cfi_word_read(&u->space.memory, cfa + (uint64_t)(rule->fp_words * 8L), &value[ARCH_FP]))
		return step_unreadable(u);
	value[ARCH_SP] = cfa;
	u->registers.known = (u->registers.known & QUICK_KNOWN) | (rule->fp_words ? FP_KNOWN : 0);
	return STEP_ON;
}

/* A signal handler returns to code that tables do not describe, or not right: the kernel has put the
 * registers of what was interrupted ahead of its stack, in their order. */
#if ARCH_TRAMPOLINE_BYTES
static bool step_trampoline(struct unwinder *u, bool *interrupted)
{
	const struct cfi_memory *memory = &u->space.memory;
	struct arch_registers before = {.known = ARCH_ALL_KNOWN};
	uint64_t at = u->registers.value[ARCH_SP] + ARCH_SIGNAL_CONTEXT;
	uint8_t code[ARCH_TRAMPOLINE_BYTES];

	if (memory->read(memory->context, u->registers.value[ARCH_PC], code, sizeof(code)) ||
		!arch_is_trampoline(code))
		return false;
	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		if (cfi_word_read(memory, at + 8 * i, &before.value[i]))
			return false;
	u->registers = before;
	*interrupted = true;
	return true;
}
#else
static bool step_trampoline(struct unwinder *u, bool *interrupted)
{
	(void)u;
	(void)interrupted;
	return false;
}
#endif

/* Interprets the row at pc; *interrupted: the caller's pc will be exact. */
static enum step step_row(struct unwinder *u, uint64_t pc, bool thorough, bool *interrupted)
{
	const struct cfi_module *module = u->space.module_find(u->space.context, pc);
	const struct cfi_row *row = &u->scratch.row;
	uint64_t sp = u->registers.value[ARCH_SP];
	int result;

	if (!module || cfi_row_find(module, pc, &u->scratch))
		return STEP_PARTIAL;
	if (row->signal_frame && step_trampoline(u, interrupted))
		return STEP_ON;
	result = cfi_row_apply(row, &module->image, &u->space.memory, &u->registers);
	if (result == CFI_UNKNOWN_REGISTER && !thorough)
		return STEP_AGAIN;
	if (result == CFI_UNREADABLE)
		return step_unreadable(u);
	if (result || (!row->signal_frame && u->registers.value[ARCH_SP] < sp + !!ARCH_CALL_PUSHES))
		return STEP_PARTIAL;
	*interrupted = row->signal_frame;
	if (!thorough)
		u->registers.known &= QUICK_KNOWN;
	return STEP_ON;
}

/* `anywhere`: also in code without a file, as compilers at run time make it. */
static bool is_return_address(struct unwinder *u, uint64_t address, bool anywhere)
{
	const struct unwind_rule *known = cache_entry(u, address - 1);
	uint8_t code[ARCH_CALL_BYTES_MAX];

	if (known->pc == address - 1 && (known->flags & RULE_CALLED))
		return true;
	if (!anywhere && !u->space.module_find(u->space.context, address - 1))
		return false;
	return !u->space.memory.read(u->space.memory.context, address - sizeof(code), code, sizeof(code)) &&
	       arch_is_call(code + sizeof(code));
}

/* Code without a module is asked for once: reading it takes a system call. */
static void called_note(struct unwinder *u, uint64_t pc)
{
	struct unwind_rule *rule = cache_entry(u, pc);

	if (rule->pc != pc || rule->kind == RULE_EMPTY)
		rule_fill(u, rule, pc);
	if (rule->kind == RULE_MISSING)
		rule->flags |= RULE_CALLED;
}

/* Go's runtime puts a call where a signal met code that runs for long: what it returns to is no call. */
static bool is_injected(struct unwinder *u, uint64_t pc)
{
	return u->space.is_go && u->space.module_find(u->space.context, pc);
}

/* A call of C runs on the thread's stack, with the frame pointer of the goroutine's. */
static bool is_switched(struct unwinder *u)
{
	return u->space.is_go && u->switched++ < SWITCHED_MAX;
}

/* Where a function returns to that has done nothing yet. 0 or negative. */
static int leaf_return(struct unwinder *u, uint64_t *pc)
{
	const uint64_t *link = arch_leaf_return(u->registers.value);

	if (!link)
		return cfi_word_read(&u->space.memory, u->registers.value[ARCH_SP], pc);
	*pc = arch_return_address(*link);
	return 0;
}

/* A recipe's base in ra_words: a register, and 12 bits of words from it. */
static bool base_pack(const struct recipe *recipe, int16_t *packed)
{
	int32_t words = recipe->load_at / 8;

	if (recipe->base >= 16 || words < -2048 || words >= 2048)
		return false;
	*packed = (int16_t)(words * 16 + (int32_t)recipe->base);
	return true;
}

/* False: it is not known. */
static bool base_find(struct unwinder *u, const struct unwind_rule *rule, uint64_t *base)
{
	unsigned number = (unsigned)rule->ra_words & 15u;
	int64_t at = 8 * (int64_t)((rule->ra_words - (int)number) / 16);

	if (number != ARCH_SP && !((u->registers.known | u->bare_known) & UINT64_C(1) << number))
		return false;
	*base = u->registers.value[number];
	return !(rule->flags & RULE_LOADED) || !cfi_word_read(&u->space.memory, *base + (uint64_t)at, base);
}

/* Reads the code from `next` on, once for each pc. */
static void recipe_fill(struct unwinder *u, struct unwind_rule *rule, uint64_t next)
{
	const struct cfi_module *module = u->space.module_find(u->space.context, rule->pc);
	struct recipe recipe;

	rule->flags |= RULE_READ;
	if (!module || u->space.is_go ||
		!recipe_find(next, module->begin, module->end, &u->space.memory, &u->reading, &recipe) ||
		recipe.fp_offset / 8 != (int16_t)(recipe.fp_offset / 8) ||
		!base_pack(&recipe, &rule->ra_words))
		return;
	rule->flags |= RULE_RECIPE | (recipe.is_loaded ? RULE_LOADED : 0);
	rule->cfa_offset = recipe.cfa_offset;
	rule->fp_words = (int16_t)(recipe.fp_offset / 8);
}

/* Without CFI, by the machine code. What it says must hold: false, and nothing is changed. */
static bool step_recipe(struct unwinder *u, uint64_t pc, bool exact)
{
	const struct cfi_memory *memory = &u->space.memory;
	struct unwind_rule *rule = cache_entry(u, pc);
	uint64_t *value = u->registers.value, fp = value[ARCH_FP], base, cfa, caller;

	if (rule->pc != pc || rule->kind != RULE_MISSING || (rule->flags & RULE_LOADER))
		return false;
	if (!(rule->flags & RULE_READ))
		recipe_fill(u, rule, pc + !exact);
	if (!(rule->flags & RULE_RECIPE) || !base_find(u, rule, &base))
		return false;
	cfa = base + (uint64_t)(int64_t)rule->cfa_offset;
	if (cfa % 8 || cfa <= value[ARCH_SP] ||
		(base != value[ARCH_SP] && cfa - value[ARCH_SP] > RECIPE_FRAME_MAX) ||
		cfi_word_read(memory, cfa - 8, &caller) ||
		(rule->fp_words && cfi_word_read(memory, cfa + (uint64_t)(rule->fp_words * 8L), &fp)) ||
		!is_return_address(u, caller, false))
		return false;
	value[ARCH_PC] = caller;
	value[ARCH_SP] = cfa;
	value[ARCH_FP] = fp;
	u->registers.known = (u->registers.known & QUICK_KNOWN) | (rule->fp_words ? FP_KNOWN : 0);
	return true;
}

#define MADE_CODE_BYTES (UINT64_C(256) << 20) /* a compiler at run time keeps it together */

static bool is_beside(struct unwinder *u, uint64_t pc, uint64_t address)
{
	uint8_t code;

	return address - pc + MADE_CODE_BYTES < 2 * MADE_CODE_BYTES &&
	       !u->space.module_find(u->space.context, address) &&
	       !u->space.memory.read(u->space.memory.context, address, &code, sizeof(code));
}

/* HotSpot's interpreter pushes where to return to and jumps: what stands there is no call. It is code without
 * a file beside that which was called, and the next frame must be of the kind, or right behind a call. */
static bool is_interpreters(struct unwinder *u, uint64_t pc, uint64_t caller_fp)
{
	uint64_t from = u->registers.value[ARCH_PC], fp = u->registers.value[ARCH_FP], next;

	if (u->space.module_find(u->space.context, from) || !is_beside(u, from, pc) || caller_fp <= fp ||
		caller_fp % 8 || cfi_word_read(&u->space.memory, caller_fp + 8, &next))
		return false;
	next = arch_return_address(next);
	return is_return_address(u, next, true) || is_beside(u, pc, next);
}

/* Without CFI: a leaf that has pushed nothing, else a chain of frame pointers. Both must lead
 * right behind a call; where the chain ends (0, by the ABI), the stack ends. */
static enum step step_guess(struct unwinder *u, bool leaf, bool *exact)
{
	const struct cfi_memory *memory = &u->space.memory;
	uint64_t *value = u->registers.value, sp = value[ARCH_SP], fp = value[ARCH_FP], pc, caller_fp;

	if (!leaf && step_trampoline(u, exact))
		return STEP_ON;
	u->registers.known = QUICK_KNOWN;
	if (leaf && !leaf_return(u, &pc) &&
		((*exact = !is_return_address(u, pc, false)) == false || is_injected(u, pc))) {
		value[ARCH_PC] = pc;
		value[ARCH_SP] = sp + ARCH_CALL_PUSHES;
		return STEP_ON;
	}
	*exact = false;
	if (fp % 8 || (fp < sp && !is_switched(u)) || cfi_word_read(memory, fp, &caller_fp) ||
		cfi_word_read(memory, fp + 8, &pc))
		return STEP_PARTIAL;
	pc = arch_return_address(pc);
	if (!is_return_address(u, pc, true) && !is_interpreters(u, pc, caller_fp))
		return !caller_fp && is_injected(u, pc) ? STEP_FULL : STEP_PARTIAL;
	called_note(u, pc - 1);
	u->bare_known = 0;
	value[ARCH_PC] = pc;
	value[ARCH_FP] = caller_fp;
	value[ARCH_SP] = fp + 16;
	return STEP_ON;
}

static enum step step_take(
	struct unwinder *u, const struct unwind_rule *rule, uint64_t pc, bool thorough, bool *exact)
{
	bool leaf = *exact && (u->count <= 1 || u->space.is_go), was_exact = *exact;

	if (rule->kind != RULE_MISSING)
		u->bare_known = 0;
	*exact = false;
	switch (rule->kind) {
	case RULE_SP:
	case RULE_FP:
		if (!thorough)
			return step_simple(u, rule);
		/* fall through */
	case RULE_COMPLEX:
		return step_row(u, pc, thorough, exact);
	case RULE_OUTERMOST:
		return STEP_FULL;
	default:
		if ((rule->flags & RULE_LOADER) && !u->registers.value[ARCH_FP])
			return STEP_FULL;
		return step_recipe(u, pc, was_exact) ? STEP_ON : step_guess(u, leaf, exact);
	}
}

/* Folds what the newest frame has completed; the number of frames that are left. */
static inline unsigned frames_fold(struct unwind_frame *frames, unsigned count)
{
	uint32_t function = frames[count - 1].function;

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
		memmove(&frames[count - 2 * round], &frames[count - round], round * sizeof(*frames));
		return count - round;
	}
	return count;
}

/* Takes simple steps for as long as their rules are cached and their words lie in the readable stack, with
 * everything in registers of our own: nearly all frames of nearly all stacks. True: it took none. */
static bool walk_simple(struct unwinder *u, bool *exact)
{
	uint64_t *value = u->registers.value, low = u->space.memory.low, span = u->space.memory.high - low;
	uint64_t pc = value[ARCH_PC], sp = value[ARCH_SP], fp = value[ARCH_FP], shift = u->space.memory.shift;
	uint64_t known = u->registers.known;
	unsigned count = u->count, walked = u->walked;
	bool took_none;

	for (; span >= 16 && count < UNWIND_FRAMES_MAX && walked < UNWIND_WALK_MAX; walked++) {
		uint64_t at = pc - !*exact, cfa, ra_place, fp_place;
		const struct unwind_rule *rule = cache_entry(u, at);

		if (rule->pc != at || (rule->flags & (RULE_LOADER | RULE_OWN)) ||
			(rule->kind != RULE_SP && rule->kind != RULE_FP) ||
			(rule->kind == RULE_FP && !(known & FP_KNOWN)))
			break;
		cfa = (rule->kind == RULE_SP ? sp : fp) + (uint64_t)(int64_t)rule->cfa_offset;
		ra_place = cfa + (uint64_t)(rule->ra_words * 8L);
		fp_place = cfa + (uint64_t)(rule->fp_words * 8L);
		if (cfa <= sp || ra_place - low > span - 8 || (rule->fp_words && fp_place - low > span - 8))
			break;
		if (!(rule->flags & RULE_HIDDEN)) {
			u->frames[count++] = (struct unwind_frame){.address = at,
				.slot = rule->slot,
				.exact = *exact,
				.function = rule->function};
			if (u->folds)
				count = frames_fold(u->frames, count);
		}
		pc = arch_return_address(*(const uint64_t *)(uintptr_t)(ra_place + shift));
		if (rule->fp_words) {
			fp = *(const uint64_t *)(uintptr_t)(fp_place + shift);
			known |= FP_KNOWN;
		}
		sp = cfa;
		known &= QUICK_KNOWN;
		*exact = false;
	}
	took_none = walked == u->walked;
	value[ARCH_PC] = pc;
	value[ARCH_SP] = sp;
	value[ARCH_FP] = fp;
	u->registers.known = known;
	u->count = count;
	u->walked = walked;
	return took_none;
}

static void frame_add(struct unwinder *u, const struct unwind_rule *rule, uint64_t pc, bool exact)
{
	u->frames[u->count++] = (struct unwind_frame){
		.address = pc, .slot = rule->slot, .exact = exact, .function = rule->function};
	if (u->folds)
		u->count = frames_fold(u->frames, u->count);
}

static enum step walk(struct unwinder *u, bool thorough)
{
	enum step step = STEP_ON;
	bool exact = true;

	u->count = 0;
	u->walked = 0;
	u->unreadable = u->switched = 0;
	u->bare_known = u->registers.known;
	while (step == STEP_ON) {
		const struct unwind_rule *rule;
		uint64_t pc;

		if (!thorough && !walk_simple(u, &exact))
			u->bare_known = 0;
		pc = u->registers.value[ARCH_PC] - !exact;
		rule = rule_find(u, pc);
		if (rule->kind == RULE_FENCE)
			return STEP_FULL;
		if (u->count == UNWIND_FRAMES_MAX || u->walked++ >= UNWIND_WALK_MAX)
			return STEP_PARTIAL;
		if (rule->flags & RULE_OWN)
			u->count = 0;
		if (!(rule->flags & RULE_HIDDEN))
			frame_add(u, rule, pc, exact);
		step = step_take(u, rule, pc, thorough, &exact);
	}
	return step;
}

/* Takes the addresses that another has found for frames: what is hidden, what is folded and where a stack
 * ends is as ever. They are in the buffer that the frames go to, which is never ahead of them. */
static enum step plugin_walk(struct unwinder *u, const struct arch_registers *start)
{
	unsigned found = u->plugin->walk(&u->space, start, u->frames, UNWIND_FRAMES_MAX);

	u->count = u->unreadable = 0;
	for (u->walked = 0; u->walked < found; u->walked++) {
		uint64_t pc = u->frames[u->walked].address;
		const struct unwind_rule *rule = rule_find(u, pc);

		if (rule->kind == RULE_FENCE)
			return STEP_FULL;
		if (rule->flags & RULE_OWN)
			u->count = 0;
		if (!(rule->flags & RULE_HIDDEN))
			frame_add(u, rule, pc, u->frames[u->walked].exact);
		if (u->walked + 1 == found && rule->kind == RULE_OUTERMOST)
			return STEP_FULL;
	}
	return STEP_PARTIAL;
}

enum unwind_result unwind_walk(struct unwinder *u, const struct arch_registers *start)
{
	enum step step;

	if (u->plugin)
		return plugin_walk(u, start) == STEP_FULL ? UNWIND_FULL : UNWIND_PARTIAL;

	u->registers = *start;
	step = walk(u, false);
	if (step == STEP_AGAIN) {
		u->registers = *start;
		step = walk(u, true);
	}
	return step == STEP_FULL ? UNWIND_FULL : UNWIND_PARTIAL;
}

static bool is_on_stack(const struct cfi_memory *memory, uint64_t place)
{
	return place >= memory->low && place < memory->high && memory->high - place >= sizeof(uint64_t);
}

/* The word as it lies there: a return address may be signed. It is on the stack. */
static struct unwind_word word_at(const struct cfi_memory *memory, uint64_t place)
{
	return (struct unwind_word){place, *(const uint64_t *)(uintptr_t)(place + memory->shift)};
}

/* Most frames save a frame pointer that nobody asks for, and that means something else to their callers: only
 * what a rule has used counts. */
unsigned unwind_words(struct unwinder *u, const struct arch_registers *start, struct unwind_word *words,
	unsigned most, bool *with_fp)
{
	const struct cfi_memory *memory = &u->space.memory;
	uint64_t ra_place, fp_place = 0; /* 0: the frame pointer is the one of `start` */
	unsigned count = 0;
	bool exact = true;

	u->registers = *start;
	*with_fp = false;
	for (;;) {
		uint64_t pc = u->registers.value[ARCH_PC] - !exact;
		const struct unwind_rule *rule = cache_entry(u, pc);

		if (rule->pc != pc || (rule->flags & RULE_LOADER) || count + 2 > most)
			return 0;
		if (rule->kind == RULE_FENCE || rule->kind == RULE_OUTERMOST)
			return count;
		if ((rule->kind != RULE_SP && rule->kind != RULE_FP) || step_simple(u, rule) != STEP_ON)
			return 0;
		if (rule->kind == RULE_FP && fp_place)
			words[count++] = word_at(memory, fp_place);
		else if (rule->kind == RULE_FP)
			*with_fp = true;
		/* A step leaves the CFA as the stack pointer. */
		ra_place = u->registers.value[ARCH_SP] + (uint64_t)(rule->ra_words * 8L);
		if (rule->fp_words)
			fp_place = u->registers.value[ARCH_SP] + (uint64_t)(rule->fp_words * 8L);
		if (!is_on_stack(memory, ra_place) || (fp_place && !is_on_stack(memory, fp_place)))
			return 0;
		words[count++] = word_at(memory, ra_place);
		exact = false;
	}
}
