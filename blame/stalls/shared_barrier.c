/* SPDX-License-Identifier: Apache-2.0 */
/* shared_barrier.c - see shared_barrier.h. */
#include "blame/stalls/shared_barrier.h"

#include <string.h>

#define DEPTH_MAX 12u
#define DEFINITIONS_MAX 4u

enum shared_barrier_use shared_barrier_use(const struct kernel_code *code, uint32_t at)
{
	const struct gpu_instruction *in = &code->instructions[at];

	if (code->isa->vendor != GPU_VENDOR_NVIDIA)
		return SHARED_BARRIER_NONE;
	if (in->kind == GPU_KIND_BARRIER && in->space == GPU_SPACE_SHARED)
		return (in->defines.words[GPU_PREDICATE / 64] >> GPU_PREDICATE % 64 & 0x7f)
			       ? SHARED_BARRIER_WAITS
			       : SHARED_BARRIER_ARRIVES;
	if (in->kind == GPU_KIND_COPY &&
		(strcmp(in->name, "UTMALDG") == 0 || strcmp(in->name, "UBLKCP") == 0))
		return SHARED_BARRIER_COPIES;
	return SHARED_BARRIER_NONE;
}

/* A value as far as it is known: the sum of its constants. */
struct value {
	int64_t sum;
	bool is_whole; /* there is nothing beside them */
	bool is_met;   /* there is a way to it that does not lead around a loop */
};

struct evaluation {
	const struct kernel_code *code;
	struct dependency_slice *slice;
	uint32_t path[DEPTH_MAX]; /* definitions that are being evaluated */
	unsigned depth;
};

static struct value operand_value(
	struct evaluation *evaluation, uint32_t at, const struct gpu_operand *operand);

static struct value sum_of(struct value a, struct value b)
{
	return (struct value){
		(int64_t)((uint64_t)a.sum + (uint64_t)b.sum), a.is_whole && b.is_whole, a.is_met && b.is_met};
}

/* Times a number that is known; what is multiplied by another is unknown. */
static struct value product_of(struct value a, struct value b)
{
	const bool is_linear = a.is_whole || b.is_whole;

	return (struct value){is_linear ? (int64_t)((uint64_t)a.sum * (uint64_t)b.sum) : 0,
		a.is_whole && b.is_whole, a.is_met && b.is_met};
}

static struct value definition_value(struct evaluation *evaluation, uint32_t at)
{
	struct value value = {.is_met = true};
	struct gpu_arithmetic in;

	for (unsigned i = 0; i < evaluation->depth; i++)
		if (evaluation->path[i] == at)
			return (struct value){.is_met = false};
	if (evaluation->depth == DEPTH_MAX)
		return value;
	evaluation->path[evaluation->depth++] = at;
	kernel_code_arithmetic(evaluation->code, at, &in);
	switch (in.operation) {
	case GPU_COPY:
		value = operand_value(evaluation, at, &in.a);
		break;
	case GPU_ADD:
		value = sum_of(
			sum_of(operand_value(evaluation, at, &in.a), operand_value(evaluation, at, &in.b)),
			operand_value(evaluation, at, &in.c));
		break;
	case GPU_MULTIPLY:
		value = sum_of(product_of(operand_value(evaluation, at, &in.a),
				       operand_value(evaluation, at, &in.b)),
			operand_value(evaluation, at, &in.c));
		break;
	case GPU_SHIFT_ADD:
		value = operand_value(evaluation, at, &in.a);
		value.sum = in.b.kind == GPU_OPERAND_IMMEDIATE && in.b.value >= 0 && in.b.value < 32
				    ? (int64_t)((uint64_t)value.sum << in.b.value)
				    : 0;
		value = sum_of(value, operand_value(evaluation, at, &in.c));
		break;
	default:
		break;
	}
	evaluation->depth--;
	return value;
}

/* Of several definitions those count that a loop does not come back to; they must agree. */
static struct value register_value(struct evaluation *evaluation, uint32_t at, unsigned resource)
{
	struct gpu_set set = {{0}};
	const struct dependency *edges;
	uint32_t definitions[DEFINITIONS_MAX];
	struct value value = {.is_met = false};
	struct error ignored;
	size_t count = 0;

	gpu_set_add(&set, resource);
	if (dependency_slice_resources(evaluation->slice, at, &set, &edges, &count, &ignored) != 0 ||
		count > DEFINITIONS_MAX || !count)
		return (struct value){.is_met = true};
	for (size_t i = 0; i < count; i++)
		definitions[i] = edges[i].define;
	for (size_t i = 0; i < count; i++) {
		struct value one = definition_value(evaluation, definitions[i]);

		if (!one.is_met)
			value.is_whole = false;
		else if (!value.is_met)
			value = (struct value){one.sum, one.is_whole && count == 1, true};
		else if (value.sum != one.sum)
			return (struct value){.is_met = true};
	}
	return value;
}

static struct value operand_value(
	struct evaluation *evaluation, uint32_t at, const struct gpu_operand *operand)
{
	struct value value = {.is_met = true};

	if (operand->kind == GPU_OPERAND_IMMEDIATE)
		value = (struct value){operand->value, true, true};
	else if (operand->kind == GPU_OPERAND_REGISTER)
		value = register_value(evaluation, at, (unsigned)operand->value);
	if (operand->is_negated)
		value.sum = (int64_t)(0 - (uint64_t)value.sum);
	return value;
}

bool shared_barrier_place(
	const struct kernel_code *code, struct dependency_slice *slice, uint32_t at, int64_t *place)
{
	struct evaluation evaluation = {.code = code, .slice = slice};
	struct gpu_arithmetic in;
	struct value value;

	kernel_code_arithmetic(code, at, &in);
	value = sum_of(operand_value(&evaluation, at, &in.a), operand_value(&evaluation, at, &in.b));
	*place = (int64_t)((uint64_t)value.sum + (uint64_t)in.offset);
	return value.is_met && *place > 0 && !dependency_slice_is_cut(slice);
}
