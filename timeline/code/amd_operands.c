/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_operands.c - operands of AMD's machine code (GCN 5, CDNA 1 to 3): which registers an instruction
 * defines and uses, and which counters it raises or waits for. Encodings are those of AMD's instruction set
 * manuals; which operands an operation has follows LLVM's disassembler (tests/gpu/README.md).
 *
 *   format     bits that tell it    fields (bit of the first; * in the second word)
 *   VOP2       31: 0                operation 25, D 17, B 9, A 0
 *   VOP1, VOPC 31-25: 3f, 3e        operation 9 (VOPC: 17), D 17, A 0; VOPC: B 9
 *   SOP2 K 1 C P  31-28, 31-23      operation 23 23 8 16 16, D 16, B 8, A 0
 *   SMEM       31-26: 30            operation 18, D 6, A 0 in pairs, register offset *25 or *0
 *   VOP3       31-26: 34            operation 16, D 0, second D 8, A *0, B *9, C *18
 *   VOP3P      31-23: 1a7           operation 16, D 0, A *0, B *9, C *18, accumulation 15 *27 *28
 *   DS         31-26: 36            operation 17, accumulation 25, A *0, B *8, C *16, D *24
 *   FLAT       31-26: 37            operation 18, segment 14, A *0, B *8, scalar *16, accumulation *23, D *24
 *   MUBUF MTBUF 31-26: 38 3a        operation 18 15, A *0, D *8, resource *16 in fours, accumulation *23,
 * offset *24
 *
 * The mask of active threads (EXEC), which every vector instruction needs, counts where it is an operand.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "timeline/code/amd_arithmetic.h"
#include "timeline/code/amd_word.h"
#include "timeline/code/gpu_isa.h"

enum format { /* in the order of the rows */
	VOP2,
	VOPC,
	VOP1,
	VOP3,
	VOP3P,
	SOP2,
	SOPK,
	SOP1,
	SOPC,
	SOPP,
	SMEM,
	DS,
	FLAT,
	SCRATCH,
	GLOBAL,
	MUBUF,
	MTBUF,
	NO_FORMAT
};

/* Processors that have the row, as bits. */
enum { IS_GCN = 1, IS_CDNA2 = 2, IS_CDNA3 = 4 };

struct row {
	uint8_t format;
	uint16_t operation;
	uint8_t processors;
	const char *name;
	uint8_t kind;
	uint8_t d, a, b, c; /* words of operands; 0: it has none. Of memory: A address, B and C data */
	uint8_t bytes;
	uint16_t flags;
};

#define KEEPS 1u    /* uses D, too */
#define SCALAR_D 2u /* D is scalar where its place is a vector register's */
#define SDST 4u	    /* a scalar D beside D */
#define DVCC 8u	    /* defines VCC, in the wide form SDST */
#define UVCC 16u    /* uses VCC, in the wide form C */
#define FMAS 32u    /* uses VCC in all forms */
#define DSCC 64u    /* defines SCC */
#define USCC 128u   /* uses SCC */
#define DEXEC 256u  /* defines EXEC */
#define UEXEC 512u  /* uses EXEC */
#define SWAPS 1024u /* defines A and uses D */
#define UM0 2048u   /* uses M0 */

/* By format, operation and processors. */
static const struct row rows[] = {
#include "timeline/code/amd_vector.inc"
/* then */
#include "timeline/code/amd_scalar_memory.inc"
};

/* Scalar operands by their number. */
enum {
	VCC = 106,
	M0 = 124,
	NOWHERE,
	EXEC = 126,
	SCALARS_END = 128,
	VCC_ZERO = 251,
	EXEC_ZERO,
	IS_SCC,
	DIRECT, /* from shared memory, by M0 */
	VECTOR = 256
};
#define SCC 128u /* as a resource */
#define SDWA 249u
#define DPP 250u
#define NO_SCALAR 0x7fu
#define BROADCAST_ALL 0xffu /* DPP: masks of rows and banks */

struct word {
	uint32_t first, second;
	unsigned processor;
};

