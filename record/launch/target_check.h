/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_check.h - inspects the program before it starts: its path, whether it can be executed, and whether
 * an agent can be preloaded into it.
 */
#ifndef RECORD_TARGET_CHECK_H
#define RECORD_TARGET_CHECK_H

#include <limits.h>
#include <stdbool.h>

#include "record/agent/base/elf_note.h"
#include "store/base/error.h"

/* The exit codes that shells use. */
#define TARGET_NOT_EXECUTABLE 126
#define TARGET_NOT_FOUND 127

struct target_check {
	char path[PATH_MAX];	  /* for execv */
	char binary[PATH_MAX];	  /* the file that runs: for a script, its interpreter */
	const char *unmeasurable; /* why no agent can be loaded, such as "it is statically linked"; NULL:
				     it can */
	bool is_seen_outside;	  /* then it can be measured from outside, record/outside/outside.h */
	bool breaks_preload;	  /* must run without LD_PRELOAD: musl, 32-bit, thread sanitizer */
	struct elf_note note;	  /* of a static program linked by hpct-link; flags 0: no agent in it */
};

/* Returns 0, or TARGET_NOT_EXECUTABLE or TARGET_NOT_FOUND with an error. */
int target_check(struct target_check *target, const char *program, struct error *error);

#endif
