/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fde.h - one FDE (frame description entry) of .eh_frame: fde.c finds it, cfi.c runs its instructions. Only
 * these two include it.
 */
#ifndef RECORD_AGENT_FDE_H
#define RECORD_AGENT_FDE_H

#include "record/agent/unwind/dwarf_reader.h"

/* One FDE with its CIE. */
struct fde {
	uint64_t pc_begin;
	uint64_t pc_end;
	uint64_t code_align;
	int64_t data_align;
	struct dwarf_reader initial; /* the CIE's instructions */
	struct dwarf_reader instructions;
	uint8_t pointer_encoding;
	bool augmented;
	bool signal_frame;
	uint8_t return_register;
};

/* The FDE that covers pc. 0, CFI_NONE or CFI_DAMAGED. */
int fde_find(const struct cfi_module *module, uint64_t pc, struct fde *fde);

/* Reads a pointer in .eh_frame's encoding; data_base for those relative to .eh_frame_hdr. */
uint64_t fde_pointer_read(
	struct dwarf_reader *c, const struct cfi_image *image, uint8_t encoding, uint64_t data_base);

#endif