static unsigned bits(uint32_t word, unsigned at, unsigned count)
{
	return word >> at & ((1u << count) - 1);
}

/* ---- sets ---- */

static void add_scalars(struct gpu_set *set, unsigned first, unsigned words)
{
	for (unsigned i = first; i < first + words && i < SCALARS_END; i++)
		if (i != NOWHERE)
			gpu_set_add(set, GPU_SCALAR + i);
}

static void add_vectors(struct gpu_set *set, unsigned first, unsigned words, bool is_accumulator)
{
	for (unsigned i = first; i < first + words && i < VECTOR; i++)
		gpu_set_add(set, (is_accumulator ? GPU_ACCUMULATOR : 0) + i);
}

/* An operand of 9 bits; constants and literals are no resources. */
static void add_source(struct gpu_set *set, unsigned operand, unsigned words, bool is_accumulator)
{
	if (!words)
		return;
	if (operand >= VECTOR)
		add_vectors(set, operand - VECTOR, words, is_accumulator);
	else if (operand < SCALARS_END)
		add_scalars(set, operand, words);
	else if (operand == VCC_ZERO)
		add_scalars(set, VCC, 2);
	else if (operand == EXEC_ZERO)
		add_scalars(set, EXEC, 2);
	else if (operand == IS_SCC)
		gpu_set_add(set, GPU_SCALAR + SCC);
	else if (operand == DIRECT)
		add_scalars(set, M0, 1);
}

static void add_counter(struct gpu_instruction *in, enum gpu_counter counter)
{
	in->counts |= (uint8_t)(1u << counter);
	gpu_set_add(&in->defines, GPU_COUNTER + counter);
}

/* ---- vector arithmetic ---- */

static void add_flags(struct gpu_instruction *in, unsigned flags)
{
	if (flags & FMAS)
		add_scalars(&in->uses, VCC, 2);
	if (flags & DSCC)
		gpu_set_add(&in->defines, GPU_SCALAR + SCC);
	if (flags & USCC)
		gpu_set_add(&in->uses, GPU_SCALAR + SCC);
	if (flags & DEXEC)
		add_scalars(&in->defines, EXEC, 2);
	if (flags & UEXEC)
		add_scalars(&in->uses, EXEC, 2);
	if (flags & UM0)
		add_scalars(&in->uses, M0, 1);
}

static void add_result(struct gpu_instruction *in, const struct row *row, unsigned d)
{
	if (row->flags & SCALAR_D)
		add_scalars(&in->defines, d, row->d);
	else
		add_vectors(&in->defines, d, row->d, false);
	if (row->flags & (KEEPS | SWAPS))
		add_vectors(&in->uses, d, row->d, false);
}

/* Parts of registers (SDWA) or lanes of others (DPP): the second word has A, and says what of D stays. */
static void narrow_sources(struct gpu_instruction *in, struct word word, const struct row *row)
{
	bool is_parts = bits(word.first, 0, 9) == SDWA;
	unsigned a = bits(word.second, 0, 8), b = bits(word.first, 9, 8);
	bool keeps = is_parts ? bits(word.second, 11, 2) == 2
			      : !bits(word.second, 19, 1) || bits(word.second, 24, 8) != BROADCAST_ALL;

	if (row->format == VOPC && is_parts && bits(word.second, 15, 1))
		add_scalars(&in->defines, bits(word.second, 8, 7), 2);
	else if (row->format == VOPC)
		add_scalars(&in->defines, VCC, 2);
	else if (keeps)
		add_vectors(&in->uses, bits(word.first, 17, 8), row->d, false);
	add_source(&in->uses, is_parts && bits(word.second, 23, 1) ? a : a + VECTOR, row->a, false);
	if (row->format != VOP1)
		add_source(&in->uses, is_parts && bits(word.second, 31, 1) ? b : b + VECTOR, row->b, false);
}

