/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_table.c - a module's tables at a pc: compressed into a small rule for the cache if possible, else
 * the row is interpreted.
 */
#include "record/agent/unwind/unwind_step.h"

#include <dwarf.h>
#include <string.h>

void unwind_cache_clear(struct unwinder *u)
{
	memset(u->cache, 0, sizeof(u->cache));
	memset(u->cache_next, 0, sizeof(u->cache_next));
	memset(u->hopeless, 0, sizeof(u->hopeless));
	u->reuse.count = 0;
}

static bool fits_words(int32_t offset)
{
	return offset % 8 == 0 && offset / 8 == (int16_t)(offset / 8) && offset;
}

/* True if the expression at `place` is an offset from the frame pointer, in words, followed by the
 * operation `more` (0: none). Its length and a short offset take one byte each. */
static bool is_at_fp(const struct cfi_image *image, int32_t place, uint8_t more, int16_t *words)
{
	const uint8_t *bytes = image->bytes + (uint32_t)place;
	uint64_t room = image->end - image->begin;
	uint8_t length = more ? 3 : 2;
	int distance;

	if (place < 0 || room < 4 || (uint32_t)place > room - 4 || bytes[0] != length ||
		bytes[1] != DW_OP_breg0 + ARCH_FP || bytes[2] & 0x80 || (more && bytes[3] != more))
		return false;
	distance = (bytes[2] & 0x3f) - (bytes[2] & 0x40);
	*words = (int16_t)(distance / 8);
	return distance % 8 == 0;
}

/* GCC's form for aligned frames of functions that access their arguments: def_cfa_expression (breg FP,
 * deref), and the place of the frame pointer. */
static uint8_t row_compress_aligned(
	const struct cfi_row *row, const struct cfi_image *image, struct unwind_rule *rule)
{
	const struct cfi_rule *ra = &row->reg[row->return_register], *fp = &row->reg[ARCH_FP];
	int16_t cfa_words, fp_words;

	if (row->cfa.kind != CFI_VAL_EXPRESSION || fp->kind != CFI_EXPRESSION ||
		!is_at_fp(image, row->cfa.value, DW_OP_deref, &cfa_words) ||
		!is_at_fp(image, fp->value, 0, &fp_words))
		return RULE_COMPLEX;
	rule->cfa_offset = cfa_words * 8;
	rule->ra_words = (int16_t)(ra->value / 8);
	rule->fp_words = fp_words;
	return RULE_ALIGNED;
}

/* True if the row puts registers into a frame whose own address comes from elsewhere. */
static bool row_names_frame(const struct cfi_row *row, const struct cfi_image *image)
{
	const struct cfi_rule *fp = &row->reg[ARCH_FP];
	int16_t words;

	return row->cfa.kind == CFI_REGISTER && row->cfa.reg != ARCH_FP && fp->kind == CFI_EXPRESSION &&
	       is_at_fp(image, fp->value, 0, &words);
}

static bool is_fp_in_frame(const struct cfi_row *row, const struct arch_registers *at)
{
	uint64_t cfa = at->value[row->cfa.reg] + (uint64_t)(int64_t)row->cfa.value;

	return at->value[ARCH_FP] >= at->value[ARCH_SP] && at->value[ARCH_FP] < cfa;
}

/* GCC's epilogues of aligned frames keep that row after everything was popped and the frame pointer is the
 * caller's: corrects the row once the stack pointer is restored, and just before, if the registers (NULL:
 * unknown) show it. */
static void row_mend(struct cfi_row *row, const struct cfi_image *image, const struct arch_registers *at)
{
	if (!row_names_frame(row, image) || (row->cfa.reg != ARCH_SP && (!at || is_fp_in_frame(row, at))))
		return;
	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		if (row->reg[i].kind == CFI_EXPRESSION)
			row->reg[i].kind = CFI_SAME;
}

static uint8_t row_compress(
	const struct cfi_row *row, const struct cfi_image *image, struct unwind_rule *rule)
{
	const struct cfi_rule *ra = &row->reg[row->return_register], *fp = &row->reg[ARCH_FP];

	if (ra->kind == CFI_UNDEFINED)
		return RULE_OUTERMOST;
	if (row->signal_frame || ra->kind != CFI_OFFSET || !fits_words(ra->value) ||
		row->reg[ARCH_SP].kind != CFI_SAME)
		return RULE_COMPLEX;
	if (row->cfa.kind != CFI_REGISTER)
		return row_compress_aligned(row, image, rule);
	if (fp->kind != CFI_SAME && (fp->kind != CFI_OFFSET || !fits_words(fp->value)))
		return RULE_COMPLEX;
	rule->cfa_offset = row->cfa.value;
	rule->ra_words = (int16_t)(ra->value / 8);
	rule->fp_words = fp->kind == CFI_OFFSET ? (int16_t)(fp->value / 8) : 0;
	return row->cfa.reg == ARCH_SP ? RULE_SP : row->cfa.reg == ARCH_FP ? RULE_FP : RULE_COMPLEX;
}

