/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_operands.c - operands of NVIDIA's machine code since Volta: which registers, predicates and barriers
 * an instruction defines and uses. NVIDIA documents none of it: the table follows what its disassembler says
 * about the liveness of registers (nvdisasm -plr) in compiled code (tests/gpu/README.md).
 *
 *   bit 0       9    12    16    24   32                     64   72       81   84   87        105
 *   | operation | form | guard | D  | A  | B, or immediate ...  | C  | modifiers | PD | PE | PS |  | control
 * |
 *
 *   control   stall 4 | yield 1 | write barrier 3 | read barrier 3 | wait mask 6 | reuse 4
 *
 * Forms: 1 B is a register; 2 3 7: B's place holds an immediate, a constant, a uniform register that stands
 * for C, and C's place holds B; 4 5 6: the same kinds for B itself.
 */
#include "timeline/code/gpu_instruction.h"

#include <stdbool.h>
#include <stddef.h>

#include "timeline/code/sass_word.h"

#define TRUE 7u

/* How to read the operands. */
enum shape {
	PLAIN,	  /* words of D, A, B, C and predicates as the row has them */
	CONVERTS, /* like PLAIN; bits 75-76 and 84-85 are the logarithms of the result's and the source's
		     bytes */
	LOADS,	  /* D from [A] */
	STORES,	  /* B to [A] */
	ATOMIC,	  /* D from [A] with B */
	SWAPS,	  /* D from [A] with B and C */
	SHUFFLES,
	TEXTURES,
	MULTIPLIES, /* matrices: words by type and shape */
	MULTIPLIES_INTEGERS,
	MULTIPLIES_DOUBLES, /* words as the row has them */
	MATRICES,	    /* loads or stores 8x8 matrices */
	COPIES,
	SURFACES,
	SHARED_BARRIERS,
	BLOCK_COPIES,
	TENSOR_COPIES
};

struct row {
	uint16_t operation; /* 9 bits */
	const char *name;
	uint8_t kind, space, shape;
	uint8_t d, a, b, c; /* words; 0: it has none */
	uint32_t flags;
};

#define ADDS 1u		/* forms 2, 3, 7 hold B, and there is no C */
#define PD 2u		/* defines the predicate at bit 81 */
#define PE 4u		/* ... at bit 84 */
#define PS 8u		/* uses the predicate at bit 87 */
#define PT 16u		/* ... at bit 77 */
#define PU 32u		/* ... at bit 68 */
#define UNIFORM 64u	/* all are uniform */
#define ALL_P 128u	/* predicates by an immediate mask: R2P defines, P2R uses them */
#define HIGH 256u	/* C counts only if bit 80 is set */
#define WIDE 512u	/* D has two words if bit 80 is set */
#define DEPBAR 2048u	/* waits for the barrier at bit 44, but for so many as bit 38 says */
#define UNIFORM_D 4096u /* D is uniform, the others are not */
#define FIXED_B 8192u	/* B is a register in every form */
#define VECTOR_P 65536u /* its guard and predicates are not uniform */
#define FLOATS 131072u
#define LANES 262144u
#define BARRIER 16384u
#define BRANCH 32768u
#define BARRIER_REDUCES 2u

/* Sorted by operation. */
static const struct row rows[] = {
#include "timeline/code/sass_table.inc"
};

struct word {
	uint64_t low, high;
};

static unsigned field(struct word word, unsigned at, unsigned count)
{
	uint64_t bits = at >= 64 ? word.high >> (at - 64) : word.low >> at;

	if (at < 64 && at + count > 64)
		bits |= word.high << (64 - at);
	return (unsigned)bits & ((1u << count) - 1);
}

static void registers(struct gpu_set *set, struct word word, unsigned at, unsigned words, bool is_uniform)
{
	unsigned first = field(word, at, is_uniform ? 6 : 8), zero = is_uniform ? UNIFORM_ZERO : RZ;

	for (unsigned i = 0; i < words && first != zero && first + i < zero; i++)
		gpu_set_add(set, (is_uniform ? GPU_UNIFORM : 0) + first + i);
}