static void read_narrow(struct gpu_instruction *in, struct word word, const struct row *row)
{
	unsigned a = bits(word.first, 0, 9);
	bool has_parts = a == SDWA || a == DPP;
	bool is_accumulator = row->kind == GPU_KIND_MOVE && strcmp(row->name, "v_accvgpr_mov_b32") == 0;

	add_flags(in, row->flags);
	if (row->flags & DVCC)
		add_scalars(&in->defines, VCC, 2);
	if (row->flags & UVCC)
		add_scalars(&in->uses, VCC, 2);
	if (row->format != VOPC && is_accumulator)
		add_vectors(&in->defines, bits(word.first, 17, 8), row->d, true);
	else if (row->format != VOPC)
		add_result(in, row, bits(word.first, 17, 8));
	if (has_parts) {
		narrow_sources(in, word, row);
		return;
	}
	if (row->format == VOPC)
		add_scalars(&in->defines, VCC, 2);
	add_source(&in->uses, a, row->a, is_accumulator);
	if (row->flags & SWAPS)
		add_source(&in->defines, a, row->a, false);
	if (row->format != VOP1)
		add_source(&in->uses, bits(word.first, 9, 8) + VECTOR, row->b, false);
}

static void read_wide(struct gpu_instruction *in, struct word word, const struct row *row)
{
	unsigned d = bits(word.first, 0, 8), c = bits(word.second, 18, 9);

	add_flags(in, row->flags);
	if (row->format == VOPC)
		add_scalars(&in->defines, d, 2);
	else
		add_result(in, row, d);
	if (row->flags & (SDST | DVCC))
		add_scalars(&in->defines, bits(word.first, 8, 7), 2);
	add_source(&in->uses, bits(word.second, 0, 9), row->a, false);
	add_source(&in->uses, bits(word.second, 9, 9), row->b, false);
	add_source(&in->uses, c, row->flags & UVCC ? 2 : row->c, false);
	if (row->flags & SWAPS)
		add_source(&in->defines, bits(word.second, 0, 9), row->a, false);
}

/* Matrices: until CDNA 1 results and C are always in accumulation registers. */
static void read_matrix(struct gpu_instruction *in, struct word word, const struct row *row)
{
	unsigned d = bits(word.first, 0, 8);
	bool is_sparse = row->flags & KEEPS;
	bool is_accumulator = word.processor == IS_GCN || bits(word.first, 15, 1);

	add_vectors(&in->defines, d, row->d, is_accumulator);
	if (is_sparse)
		add_vectors(&in->uses, d, row->d, is_accumulator);
	add_source(&in->uses, bits(word.second, 0, 9), row->a, bits(word.second, 27, 1));
	add_source(&in->uses, bits(word.second, 9, 9), row->b, bits(word.second, 28, 1));
	add_source(&in->uses, bits(word.second, 18, 9), row->c, is_accumulator && !is_sparse);
}

static void read_packed(struct gpu_instruction *in, struct word word, const struct row *row)
{
	bool reads = strcmp(row->name, "v_accvgpr_read_b32") == 0;
	bool writes = strcmp(row->name, "v_accvgpr_write_b32") == 0;

	if (row->kind == GPU_KIND_MATRIX) {
		read_matrix(in, word, row);
		return;
	}
	if (reads || writes) {
		add_vectors(&in->defines, bits(word.first, 0, 8), 1, writes);
		add_source(&in->uses, bits(word.second, 0, 9), 1, reads);
		return;
	}
	read_wide(in, word, row);
}

/* ---- scalars ---- */

/* Counters in s_waitcnt; the largest number of each is no wait. */
static void read_waits(struct gpu_instruction *in, uint32_t word)
{
	static const uint8_t most[GPU_COUNTERS] = {
		[GPU_COUNTER_VECTOR_MEMORY] = 63, [GPU_COUNTER_SHARED_MEMORY] = 15, [GPU_COUNTER_EXPORT] = 7};

	in->left[GPU_COUNTER_VECTOR_MEMORY] = (uint8_t)(bits(word, 0, 4) | bits(word, 14, 2) << 4);
	in->left[GPU_COUNTER_SHARED_MEMORY] = (uint8_t)bits(word, 8, 4);
	in->left[GPU_COUNTER_EXPORT] = (uint8_t)bits(word, 4, 3);
	for (unsigned c = 0; c < GPU_COUNTERS; c++) {
		if (in->left[c] == most[c])
			continue;
		in->waits |= (uint8_t)(1u << c);
		gpu_set_add(&in->uses, GPU_COUNTER + c);
	}
}

