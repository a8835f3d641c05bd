/* SPDX-License-Identifier: Apache-2.0 */
/* build_info.h - what this hpct was made of, for hpct --version --build and for reports of bugs. */
#ifndef TUI_BUILD_INFO_H
#define TUI_BUILD_INFO_H

#include <stdio.h>

/* Prints lines of a word, blanks and what it stands for: commit, built (compiler, C library, processor,
 * options), with and without (optional parts), formats. */
void build_info_print(FILE *out);

#endif
