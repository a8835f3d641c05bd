/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwp_directory.h - a temporary directory for files that need a name for a moment. A killed process cannot
 * remove its own: the next process does, and a lock tells whether the owner still runs. A memfd would need
 * no cleaning, but has no name that libdw could open: libdw appends DW_AT_dwo_name to the real path of the
 * directory of the file that it reads.
 */
#ifndef TIMELINE_DWP_DIRECTORY_H
#define TIMELINE_DWP_DIRECTORY_H

struct dwp_directory {
	char path[512]; /* "": none */
	int place;	/* an open file in it, locked; -1: none */
};

/* Creates it below $TMPDIR or /tmp, and removes those of killed processes. 0 or -1: failed; call remove in
 * both cases. */
int dwp_directory_make(struct dwp_directory *directory);
/* It must be empty again. */
void dwp_directory_remove(struct dwp_directory *directory);

#endif
