/* SPDX-License-Identifier: Apache-2.0 */
/* own_path.c - see own_path.h. */
#include "timeline/base/own_path.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

char *own_path(const char *name)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	bool has_config = config && config[0] == '/';
	char *path;

	if (!has_config && (!home || home[0] != '/'))
		return NULL;
	if (asprintf(&path, "%s%s/hpct/%s", has_config ? config : home, has_config ? "" : "/.config", name) <
		0)
		return NULL;
	return path;
}
