/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_file.h - finds a source file by its path in debug information, and splits it into lines. Lists the
 * places searched if there is none. The search order (S4 12.6.11):
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
	char directories[SOURCE_MAPS][SOURCE_PATH]; /* of the search; "DIR/+": with all below it */
	size_t directory_count;
	const struct run *run;	 /* that may keep copies; NULL: none */
	char asked[SOURCE_PATH]; /* requested path of the current text and lines */
	char found[SOURCE_PATH]; /* "": not found */
	bool is_kept;		 /* found in the run */
	char looked[4 * SOURCE_PATH];
	char *text;
	size_t *begins; /* of lines in the text; line_count + 1 */
	uint32_t line_count;
};

/* fini() forgets the file and the search; close() only the file. An all-zero struct has no file. */
void source_file_fini(struct source_file *source);
/* Searches paths that begin with `from` below `to`. -1: no more entries. */
int source_file_map(struct source_file *source, const char *from, const char *to);
/* Adds a directory to the search, "DIR/+" with all below it. -1: no more entries. */
int source_file_include(struct source_file *source, const char *directory);
/* One of the directories is searched with all below it: each file that is not found costs a walk there. */
bool source_file_walks(const struct source_file *source);
/* Opens the file, unless it is open. False: not found, `looked` lists the places. */
bool source_file_open(struct source_file *source, const char *path);
/* A line, counted from 1, without its newline; its size in *size_bytes. */
const char *source_file_line(const struct source_file *source, uint32_t line, size_t *size_bytes);

#endif
