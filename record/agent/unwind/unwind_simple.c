/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_simple.c - runs of simple steps, nearly all of nearly all walks: by cached rules, until they meet
 * the last walk's steps (unwind_reuse.h).
 */
#include "record/agent/unwind/unwind_step.h"

/* State of a walk by simple steps, in local variables. */
struct simple {
	uint64_t pc, sp, fp, known;
	unsigned count, walked;
	bool exact;
	unsigned next; /* index in the kept steps: all before are further in */
	bool has_met;  /* it met the kept steps, at `met` */
	unsigned met;
};

static inline void simple_emit(struct unwinder *u, struct simple *at, uint64_t address, uint64_t sp,
	uint32_t function, uint16_t slot)
{
	u->frames[at->count++] = (struct unwind_frame){
		.address = address, .sp = sp, .slot = slot, .exact = at->exact, .function = function};
	if (u->folds)
		at->count = unwind_frames_fold(u->frames, at->count);
}

/* A frame pointer used for other data may be misaligned. */
static inline uint64_t word_at(uint64_t address)
{
	uint64_t word;

	__builtin_memcpy(&word, (const void *)(uintptr_t)address, sizeof(word));
	return word;
}

/* The first kept step, from `next` on, whose words have changed. */
HOT static unsigned reuse_differ(const struct unwinder *u, const struct unwind_reuse *reuse, unsigned next)
{
	uint64_t shift = u->space.memory.shift;

	for (; next < UNWIND_REUSE_MAX - 1; next++) {
		const struct unwind_reuse_step *step = &reuse->steps[next], *outer = step + 1;
		uint64_t cfa = reuse->high - outer->below + shift;

		if (arch_return_address(word_at(cfa + (uint64_t)(step->ra_words * 8L))) != outer->pc ||
			(step->fp_words && word_at(cfa + (uint64_t)(step->fp_words * 8L)) != outer->fp))
			break;
	}
	return next;
}

/* True if the walk reaches a kept step whose outer steps are unchanged: it jumps to the end of the kept
 * run. */
HOT static bool reuse_meet(struct unwinder *u, struct simple *at)
{
	const struct unwind_reuse *reuse = &u->reuse;
	const struct unwind_reuse_step *step = &reuse->steps[at->next],
				       *end = &reuse->steps[UNWIND_REUSE_MAX - 1];
	unsigned steps = (unsigned)(end - step), differs;

	if (at->sp < u->space.memory.low || step->pc != at->pc || step->fp != at->fp ||
		step->knows_fp != !!(at->known & FP_KNOWN) || at->count + steps > u->most ||
		at->walked + steps > UNWIND_WALK_MAX)
		return false;
	differs = reuse_differ(u, reuse, at->next);
	if (differs < UNWIND_REUSE_MAX - 1) {
		at->next = differs + 1;
		return false;
	}
	at->met = at->next;
	at->has_met = true;
	for (; step < end; step++)
		if (!step->is_hidden)
			simple_emit(
				u, at, step->pc - 1, reuse->high - step->below, step->function, step->slot);
	at->pc = end->pc;
	at->sp = reuse->high - end->below;
	at->fp = end->fp;
	at->known = (at->known & QUICK_KNOWN & ~FP_KNOWN) | (end->knows_fp ? FP_KNOWN : 0);
	at->walked += steps;
	at->next = UNWIND_REUSE_MAX;
	return true;
}

/* True while the walk has not reached the kept steps. */
static inline bool reuse_may_meet(const struct unwinder *u, struct simple *at)
{
	uint64_t below = u->reuse.high - at->sp;

	while (at->next < UNWIND_REUSE_MAX - 1 && u->reuse.steps[at->next].below > below)
		at->next++;
	return at->next < UNWIND_REUSE_MAX - 1 && u->reuse.steps[at->next].below == below;
}

static inline struct unwind_reuse_step reuse_here(const struct simple *at, uint64_t high)
{
	return (struct unwind_reuse_step){.pc = at->pc,
		.fp = at->fp,
		.below = (uint32_t)(high - at->sp),
		.knows_fp = at->known & FP_KNOWN};
}

/* Keeps the next step. Words further in than the frame may be gone at the next walk. */
static inline void reuse_add(struct unwinder *u, const struct simple *at, const struct unwind_rule *rule,
	uint64_t ra_place, uint64_t fp_place)
{
	struct unwind_reuse *reuse = &u->reuse;
	struct unwind_reuse_step *step = &reuse->fresh[reuse->fresh_count];

	if (at->exact || rule->kind == RULE_ALIGNED || ra_place < at->sp ||
		(rule->fp_words && fp_place < at->sp) || u->space.memory.high - at->sp > UINT32_MAX ||
		reuse->fresh_count == UNWIND_REUSE_MAX - 1) {
		reuse->fresh_count = 0;
		return;
	}
	*step = reuse_here(at, u->space.memory.high);
	step->function = rule->function;
	step->slot = rule->slot;
	step->ra_words = rule->ra_words;
	step->fp_words = rule->fp_words;
	step->is_hidden = rule->flags & RULE_HIDDEN;
	reuse->fresh_count++;
}

