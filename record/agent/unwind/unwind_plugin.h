/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_plugin.h - another unwinder in place of ours: libunwind, from hpct-agent-libunwind.so, loaded into a
 * link namespace of its own. It sees the program as a remote one, through our map of modules and our memory
 * reader: so it asks no loader and takes no lock but its own. Who it finds on the stack is placed by unwind.c
 * as ever.
 */
#ifndef RECORD_AGENT_UNWIND_PLUGIN_H
#define RECORD_AGENT_UNWIND_PLUGIN_H

#include "record/agent/unwind/unwind.h"

#define UNWIND_PLUGIN_FILE "hpct-agent-libunwind.so"
#define UNWIND_PLUGIN_SYMBOL "hpct_unwind"

struct unwind_plugin {
	/* Once per process, before any walk. 0 or negative. */
	int (*open)(void);
	/* Addresses of the stack, innermost first, as unwind_frame has them (address, exact), `most` at most.
	 * Returns how many. Signal safe. */
	unsigned (*walk)(const struct unwind_space *space, const struct arch_registers *start,
		struct unwind_frame *frames, unsigned most);
};

#endif