static void read_scalar(struct gpu_instruction *in, struct word word, const struct row *row)
{
	unsigned d = bits(word.first, 16, 7);

	add_flags(in, row->flags);
	if (row->flags & UVCC)
		add_scalars(&in->uses, VCC, 2);
	switch ((enum format)row->format) {
	case SOPP:
		if (row->kind == GPU_KIND_WAIT)
			read_waits(in, word.first);
		if (row->flags & UM0)
			add_counter(in, GPU_COUNTER_SHARED_MEMORY);
		return;
	case SOPK: /* comparisons have their operand in D's place */
		add_scalars(&in->defines, d, row->d);
		add_scalars(&in->uses, d, row->a);
		break;
	default:
		if (row->format != SOPC)
			add_scalars(&in->defines, d, row->d);
		add_source(&in->uses, bits(word.first, 0, 8), row->a, false);
		if (row->format != SOP1)
			add_source(&in->uses, bits(word.first, 8, 8), row->b, false);
	}
	if (row->flags & KEEPS)
		add_scalars(&in->uses, d, row->d);
}

/* ---- memory ---- */

/* Data that an instruction moves: what it loads, stores, or exchanges. */
static void add_data(struct gpu_instruction *in, const struct row *row, unsigned first, unsigned words,
	bool is_accumulator, bool returns)
{
	if (row->kind == GPU_KIND_LOAD || (row->kind == GPU_KIND_ATOMIC && returns))
		add_vectors(&in->defines, first,
			row->kind == GPU_KIND_ATOMIC && row->bytes ? row->bytes / 4u : words, is_accumulator);
	if (row->kind != GPU_KIND_LOAD || (row->flags & KEEPS))
		add_vectors(&in->uses, first, words, is_accumulator);
}

static void read_scalar_memory(struct gpu_instruction *in, struct word word, const struct row *row)
{
	unsigned d = bits(word.first, 6, 7);
	bool is_immediate = bits(word.first, 17, 1), has_offset = bits(word.first, 14, 1);

	add_counter(in, GPU_COUNTER_SHARED_MEMORY);
	in->space =
		strncmp(row->name, "s_scratch", 9) == 0 ? GPU_SPACE_LOCAL
		: row->kind == GPU_KIND_LOAD || row->kind == GPU_KIND_STORE || row->kind == GPU_KIND_ATOMIC
			? GPU_SPACE_CONSTANT
			: GPU_SPACE_NONE;
	if (row->kind == GPU_KIND_STORE || row->kind == GPU_KIND_ATOMIC)
		add_scalars(&in->uses, d, row->d);
	if (row->kind == GPU_KIND_ATOMIC && bits(word.first, 16, 1))
		add_scalars(&in->defines, d, row->bytes / 4u);
	if (row->kind == GPU_KIND_LOAD || row->kind == GPU_KIND_MOVE)
		add_scalars(&in->defines, d, row->d);
	if (!row->a)
		return;
	add_scalars(&in->uses, bits(word.first, 0, 6) * 2, row->a);
	if (has_offset)
		add_scalars(&in->uses, bits(word.second, 25, 7), 1);
	else if (!is_immediate)
		add_scalars(&in->uses, bits(word.second, 0, 7), 1);
}

