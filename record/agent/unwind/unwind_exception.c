/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_exception.c - unwinds out of the function of the C++ runtime that resumes where an exception is
 * caught. It resumes by its own epilogue: it copies the catcher's registers over its saved registers of its
 * caller, including the return address, and restores the stack pointer last. From then on the return address
 * is the catcher's, in the place of the caller's, and a walk would look for the catcher's caller too far in:
 *
 *     _Unwind_RaiseException   return address: in main     copied from ...  | to this one the stack is
 *     __cxa_throw              ...                                          | restored by the last
 *     thrower                  return address: in main     ... here         v two instructions
 *     main
 *
 * If the next return address is invalid, or the walk leads nowhere, it is repeated from the place of the
 * copy's source; or, just after the landing pad's address was stored, from the place that a register gives.
 * The frame pointer is copied before: a caller that uses one (Rust) is then assumed to extend to a return
 * address.
 */
#include "record/agent/unwind/unwind_step.h"

#define RAISE_BYTES_MAX (UINT64_C(256) << 10) /* of the frames in between */
#define RAISE_FRAME_MAX 512u		      /* bytes of that caller */
#define RAISE_TRIES_MAX 8u		      /* found values may be stale */

bool unwind_row_raises(const struct cfi_row *row)
{
	for (int i = 0; i < ARCH_RAISE_REGISTERS; i++) /* none on some processors */
		if (row->reg[i].kind != CFI_OFFSET)
			return false;
	return ARCH_RAISE_REGISTERS && row->cfa.kind == CFI_REGISTER;
}

bool unwind_exception_lands(struct unwinder *u, const struct unwind_rule *rule)
{
	uint8_t code;

	if (rule->kind == RULE_COMPLEX)
		return true;
	return rule->kind == RULE_SP && rule->cfa_offset == ARCH_CALL_PUSHES &&
	       !u->space.memory.read(u->space.memory.context, rule->pc, &code, sizeof(code)) &&
	       code != ARCH_RETURN;
}

void unwind_exception_note(struct unwinder *u)
{
	/* At that point its callees call nothing. */
	if (u->exception.count || u->count > 2)
		return;
	u->exception.tries = u->exception.frame_bytes = 0;
	u->exception.is_settled = false;
	u->exception.count = u->count;
	u->exception.walked = u->walked;
	u->exception.at = u->registers.value[ARCH_SP];
	u->exception.registers = u->registers;
}

/* Its last instructions hold the place in a register, and before that its distance. If the value is not on
 * the stack, these are not the last instructions. */
static uint64_t place_handed_over(const struct unwind_exception *exception)
{
	uint64_t place = exception->registers.value[ARCH_RAISE_PLACE];

	return place < RAISE_BYTES_MAX ? exception->registers.value[ARCH_SP] - 8 + place : place;
}

static void take_up(struct unwinder *u, uint64_t sp)
{
	u->registers = u->exception.registers;
	u->registers.value[ARCH_SP] = sp;
	u->count = u->exception.count;
	u->walked = u->exception.walked;
	u->unreadable = 0;
}

/* Takes the landing pad, if it was stored at the place in the register. */
static bool handler_take(struct unwinder *u)
{
	const struct cfi_memory *memory = &u->space.memory;
	uint64_t begin = u->exception.registers.value[ARCH_SP], at = place_handed_over(&u->exception),
		 handler;

	if (u->exception.count != 1 || at % 8 || at < memory->low || at < begin - 8 || at >= memory->high ||
		cfi_word_read(memory, at, &handler))
		return false;
	take_up(u, at + ARCH_CALL_PUSHES);
	u->registers.value[ARCH_PC] = handler;
	return true;
}

/* Checked for each word: when reading another process, each read elsewhere may move the window of its
 * stack. */
static bool is_within_reach(const struct cfi_memory *memory, uint64_t at)
{
	return at >= memory->low && at < memory->high && memory->high - at >= sizeof(uint64_t);
}

/* The next candidate end of the caller's frame, from its frame pointer. */
static bool frame_take(struct unwinder *u)
{
	const struct unwind_space *space = &u->space;
	uint64_t begin = u->exception.registers.value[ARCH_SP],
		 caller = u->exception.registers.value[ARCH_PC];
	const struct unwind_rule *rule = unwind_rule_find(u, caller - 1);

	if (rule->kind != RULE_FP)
		return false;
	while (u->exception.frame_bytes < RAISE_FRAME_MAX) {
		uint64_t at = begin + u->exception.frame_bytes,
			 fp = at + 8 - (uint64_t)(int64_t)rule->cfa_offset, word;

		if (!is_within_reach(&space->memory, at))
			break;
		u->exception.frame_bytes += 8;
		word = *(const uint64_t *)(uintptr_t)(at + space->memory.shift);
		if (fp < begin || !space->module_find(space->context, word - 1) || !unwind_is_called(u, word))
			continue;
		take_up(u, begin);
		u->registers.value[ARCH_FP] = fp;
		u->registers.known |= FP_KNOWN;
		return true;
	}
	return false;
}

/* The next candidate place. */
static bool place_take(struct unwinder *u, bool *exact)
{
	const struct cfi_memory *memory = &u->space.memory;
	struct unwind_exception *exception = &u->exception;
	uint64_t begin = exception->registers.value[ARCH_SP], caller = exception->registers.value[ARCH_PC],
		 at;

	*exact = false;
	if (begin % 8 || exception->tries++ >= RAISE_TRIES_MAX)
		return false;
	if (exception->tries == 1 && handler_take(u))
		return *exact = true;
	for (at = exception->at; at - begin < RAISE_BYTES_MAX && is_within_reach(memory, at); at += 8) {
		if (*(const uint64_t *)(uintptr_t)(at + memory->shift) != caller)
			continue;
		exception->at = at + 8;
		take_up(u, at + ARCH_CALL_PUSHES);
		return true;
	}
	exception->at = at;
	return exception->is_near && frame_take(u);
}

bool unwind_exception_doubts(struct unwinder *u, bool is_lost, bool *exact)
{
	struct unwind_exception *exception = &u->exception;

	if (exception->is_settled || (!is_lost && (u->walked != exception->walked + 1 ||
							  unwind_is_called(u, u->registers.value[ARCH_PC]))))
		return false;
	if (!exception->tries)
		exception->is_near = u->walked == exception->walked + 1;
	if (place_take(u, exact))
		return true;
	/* Everything as before. A value that is no return address may still be right: a handler's, a
	 * fiber's. */
	exception->is_settled = true;
	take_up(u, exception->registers.value[ARCH_SP]);
	return true;
}
