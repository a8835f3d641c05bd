/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subcommands.h - the words that hpct takes, and those near to one it does not.
 */
#ifndef TUI_SUBCOMMANDS_H
#define TUI_SUBCOMMANDS_H

#include <stdbool.h>
#include <stddef.h>

/* All-zero is empty. Names are copies. */
struct verbs {
	char **names;
	size_t count;
};

void verbs_add(struct verbs *verbs, const char *name); /* what finds no memory is left out */
void verbs_sort(struct verbs *verbs);
void verbs_fini(struct verbs *verbs);

/* Edits (insert, delete, replace, swap neighbours) between two words. */
unsigned verbs_distance(const char *a, const char *b);
/* Those that few edits lead to, or that begin alike: "view, info"; "" when there are none. */
void verbs_near(const struct verbs *verbs, const char *word, char *out, size_t size_bytes);

#endif
