/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c - see lanes.h. Forward data flow over registers and predicates; states are kept where control flow
 * joins or branches to. */
#include "blame/stalls/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/code/amd_word.h"
#include "timeline/code/gpu_arithmetic.h"

#define SLOTS (GPU_SCALAR + GPU_SCALARS) /* registers, uniform ones, predicates; AMD's scalars */
#define SET_WORDS ((GPU_RESOURCES + 63) / 64)
#define WARP 32
#define WAVE 64 /* AMD's */
#define ZERO_ALIGN 31u
#define PASSES 24u
#define STATES_MAX 22000u /* 84 MB */
#define EDGES_MAX 65536u  /* into them: each costs SLOTS in each pass */
#define FEW 8
#define EXEC (GPU_SCALAR + 126) /* AMD's mask of active threads */
#define STEP_MAX (1 << 28)

struct state {
	struct lanes_value slots[SLOTS];
};

struct finding {
	const struct kernel_code *code;
	const uint32_t *block;
	struct lanes *lanes;
	int64_t threads; /* of a warp: 2^bits */
	unsigned bits;
	unsigned slots;			   /* that this machine has */
	uint32_t *state_of;		   /* [count] 1 + its state; 0: follows the one before */
	struct state *states;		   /* at the begin of each such instruction */
	struct gpu_arithmetic *arithmetic; /* [count] */
};

/* ---- values ---- */

static struct lanes_value same(unsigned align, bool is_wide)
{
	return (struct lanes_value){.kind = LANES_STEP,
		.align = (uint8_t)(align < ZERO_ALIGN ? align : ZERO_ALIGN),
		.is_wide = is_wide};
}

static struct lanes_value unknown(enum lanes_kind kind)
{
	return (struct lanes_value){.kind = (uint8_t)kind, .is_wide = true};
}

static bool is_same(struct lanes_value value)
{
	return value.kind <= LANES_STEP && !value.step;
}

static enum lanes_kind worse(struct lanes_value a, struct lanes_value b)
{
	enum lanes_kind kind = a.kind > b.kind ? a.kind : b.kind;

	return kind < LANES_DIFFER ? LANES_DIFFER : kind;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned zeros(int64_t value)
{
	return value ? least((unsigned)__builtin_ctzll((uint64_t)value), ZERO_ALIGN) : ZERO_ALIGN;
}

static struct lanes_value stepping(int64_t step, unsigned align, bool is_wide)
{
	struct lanes_value value = same(align, is_wide);

	/* Far apart is far apart. */
	value.step = (int32_t)(step > STEP_MAX ? STEP_MAX : step < -STEP_MAX ? -STEP_MAX : step);
	return value;
}

static struct lanes_value joined(struct lanes_value a, struct lanes_value b)
{
	if (!a.kind || !b.kind)
		return a.kind ? a : b;
	if (a.kind == LANES_STEP && b.kind == LANES_STEP && a.step == b.step)
		return stepping(a.step, least(a.align, b.align), a.is_wide || b.is_wide);
	if (a.kind == b.kind && a.kind != LANES_STEP && a.part == b.part)
		return a;
	return unknown(worse(a, b));
}

static struct lanes_value sum(struct lanes_value a, struct lanes_value b)
{
	if (a.kind > LANES_STEP || b.kind > LANES_STEP)
		return unknown(worse(a, b));
	return stepping((int64_t)a.step + b.step, least(a.align, b.align), a.is_wide || b.is_wide);
}

/* All bits that differ in a warp are below this one, since nothing is carried; 32: unknown. */
static unsigned lane_bits(const struct finding *finding, struct lanes_value value)
{
	unsigned bits = finding->bits;

	if (value.step < 0)
		return 32;
	for (; bits < 31 && (INT64_C(1) << bits) < (int64_t)value.step * finding->threads; bits++)
		;
	return value.align >= bits ? bits : 32;
}

static struct lanes_value shifted_right(
	const struct finding *finding, struct lanes_value a, unsigned by, bool is_sign)
{
	if (a.kind > LANES_STEP)
		return a;
	/* The sign is the same for indexes of one warp: none. */
	if ((is_sign && by == 31) || (!a.step && a.align == ZERO_ALIGN))
		return same(ZERO_ALIGN, false);
	if (!a.step || lane_bits(finding, a) <= by)
		return same(a.align > by ? a.align - by : 0, a.is_wide);
	if (a.align >= by && zeros(a.step) >= by)
		return stepping(a.step >> by, a.align - by, a.is_wide);
	/* The threads of few warps differ. */
	if (a.is_wide && (INT64_C(1) << by) >= FEW * finding->threads * labs(a.step))
		return same(0, true);
	return unknown(LANES_DIFFER);
}

static struct lanes_value masked(const struct finding *finding, struct lanes_value a, uint32_t mask)
{
	unsigned low = zeros(mask), bits = lane_bits(finding, a);
	uint64_t above = (uint64_t)mask + (UINT64_C(1) << low);
	bool is_run = mask && !(above & (above - 1));
	unsigned top = is_run ? (unsigned)__builtin_ctzll(above) : 0;

