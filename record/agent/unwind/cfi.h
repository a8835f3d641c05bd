/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi.h - reads .eh_frame_hdr and .eh_frame: finds the row of unwind rules for a pc. No locks, no allocation,
 * signal safe. All reads are checked against the bounds of one image, so damaged tables give an error, never
 * a fault; the image may be a copy of another process's memory.
 */
#ifndef RECORD_AGENT_CFI_H
#define RECORD_AGENT_CFI_H

#include <assert.h>
#include <stddef.h>

#include "record/agent/base/arch.h"

/* Bytes [begin, end) of the measured process, readable here at `bytes`. */
struct cfi_image {
	const uint8_t *bytes;
	uint64_t begin;
	uint64_t end;
};

/* A loaded module and its unwind tables; addresses are those of the measured process. */
struct cfi_module {
	uint64_t begin;
	uint64_t end;
	struct cfi_image image; /* the segment that contains the tables; empty: none */
	uint64_t header;	/* .eh_frame_hdr, base of the search table's entries */
	uint64_t table;		/* pairs of int32 (pc, entry), sorted; 0: none, scan eh_frame */
	uint64_t eh_frame;
	uint32_t table_count;
	uint32_t slot; /* the caller's number of the module */
};

/* Memory of the measured process: [low, high) is readable at address + shift, the rest through `read`. */
struct cfi_memory {
	uint64_t low;
	uint64_t high;
	uint64_t shift;
	int (*read)(void *context, uint64_t address, void *to, size_t bytes); /* 0 or negative */
	void *context;
};

enum cfi_kind {
	CFI_SAME, /* no rule: the caller's value is unchanged */
	CFI_UNDEFINED,
	CFI_OFFSET,	/* saved at CFA + value */
	CFI_VAL_OFFSET, /* is CFA + value */
	CFI_REGISTER,	/* is in register `reg` (as CFA: reg + value) */
	CFI_EXPRESSION, /* saved at the expression's address; value = its offset in the image */
	CFI_VAL_EXPRESSION
};

struct cfi_rule {
	uint8_t kind; /* enum cfi_kind */
	uint8_t reg;
	uint16_t _pad;
	int32_t value;
};

struct cfi_row {
	struct cfi_rule cfa; /* CFI_REGISTER, CFI_VAL_EXPRESSION or CFI_UNDEFINED */
	struct cfi_rule reg[ARCH_REGISTERS];
	uint8_t return_register;
	bool signal_frame; /* the caller was interrupted: its pc is exact */
};

#define CFI_STATES_MAX 8 /* nested DW_CFA_remember_state; compilers use one or two */

/* Working memory of a row search; too large for a handler's stack, so the caller provides it. */
struct cfi_scratch {
	struct cfi_row row; /* the result */
	uint64_t pc_begin;  /* begin of the FDE that covers pc: the function's begin */
	uint64_t pc_end;
	struct cfi_row initial;
	struct cfi_row saved[CFI_STATES_MAX];
};

enum { CFI_NONE = -1, CFI_DAMAGED = -2, CFI_UNREADABLE = -3, CFI_UNKNOWN_REGISTER = -4 };

/* Takes a module with begin, end and image set, and the address of its .eh_frame_hdr; fills the rest. 0,
 * or CFI_DAMAGED: the module then has no tables. */
int cfi_module_init(struct cfi_module *module, uint64_t header);

/* Address of pc's FDE by the module's search table, which must exist: the last at or before pc; 0: none. */
uint64_t cfi_fde_address(const struct cfi_module *module, uint64_t pc);

/* Writes the row at pc to scratch->row. 0, CFI_NONE (no FDE covers pc) or CFI_DAMAGED. */
int cfi_row_find(const struct cfi_module *module, uint64_t pc, struct cfi_scratch *scratch);

/* One word of the measured process. 0 or CFI_UNREADABLE. */
static inline int cfi_word_read(const struct cfi_memory *memory, uint64_t address, uint64_t *word)
{
	if (address >= memory->low && address < memory->high && memory->high - address >= sizeof(*word)) {
		__builtin_memcpy(word, (const void *)(uintptr_t)(address + memory->shift), sizeof(*word));
		return 0;
	}
	return memory->read(memory->context, address, word, sizeof(*word)) ? CFI_UNREADABLE : 0;
}

/* Value of the expression at image offset `place` (starts with its ULEB length). Pushes `cfa` first if not
 * NULL. 0 or negative. */
int cfi_expression_value(const struct cfi_image *image, uint32_t place,
	const struct arch_registers *registers, const struct cfi_memory *memory, const uint64_t *cfa,
	uint64_t *value);

/* Replaces the registers by the caller's, by scratch->row. 0 or negative; *registers is then unchanged. */
int cfi_row_apply(const struct cfi_row *row, const struct cfi_image *image, const struct cfi_memory *memory,
	struct arch_registers *registers);

#endif
