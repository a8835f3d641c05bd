/* SPDX-License-Identifier: Apache-2.0 */
/* memory_use.c - see memory_use.h. */
#include "blame/stalls/memory_use.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/code/gpu_arithmetic.h"

#define STORE_TWICE 2.0 /* a sector that is written in part is read first */

static bool is_global(const struct gpu_instruction *in)
{
	return in->bytes && (in->space == GPU_SPACE_GLOBAL || in->space == GPU_SPACE_ANY);
}

/* Cycles that the use of a load waits each time: its samples that stall for each that issued. */
static double wait_of(const struct cause_samples *s)
{
	return s->all[STALL_NONE] > 0 ? s->all[STALL_GMEM] / s->all[STALL_NONE] : 0;
}

static void access_take(struct memory_scope *scope, const struct gpu_instruction *in,
	const struct lanes *lanes, const struct lanes_value *address, double issued)
{
	double waste = lanes_waste(&lanes->machine, address, in->bytes), needed = in->bytes * issued;

	scope->all += issued;
	scope->widest = in->bytes > scope->widest ? in->bytes : scope->widest;
	if (!waste) {
		scope->unknown += issued;
		return;
	}
	scope->needed += needed;
	scope->moved += needed * waste;
	if (in->kind == GPU_KIND_STORE && waste >= MEMORY_WASTE_LEAST)
		scope->moved += needed * waste * (STORE_TWICE - 1);
}

static void scope_take(struct memory_scope *scope, const struct gpu_instruction *in,
	const struct lanes *lanes, const struct lanes_value *address, const struct cause_samples *samples)
{
	double wait = wait_of(samples);

	scope->longest = wait > scope->longest ? wait : scope->longest;
	if (is_global(in))
		access_take(scope, in, lanes, address, samples->all[STALL_NONE]);
}

/* ---- loads in vain ---- */

static bool is_nvidia(const struct kernel_code *code)
{
	return code->isa->vendor == GPU_VENDOR_NVIDIA;
}

/* NVIDIA's constants are no change: the compiler reads them anew in a loop. */
static bool is_constant(const struct kernel_code *code, const struct gpu_instruction *in)
{
	return is_nvidia(code) && in->space == GPU_SPACE_CONSTANT && !in->uses.words[0] &&
	       !in->uses.words[1] && !in->uses.words[2] && !in->uses.words[3] && !in->uses.words[4];
}

static bool meets(const struct gpu_set *a, const struct gpu_set *b, unsigned words)
{
	for (unsigned w = 0; w < words; w++)
		if (a->words[w] & b->words[w])
			return true;
	return false;
}

/* Of sets: registers that addresses are made of. */
static unsigned address_words(const struct kernel_code *code)
{
	return is_nvidia(code) ? GPU_PREDICATE / 64 : GPU_COUNTER / 64;
}

/* True when the loop changes what the address is made of. A store uses its data, too. */
static bool is_changing(const struct kernel_code *code, uint32_t at, const struct gpu_set *changed)
{
	const struct gpu_instruction *in = &code->instructions[at];
	struct gpu_arithmetic arithmetic;

	if (in->kind != GPU_KIND_STORE)
		return meets(&in->uses, changed, address_words(code));
	if (!code->isa->arithmetic)
		return true;
	/* Uniform registers are of addresses alone. */
	if (in->uses.words[GPU_UNIFORM / 64] & changed->words[GPU_UNIFORM / 64])
		return true;
	/* AMD's scalars likewise. */
	for (unsigned w = GPU_SCALAR / 64; !is_nvidia(code) && w <= GPU_ACCUMULATOR / 64; w++)
		if (in->uses.words[w] & changed->words[w])
			return true;
	kernel_code_arithmetic(code, at, &arithmetic);
	return arithmetic.a.kind == GPU_OPERAND_REGISTER &&
	       (gpu_set_has(changed, (unsigned)arithmetic.a.value) ||
		       gpu_set_has(changed, (unsigned)arithmetic.a.value + 1));
}

/* changed: [loop] registers that its instructions define. */
static void repeated_find(const struct kernel_code *code, const struct cause_samples *samples,
	struct gpu_set *changed, struct memory_scope *scopes, bool *is_repeated)
{
	for (uint32_t i = 0; i < code->count; i++) {
		const struct gpu_instruction *in = &code->instructions[i];

		for (uint32_t loop = code->loop_of[i]; loop != LOOP_NONE && !is_constant(code, in);
			loop = code->loops.loops[loop].parent)
			for (unsigned w = 0; w < address_words(code); w++)
				changed[loop].words[w] |= in->defines.words[w];
	}
	for (uint32_t i = 0; i < code->count; i++) {
		const struct gpu_instruction *in = &code->instructions[i];

		is_repeated[i] = (in->kind == GPU_KIND_LOAD || in->kind == GPU_KIND_STORE) && is_global(in) &&
				 code->loop_of[i] != LOOP_NONE &&
				 !is_changing(code, i, &changed[code->loop_of[i]]);
		if (is_repeated[i])
			scopes[code->loop_of[i] + 1].repeated += samples[i].all[STALL_NONE];
	}
}

