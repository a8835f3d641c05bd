/* SPDX-License-Identifier: Apache-2.0 */
/*
 * install_paths.h - paths of hpct's own files, which lie beside the program both in the build tree and when
 * installed.
 */
#ifndef RECORD_INSTALL_PATHS_H
#define RECORD_INSTALL_PATHS_H

#include <limits.h>

#include "store/base/error.h"

struct install_paths {
	char agent[PATH_MAX + 64];   /* hpct-agent.so */
	char memleak[PATH_MAX + 64]; /* the agent variant for EVENT_WORD_MEMLEAK */
	char inject[PATH_MAX + 64];  /* the one for running processes */
	char names[PATH_MAX + 64];   /* hpct-names, which may be missing */
};

/* Returns 0, or ERROR_IO if the agent is missing. */
int install_paths_find(struct install_paths *paths, struct error *error);

#endif