	if (!mask)
		return same(ZERO_ALIGN, false);
	if (a.kind > LANES_STEP)
		return a;
	if (!a.step || low >= bits)
		return same(a.align > low ? a.align : low, a.is_wide);
	/* What differs passes as it is. */
	if (bits < 32 && !(~mask & ((UINT32_C(1) << bits) - (UINT32_C(1) << zeros(a.step)))))
		return stepping(a.step, mask >> bits ? a.align : ZERO_ALIGN, a.is_wide && mask >> bits);
	if (is_run && low <= zeros(a.step) && low <= a.align &&
		(INT64_C(1) << top) >= (int64_t)a.step * finding->threads) {
		/* An index that wraps around in the middle of a warp is rare. */
		bool is_lane = top == bits;

		return stepping(a.step, is_lane ? ZERO_ALIGN : a.align, a.is_wide && !is_lane);
	}
	return unknown(LANES_DIFFER);
}

/* ---- operands ---- */

static struct lanes_value value_of(
	const struct finding *finding, const struct state *state, const struct gpu_operand *operand)
{
	struct lanes_value value;
	uint32_t size;

	switch (operand->kind) {
	case GPU_OPERAND_REGISTER:
		value = state->slots[operand->value];
		value.step = operand->is_negated ? -value.step : value.step;
		return value;
	case GPU_OPERAND_IMMEDIATE:
		return same(zeros(operand->value), false);
	default:
		/* The first of a launch's constants are the sizes of its block. */
		if (operand->value >= 12 || finding->code->generation >= 100)
			return same(0, false);
		size = finding->block[operand->value / 4];
		return same(size ? zeros(size) : operand->value < 4 ? finding->bits : 0, false);
	}
}

static bool constant_of(const struct gpu_operand *operand, int64_t *value)
{
	*value = operand->is_negated ? -operand->value : operand->value;
	return operand->kind == GPU_OPERAND_IMMEDIATE;
}

static struct lanes_value product(const struct finding *finding, const struct state *state,
	const struct gpu_operand *left, const struct gpu_operand *right)
{
	struct lanes_value a = value_of(finding, state, left), b = value_of(finding, state, right);
	int64_t by;

	if (constant_of(left, &by)) {
		a = b;
	} else if (!constant_of(right, &by)) {
		if (a.kind > LANES_STEP || b.kind > LANES_STEP || a.step || b.step)
			return unknown(worse(a, b));
		return same((unsigned)a.align + b.align, a.is_wide || b.is_wide);
	}
	if (!by)
		return same(ZERO_ALIGN, false);
	if (a.kind > LANES_STEP)
		return a;
	return stepping(a.step * by, (unsigned)a.align + zeros(by), a.is_wide);
}

/* Blocks whose rows are no whole warps: neighbours may stand in different rows. */
static struct lanes_value special_of(const struct finding *finding, enum gpu_special special)
{
	bool is_whole = finding->block[0] % finding->threads == 0;

