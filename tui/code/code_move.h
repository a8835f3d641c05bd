/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_move.h - moves the cursor of a code_page: by lines, to instructions worth a look, to what one waits
 * for, and back.
 */
#ifndef TUI_CODE_MOVE_H
#define TUI_CODE_MOVE_H

#include "tui/code/code_page.h"

/* By so many lines of the side with the cursor; both ends hold. */
void code_move_by(struct session *session, struct code_page *page, int by);
void code_move_end(struct session *session, struct code_page *page, bool is_last);
/* Text of the side with the cursor by so many cells; not beyond its begin. */
void code_move_text(struct code_page *page, int by);
/* To the next instruction, or line, with a hundredth of the kernel's samples; false: there is none. */
bool code_move_hot(struct code_page *page, bool is_back);
/* To the one with most samples below those of the cursor's, or least above. False: there is none. */
bool code_move_by_heat(struct code_page *page, bool is_hotter);
/* To the instruction that the cursor's waits for most; on the source's side to the line's hottest one.
 * Speaks. */
void code_move_to_cause(struct session *session, struct code_page *page);
/* Back to where the last jump began; false: there was none. */
bool code_move_back(struct code_page *page);
/* To the next one whose text matches session->find. Speaks. */
void code_move_find(struct session *session, bool is_back);

#endif
