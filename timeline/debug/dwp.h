/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwp.h - a .dwp file: the debug information of many units, split off (.dwo files). libdw 0.188 reads only
 * .dwo files, so each requested unit is written to a temporary .dwo file while libdw opens it:
 *
 *   .dwp  .debug_cu_index: id -> part of each section      ->  a temporary directory / NAME.dwo
 */
#ifndef TIMELINE_DWP_H
#define TIMELINE_DWP_H

#include <stdbool.h>
#include <stdint.h>

struct dwp;

/* NULL: no readable package there. One thread. */
struct dwp *dwp_open(const char *path);
void dwp_close(struct dwp *package);
/* A file in the temporary directory: libdw searches for .dwo files beside it. */
int dwp_place(const struct dwp *package);
/* Writes the unit to the temporary directory under that name, as its skeleton spells it. False: not in the
 * package, or not writable. */
bool dwp_show(struct dwp *package, uint64_t id, const char *name);
/* Removes the last file that was shown. */
void dwp_hide(struct dwp *package);

#endif
