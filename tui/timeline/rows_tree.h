/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_tree.h - the order of the processes of a run in which each stands below the one that started it, and
 * the command line of each. For rows_build.c and rows_label.c.
 */
#ifndef TUI_ROWS_TREE_H
#define TUI_ROWS_TREE_H

#include "timeline/run/run.h"

#define ROWS_TREE_PROCESSES 512u /* of more than these it is not asked: it reads a record of each */

struct rows_tree;

/* *tree NULL: the run has too many processes, or tells of none who started it and with which command. */
int rows_tree_new(struct rows_tree **tree, const struct run *run, struct error *error);
void rows_tree_free(struct rows_tree *tree);

/* Of a stream's process: its place among the processes, and how many are above it. */
uint32_t rows_tree_place(const struct rows_tree *tree, uint32_t stream);
uint32_t rows_tree_depth(const struct rows_tree *tree, uint32_t stream);
/* Its command line, words divided by blanks; "": not known. */
const char *rows_tree_command(const struct rows_tree *tree, uint32_t stream);
/* The title that it gave itself; "": none. */
const char *rows_tree_title(const struct rows_tree *tree, uint32_t stream);
/* Another process has the same title; without titles, the same command line and name of its main thread. */
bool rows_tree_is_shared(const struct rows_tree *tree, const struct run *run, uint32_t stream);

#endif