static void read_shared(struct gpu_instruction *in, struct word word, const struct row *row)
{
	bool is_accumulator = word.processor != IS_GCN && bits(word.first, 25, 1);
	/* Since CDNA 2 what is shared by the whole GPU only synchronizes. */
	bool is_global =
		bits(word.first, 16, 1) && (word.processor == IS_GCN || row->kind == GPU_KIND_BARRIER);

	if (row->kind == GPU_KIND_CONTROL)
		return;
	add_counter(in, GPU_COUNTER_SHARED_MEMORY);
	if (is_global)
		add_counter(in, GPU_COUNTER_EXPORT);
	in->space = is_global ? GPU_SPACE_GLOBAL : GPU_SPACE_SHARED;
	add_vectors(&in->defines, bits(word.second, 24, 8), row->d, is_accumulator);
	if (row->flags & KEEPS)
		add_vectors(&in->uses, bits(word.second, 24, 8), row->d, is_accumulator);
	add_vectors(
		&in->uses, bits(word.second, 0, 8), row->a, is_accumulator && row->kind == GPU_KIND_BARRIER);
	add_vectors(&in->uses, bits(word.second, 8, 8), row->b, is_accumulator);
	add_vectors(&in->uses, bits(word.second, 16, 8), row->c, is_accumulator);
	add_flags(in, row->flags);
}

static void add_flat_address(struct gpu_instruction *in, struct word word, const struct row *row)
{
	unsigned scalar = bits(word.second, 16, 7), a = bits(word.second, 0, 8);
	bool has_scalar = row->format != FLAT && scalar != NO_SCALAR;
	bool has_vector = word.processor == IS_CDNA3 ? bits(word.first, 13, 1) : !has_scalar;

	if (!row->a)
		return;
	if (row->format == SCRATCH) {
		add_vectors(&in->uses, a, has_vector, false);
		add_scalars(&in->uses, scalar, has_scalar);
	} else {
		add_vectors(&in->uses, a, has_scalar ? 1 : row->a, false);
		add_scalars(&in->uses, scalar, has_scalar ? 2 : 0);
	}
}

static void read_flat(struct gpu_instruction *in, struct word word, const struct row *row)
{
	static const uint8_t spaces[] = {
		[FLAT] = GPU_SPACE_ANY, [SCRATCH] = GPU_SPACE_LOCAL, [GLOBAL] = GPU_SPACE_GLOBAL};
	bool is_accumulator = word.processor != IS_GCN && bits(word.second, 23, 1);
	bool returns = row->kind == GPU_KIND_ATOMIC ? bits(word.first, 16, 1) : true;

	in->space = spaces[row->format];
	if (row->kind == GPU_KIND_LOAD && word.processor != IS_CDNA3 && bits(word.first, 13, 1))
		in->kind = GPU_KIND_COPY; /* to shared memory */
	add_counter(in, GPU_COUNTER_VECTOR_MEMORY);
	if (row->format == FLAT)
		add_counter(in, GPU_COUNTER_SHARED_MEMORY);
	add_flat_address(in, word, row);
	if (in->kind == GPU_KIND_COPY) {
		add_scalars(&in->uses, M0, 1);
		return;
	}
	if (returns)
		add_vectors(&in->defines, bits(word.second, 24, 8), row->d, is_accumulator);
	if (row->flags & KEEPS)
		add_vectors(&in->uses, bits(word.second, 24, 8), row->d, is_accumulator);
	add_vectors(&in->uses, bits(word.second, 8, 8), row->b, is_accumulator);
}

/* The resource at s[0:3] is that of a thread's own memory in what compilers make. */
static void read_buffer(struct gpu_instruction *in, struct word word, const struct row *row)
{
	unsigned resource = bits(word.second, 16, 5) * 4,
		 words = bits(word.first, 12, 1) + bits(word.first, 13, 1);
	bool is_accumulator = word.processor != IS_GCN && bits(word.second, 23, 1);
	bool has_status = word.processor == IS_GCN && bits(word.second, 23, 1);
	bool is_copy = row->format == MUBUF && bits(word.first, 16, 1);

	add_counter(in, GPU_COUNTER_VECTOR_MEMORY);
	if (row->kind == GPU_KIND_FENCE)
		return;
	in->space = resource ? GPU_SPACE_GLOBAL : GPU_SPACE_LOCAL;
	add_vectors(&in->uses, bits(word.second, 0, 8), words, false);
	add_scalars(&in->uses, resource, 4);
	add_source(&in->uses, bits(word.second, 24, 8), 1, false);
	if (is_copy) {
		in->kind = GPU_KIND_COPY;
		add_scalars(&in->uses, M0, 1);
		return;
	}
	add_data(in, row, bits(word.second, 8, 8), row->d + (has_status && row->kind == GPU_KIND_LOAD),
		is_accumulator, bits(word.first, 14, 1));
}

