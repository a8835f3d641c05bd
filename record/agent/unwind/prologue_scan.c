/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prologue_scan.c - see prologue_scan.h. Follows the straight path first; takes branches if it ends without a
 * return.
 */
#include "record/agent/unwind/prologue_scan.h"

#include <string.h>

#include "record/agent/unwind/instruction.h"

#define INSTRUCTIONS_MAX 3000
#define FP_HELD (-(1 << 30)) /* pushed and popped on the path: below all other values */

struct search {
	uint64_t begin, end; /* of the code */
	const struct cfi_memory *memory;
	struct prologue_scan_scratch *scratch;
	unsigned paths, left; /* pending; instructions that may still be read */
	uint64_t code_at;     /* address of scratch->code; 0: none */
};

enum end { END_NONE, END_RETURN, END_DEAD, END_GOAL };

/* The readable code bytes at pc, and their number; NULL: none. */
static const uint8_t *code_read(struct search *search, uint64_t pc, size_t *size)
{
	uint8_t *code = search->scratch->code;
	size_t room = sizeof(search->scratch->code);

	if (search->code_at && pc >= search->code_at &&
		pc + INSTRUCTION_BYTES_MAX <= search->code_at + room) {
		*size = (size_t)(search->code_at + room - pc);
		return code + (pc - search->code_at);
	}
	if (pc < search->begin || pc >= search->end)
		return NULL;
	search->code_at = 0;
	*size = search->end - pc < room ? (size_t)(search->end - pc) : room;
	if (search->memory->read(search->memory->context, pc, code, *size))
		return NULL;
	if (*size == room)
		search->code_at = pc;
	return code;
}

#define TAKEN_UNKNOWN INT32_MIN

/* What the path has taken off the stack, if that can be compared with another path's. */
static int32_t taken_of(const struct prologue_scan_path *path)
{
	return path->base == ARCH_SP && !path->is_loaded && !path->is_lost ? path->taken : TAKEN_UNKNOWN;
}

/* Where the place is, or would be; NULL: the table is full. */
static uint64_t *place_find(struct search *search, uint64_t place)
{
	uint64_t *places = search->scratch->places;
	unsigned at = (unsigned)(place * UINT64_C(0x9e3779b97f4a7c15) >> 57);

	for (unsigned i = 0; i < PROLOGUE_SCAN_PLACES; i++, at = (at + 1) % PROLOGUE_SCAN_PLACES)
		if (places[at] == place || !places[at])
			return &places[at];
	return NULL;
}

/* True if the place is new; adds it. If the table is full, nothing new is followed. */
static bool is_new(struct search *search, const struct prologue_scan_path *path, uint64_t place)
{
	uint64_t *found = place_find(search, place);

	if (!found || *found)
		return false;
	*found = place;
	search->scratch->taken[found - search->scratch->places] = taken_of(path);
	return true;
}

/* Another path has come to where this one is, with another stack. */
static bool is_contradicted(struct search *search, const struct prologue_scan_path *path)
{
	const uint64_t *found = place_find(search, path->pc);
	int32_t taken = taken_of(path), other;

	if (!found || !*found)
		return false;
	other = search->scratch->taken[found - search->scratch->places];
	return taken != TAKEN_UNKNOWN && other != TAKEN_UNKNOWN && taken != other;
}

static_assert(PROLOGUE_SCAN_PLACES == 1u << (64 - 57), "the hash keeps seven bits");

static void path_keep(struct search *search, const struct prologue_scan_path *path, uint64_t target)
{
	if (search->paths == PROLOGUE_SCAN_PATHS || !is_new(search, path, target))
		return;
	search->scratch->paths[search->paths] = *path;
	search->scratch->paths[search->paths++].pc = target;
}

static void base_keep(struct prologue_scan_path *path, unsigned number, int32_t offset)
{
	path->kept_at[number] = path->taken + offset;
	path->kept = (uint16_t)(path->is_lost ? path->kept & ~(1u << number) : path->kept | 1u << number);
}

/* False: popped bytes so far refer to another base. */
static bool base_change(struct prologue_scan_path *path, unsigned base, int32_t offset)
{
	if (path->kept & 1u << base) {
		path->taken = path->kept_at[base] + offset;
		path->is_lost = false;
		return true;
	}
	if (path->has_fp || path->is_lost)
		return false;
	path->base = (uint8_t)base;
	path->is_loaded = false;
	path->taken = offset;
	path->kept = 0;
	return true;
}

static bool base_load(struct prologue_scan_path *path, int32_t at)
{
	if (path->has_fp || path->is_loaded || path->is_lost)
		return false;
	path->kept = 0;
	path->load_at = path->taken + at;
	path->is_loaded = true;
	path->taken = 0;
	return true;
}

static void fp_load(struct prologue_scan_path *path, int32_t at)
{
	path->has_fp = true;
	path->fp_at = path->is_lost ? FP_HELD : at;
}

/* Takes one instruction at path->pc. */
static enum end step(struct search *search, struct prologue_scan_path *path)
{
	struct instruction instruction;
	size_t size = 0;
	const uint8_t *code;