/* ---- products ---- */

#define PRODUCTS_LEAST 8u

/* Loaded from shared memory, or such a value converted. */
static bool gives_factor(const struct gpu_instruction *in, const struct gpu_set *factors)
{
	if (in->kind == GPU_KIND_LOAD)
		return in->space == GPU_SPACE_SHARED;
	return (in->kind == GPU_KIND_CONVERT || strcmp(in->name, "HADD2") == 0 ||
		       strcmp(in->name, "PRMT") == 0) &&
	       meets(&in->uses, factors, GPU_UNIFORM / 64);
}

static bool is_product(const struct gpu_instruction *in, const struct gpu_set *factors)
{
	unsigned count = 0;

	if (strcmp(in->name, "FFMA") != 0 && strncmp(in->name, "HFMA2", 5) != 0)
		return false;
	for (unsigned w = 0; w < GPU_UNIFORM / 64; w++)
		count += (unsigned)__builtin_popcountll(in->uses.words[w] & factors->words[w]);
	return count >= 2;
}

static void products_find(const struct kernel_code *code, struct memory_scope *scopes)
{
	struct gpu_set factors = {{0}};
	uint32_t loop = LOOP_NONE;
	unsigned products = 0;

	for (uint32_t i = 0; i < code->count; i++)
		if (code->instructions[i].kind == GPU_KIND_MATRIX)
			return;
	for (uint32_t i = 0; i < code->count; i++) {
		const struct gpu_instruction *in = &code->instructions[i];

		if (code->loop_of[i] != loop) {
			factors = (struct gpu_set){{0}};
			products = 0;
			loop = code->loop_of[i];
		}
		products += is_product(in, &factors);
		if (products >= PRODUCTS_LEAST && loop != LOOP_NONE)
			scopes[loop + 1].is_product = true;
		for (unsigned w = 0; w < GPU_UNIFORM / 64; w++)
			factors.words[w] = gives_factor(in, &factors)
						   ? factors.words[w] | in->defines.words[w]
						   : factors.words[w] & ~in->defines.words[w];
	}
}

/* ---- turns of shared memory ---- */

static void conflicts_find(struct memory_use *use, const struct kernel_code *code, const struct lanes *lanes,
	const struct cause_samples *samples)
{
	double issued = 0, turns = 0;

	for (uint32_t i = 0; i < code->count; i++) {
		const struct gpu_instruction *in = &code->instructions[i];
		unsigned conflicts =
			in->space == GPU_SPACE_SHARED ? lanes_conflicts(&lanes->values[i], in->bytes) : 0;

		use->has_conflicts |= conflicts > 1;
		if (!conflicts || !in->bytes)
			continue;
		issued += samples[i].all[STALL_NONE];
		turns += samples[i].all[STALL_NONE] * conflicts;
	}
	use->one_turn = turns > issued ? issued / turns : 0;
}

/* ---- the whole ---- */

bool memory_use_find(struct memory_use *use, const struct kernel_code *code, const struct lanes *lanes,
	const struct cause_samples *samples)
{
	struct gpu_set *changed = calloc((size_t)code->loops.count + 1, sizeof *changed);
	bool ok;

	*use = (struct memory_use){.scopes = calloc((size_t)code->loops.count + 1, sizeof *use->scopes),
		.is_repeated = calloc((size_t)code->count + 1, sizeof *use->is_repeated)};
	ok = changed && use->scopes && use->is_repeated;
	for (uint32_t i = 0; ok && i < code->count; i++) {
		uint32_t loop = code->loop_of[i];

		scope_take(&use->scopes[0], &code->instructions[i], lanes, &lanes->values[i], &samples[i]);
		if (loop != LOOP_NONE)
			scope_take(&use->scopes[loop + 1], &code->instructions[i], lanes, &lanes->values[i],
				&samples[i]);
	}
	if (ok) {
		conflicts_find(use, code, lanes, samples);
		repeated_find(code, samples, changed, use->scopes, use->is_repeated);
		products_find(code, use->scopes);
	}
	free(changed);
	return ok;
}

void memory_use_fini(struct memory_use *use)
{
	free(use->scopes);
	free(use->is_repeated);
	*use = (struct memory_use){0};
}
