/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.c - the walk itself, by cached rules; see unwind_step.h for the rest.
 *
 * Quick walk: tracks only pc, stack and frame pointer. If a row needs another register, the walk starts again
 * from the innermost frame and tracks all of them; this is rare.
 *
 * Recursion is folded during the walk: when a cycle of functions repeats three times in a row, the middle one
 * is dropped, so that the innermost and the outermost stay, and a stack of a million frames needs no more
 * space than its path.
 *
 *   leaf  g g g g f m   ->   leaf g g f m          leaf  a b a b a b m   ->   leaf a b a b m
 */
#include "record/agent/unwind/unwind_step.h"

#include <string.h>

#include "record/agent/unwind/unwind_plugin.h"

/* `exact`: a leaf, which may have popped its return address to keep it elsewhere. */
static enum step step_simple(struct unwinder *u, const struct unwind_rule *rule, bool exact)
{
	uint64_t *value = u->registers.value;
	uint64_t cfa = value[rule->kind == RULE_SP ? ARCH_SP : ARCH_FP] + (uint64_t)(int64_t)rule->cfa_offset;
	uint64_t fp_place;

	if (rule->kind != RULE_SP && !(u->registers.known & FP_KNOWN))
		return STEP_PARTIAL;
	if (rule->kind == RULE_ALIGNED && cfi_word_read(&u->space.memory, cfa, &cfa))
		return unwind_step_unreadable(u);
	if (cfa < value[ARCH_SP] + !exact)
		return STEP_PARTIAL;
	if (cfi_word_read(&u->space.memory, cfa + (uint64_t)(rule->ra_words * 8L), &value[ARCH_PC]))
		return unwind_step_unreadable(u);
	value[ARCH_PC] = arch_return_address(value[ARCH_PC]);
	fp_place = unwind_rule_fp_place(rule, cfa, value[ARCH_FP]);
	/* Below the stack pointer of a copied stack: it was popped, and tables often still give its old
	 * place.
	 */
	if (unwind_rule_saves_fp(rule) && cfi_word_read(&u->space.memory, fp_place, &value[ARCH_FP]) &&
		(fp_place >= value[ARCH_SP] || !(u->registers.known & FP_KNOWN)))
		return unwind_step_unreadable(u);
	value[ARCH_SP] = cfa;
	u->registers.known = (u->registers.known & QUICK_KNOWN) | (unwind_rule_saves_fp(rule) ? FP_KNOWN : 0);
	return STEP_ON;
}

static enum step step_take(
	struct unwinder *u, const struct unwind_rule *rule, uint64_t pc, bool thorough, bool *exact)
{
	bool leaf = *exact && (u->count <= 1 || u->space.is_go), was_exact = *exact;

	if (!unwind_rule_has_no_cfi(rule))
		u->unchanged_registers = 0;
	*exact = false;
	switch (rule->kind) {
	case RULE_SP:
	case RULE_FP:
	case RULE_ALIGNED:
		if (!thorough)
			return step_simple(u, rule, was_exact);
		/* fall through */
	case RULE_COMPLEX:
		return unwind_step_row(u, pc, thorough, exact);
	case RULE_OUTERMOST:
		return STEP_FULL;
	default:
		if ((rule->flags & RULE_LOADER) && !u->registers.value[ARCH_FP])
			return STEP_FULL;
		return unwind_step_no_cfi(u, pc, leaf, was_exact, exact);
	}
}

void unwind_frame_add(struct unwinder *u, const struct unwind_rule *rule, uint64_t pc, bool exact)
{
	u->frames[u->count++] = (struct unwind_frame){.address = pc,
		.sp = u->registers.value[ARCH_SP],
		.slot = rule->slot,
		.exact = exact,
		.function = rule->function};
	if (u->folds)
		u->count = unwind_frames_fold(u->frames, u->count);
}

HOT static enum step walk(struct unwinder *u, bool thorough)
{
	enum step step = STEP_ON;
	bool exact = true;

	u->count = 0;
	u->walked = 0;
	u->unreadable = u->switched = u->go_top = 0;
	u->exception.count = 0;
	u->unchanged_registers = u->registers.known;
	while (step == STEP_ON) {
		const struct unwind_rule *rule;
		uint64_t pc;
		bool raises, lands;

		if (!thorough && !unwind_exception_looks(u) && !unwind_walk_simple(u, &exact))
			u->unchanged_registers = 0;
		pc = u->registers.value[ARCH_PC] - !exact;
		rule = unwind_rule_find(u, pc);
		if (rule->kind == RULE_FENCE || (!exact && rule->flags & RULE_PLANTED))
			return STEP_FULL;
		if (u->count == u->most || u->walked++ >= UNWIND_WALK_MAX)
			return STEP_PARTIAL;
		if (rule->flags & RULE_OWN)
			u->count = 0;
		if (!(rule->flags & RULE_HIDDEN))
			unwind_frame_add(u, rule, pc, exact);
		raises = rule->flags & RULE_RAISES && !unwind_rule_has_no_cfi(rule);
		lands = raises && exact && unwind_exception_lands(u, rule);
		step = step_take(u, rule, pc, thorough, &exact);
		if (lands)
			exact = true;
		else if (raises && step == STEP_ON)
			unwind_exception_note(u);
		else if (u->exception.count && step != STEP_AGAIN &&
			 unwind_exception_doubts(u, step == STEP_PARTIAL, &exact))
			step = STEP_ON;
	}
	if (step == STEP_PARTIAL && u->go_top) {
		u->count = u->go_top < u->count ? u->go_top : u->count;
		return STEP_FULL;
	}
	return step;
}