static void predicate(struct gpu_set *set, struct word word, unsigned at, bool is_uniform)
{
	unsigned number = field(word, at, 3);

	if (number != TRUE)
		gpu_set_add(set, (is_uniform ? GPU_UNIFORM_PREDICATE : GPU_PREDICATE) + number);
}

static void predicates(struct gpu_instruction *in, struct word word, unsigned flags)
{
	bool is_uniform = flags & UNIFORM;

	if (flags & PD)
		predicate(&in->defines, word, 81, flags & (UNIFORM | UNIFORM_D) && !(flags & VECTOR_P));
	if (flags & PE)
		predicate(&in->defines, word, 84, is_uniform);
	if (flags & PS)
		predicate(&in->uses, word, 87, is_uniform);
	if (flags & PT)
		predicate(&in->uses, word, 77, is_uniform);
	if (flags & PU)
		predicate(&in->uses, word, 68, is_uniform || (in->name[0] == 'P' && field(word, 67, 1)));
	if ((flags & BARRIER) && field(word, 77, 2) == BARRIER_REDUCES)
		predicate(&in->uses, word, 87, false);
	/* Which lanes diverge stands in a uniform register. */
	if ((flags & BRANCH) && field(word, 91, 1))
		registers(&in->uses, word, 24, 1, true);
	for (unsigned p = 0; p < 7 && (flags & ALL_P); p++)
		if (field(word, 32 + p, 1))
			gpu_set_add(in->name[0] == 'R' ? &in->defines : &in->uses, GPU_PREDICATE + p);
}

/* ---- shapes ---- */

/* B and C, as the form has them. */
static void sources(
	struct gpu_instruction *in, struct word word, const struct row *row, unsigned b, unsigned c)
{
	unsigned form = field(word, 9, 3);
	bool is_swapped = form == FORM_C_IMMEDIATE || form == FORM_C_CONSTANT || form == FORM_C_UNIFORM;
	bool is_uniform = row->flags & UNIFORM;
	unsigned at_32 = is_swapped && !(row->flags & ADDS) ? c : b;
	unsigned at_64 = row->flags & ADDS ? 0 : is_swapped ? b : c;

	if ((row->flags & HIGH) && !field(word, 80, 1))
		at_64 = is_swapped ? b : 0;
	if (form == FORM_REGISTER || (row->flags & FIXED_B))
		registers(&in->uses, word, 32, at_32, is_uniform);
	else if (form == FORM_UNIFORM || form == FORM_C_UNIFORM)
		registers(&in->uses, word, 32, at_32, true);
	registers(&in->uses, word, 64, at_64, is_uniform);
}

static void plain(struct gpu_instruction *in, struct word word, const struct row *row)
{
	unsigned d = row->d, b = row->b;

	if (row->shape == CONVERTS) {
		d = field(word, 75, 2) == 3 ? 2 : 1;
		b = field(word, 84, 2) == 3 ? 2 : 1;
	}
	if ((row->flags & WIDE) && field(word, 80, 1))
		d = 2;
	registers(&in->defines, word, 16, d, row->flags & (UNIFORM | UNIFORM_D));
	registers(&in->uses, word, 24, row->a, row->flags & UNIFORM);
	sources(in, word, row, b, row->c);
}

/* Of loads and stores: 8, 8, 16, 16, 32, 64, 128 bits. */
static unsigned bytes_of(struct word word)
{
	static const uint8_t sizes[8] = {1, 1, 2, 2, 4, 8, 16, 16};

	return sizes[field(word, 73, 3)];
}

static unsigned words_of(unsigned bytes)
{
	return bytes <= 4 ? 1 : bytes / 4;
}

static bool is_far(const struct row *row)
{
	return row->space == GPU_SPACE_GLOBAL || row->space == GPU_SPACE_ANY;
}

/* A descriptor or a part of the address is in uniform registers. */
static bool has_uniform_address(struct word word)
{
	return field(word, 91, 1);
}

static void address(struct gpu_instruction *in, struct word word, const struct row *row)
{
	bool is_offset = has_uniform_address(word) && !field(word, 90, 1) && row->shape < ATOMIC;

	registers(&in->uses, word, 24, is_far(row) && field(word, 72, 1) && !is_offset ? 2 : 1, false);
}

