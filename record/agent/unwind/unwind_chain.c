/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_chain.c - the outer frames of a thread of Go's whose copied stack is not all of it. Go's runtime
 * does much on the thread's own stack for a goroutine that has another one (runtime.systemstack), and a
 * goroutine's stack may be larger than the copy. When the copy is looked at, what it does not hold is of
 * later. But Go keeps frame pointers in all of its code, and the kernel has followed them at the sample:
 *
 *   copy    scanobject  gcDrain  gcAssistAlloc.func1  systemstack
 *   chain   pc          ...      ...                  ...          mallocgc  newobject ...
 *
 * Both begin with the same frame pointer, so the copy tells which entry was read where it ends. systemstack
 * has no frame of its own: the pointer is its caller's, gcAssistAlloc's, which no entry is in. It is the
 * function that the next entry has called, and calls systemstack.
 */
#include "record/agent/unwind/unwind_step.h"

#include <string.h>

#define ENTRY_FRAME_WORDS 64u	 /* of a goroutine's first function, below its frame pointer */
#define CLOSURE_CODE_BYTES 96u	 /* that set up a call of systemstack */
#define CLOSURE_BYTES_MAX 16384u /* of the function that it runs */

static bool is_in(const struct cfi_memory *memory, uint64_t at)
{
	return at >= memory->low && at < memory->high && memory->high - at >= 2 * sizeof(uint64_t);
}

bool unwind_chain_goes_on(const struct unwinder *u, uint64_t fp)
{
	return u->space.is_go && u->space.chain.count && !is_in(&u->space.memory, fp);
}

/* Index of the entry that the kernel has read at fp; 0: it was not there. */
static unsigned index_of(const struct unwinder *u, uint64_t fp)
{
	const struct unwind_chain *chain = &u->space.chain;
	uint64_t at = chain->fp;

	for (unsigned i = 1; i < chain->count; i++) {
		if (at == fp)
			return i;
		if (!is_in(&u->space.memory, at) || cfi_word_read(&u->space.memory, at, &at))
			return 0;
	}
	return 0;
}

/* Behind the call of systemstack's function: it looks up the goroutine (%fs:-8, also by a register). */
static bool is_systemstack(struct unwinder *u, uint64_t return_address)
{
	static const uint8_t call[] = {0xff, 0xd7}, look[] = {0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff},
			     place[] = {0x48, 0xc7, 0xc1, 0xf8, 0xff, 0xff, 0xff, 0x64};
	uint8_t code[sizeof(call) + sizeof(look)];

	return !u->space.memory.read(
		       u->space.memory.context, return_address - sizeof(call), code, sizeof(code)) &&
	       !memcmp(code, call, sizeof(call)) &&
	       (!memcmp(code + sizeof(call), look, sizeof(look)) ||
		       !memcmp(code + sizeof(call), place, sizeof(place)));
}

/* True if the code before a call of systemstack names the function that it runs: by its address, or by that
 * of a word that holds it. lea DISTANCE(%rip), REGISTER. */
static bool runs(struct unwinder *u, uint64_t return_address, uint64_t callee)
{
	const struct cfi_memory *memory = &u->space.memory;
	uint8_t code[CLOSURE_CODE_BYTES];
	uint64_t begin = return_address - sizeof(code), target;
	int32_t by;

	if (memory->read(memory->context, begin, code, sizeof(code)))
		return false;
	for (unsigned at = 0; at + 7 <= sizeof(code); at++) {
		if ((code[at] & 0xfb) != 0x48 || code[at + 1] != 0x8d || (code[at + 2] & 0xc7) != 5)
			continue;
		memcpy(&by, code + at + 3, sizeof(by));
		target = begin + at + 7 + (uint64_t)(int64_t)by;
		if (callee - target < CLOSURE_BYTES_MAX ||
			(!memory->read(memory->context, target, &target, sizeof(target)) &&
				callee - target < CLOSURE_BYTES_MAX))
			return true;
	}
	return false;
}

/* The function that a goroutine began with has been called by nobody. Its frame still holds where it called
 * systemstack from, or what is there by now names another function that is run. */
static uint64_t entry_find(struct unwinder *u, uint64_t fp, uint64_t from)
{
	uint64_t words[ENTRY_FRAME_WORDS], callee = u->count > 1 ? u->frames[u->count - 2].address : 0;
	uint64_t target;

	if (!u->space.chain.read_now ||
		u->space.chain.read_now(u->space.memory.context, fp - sizeof(words), words, sizeof(words)))
		return 0;
	for (unsigned i = ENTRY_FRAME_WORDS; i-- > 0;) {
		if (!u->space.module_find(u->space.context, words[i]))
			continue;
		target = unwind_called_at(u, words[i]);
		if (target && target <= from && from - target < UNWIND_SWITCH_BYTES &&
			runs(u, words[i], callee))
			return words[i];
	}
	return 0;
}

/* Adds the caller of a function without a frame, whose own frame is at fp and has that return address. False:
 * it is not known. */
static bool caller_add(struct unwinder *u, uint64_t fp, uint64_t return_address, bool is_called)
{
	uint64_t from = u->registers.value[ARCH_PC], function, at;
	bool grows = u->go_top && u->go_top == u->count; /* morestack: for a function without a frame yet */

	if (!grows && !is_systemstack(u, from))
		return true;
	function = is_called ? unwind_called_at(u, return_address) : 0;
	at = grows ? function : is_called ? unwind_call_find(u, function, from) : entry_find(u, fp, from);
	if (!at || u->count == u->most)
		return !is_called && !grows;
	at -= !grows;
	unwind_frame_add(u, unwind_rule_find(u, at), at, grows);
	return true;
}

enum step unwind_chain_follow(struct unwinder *u, uint64_t fp)
{
	const struct unwind_chain *chain = &u->space.chain;
	unsigned first = index_of(u, fp);

	for (unsigned i = first; i && i < chain->count; i++) {
		uint64_t address = arch_return_address(chain->address[i]);
		bool is_called = unwind_is_called(u, address);
		const struct unwind_rule *rule = unwind_rule_find(u, address - 1);

		if (!unwind_rule_has_no_cfi(rule) || rule->slot == UNWIND_NO_SLOT ||
			(i == first && !caller_add(u, fp, address, is_called)))
			return STEP_PARTIAL; /* C's frame pointers lead anywhere */
		if (!is_called)		     /* where a goroutine begins, there is no call */
			return i + 1 == chain->count ? STEP_FULL : STEP_PARTIAL;
		if (u->count == u->most || u->walked++ >= UNWIND_WALK_MAX)
			return STEP_PARTIAL;
		unwind_frame_add(u, unwind_rule_find(u, address - 1), address - 1, false);
		unwind_called_note(u, address - 1);
	}
	return STEP_PARTIAL;
}