	switch (special) {
	case GPU_SPECIAL_LANE:
		return stepping(1, ZERO_ALIGN, false);
	case GPU_SPECIAL_THREAD_X:
		return stepping(1, is_whole ? finding->bits : 0, true);
	case GPU_SPECIAL_THREAD_Y:
		return is_whole ? same(0, true) : unknown(LANES_DIFFER);
	case GPU_SPECIAL_THREAD_Z:
		return (uint64_t)finding->block[0] * finding->block[1] % (uint64_t)finding->threads == 0
			       ? same(0, true)
			       : unknown(LANES_DIFFER);
	case GPU_SPECIAL_WARP:
		return same(0, true);
	default:
		return unknown(LANES_UNKNOWN);
	}
}

/* An index and a limit: the threads of few warps stand on both sides of it. */
static struct lanes_value extreme_of(struct lanes_value a, struct lanes_value b)
{
	if (a.kind > LANES_STEP || b.kind > LANES_STEP || (a.step && b.step && a.step != b.step) ||
		(a.step && !a.is_wide) || (b.step && !b.is_wide))
		return is_same(a) && is_same(b) ? same(0, true) : unknown(worse(a, b));
	return stepping(a.step ? a.step : b.step, least(a.align, b.align), true);
}

/* ---- instructions ---- */

static struct lanes_value condition_of(struct lanes_value a, struct lanes_value b, enum gpu_comparison how)
{
	struct lanes_value value;

	if (is_same(a) && is_same(b))
		return same(0, true);
	if (a.kind > LANES_STEP || b.kind > LANES_STEP)
		return unknown(worse(a, b));
	/* The end of a range that is longer than a warp: the threads of few warps differ. */
	if (a.step == b.step || a.is_wide || b.is_wide)
		return same(0, true);
	value = unknown(LANES_DIFFER);
	value.part = how == GPU_COMPARE_EQUAL	  ? LANES_ONE
		     : how == GPU_COMPARE_UNEQUAL ? LANES_ALL_BUT_ONE
						  : LANES_FIRST;
	return value;
}

/* What is computed in a way that is not known: the same, if all that it uses is. */
static struct lanes_value opaque_of(const struct state *state, const struct gpu_instruction *in)
{
	struct lanes_value value = same(0, true);

	for (unsigned w = 0; w < SET_WORDS; w++)
		for (uint64_t left = in->uses.words[w]; left; left &= left - 1) {
			unsigned r = w * 64 + (unsigned)__builtin_ctzll(left);

			if (r >= SLOTS || is_same(state->slots[r]) ||
				(!is_same(value) && value.kind >= state->slots[r].kind))
				continue;
			value = unknown(worse(state->slots[r], value));
		}
	return value;
}

static struct lanes_value loaded_of(
	const struct finding *finding, const struct state *state, const struct gpu_arithmetic *arithmetic)
{
	bool is_one = is_same(value_of(finding, state, &arithmetic->a));

	return is_one ? same(0, true) : unknown(LANES_DATA);
}

static bool reaches_memory(const struct gpu_instruction *in)
{
	return in->kind == GPU_KIND_LOAD || in->kind == GPU_KIND_STORE || in->kind == GPU_KIND_ATOMIC ||
	       in->kind == GPU_KIND_COPY;
}

static struct lanes_value result_of(const struct finding *finding, const struct state *state, uint32_t i)
{
	const struct gpu_instruction *in = &finding->code->instructions[i];
	const struct gpu_arithmetic *at = &finding->arithmetic[i];
	int64_t by;

