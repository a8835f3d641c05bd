/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - the time of the window on each line of a source file: of all paths through the line, and of
 * those that end there. timeline/profile/source_file.h finds the file.
 */
#ifndef TUI_SOURCE_H
#define TUI_SOURCE_H

#include "timeline/profile/source_extents.h"
#include "timeline/profile/source_file.h"
#include "tui/session/session.h"

struct source {
	struct source_file file;
	/* per line, from 1 on, of the frame and streams below */
	uint64_t *inclusive_ns, *exclusive_ns;
	uint64_t begin_ns, end_ns, streams;
	uint32_t first;		       /* line at the top of the view */
	struct source_extent *extents; /* of a file that is not found */
	size_t extent_count;
};

/* The session's source file, allocated at the first call; NULL: memory is out. */
struct source *source_of(struct session *session);
void source_fini(struct source *source);
/* Opens the file, if it is not the one that is open. False: not found, `file.looked` lists the places. */
bool source_open(struct source *source, const char *path);
/* A line as it is drawn: tabs are blanks up to a multiple of `tab`, strange bytes are \xHH. LABEL_BYTES. */
#define SOURCE_TAB 8u
void source_line_text(const struct source *source, uint32_t line, unsigned tab, char *out, bool is_ascii);
/* For a file that was not found: lists its known functions in `extents`, once. */
void source_look_up(struct source *source, const struct run *run);
/* Sums the lines that the frame has read of these streams, unless the sums are up to date. */
void source_add_up(
	struct source *source, struct frame *frame, const uint32_t *streams, uint32_t stream_count);

#endif
