/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_plugin.h - another unwinder in place of ours: libunwind, in hpct-agent-libunwind.so, loaded into a
 * separate link namespace. It unwinds the program like a remote process, through our module map and our
 * memory reader, so it takes no lock of the loader or the program. unwind.c maps the addresses it finds to
 * modules, as usual.
 */
#ifndef RECORD_AGENT_UNWIND_PLUGIN_H
#define RECORD_AGENT_UNWIND_PLUGIN_H

#include "record/agent/unwind/unwind.h"

#define UNWIND_PLUGIN_FILE "hpct-agent-libunwind.so"
#define UNWIND_PLUGIN_SYMBOL "hpct_unwind"

struct unwind_plugin {
	/* Once per process, before any walk. 0 or negative. */
	int (*open)(void);
	/* Addresses of the stack, innermost first, in unwind_frame's form (address, exact), at most
	 * `most`. Returns their number. Signal safe. */
	unsigned (*walk)(const struct unwind_space *space, const struct arch_registers *start,
		struct unwind_frame *frames, unsigned most);
};

#endif