	if (in->kind == GPU_KIND_LOAD && at->operation != GPU_COPY)
		return loaded_of(finding, state, at);
	if (in->kind == GPU_KIND_ATOMIC)
		return unknown(LANES_DATA);
	switch (at->operation) {
	case GPU_MULTIPLY:
		return sum(product(finding, state, &at->a, &at->b), value_of(finding, state, &at->c));
	case GPU_ADD:
		return sum(sum(value_of(finding, state, &at->a), value_of(finding, state, &at->b)),
			value_of(finding, state, &at->c));
	case GPU_SHIFT_ADD:
		if (constant_of(&at->b, &by) && by >= 0 && by < 32) {
			struct gpu_operand factor = {GPU_OPERAND_IMMEDIATE, INT64_C(1) << by, false};

			return sum(
				product(finding, state, &at->a, &factor), value_of(finding, state, &at->c));
		}
		return opaque_of(state, in);
	case GPU_SHIFT_RIGHT:
		if (constant_of(&at->b, &by) && by >= 0 && by < 32)
			return sum(shifted_right(finding, value_of(finding, state, &at->a), (unsigned)by,
					   at->is_sign),
				value_of(finding, state, &at->c));
		return opaque_of(state, in);
	case GPU_AND:
		if (constant_of(&at->b, &by))
			return masked(finding, value_of(finding, state, &at->a), (uint32_t)by);
		return opaque_of(state, in);
	case GPU_MERGE:
		if (constant_of(&at->b, &by))
			return sum(masked(finding, value_of(finding, state, &at->a), (uint32_t)by),
				masked(finding, value_of(finding, state, &at->c), ~(uint32_t)by));
		return opaque_of(state, in);
	case GPU_EXTREME:
		return extreme_of(value_of(finding, state, &at->a), value_of(finding, state, &at->b));
	case GPU_COPY:
		return value_of(finding, state, &at->a);
	case GPU_SPECIAL:
		return special_of(finding, at->special);
	case GPU_SAME:
		return same(0, true);
	case GPU_COMPARE:
		return condition_of(
			value_of(finding, state, &at->a), value_of(finding, state, &at->b), at->comparison);
	default:
		return opaque_of(state, in);
	}
}

/* Of what an instruction defines beside its result: carries, high words. */
static struct lanes_value beside(struct lanes_value value, unsigned resource)
{
	if (value.kind <= LANES_STEP)
		return same(0, true); /* addresses of one warp share their high words */
	value.part = resource < GPU_PREDICATE ? 0 : value.part;
	return value;
}

static struct lanes_value negated(struct lanes_value value)
{
	if (value.part == LANES_ONE || value.part == LANES_ALL_BUT_ONE)
		value.part = value.part == LANES_ONE ? LANES_ALL_BUT_ONE : LANES_ONE;
	return value;
}

static void note(struct finding *finding, const struct state *state, uint32_t i)
{
	const struct gpu_instruction *in = &finding->code->instructions[i];
	struct lanes_value *to = &finding->lanes->values[i];

	if (reaches_memory(in))
		*to = value_of(finding, state, &finding->arithmetic[i].a);
	else if (in->kind == GPU_KIND_CONTROL && strcmp(in->name, "s_cbranch_execz") == 0)
		*to = negated(state->slots[EXEC]);
	else if (in->kind == GPU_KIND_CONTROL && strcmp(in->name, "s_cbranch_execnz") == 0)
		*to = state->slots[EXEC];
	else if (in->kind == GPU_KIND_CONTROL && in->guard != GPU_ALWAYS) {
		*to = in->is_guard_uniform ? same(0, true) : state->slots[GPU_PREDICATE + in->guard];
		if (in->is_guard_negated)
			*to = negated(*to);
	}
}

static void define(struct state *state, const struct gpu_instruction *in, const struct gpu_arithmetic *at,
	unsigned r, struct lanes_value value)
{
	struct lanes_value now = value;

	if (at->operation == GPU_COMPARE
			? r < GPU_PREDICATE
			: r != at->define && in->kind != GPU_KIND_LOAD && at->operation != GPU_OTHER)
		now = beside(value, r);
	if (r >= GPU_UNIFORM && r < GPU_PREDICATE)
		now = same(value.kind == LANES_STEP ? value.align : 0, value.is_wide);
	state->slots[r] = in->guard == GPU_ALWAYS ? now : joined(state->slots[r], now);
}

static void step(struct finding *finding, struct state *state, uint32_t i)
{
	const struct gpu_instruction *in = &finding->code->instructions[i];
	const struct gpu_arithmetic *at = &finding->arithmetic[i];
	struct lanes_value value;

	note(finding, state, i);
	/* What a callee leaves behind is not known. */
	if (in->kind == GPU_KIND_CONTROL && strncmp(in->name, "CALL", 4) == 0)
		for (unsigned r = 0; r < GPU_UNIFORM; r++)
			state->slots[r] = unknown(LANES_UNKNOWN);
	value = result_of(finding, state, i);
	for (unsigned w = 0; w < SET_WORDS; w++)
		for (uint64_t left = in->defines.words[w]; left; left &= left - 1) {
			unsigned r = w * 64 + (unsigned)__builtin_ctzll(left);

			if (r < SLOTS)
				define(state, in, at, r, value);
		}
}

/* ---- flow ---- */

static bool flow_into(struct state *to, const struct state *from, unsigned slots)
{
	bool has_changed = false;

	for (unsigned r = 0; r < slots; r++) {
		struct lanes_value now = joined(to->slots[r], from->slots[r]);

		has_changed |= memcmp(&now, &to->slots[r], sizeof now) != 0;
		to->slots[r] = now;
	}
	return has_changed;
}

static bool pass(struct finding *finding)
{
	const struct dependency_code *flow = &finding->code->flow;
	bool has_changed = false;
	struct state state = {0};

	for (uint32_t i = 0; i < flow->count; i++) {
		if (finding->state_of[i])
			state = finding->states[finding->state_of[i] - 1];
		if (!state.slots[0].kind) /* not reached so far */
			continue;
		step(finding, &state, i);
		for (uint32_t e = flow->first_to[i]; e < flow->first_to[i + 1]; e++) {
			uint32_t to = finding->state_of[flow->to[e]];

			if (to)
				has_changed |= flow_into(&finding->states[to - 1], &state, finding->slots);
		}
	}
	return has_changed;
}

/* Returns how many states there are; 0: none, or it would take too long. */
static uint32_t states_number(struct finding *finding)
{
	const struct dependency_code *flow = &finding->code->flow;
	uint32_t count = 0, edges = 0;

	for (uint32_t i = 0; i < flow->count; i++) {
		uint32_t first = flow->first_from[i];

		if (i && flow->first_from[i + 1] == first + 1 && flow->from[first] == i - 1)
			continue;
		finding->state_of[i] = ++count;
		edges += flow->first_from[i + 1] - first;
	}
	return count <= STATES_MAX && edges <= EDGES_MAX ? count : 0;
}

/* AMD's kernels begin with the thread's index in v0, v1 and v2; since CDNA 2 in v0 alone, 10 bits each.
 * Threads of one row differ in the lowest ones. */
static void begin_with(const struct finding *finding, struct state *state, bool is_kernel)
{
	const struct gpu_isa *isa = finding->code->isa;

	for (unsigned r = 0; r < SLOTS; r++)
		state->slots[r] = is_kernel || r >= GPU_UNIFORM ? same(0, true) : unknown(LANES_UNKNOWN);
	if (!is_kernel || isa->vendor != GPU_VENDOR_AMD)
		return;
	/* Later ones pack all three into one register: where rows are shorter than a wave, not only the
	 * lowest bits of it differ. */
	state->slots[0] = isa->machine >> 16 != AMD_GCN && finding->block[0] % finding->threads
				  ? stepping(1, 0, false)
				  : special_of(finding, GPU_SPECIAL_THREAD_X);
	if (isa->machine >> 16 == AMD_GCN) {
		state->slots[1] = special_of(finding, GPU_SPECIAL_THREAD_Y);
		state->slots[2] = special_of(finding, GPU_SPECIAL_THREAD_Z);
	}
}

static void arithmetic_read(struct finding *finding)
{
	const struct kernel_code *code = finding->code;

	for (uint32_t i = 0; i < code->count; i++)
		kernel_code_arithmetic(code, i, &finding->arithmetic[i]);
}

static void all_unknown(struct lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++)
		lanes->values[i] = unknown(LANES_UNKNOWN);
}

