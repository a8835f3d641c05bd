/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_check.h - what the program is before it is started: where it lies, whether it can be executed, and
 * whether an agent can be preloaded into it.
 */
#ifndef RECORD_TARGET_CHECK_H
#define RECORD_TARGET_CHECK_H

#include <limits.h>
#include <stdbool.h>

#include "record/agent/base/elf_note.h"
#include "store/base/error.h"

/* Exit codes that shells use for the same. */
#define TARGET_NOT_EXECUTABLE 126
#define TARGET_NOT_FOUND 127

struct target_check {
	char path[PATH_MAX];	  /* as execv gets it */
	char binary[PATH_MAX];	  /* what runs in the end: the interpreter of a script */
	const char *unmeasurable; /* NULL, or why no agent can be loaded: "it is statically linked" */
	bool breaks_preload;	  /* LD_PRELOAD must not be set for it: musl, 32-bit, thread sanitizer */
	struct elf_note note; /* of a static program that hpct-link has linked; flags 0: no agent is there */
};

/* 0, or TARGET_NOT_EXECUTABLE, TARGET_NOT_FOUND with a sentence. */
int target_check(struct target_check *target, const char *program, struct error *error);

#endif
