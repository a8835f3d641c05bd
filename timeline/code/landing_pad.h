/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landing_pad.h - where code continues after an exception: the tables of the Itanium C++ ABI (LSDA in
 * .gcc_except_table). No branch reaches these places, and a catch block in a loop belongs to the loop.
 */
#ifndef TIMELINE_LANDING_PAD_H
#define TIMELINE_LANDING_PAD_H

#include <libelf.h>

#include "timeline/code/cfg.h"

/* The landing pads of the function with these ranges, in a malloc'ed array (the caller frees it; NULL:
 * none); returns their number. Damage, or no memory, only loses pads. */
size_t landing_pads_find(
	Elf *elf, const struct cfg_range *ranges, unsigned range_count, struct cfg_pad **pads);

#endif
