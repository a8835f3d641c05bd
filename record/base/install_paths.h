/* SPDX-License-Identifier: Apache-2.0 */
/* install_paths.h - our own files: beside the program, in the build tree and installed alike. */
#ifndef RECORD_INSTALL_PATHS_H
#define RECORD_INSTALL_PATHS_H

#include <limits.h>

#include "store/base/error.h"

struct install_paths {
	char agent[PATH_MAX + 64];   /* hpct-agent.so */
	char memleak[PATH_MAX + 64]; /* the same for EVENT_WORD_MEMLEAK, beside it */
	char names[PATH_MAX + 64];   /* hpct-names, which may be missing */
};

/* 0, or ERROR_IO with a sentence: there is no agent. */
int install_paths_find(struct install_paths *paths, struct error *error);

#endif
