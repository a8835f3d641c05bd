/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_file.h - finds the text of a source file by the path that debug information knows it by, and splits
 * it into lines. Says where it looked when there is no such file. The order (S4 12.6.11):
 *
 *   path --maps, the newest first--> the copy kept in the run --> as it is --> its tails below the working
 *   directory --> below the directories of the search, the best match of the path's end first --> text
 */
#ifndef TIMELINE_SOURCE_FILE_H
#define TIMELINE_SOURCE_FILE_H

#include "timeline/run/run.h"

#define SOURCE_MAPS 16
#define SOURCE_PATH 1024
#define SOURCE_BYTES_MAX (16u << 20)

struct source_map {
	char from[SOURCE_PATH], to[SOURCE_PATH];
};

struct source_file {
	struct source_map maps[SOURCE_MAPS];
	size_t map_count;
	char directories[SOURCE_MAPS][SOURCE_PATH]; /* of the search; "DIR/+": all below it too */
	size_t directory_count;
	const struct run *run;	 /* that may keep copies; NULL: none */
	char asked[SOURCE_PATH]; /* what text and lines are of */
	char found[SOURCE_PATH]; /* "": nothing was found */
	bool is_kept;		 /* found in the run */
	char looked[4 * SOURCE_PATH];
	char *text;
	size_t *begins; /* of lines in the text; line_count + 1 */
	uint32_t line_count;
};

/* Forgets the file and all ways to find one. A file that is all-zero has none. */
void source_file_fini(struct source_file *source);
/* Paths that begin with `from` are looked for below `to` from now on. -1: no room. */
int source_file_map(struct source_file *source, const char *from, const char *to);
/* Adds a directory to the search, "DIR/+" with all below it. -1: no room. */
int source_file_include(struct source_file *source, const char *directory);
/* Opens the file, if it is not the one that is open. False: not found, `looked` lists the places. */
bool source_file_open(struct source_file *source, const char *path);
/* Line, from 1 on, without its newline, its size in *size_bytes. */
const char *source_file_line(const struct source_file *source, uint32_t line, size_t *size_bytes);

#endif