static void loads(struct gpu_instruction *in, struct word word, const struct row *row)
{
	in->bytes = (uint8_t)bytes_of(word);
	registers(&in->defines, word, 16, words_of(in->bytes), row->flags & UNIFORM);
	if (!(row->flags & UNIFORM))
		address(in, word, row);
	if (has_uniform_address(word) && row->space != GPU_SPACE_CONSTANT)
		registers(&in->uses, word, 32, is_far(row) ? 2 : 1, true);
}

static void stores(struct gpu_instruction *in, struct word word, const struct row *row)
{
	/* A generic store's offset has 32 bits. */
	bool is_long = row->space == GPU_SPACE_ANY && field(word, 9, 3) == FORM_REGISTER;

	in->bytes = (uint8_t)bytes_of(word);
	registers(&in->uses, word, is_long ? 64 : 32, words_of(in->bytes), false);
	address(in, word, row);
	if (has_uniform_address(word))
		registers(&in->uses, word, 64, is_far(row) ? 2 : 1, true);
}

/* U32 S32 U64 F32 F16x2 S64 F64 */
static void atomic(struct gpu_instruction *in, struct word word, const struct row *row)
{
	/* Of the operation for floats alone F64 has two words. */
	unsigned type = field(word, 73, 3);
	unsigned words = row->flags & FLOATS		       ? (type == 7 ? 2 : 1)
			 : type == 2 || type == 5 || type == 6 ? 2
							       : 1;
	bool has_data = field(word, 9, 3) != FORM_C_UNIFORM; /* not: counts one more for each thread */

	in->bytes = (uint8_t)(words * 4);
	registers(&in->defines, word, 16, row->d ? words : 0, false);
	registers(&in->uses, word, 32, has_data ? words : 0, false);
	if (row->shape == SWAPS)
		registers(&in->uses, word, 64, words, false);
	else if (has_uniform_address(word))
		registers(&in->uses, word, 64, is_far(row) ? 2 : 1, true);
	address(in, word, row);
}

static void shuffles(struct gpu_instruction *in, struct word word)
{
	unsigned form = field(word, 9, 3);

	registers(&in->defines, word, 16, 1, false);
	registers(&in->uses, word, 24, 1, false);
	if (form == FORM_REGISTER || form == FORM_C_IMMEDIATE)
		registers(&in->uses, word, 32, 1, false);
	if (form == FORM_REGISTER || form == FORM_IMMEDIATE)
		registers(&in->uses, word, 64, 1, false);
}

/* Words of fragments. Floats: 16x8x16 (bit 75) and 16x8x8 of 16 bits, 16x8x8 and 16x8x4 (bit 78) of TF32,
 * sums of 32 bits (bit 76) or 16. Integers: 16x8x32 (bit 75), 16x8x16 (bit 86), 8x8x16. Of sparse ones (bit
 * 73) B is as large as A, and which elements there are stands in one more register. */
static void multiplies(struct gpu_instruction *in, struct word word, const struct row *row)
{
	bool is_sparse = row->shape == MULTIPLIES && field(word, 73, 1);
	unsigned a = row->a, b = row->b, d = row->d;

	if (row->shape == MULTIPLIES) {
		bool is_tf32 = field(word, 82, 2) == 2;

		a = field(word, 75, 1) || (is_tf32 && !field(word, 78, 1)) ? 4 : 2;
		b = is_sparse ? a : a / 2;
		d = field(word, 76, 1) ? 4 : 2;
	} else if (row->shape == MULTIPLIES_INTEGERS) {
		a = field(word, 75, 1) ? 4 : field(word, 86, 1) ? 2 : 1;
		b = a > 1 ? a / 2 : 1;
		d = field(word, 86, 1) ? 4 : 2;
	}
	registers(&in->defines, word, 16, d, false);
	registers(&in->uses, word, 24, a, false);
	registers(&in->uses, word, 32, b, false);
	registers(&in->uses, word, 64, d, false);
	if (is_sparse)
		registers(&in->uses, word, 40, 1, false);
}

