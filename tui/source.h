/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - a source file as lines with the time that the window has on each: of all paths through the line,
 * and of those that end there. Says where it looked when there is no such file.
 *
 *   file of the debug information --maps, as it is, below the working directory--> text
 */
#ifndef TUI_SOURCE_H
#define TUI_SOURCE_H

#include "tui/frame.h"

#define SOURCE_MAPS 16
#define SOURCE_PATH 1024
#define SOURCE_BYTES_MAX (16u << 20)

struct source_map {
	char from[SOURCE_PATH], to[SOURCE_PATH];
};

struct source {
	struct source_map maps[SOURCE_MAPS];
	size_t map_count;
	char asked[SOURCE_PATH]; /* what text and lines are of */
	char found[SOURCE_PATH]; /* "": nothing was found */
	char looked[4 * SOURCE_PATH];
	char *text;
	size_t *begins; /* of lines in the text; line_count + 1 */
	uint32_t line_count;
	/* per line, from 1 on, of the frame and streams below */
	uint64_t *inclusive_ns, *exclusive_ns;
	uint64_t begin_ns, end_ns, streams;
	uint32_t first; /* line at the top of the view */
};

void source_fini(struct source *source);
/* Paths that begin with `from` are looked for below `to` from now on. -1: no room. */
int source_map(struct source *source, const char *from, const char *to);
/* Opens the file, if it is not the one that is open. False: not found, `looked` lists the places. */
bool source_open(struct source *source, const char *path);
/* Sums the lines that the frame has read of these streams, if that is not what is there. */
void source_add_up(
	struct source *source, struct frame *frame, const uint32_t *streams, uint32_t stream_count);
/* Line without its newline, its size in *size_bytes. */
const char *source_line(const struct source *source, uint32_t line, size_t *size_bytes);

#endif
