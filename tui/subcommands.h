/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subcommands.h - the subcommands of hpct, and those similar to an unknown one.
 */
#ifndef TUI_SUBCOMMANDS_H
#define TUI_SUBCOMMANDS_H

#include <stdbool.h>
#include <stddef.h>

/* All-zero is empty. Names are copies. */
struct subcommands {
	char **names;
	size_t count;
};

void subcommands_add(
	struct subcommands *subcommands, const char *name); /* what finds no memory is left out */
void subcommands_sort(struct subcommands *subcommands);
void subcommands_fini(struct subcommands *subcommands);

/* Edits (insert, delete, replace, swap neighbours) between two words. */
unsigned subcommands_distance(const char *a, const char *b);
/* Those that few edits lead to, or that begin alike: "view, info"; "" when there are none. */
void subcommands_near(const struct subcommands *subcommands, const char *word, char *out, size_t size_bytes);

#endif