/* ---- rows ---- */

static enum format vector_format(uint32_t word, unsigned *operation)
{
	*operation = bits(word, 25, 6);
	if (*operation == 0x3e) {
		*operation = bits(word, 17, 8);
		return VOPC;
	}
	if (*operation == 0x3f) {
		*operation = bits(word, 9, 8);
		return VOP1;
	}
	return VOP2;
}

static enum format scalar_format(uint32_t word, unsigned *operation)
{
	switch (bits(word, 23, 9)) {
	case 0x17d:
		*operation = bits(word, 8, 8);
		return SOP1;
	case 0x17e:
		*operation = bits(word, 16, 7);
		return SOPC;
	case 0x17f:
		*operation = bits(word, 16, 7);
		return SOPP;
	default:
		break;
	}
	*operation = bits(word, 23, bits(word, 28, 4) == 0xb ? 5 : 7);
	return bits(word, 28, 4) == 0xb ? SOPK : SOP2;
}

/* The wide form has the operations of the narrow ones, too. */
static enum format wide_format(uint32_t word, unsigned *operation)
{
	if (bits(word, 23, 9) == 0x1a7) {
		*operation = bits(word, 16, 7);
		return VOP3P;
	}
	*operation = bits(word, 16, 10);
	if (*operation < 0x100)
		return VOPC;
	if (*operation >= 0x1c0)
		return VOP3;
	*operation -= *operation < 0x140 ? 0x100 : 0x140;
	return bits(word, 16, 10) < 0x140 ? VOP2 : VOP1;
}

static enum format format_of(uint32_t word, unsigned *operation)
{
	static const uint8_t segments[] = {FLAT, SCRATCH, GLOBAL, NO_FORMAT};

	if (!(word >> 31))
		return vector_format(word, operation);
	if (!(word >> 30 & 1))
		return scalar_format(word, operation);
	switch (word >> 26) {
	case 0x30:
		*operation = bits(word, 18, 8);
		return SMEM;
	case 0x34:
		return wide_format(word, operation);
	case 0x36:
		*operation = bits(word, 17, 8);
		return DS;
	case 0x37:
		*operation = bits(word, 18, 7);
		return segments[bits(word, 14, 2)];
	case 0x38:
		*operation = bits(word, 18, 7);
		return MUBUF;
	case 0x3a:
		*operation = bits(word, 15, 4);
		return MTBUF;
	default:
		*operation = 0;
		return NO_FORMAT;
	}
}

static const struct row *row_of(enum format format, unsigned operation, unsigned processor)
{
	size_t low = 0, high = sizeof rows / sizeof *rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct row *row = &rows[middle];

		if (row->format < format || (row->format == format && row->operation < operation))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < sizeof rows / sizeof *rows && rows[low].format == format &&
		rows[low].operation == operation;
		low++)
		if (rows[low].processors & processor)
			return &rows[low];
	return NULL;
}

static void read_operands(struct gpu_instruction *in, struct word word, const struct row *row)
{
	switch ((enum format)row->format) {
	case VOP2:
	case VOPC:
	case VOP1:
	case VOP3:
		if (word.first >> 31)
			read_wide(in, word, row);
		else
			read_narrow(in, word, row);
		break;
	case VOP3P:
		read_packed(in, word, row);
		break;
	case SMEM:
		read_scalar_memory(in, word, row);
		break;
	case DS:
		read_shared(in, word, row);
		break;
	case FLAT:
	case SCRATCH:
	case GLOBAL:
		read_flat(in, word, row);
		break;
	case MUBUF:
	case MTBUF:
		read_buffer(in, word, row);
		break;
	default:
		read_scalar(in, word, row);
	}
}

