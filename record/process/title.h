/* SPDX-License-Identifier: Apache-2.0 */
/*
 * title.h - the title that a program gives its process by writing over its command line, as setproctitle
 * does: "postgres: checkpointer". Programs that tell in it what they do at the moment have one title for the
 * words that stay:
 *
 *   postgres: bob shop [local] idle
 *   postgres: bob shop [local] UPDATE   ->   postgres: bob shop [local]
 *
 * Pure functions, from texts to texts.
 */
#ifndef RECORD_TITLE_H
#define RECORD_TITLE_H

#include <stdbool.h>
#include <stddef.h>

#define TITLE_BYTES 256

/* A command line, `size` bytes with words ended by NUL, as text: words divided by one blank, cut to fit. */
void title_text(char text[TITLE_BYTES], const char *words, size_t size);

/* Takes the command line that a process has now into its title so far ("": none). `begun`: the text of the
 * one that it was started with; while the first word is still that one's it is no title, since programs also
 * write over single words (passwords). True: the title is another one. */
bool title_take(char title[TITLE_BYTES], const char begun[TITLE_BYTES], const char *words, size_t size);

#endif
