/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_chain.c - the outer frames of a thread of Go's whose copied stack is not all of it. Go's runtime
 * does much on the thread's own stack for a goroutine that has another one (runtime.systemstack), and a
 * goroutine's stack may be larger than the copy. When the copy is looked at, what it does not hold is of
 * later. But Go keeps frame pointers in all of its code, and the kernel has followed them at the sample:
 *
 *   copy    scanobject  gcDrain  gcBgMarkWorker.func2  systemstack
 *   chain   pc          ...      ...                   ...          gcBgMarkWorker's caller  ...
 *
 * Both begin with the same frame pointer, so the copy tells which entry was read where it ends.
 */
#include "record/agent/unwind/unwind_step.h"

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

enum step unwind_chain_follow(struct unwinder *u, uint64_t fp)
{
	const struct unwind_chain *chain = &u->space.chain;

	for (unsigned i = index_of(u, fp); i && i < chain->count; i++) {
		uint64_t address = arch_return_address(chain->address[i]);
		const struct unwind_rule *rule = unwind_rule_find(u, address - 1);
		uint16_t slot = rule->slot;

		if (!unwind_rule_has_no_cfi(rule) || slot == UNWIND_NO_SLOT || u->count == u->most ||
			u->walked++ >= UNWIND_WALK_MAX)
			return STEP_PARTIAL; /* C's frame pointers lead anywhere */
		unwind_frame_add(u, rule, address - 1, false);
		if (!unwind_is_called(u, address)) /* where a goroutine begins, there is no call */
			return i + 1 == chain->count ? STEP_FULL : STEP_PARTIAL;
		unwind_called_note(u, address - 1);
	}
	return STEP_PARTIAL;
}