/* A rule that was refilled after an eviction is the last to be evicted. */
static void cache_took(struct unwinder *u, const struct unwind_rule *rule)
{
	size_t place = (size_t)(rule - u->cache);
	uint8_t *next = &u->cache_next[place / UNWIND_CACHE_WAYS];

	if (place % UNWIND_CACHE_WAYS == *next)
		*next = (*next + 1) % UNWIND_CACHE_WAYS;
}

/* Of the place behind the call by which a signal handler returns, too: its table ends there. */
static int row_find(const struct cfi_module *module, uint64_t pc, struct cfi_scratch *scratch)
{
	int result = cfi_row_find(module, pc, scratch);

	if (result == CFI_NONE && !cfi_row_find(module, pc - 1, scratch) && scratch->row.signal_frame)
		return 0;
	return result;
}

const struct unwind_rule *unwind_rule_fill(struct unwinder *u, struct unwind_rule *rule, uint64_t pc)
{
	const struct unwind_space *space = &u->space;
	const struct cfi_module *module = space->module_find(space->context, pc);

	cache_took(u, rule);
	*rule = (struct unwind_rule){.pc = pc, .slot = UNWIND_NO_SLOT, .kind = RULE_MISSING};
	if (pc >= space->loader_begin && pc < space->loader_end)
		rule->flags |= RULE_LOADER;
	if ((pc >= space->hidden_begin && pc < space->hidden_end) || (space->hides && space->hides(pc)))
		rule->flags |= RULE_HIDDEN;
	if (pc >= space->own_begin && pc < space->own_end)
		rule->flags |= RULE_HIDDEN | RULE_OWN;
	if (module) {
		rule->slot = (uint16_t)module->slot;
		if (!row_find(module, pc, &u->scratch)) {
			row_mend(&u->scratch.row, &module->image, NULL);
			rule->kind = row_compress(&u->scratch.row, &module->image, rule);
			rule->function = (uint32_t)u->scratch.pc_begin;
			rule->flags |= unwind_row_raises(&u->scratch.row) ? RULE_RAISES : 0;
		}
	}
	if (!rule->function) /* JIT code, assembly: the calling place identifies the function */
		rule->function = (uint32_t)pc;
	if (pc >= space->fence_begin && pc < space->fence_end)
		rule->kind = RULE_FENCE;
	else if (unwind_is_planted(u, module, pc, rule->kind != RULE_MISSING))
		rule->flags |= RULE_PLANTED;
	return rule;
}

/* A signal handler returns to code that tables do not describe, or describe wrongly: reads the interrupted
 * registers from the kernel's signal frame. */
#if ARCH_TRAMPOLINE_BYTES
bool unwind_step_trampoline(struct unwinder *u, bool *interrupted)
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
bool unwind_step_trampoline(struct unwinder *u, bool *interrupted)
{
	(void)u;
	(void)interrupted;
	return false;
}
#endif

enum step unwind_step_row(struct unwinder *u, uint64_t pc, bool thorough, bool *interrupted)
{
	const struct cfi_module *module = u->space.module_find(u->space.context, pc);
	const struct cfi_row *row = &u->scratch.row;
	uint64_t sp = u->registers.value[ARCH_SP];
	bool takes_off;
	int result;

	u->rows++;
	if (!module || row_find(module, pc, &u->scratch))
		return STEP_PARTIAL;
	if (row->signal_frame && unwind_step_trampoline(u, interrupted))
		return STEP_ON;
	row_mend(&u->scratch.row, &module->image, &u->registers);
	/* vfork has already popped its return address, as both processes return by it. */
	takes_off = ARCH_CALL_PUSHES && row->reg[row->return_register].kind != CFI_REGISTER;
	result = cfi_row_apply(row, &module->image, &u->space.memory, &u->registers);
	if (result == CFI_UNKNOWN_REGISTER && !thorough)
		return STEP_AGAIN;
	if (result == CFI_UNREADABLE)
		return unwind_step_unreadable(u);
	if (result || (!row->signal_frame && u->registers.value[ARCH_SP] < sp + takes_off))
		return STEP_PARTIAL;
	*interrupted = row->signal_frame;
	if (!thorough)
		u->registers.known &= QUICK_KNOWN;
	return STEP_ON;
}
