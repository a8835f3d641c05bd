/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_path.h - where the user's own files are that readers look into: tables of waits, formulas.
 *
 *   $XDG_CONFIG_HOME/hpct/NAME, or ~/.config/hpct/NAME
 */
#ifndef TIMELINE_OWN_PATH_H
#define TIMELINE_OWN_PATH_H

/* The path, whether or not there is such a file; the caller frees it. NULL: neither variable has an absolute
 * path, or no memory. Reads the environment: no other thread may change it. */
char *own_path(const char *name);

#endif