/* One, two or four 8x8 matrices. */
static void matrices(struct gpu_instruction *in, struct word word)
{
	static const uint8_t counts[4] = {1, 2, 4, 4};
	unsigned words = counts[field(word, 72, 2)];

	in->bytes = (uint8_t)(4 * words);
	if (in->kind == GPU_KIND_STORE)
		registers(&in->uses, word, 32, words, false);
	else
		registers(&in->defines, word, 16, words, false);
	registers(&in->uses, word, 24, 1, false);
	if (has_uniform_address(word))
		registers(&in->uses, word, in->kind == GPU_KIND_STORE ? 64 : 32, 1, true);
}

/* Coordinates of a texture or surface, by its dimensions. */
static unsigned coordinates(struct word word)
{
	static const uint8_t counts[8] = {1, 2, 3, 2, 2, 3, 3, 3};

	return counts[field(word, 61, 3)];
}

static void handle(struct gpu_instruction *in, struct word word, unsigned words)
{
	if (field(word, 9, 3) == FORM_C_UNIFORM)
		registers(&in->uses, word, 40, words, true);
}

/* The first two of the components that the mask selects in what stands in C's place, the others in D. */
static void textures(struct gpu_instruction *in, struct word word, const struct row *row)
{
	unsigned count = (unsigned)__builtin_popcount(field(word, 72, 4));

	registers(&in->defines, word, 16, count < 2 ? count : 2, false);
	registers(&in->defines, word, 64, count < 2 ? 0 : count - 2, false);
	registers(&in->uses, word, 24, row->a ? row->a : coordinates(word), false);
	registers(&in->uses, word, 32, row->b, false);
	handle(in, word, 2);
}

static void surfaces(struct gpu_instruction *in, struct word word)
{
	in->bytes = (uint8_t)bytes_of(word);
	if (in->kind == GPU_KIND_STORE)
		registers(&in->uses, word, 32, words_of(in->bytes), false);
	else
		registers(&in->defines, word, 16, words_of(in->bytes), false);
	registers(&in->uses, word, 24, coordinates(word), false);
	handle(in, word, 1);
}

/* Barriers in shared memory (mbarrier): [UR at 64]; arrivals give a state, checks a predicate. */
static void shared_barriers(struct gpu_instruction *in, struct word word)
{
	bool is_check = field(word, 9, 3) == FORM_C_IMMEDIATE;

	if (is_check)
		predicate(&in->defines, word, 81, false);
	else
		registers(&in->defines, word, 16, 2, false);
	registers(&in->uses, word, 24, 1, false);
	registers(&in->uses, word, 32, 1, false);
	registers(&in->uses, word, 64, 1, true);
}

/* Copies of whole blocks from A to B; bit 74: from shared memory, whose addresses have one word; bit 73: into
 * it, the barrier's address beside. */
static void block_copies(struct gpu_instruction *in, struct word word)
{
	registers(&in->uses, word, 24, field(word, 74, 1) ? 1 : 2, true);
	registers(&in->uses, word, 32, 2, true);
	registers(&in->uses, word, 64, 1, true);
}

#define TENSOR_BOX 79 /* dimensions less one, 3 bits */
#define TENSOR_HINT 76

/* Copies of tensors' boxes, by the map that A points to. B: the place in shared memory, the barrier of what
 * is loaded, coordinates; C: which blocks of a cluster get it, or offsets. A hint for the cache stands at
 * bit 40. b: words of B before the coordinates. */
static void tensor_copies(struct gpu_instruction *in, struct word word, const struct row *row)
{
	registers(&in->uses, word, 24, 2, true);
	registers(&in->uses, word, 32, row->b + field(word, TENSOR_BOX, 3) + 1, true);
	registers(&in->uses, word, 40, field(word, TENSOR_HINT, 1) ? 2 : 0, true);
	registers(&in->uses, word, 64, row->c && field(word, 9, 3) == FORM_REGISTER, true);
}

/* From [A] in global memory to [D] in shared memory. */
static void copies(struct gpu_instruction *in, struct word word)
{
	in->bytes = (uint8_t)bytes_of(word);
	registers(&in->uses, word, 16, 1, false);
	registers(&in->uses, word, 24, 2, false);
	if (has_uniform_address(word))
		registers(&in->uses, word, 64, field(word, 9, 3) == FORM_C_UNIFORM ? 2 : 1, true);
}

