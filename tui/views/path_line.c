/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_line.c - the call path at the cursor on one line, for screens that have no room for the call stack.
 */
#include <string.h>

#include "tui/screen/label.h"
#include "tui/views/views.h"

#define PATH_FRAMES 1024

void path_line_draw(struct session *session, struct grid *grid)
{
	const char *frames[PATH_FRAMES];
	uint32_t scope, context, count = 0, depth;
	char text[LABEL_BYTES];

	context = session_leaf_context(session);
	scope = context ? run_context(session->run, context)->scope : UINT32_MAX;
	if (scope == UINT32_MAX)
		return;
	while (run_scope(session->run, scope)->depth >= PATH_FRAMES)
		scope = run_scope(session->run, scope)->parent;
	depth = run_scope(session->run, scope)->depth;
	for (uint32_t at = scope; at != UINT32_MAX; at = run_scope(session->run, at)->parent) {
		const struct run_scope *s = run_scope(session->run, at);
		frames[s->depth] = run_function(session->run, s->function)->name;
		count++;
	}
	if (count != depth + 1)
		return;
	/* the program's root says nothing; a thread's does */
	if (session_depth_at(session, scope) < depth)
		depth = session_depth_at(session, scope);
	if (strcmp(frames[0], "<program root>") == 0 && count > 1)
		label_path(text, frames + 1, count - 1, depth ? depth - 1 : 0, grid->columns, grid->is_ascii);
	else
		label_path(text, frames, count, depth, grid->columns, grid->is_ascii);
	grid_text(grid, session->layout.path, 0, grid->columns, text, GRID_TEXT);
}