#define SECTOR_BYTES 32u

/* Of the cache that a compute unit has for vector memory. */
static unsigned amd_line_bytes(const struct gpu_isa *isa)
{
	return isa->machine >> 16 == AMD_CDNA3 ? 128 : 64;
}

int lanes_find(struct lanes *lanes, const struct kernel_code *code, bool is_kernel, const uint32_t block[3],
	struct error *error)
{
	struct finding finding = {.code = code, .block = block, .lanes = lanes};
	size_t room = (size_t)code->count + 1;
	uint32_t states = 0;
	bool has_changed = true, ok;

	const bool is_amd = code->isa && code->isa->vendor == GPU_VENDOR_AMD;

	*lanes = (struct lanes){.count = code->count,
		.machine = {is_amd ? WAVE : WARP, is_amd ? amd_line_bytes(code->isa) : SECTOR_BYTES},
		.values = calloc(room, sizeof *lanes->values)};
	finding.threads = lanes->machine.threads;
	finding.slots = is_amd ? SLOTS : GPU_UNIFORM_PREDICATE;
	finding.bits = (unsigned)__builtin_ctz(lanes->machine.threads);
	finding.state_of = calloc(room, sizeof *finding.state_of);
	finding.arithmetic = calloc(room, sizeof *finding.arithmetic);
	ok = lanes->values && finding.state_of && finding.arithmetic;
	if (ok && code->isa->arithmetic)
		states = states_number(&finding);
	if (ok && states) {
		finding.states = calloc(states, sizeof *finding.states);
		ok = finding.states;
	}
	if (ok && finding.states) {
		arithmetic_read(&finding);
		begin_with(&finding, &finding.states[0], is_kernel);
		for (unsigned p = 0; p < PASSES && has_changed; p++)
			has_changed = pass(&finding);
	}
	if (ok && has_changed)
		all_unknown(lanes);
	free(finding.states);
	free(finding.arithmetic);
	free(finding.state_of);
	return ok ? 0 : error_memory(error);
}

