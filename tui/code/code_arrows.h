/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_arrows.h - the gutter left of the instructions: from the one with the cursor to those that it waits
 * for, each with the share of its stalls that it explains.
 *
 *   99%+> LDG R2 B2        a head stands at the cause,
 *      |  UIADD3 UR4
 *      +- FADD R5 <- R2    no head at the instruction that waits
 *
 * A cause beyond the screen has its share at the edge, with ^ or v. An instruction that waits for itself,
 * from one round of a loop to the next, has its share and an o.
 */
#ifndef TUI_CODE_ARROWS_H
#define TUI_CODE_ARROWS_H

#include "tui/code/code_page.h"

#define CODE_ARROWS_CELLS 6

/* `area`: the rows of the list, `page->top` being the first, and the gutter's columns. */
void code_arrows_draw(const struct code_page *page, struct grid *grid, struct grid_area area);

#endif
