/* SPDX-License-Identifier: Apache-2.0 */
/* jump_table.c - see jump_table.h. */
#include "timeline/code/jump_table.h"

#include <string.h>

#define WINDOW 400u	 /* instructions followed: a table's address may be loaded before the loop */
#define WINDOW_NEAR 64u	 /* most tables' are, and bounds, within these: decoding is dear */
#define BOUND_WINDOW 48u /* between the comparison and the jump */

enum value_kind { VALUE_UNKNOWN, VALUE_ADDRESS, VALUE_ENTRY, VALUE_TARGET };

struct value {
	enum value_kind kind;
	uint64_t address;	 /* of VALUE_ADDRESS */
	struct jump_table table; /* of VALUE_ENTRY and VALUE_TARGET, without its bound */
};

struct trace {
	struct value registers[REGISTER_COUNT];
	int64_t compared, bound;
	unsigned at, bound_at; /* instructions so far */
	bool has_compared;
};

static struct value value_of(const struct trace *trace, uint8_t name)
{
	return name < REGISTER_COUNT ? trace->registers[name] : (struct value){VALUE_UNKNOWN};
}

static bool is_address(const struct value *value)
{
	return value->kind == VALUE_ADDRESS;
}

static struct value address_value(uint64_t address)
{
	return (struct value){VALUE_ADDRESS, .address = address};
}

/* Base and index may be in either order if the index is not scaled. */
static struct value load(const struct trace *trace, const struct effect *effect)
{
	struct value base = value_of(trace, effect->a), index = value_of(trace, effect->b), value = {0};

	if (effect->b == REGISTER_NONE)
		return value;
	if (effect->a == REGISTER_NONE)
		base = address_value(0);
	else if (!is_address(&base) && !effect->shift && is_address(&index))
		base = index;
	if (!is_address(&base) || 1u << effect->shift != effect->width)
		return value;
	value.kind = VALUE_ENTRY;
	value.table = (struct jump_table){.begin = base.address + (uint64_t)effect->value,
		.width = effect->width,
		.is_signed = effect->is_signed};
	return value;
}

static struct value sum(const struct trace *trace, const struct effect *effect)
{
	struct value a = value_of(trace, effect->a), b = value_of(trace, effect->b), value = {0};

	if (effect->b == REGISTER_NONE)
		return is_address(&a) ? address_value(a.address + (uint64_t)effect->value) : value;
	if (is_address(&a) && b.kind == VALUE_ENTRY) {
		value = b;
		value.table.base = a.address;
		value.table.shift = effect->shift;
	} else if (is_address(&b) && a.kind == VALUE_ENTRY && !effect->shift) {
		value = a;
		value.table.base = b.address;
	} else {
		return value;
	}
	value.kind = VALUE_TARGET;
	value.table.is_signed |= effect->is_signed;
	return value;
}

static struct value copy(const struct trace *trace, const struct effect *effect)
{
	struct value value = value_of(trace, effect->a);

	if (value.kind == VALUE_ENTRY && effect->is_signed && value.table.width == effect->width)
		value.table.is_signed = true; /* widened by a separate instruction */
	return value;
}

static void note_bound(struct trace *trace, int64_t bound)
{
	if (bound < 1 || bound > (int64_t)JUMP_TABLE_MAX)
		return;
	trace->bound = bound;
	trace->bound_at = trace->at;
}

/* What the instruction leaves in registers. */
static void step(struct trace *trace, const struct effect *effect)
{
	struct value value = {VALUE_UNKNOWN};

	switch (effect->kind) {
	case EFFECT_ADDRESS:
		value = address_value((uint64_t)effect->value);
		break;
	case EFFECT_COPY:
		value = copy(trace, effect);
		break;
	case EFFECT_ADD:
		value = sum(trace, effect);
		break;
	case EFFECT_LOAD:
		value = load(trace, effect);
		break;
	case EFFECT_COMPARE:
		trace->compared = effect->value;
		trace->has_compared = true;
		break;
	case EFFECT_BOUND:
		note_bound(trace, effect->value + 1);
		break;
	case EFFECT_ABOVE:
	case EFFECT_NOT_BELOW:
		if (trace->has_compared && trace->compared <= (int64_t)JUMP_TABLE_MAX)
			note_bound(trace, trace->compared + (effect->kind == EFFECT_ABOVE));
		trace->has_compared = false;
		break;
	default:
		break;
	}
	for (unsigned i = 0; i < REGISTER_COUNT; i++)
		if (effect->clobbers & 1u << i)
			trace->registers[i] = (struct value){VALUE_UNKNOWN};
	if (effect->to < REGISTER_COUNT)
		trace->registers[effect->to] = value;
	trace->at++;
}

static bool finish(struct trace *trace, const struct effect *effect, struct jump_table *table)
{
	struct value value = {VALUE_UNKNOWN};

	if (effect->kind == EFFECT_LOAD_JUMP)
		value = load(trace, effect);
	else if (effect->kind == EFFECT_JUMP)
		value = value_of(trace, effect->a);
	if (value.kind != VALUE_TARGET && !(value.kind == VALUE_ENTRY && value.table.width == 8))
		return false;
	*table = value.table;
	if (trace->bound && trace->at - trace->bound_at <= BOUND_WINDOW)
		table->bound = (uint32_t)trace->bound;
	return true;
}

static void effect_get(struct decoder *decoder, const struct jump_window *window, size_t at,
	struct jump_effects *effects, struct effect *effect)
{
	uint64_t address = window->begin + at, place = address % JUMP_EFFECTS;

	if (effects && effects->address[place] == address + 1) {
		*effect = effects->effect[place];
		return;
	}
	decoder_effect(decoder, window->bytes + at, window->size - at, address, effect);
	if (!effects)
		return;
	effects->address[place] = address + 1;
	effects->effect[place] = *effect;
}

/* The table by at most so many instructions before the jump. *is_cut: there are more. */
static bool find(struct decoder *decoder, const struct jump_window *window, uint64_t jump,
	struct jump_effects *effects, struct parse_budget *budget, unsigned most, bool *is_cut,
	struct jump_table *table)
{
	size_t at = (size_t)(jump - window->begin), first = at;
	struct trace trace = {.at = 0};
	struct effect effect;

	for (unsigned i = 0; i < most && first > 0;) {
		first--;
		i += window->starts[first] & 1;
	}
	*is_cut = first > 0;
	for (size_t i = first; i < at; i++) {
		if (!(window->starts[i] & 1))
			continue;
		if (!parse_budget_step(budget))
			return false;
		effect_get(decoder, window, i, effects, &effect);
		step(&trace, &effect);
	}
	effect_get(decoder, window, at, effects, &effect);
	return finish(&trace, &effect, table);
}

bool jump_table_find(struct decoder *decoder, const struct jump_window *window, uint64_t jump,
	struct jump_effects *effects, struct parse_budget *budget, struct jump_table *table)
{
	bool is_cut;

	if (find(decoder, window, jump, effects, budget, WINDOW_NEAR, &is_cut, table))
		return true;
	return is_cut && !budget->spent &&
	       find(decoder, window, jump, effects, budget, WINDOW, &is_cut, table);
}