void lanes_fini(struct lanes *lanes)
{
	free(lanes->values);
	*lanes = (struct lanes){0};
}

/* ---- memory ---- */

double lanes_waste(const struct lanes_machine *machine, const struct lanes_value *address, unsigned bytes)
{
	double step = address->step < 0 ? -(double)address->step : address->step, lines;
	double threads = machine->threads, line = machine->line_bytes;

	if (address->kind > LANES_STEP)
		return address->kind == LANES_DIFFER ? line / bytes : 0;
	if (step <= bytes)
		return 1;
	lines = ((threads - 1) * step + bytes) / line;
	return (lines < threads ? lines : threads) * line / (threads * bytes);
}

#define BANKS_BITS 5u /* 32 banks, for as many threads at a time */

unsigned lanes_conflicts(const struct lanes_value *address, unsigned bytes)
{
	unsigned words = bytes < 4 ? 1 : bytes / 4, step;

	if (address->kind > LANES_STEP)
		return 0;
	step = (unsigned)(address->step < 0 ? -address->step : address->step);
	if (!step || step % 4)
		return 1;
	step /= 4;
	/* Threads of one bank: 32 banks, of which the step meets 32 / gcd. */
	step = 1u << least((unsigned)__builtin_ctz(step), BANKS_BITS);
	return step > words ? step / words : 1;
}