static bool instruction(const uint8_t *bytes, size_t size, unsigned processor, struct gpu_instruction *in)
{
	struct word word = {.processor = processor};
	enum format format;
	unsigned operation = 0;
	const struct row *row = NULL;

	if (size >= sizeof word.first) {
		memcpy(&word.first, bytes, sizeof word.first);
		if (size >= 2 * sizeof word.first)
			memcpy(&word.second, bytes + sizeof word.first, sizeof word.second);
		format = format_of(word.first, &operation);
		row = row_of(format, operation, processor);
	}
	*in = (struct gpu_instruction){.name = row ? row->name : "?",
		.kind = row ? row->kind : GPU_KIND_OPAQUE,
		.bytes = row ? row->bytes : 0,
		.guard = GPU_ALWAYS,
		.write_barrier = GPU_NO_BARRIER,
		.read_barrier = GPU_NO_BARRIER};
	if (row)
		read_operands(in, word, row);
	return row != NULL;
}

static bool gcn_instruction(const uint8_t *bytes, size_t size, struct gpu_instruction *in)
{
	return instruction(bytes, size, IS_GCN, in);
}

static bool cdna2_instruction(const uint8_t *bytes, size_t size, struct gpu_instruction *in)
{
	return instruction(bytes, size, IS_CDNA2, in);
}

static bool cdna3_instruction(const uint8_t *bytes, size_t size, struct gpu_instruction *in)
{
	return instruction(bytes, size, IS_CDNA3, in);
}

/* ---- names ---- */

static int scalar_name(unsigned scalar, char *text, size_t size)
{
	static const struct {
		uint8_t number;
		const char *name;
	} named[] = {{102, "flat_scratch_lo"}, {103, "flat_scratch_hi"}, {104, "xnack_mask_lo"},
		{105, "xnack_mask_hi"}, {VCC, "vcc_lo"}, {VCC + 1, "vcc_hi"}, {M0, "m0"}, {EXEC, "exec_lo"},
		{EXEC + 1, "exec_hi"}, {SCC, "scc"}};

	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		if (named[i].number == scalar)
			return snprintf(text, size, "%s", named[i].name);
	if (scalar > VCC + 1 && scalar < M0)
		return snprintf(text, size, "ttmp%u", scalar - VCC - 2);
	return snprintf(text, size, "s%u", scalar);
}

static int resource_name(unsigned resource, char *text, size_t size)
{
	static const char *const counters[GPU_COUNTERS] = {"vmcnt", "lgkmcnt", "expcnt"};

	if (resource < VECTOR)
		return snprintf(text, size, "v%u", resource);
	if (resource >= GPU_COUNTER && resource < GPU_COUNTER + GPU_COUNTERS)
		return snprintf(text, size, "%s", counters[resource - GPU_COUNTER]);
	if (resource >= GPU_ACCUMULATOR)
		return snprintf(text, size, "a%u", resource - GPU_ACCUMULATOR);
	return scalar_name(resource - GPU_SCALAR, text, size);
}

static bool is_run(unsigned resource)
{
	if (resource >= GPU_ACCUMULATOR)
		return resource + 1 < GPU_COUNTER;
	if (resource >= GPU_SCALAR)
		return resource + 1 < GPU_SCALAR + 102;
	return resource + 1 < VECTOR;
}

const struct gpu_isa gpu_isa_gcn = {.vendor = GPU_VENDOR_AMD,
	.machine = EM_AMDGPU | AMD_GCN << 16,
	.instruction = gcn_instruction,
	.arithmetic = amd_arithmetic,
	.resource_name = resource_name,
	.is_run = is_run};
const struct gpu_isa gpu_isa_cdna2 = {.vendor = GPU_VENDOR_AMD,
	.machine = EM_AMDGPU | AMD_CDNA2 << 16,
	.instruction = cdna2_instruction,
	.arithmetic = amd_arithmetic,
	.resource_name = resource_name,
	.is_run = is_run};
const struct gpu_isa gpu_isa_cdna3 = {.vendor = GPU_VENDOR_AMD,
	.machine = EM_AMDGPU | AMD_CDNA3 << 16,
	.instruction = cdna3_instruction,
	.arithmetic = amd_arithmetic,
	.resource_name = resource_name,
	.is_run = is_run};