/* Puts fresh steps before the kept ones they met, or replaces those. */
HOT static void reuse_end(struct unwinder *u, const struct simple *at)
{
	struct unwind_reuse *reuse = &u->reuse;
	unsigned fresh = reuse->fresh_count, end = UNWIND_REUSE_MAX;

	if (at->has_met) {
		end = at->met;
	} else if (fresh >= UNWIND_REUSE_LEAST) {
		reuse->high = u->space.memory.high;
		reuse->fresh[fresh++] = reuse_here(at, reuse->high);
	} else {
		return;
	}
	if (fresh > end) {
		reuse->count = 0;
		return;
	}
	for (unsigned i = 0; i < fresh; i++) {
		reuse->steps[end - fresh + i] = reuse->fresh[i];
		hot_loop();
	}
	if (fresh)
		reuse->count = UNWIND_REUSE_MAX - end + fresh;
}

/* Steps by the rule of pc; false: no simple rule, or its words are outside the readable stack. */
static inline bool simple_step(struct unwinder *u, struct simple *at)
{
	uint64_t low = u->space.memory.low, span = u->space.memory.high - low, shift = u->space.memory.shift;
	uint64_t pc = at->pc - !at->exact, cfa, ra_place, fp_place;
	const struct unwind_rule *rule = unwind_cache_entry(u, pc);

	if (rule->pc != pc || (rule->flags & (RULE_LOADER | RULE_OWN | RULE_PLANTED | RULE_RAISES)) ||
		!unwind_rule_is_simple(rule) || (rule->kind != RULE_SP && !(at->known & FP_KNOWN)))
		return false;
	cfa = (rule->kind == RULE_SP ? at->sp : at->fp) + (uint64_t)(int64_t)rule->cfa_offset;
	if (rule->kind == RULE_ALIGNED) {
		if (cfa - low > span - 8)
			return false;
		cfa = word_at(cfa + shift);
	}
	ra_place = cfa + (uint64_t)(rule->ra_words * 8L);
	fp_place = unwind_rule_fp_place(rule, cfa, at->fp);
	if (cfa <= at->sp || ra_place - low > span - 8 ||
		(unwind_rule_saves_fp(rule) && fp_place - low > span - 8))
		return false;
	reuse_add(u, at, rule, ra_place, fp_place);
	if (!(rule->flags & RULE_HIDDEN))
		simple_emit(u, at, pc, at->sp, rule->function, rule->slot);
	at->pc = arch_return_address(word_at(ra_place + shift));
	if (unwind_rule_saves_fp(rule)) {
		at->fp = word_at(fp_place + shift);
		at->known |= FP_KNOWN;
	}
	at->sp = cfa;
	at->known &= QUICK_KNOWN;
	at->exact = false;
	return true;
}

HOT bool unwind_walk_simple(struct unwinder *u, bool *exact)
{
	uint64_t *value = u->registers.value;
	struct simple at = {.pc = value[ARCH_PC],
		.sp = value[ARCH_SP],
		.fp = value[ARCH_FP],
		.known = u->registers.known,
		.count = u->count,
		.walked = u->walked,
		.exact = *exact,
		.next = UNWIND_REUSE_MAX};
	bool took_none;

	if (u->space.memory.high - u->space.memory.low < 16)
		return true;
	if (u->reuse.count && u->reuse.high == u->space.memory.high)
		at.next = UNWIND_REUSE_MAX - u->reuse.count;
	u->reuse.fresh_count = 0;
	while (at.count < u->most && at.walked < UNWIND_WALK_MAX) {
		if (!at.exact && reuse_may_meet(u, &at) && reuse_meet(u, &at))
			continue;
		if (!simple_step(u, &at))
			break;
		at.walked++;
		if (at.has_met)
			u->reuse.count = 0; /* the kept run was incomplete */
	}
	if (!at.has_met || u->reuse.count)
		reuse_end(u, &at);
	took_none = at.walked == u->walked;
	value[ARCH_PC] = at.pc;
	value[ARCH_SP] = at.sp;
	value[ARCH_FP] = at.fp;
	u->registers.known = at.known;
	u->count = at.count;
	u->walked = at.walked;
	*exact = at.exact;
	return took_none;
}
