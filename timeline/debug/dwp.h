/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwp.h - a .dwp file, which holds the debug information of many units that was split off (.dwo
 * files). libdw 0.188 reads .dwo files only, so each unit that is asked for becomes one for the moment of its
 * being opened:
 *
 *   .dwp  .debug_cu_index: id -> part of each section      ->  a directory of our own / NAME.dwo
 */
#ifndef TIMELINE_DWP_H
#define TIMELINE_DWP_H

#include <stdbool.h>
#include <stdint.h>

struct dwp;

/* NULL: there is no package there that can be read. One thread. */
struct dwp *dwp_open(const char *path);
void dwp_close(struct dwp *package);
/* A file in the directory where units appear: a debug file that seems to be this one when libdw opens it is
 * believed to lie there. */
int dwp_place(const struct dwp *package);
/* Lets the unit appear under that name, as its other half spells it. False: it is not in the package, or not
 * to be written. */
bool dwp_show(struct dwp *package, uint64_t id, const char *name);
/* Removes what was shown last. */
void dwp_hide(struct dwp *package);

#endif