static void operands(struct gpu_instruction *in, struct word word, const struct row *row)
{
	switch ((enum shape)row->shape) {
	case LOADS:
		loads(in, word, row);
		break;
	case STORES:
		stores(in, word, row);
		break;
	case ATOMIC:
	case SWAPS:
		atomic(in, word, row);
		break;
	case SHUFFLES:
		shuffles(in, word);
		break;
	case MULTIPLIES:
	case MULTIPLIES_INTEGERS:
	case MULTIPLIES_DOUBLES:
		multiplies(in, word, row);
		break;
	case MATRICES:
		matrices(in, word);
		break;
	case TEXTURES:
		textures(in, word, row);
		break;
	case SURFACES:
		surfaces(in, word);
		break;
	case SHARED_BARRIERS:
		shared_barriers(in, word);
		break;
	case BLOCK_COPIES:
		block_copies(in, word);
		break;
	case TENSOR_COPIES:
		tensor_copies(in, word, row);
		break;
	case COPIES:
		copies(in, word);
		break;
	default:
		plain(in, word, row);
	}
	predicates(in, word, row->flags);
	/* Plain ones have the mask of lanes in B, collective and exclusive ones in A. */
	if (row->flags & LANES)
		registers(&in->uses, word, field(word, 85, 2) ? 24 : 32, field(word, 9, 3) == FORM_REGISTER,
			false);
	if (row->flags & DEPBAR) {
		gpu_set_add(&in->uses, GPU_BARRIER + field(word, 44, 3) % GPU_BARRIERS);
		in->barrier_left = (uint8_t)field(word, 38, 6);
	}
}

/* ---- what all have ---- */

static void control(struct gpu_instruction *in, struct word word)
{
	in->stall = (uint8_t)field(word, 105, 4);
	in->write_barrier = (uint8_t)field(word, 110, 3);
	in->read_barrier = (uint8_t)field(word, 113, 3);
	in->wait_mask = (uint8_t)field(word, 116, 6);
	if (in->write_barrier >= GPU_BARRIERS)
		in->write_barrier = GPU_NO_BARRIER;
	else
		gpu_set_add(&in->defines, GPU_BARRIER + in->write_barrier);
	if (in->read_barrier >= GPU_BARRIERS)
		in->read_barrier = GPU_NO_BARRIER;
	else
		gpu_set_add(&in->defines, GPU_BARRIER + in->read_barrier);
	for (unsigned b = 0; b < GPU_BARRIERS; b++)
		if (in->wait_mask >> b & 1)
			gpu_set_add(&in->uses, GPU_BARRIER + b);
}

static void guard(struct gpu_instruction *in, struct word word, bool is_uniform)
{
	in->guard = (uint8_t)field(word, 12, 3);
	in->is_guard_negated = field(word, 15, 1) && in->guard != TRUE;
	in->is_guard_uniform = is_uniform;
	if (in->guard != TRUE)
		gpu_set_add(&in->uses, (is_uniform ? GPU_UNIFORM_PREDICATE : GPU_PREDICATE) + in->guard);
}

static const struct row *row_of(unsigned operation)
{
	size_t low = 0, high = sizeof rows / sizeof *rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].operation <= operation)
			low = middle + 1;
		else
			high = middle;
	}
	return low && rows[low - 1].operation == operation ? &rows[low - 1] : NULL;
}

bool sass_instruction(uint64_t word_low, uint64_t word_high, struct gpu_instruction *in)
{
	struct word word = {word_low, word_high};
	const struct row *row = row_of(field(word, 0, 9));

	*in = (struct gpu_instruction){
		.name = row ? row->name : "?", .kind = row ? row->kind : GPU_KIND_OPAQUE};
	control(in, word);
	guard(in, word, row && (row->flags & (UNIFORM | VECTOR_P)) == UNIFORM);
	if (!row)
		return false;
	in->space = row->space;
	operands(in, word, row);
	return true;
}