/* Takes the addresses that the plug-in's unwinder found as frames; hiding, folding and stack ends work as
 * in our own walk. They are in the buffer to which the frames are written, which never overtakes them. */
static enum step plugin_walk(struct unwinder *u, const struct arch_registers *start)
{
	unsigned found = u->plugin->walk(&u->space, start, u->frames, u->most);

	u->count = u->unreadable = 0;
	for (u->walked = 0; u->walked < found; u->walked++) {
		uint64_t pc = u->frames[u->walked].address;
		const struct unwind_rule *rule = unwind_rule_find(u, pc);

		if (rule->kind == RULE_FENCE || (!u->frames[u->walked].exact && rule->flags & RULE_PLANTED))
			return STEP_FULL;
		if (rule->flags & RULE_OWN)
			u->count = 0;
		if (!(rule->flags & RULE_HIDDEN))
			unwind_frame_add(u, rule, pc, u->frames[u->walked].exact);
		if (u->walked + 1 == found && rule->kind == RULE_OUTERMOST)
			return STEP_FULL;
	}
	return STEP_PARTIAL;
}

HOT enum unwind_result unwind_walk(struct unwinder *u, const struct arch_registers *start)
{
	enum step step;

	if (u->plugin)
		return plugin_walk(u, start) == STEP_FULL ? UNWIND_FULL : UNWIND_PARTIAL;

	u->registers = *start;
	u->rows = 0;
	step = walk(u, false);
	if (step == STEP_AGAIN) {
		u->registers = *start;
		step = walk(u, true);
	}
	return step == STEP_FULL ? UNWIND_FULL : UNWIND_PARTIAL;
}

uint32_t unwind_function(struct unwinder *u, uint64_t pc)
{
	return unwind_rule_find(u, pc)->function;
}

HOT unsigned unwind_fold(struct unwind_frame *frames, unsigned count)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		frames[kept++] = frames[i];
		kept = unwind_frames_fold(frames, kept);
	}
	return kept;
}

/* True if the place is not further in than the walk's begin. */
static bool is_on_stack(const struct cfi_memory *memory, uint64_t sp, uint64_t place)
{
	return place >= memory->low && place < memory->high && memory->high - place >= sizeof(uint64_t) &&
	       place >= sp && place - sp <= UINT32_MAX;
}

/* The raw word at a place on the stack: a return address may be signed. */
static struct unwind_word word_at(const struct cfi_memory *memory, uint64_t sp, uint64_t place)
{
	return (struct unwind_word){
		*(const uint64_t *)(uintptr_t)(place + memory->shift), (uint32_t)(place - sp)};
}

/* Most frames save a frame pointer that no rule uses, and that means something else to their callers: only
 * words used by rules count. */
unsigned unwind_words(struct unwinder *u, const struct arch_registers *start, struct unwind_word *words,
	unsigned most, bool *with_fp)
{
	const struct cfi_memory *memory = &u->space.memory;
	uint64_t sp = start->value[ARCH_SP], fp_place = 0; /* 0: the frame pointer is that of `start` */
	unsigned count = 0;
	bool exact = true;

	if (u->exception.count && u->exception.tries)
		return 0;
	u->registers = *start;
	*with_fp = false;
	for (;;) {
		uint64_t pc = u->registers.value[ARCH_PC] - !exact, fp = u->registers.value[ARCH_FP];
		const struct unwind_rule *rule = unwind_rule_find(u, pc);
		uint64_t ra_place, cfa_place = fp + (uint64_t)(int64_t)rule->cfa_offset;

		if ((rule->flags & RULE_LOADER) || count + 3 > most)
			return 0;
		if (rule->kind == RULE_FENCE || rule->kind == RULE_OUTERMOST ||
			(!exact && rule->flags & RULE_PLANTED))
			return count;
		if (unwind_rule_is_simple(rule) ? step_simple(u, rule, exact) != STEP_ON
						: !unwind_step_as_made(u, rule))
			return 0;
		if (unwind_rule_takes_fp(rule) && fp_place)
			words[count++] = word_at(memory, sp, fp_place);
		else if (unwind_rule_takes_fp(rule))
			*with_fp = true;
		/* After a step, the stack pointer is the CFA. */
		ra_place = u->registers.value[ARCH_SP] +
			   (unwind_rule_is_simple(rule) ? (uint64_t)(rule->ra_words * 8L) : (uint64_t)-8);
		if (unwind_rule_saves_fp(rule))
			fp_place = unwind_rule_fp_place(rule, u->registers.value[ARCH_SP], fp);
		if (!is_on_stack(memory, sp, ra_place) || (fp_place && !is_on_stack(memory, sp, fp_place)) ||
			(rule->kind == RULE_ALIGNED && !is_on_stack(memory, sp, cfa_place)))
			return 0;
		if (rule->kind == RULE_ALIGNED)
			words[count++] = word_at(memory, sp, cfa_place);
		words[count++] = word_at(memory, sp, ra_place);
		exact = false;
	}
}