	if (path->has_called && is_contradicted(search, path))
		return END_DEAD;
	code = code_read(search, path->pc, &size);
	if (!code || !search->left-- || !instruction_decode(code, size, &instruction))
		return END_DEAD;
	path->pc += instruction.length;
	/* Padding after a call: the call never returns, and the function ends. */
	if (path->has_called && instruction.kind == INSTRUCTION_NOTHING)
		return END_DEAD;
	path->has_called = instruction.kind == INSTRUCTION_CALL;
	switch (instruction.kind) {
	case INSTRUCTION_STACK:
		path->taken += instruction.value;
		break;
	case INSTRUCTION_POP_FP:
		fp_load(path, path->taken);
		path->taken += 8;
		break;
	case INSTRUCTION_LOAD_FP:
		fp_load(path, path->taken + instruction.value);
		break;
	case INSTRUCTION_LOAD_SP:
		if (!base_load(path, instruction.value))
			return END_DEAD;
		break;
	case INSTRUCTION_FROM:
	case INSTRUCTION_LEAVE:
		if (!base_change(path, instruction.from, instruction.value))
			return END_DEAD;
		if (instruction.kind == INSTRUCTION_LEAVE) {
			fp_load(path, path->taken);
			path->taken += 8;
		}
		break;
	case INSTRUCTION_KEEP:
		base_keep(path, instruction.from, instruction.value);
		break;
	case INSTRUCTION_ALIGN:
		path->is_lost = true;
		break;
	case INSTRUCTION_JUMP:
		path->pc += (uint64_t)(int64_t)instruction.value;
		return is_new(search, path, path->pc) ? END_NONE : END_DEAD;
	case INSTRUCTION_BRANCH:
		path_keep(search, path, path->pc + (uint64_t)(int64_t)instruction.value);
		break;
	case INSTRUCTION_RETURN:
		return END_RETURN;
	case INSTRUCTION_END:
	case INSTRUCTION_STOP:
	case INSTRUCTION_UNKNOWN:
		return END_DEAD;
	case INSTRUCTION_CALL:
	case INSTRUCTION_NOTHING:
	case INSTRUCTION_OTHER:
		break;
	}
	return END_NONE;
}

static bool prologue_scan_of(const struct prologue_scan_path *path, struct prologue_scan *scan)
{
	bool from_sp = path->base == ARCH_SP && !path->is_loaded;
	/* Words below the stack pointer do not exist yet: they will be pushed. */
	bool has_fp = path->has_fp && !(from_sp && path->fp_at < 0);

	*scan = (struct prologue_scan){.base = path->base,
		.is_loaded = path->is_loaded,
		.load_at = path->load_at,
		.cfa_offset = path->taken + 8,
		.fp_offset = has_fp ? path->fp_at - path->taken - 8 : 0};
	return !path->is_lost && path->taken % 8 == 0 && scan->fp_offset % 8 == 0 && path->load_at % 8 == 0 &&
	       (!from_sp || path->taken >= 0) &&
	       (path->base != ARCH_SP || !path->is_loaded || path->load_at >= 0);
}

static bool is_same(const struct prologue_scan *a, const struct prologue_scan *b)
{
	return a->base == b->base && a->is_loaded == b->is_loaded && a->load_at == b->load_at &&
	       a->cfa_offset == b->cfa_offset && a->fp_offset == b->fp_offset;
}

static unsigned guess_add(struct prologue_scan *scans, unsigned count, const struct prologue_scan *scan)
{
	for (unsigned i = 0; i < count; i++)
		if (is_same(&scans[i], scan))
			return count;
	scans[count] = *scan;
	return count + 1;
}

unsigned prologue_scan_find(uint64_t pc, uint64_t begin, uint64_t end, const struct cfi_memory *memory,
	struct prologue_scan_scratch *scratch, struct prologue_scan *scans, unsigned most)
{
	struct search search = {
		.begin = begin, .end = end, .memory = memory, .scratch = scratch, .left = INSTRUCTIONS_MAX};
	unsigned count = 0;

	memset(scratch->places, 0, sizeof(scratch->places));
	scratch->paths[search.paths++] = (struct prologue_scan_path){.pc = pc, .base = ARCH_SP};
	while (search.paths && count < most && count < PROLOGUE_SCAN_GUESSES) {
		struct prologue_scan_path path = scratch->paths[--search.paths];
		struct prologue_scan scan;
		enum end end_of = END_NONE;

		while (end_of == END_NONE)
			end_of = step(&search, &path);
		if (end_of == END_RETURN && prologue_scan_of(&path, &scan))
			count = guess_add(scans, count, &scan);
	}
	return count;
}

static enum end walk_to(struct search *search, struct prologue_scan_path *path, uint64_t goal)
{
	enum end end_of = END_NONE;

	while (end_of == END_NONE)
		end_of = path->pc == goal && taken_of(path) != TAKEN_UNKNOWN ? END_GOAL : step(search, path);
	return end_of;
}

int32_t prologue_scan_depth(uint64_t function, uint64_t pc, uint64_t begin, uint64_t end,
	const struct cfi_memory *memory, struct prologue_scan_scratch *scratch)
{
	struct search search = {
		.begin = begin, .end = end, .memory = memory, .scratch = scratch, .left = INSTRUCTIONS_MAX};

	memset(scratch->places, 0, sizeof(scratch->places));
	scratch->paths[search.paths++] = (struct prologue_scan_path){.pc = function, .base = ARCH_SP};
	while (search.paths) {
		struct prologue_scan_path path = scratch->paths[--search.paths];

		if (walk_to(&search, &path, pc) == END_GOAL)
			return path.taken <= 0 ? -path.taken : -1;
	}
	return -1;
}
