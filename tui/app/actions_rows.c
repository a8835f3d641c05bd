/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actions_rows.c - actions on the rows of the timeline: which ones are shown, in what order, and the depth of
 * their cells.
 */
#include "tui/app/actions.h"

static struct rows_node *cursor_node(struct session *session)
{
	return session_row(session) == UINT32_MAX ? NULL : &session->rows.nodes[session->state.node];
}

/* A process folds with all that it started, a thread's or device's row what it is part of. */
static void fold(struct session *session)
{
	struct rows *rows = &session->rows;
	struct rows_node *node = cursor_node(session);
	bool has_branch;

	if (!node)
		return;
	has_branch = rows_has_branch(rows, session->state.node);
	if (!rows_is_group(node) && !has_branch && node->parent == UINT32_MAX) {
		session_say(session, "this row stands in no group");
		return;
	}
	session_keep(session);
	if (!rows_is_group(node) && !has_branch) {
		session->state.node = node->parent;
		node = &rows->nodes[node->parent];
		has_branch = rows_has_branch(rows, session->state.node);
	}
	if (rows_is_group(node))
		node->is_folded = !node->is_folded;
	if (has_branch)
		node->is_branch_folded = rows_is_group(node) ? node->is_folded : !node->is_branch_folded;
	rows_update(rows);
}

static bool is_open(const struct rows *rows, uint32_t node)
{
	const struct rows_node *n = &rows->nodes[node];

	return (rows_is_group(n) && !n->is_folded) ||
	       (n->depth && rows_has_branch(rows, node) && !n->is_branch_folded);
}

/* Folds all processes, or opens all when all are folded; those at the top still show whom they started. */
static void fold_all(struct session *session)
{
	struct rows *rows = &session->rows;
	bool is_any_open = false;

	session_keep(session);
	for (uint32_t i = 0; i < rows->node_count; i = rows->nodes[i].next)
		is_any_open = is_any_open || is_open(rows, i);
	for (uint32_t i = 0; i < rows->node_count; i = rows->nodes[i].next) {
		rows->nodes[i].is_folded = rows_is_group(&rows->nodes[i]) && is_any_open;
		rows->nodes[i].is_branch_folded =
			is_any_open && rows->nodes[i].depth && rows_has_branch(rows, i);
	}
	rows_update(rows);
}

/* The cursor stays on its node. */
static void order_rows(struct session *session)
{
	struct rows *rows = &session->rows;

	rows->order = (enum rows_order)((rows->order + 1) % ROWS_ORDER_COUNT);
	rows_update(rows);
	session_say(session, "rows by %s", rows_order_name(rows->order));
}

/* Hides or shows what stands beside a node; how many that are. `is_done` false: they are only counted. */
static unsigned set_siblings(struct rows *rows, uint32_t node, bool is_hidden, bool is_done)
{
	uint32_t parent = rows->nodes[node].parent, i = parent == UINT32_MAX ? 0 : parent + 1;
	uint32_t end = parent == UINT32_MAX ? rows->node_count : rows->nodes[parent].next;
	unsigned count = 0;

	for (; i < end; i = rows->nodes[i].next) {
		if (i == node || rows->nodes[i].is_hidden == is_hidden)
			continue;
		count++;
		if (is_done)
			rows->nodes[i].is_hidden = is_hidden;
	}
	return count;
}

/* Only the cursor's process, then only its part of it, down to its stream; and back. */
static void narrow(struct session *session, bool is_fewer)
{
	struct rows *rows = &session->rows;
	uint32_t chosen = UINT32_MAX;

	if (session_row(session) == UINT32_MAX)
		return;
	/* from the cursor's node up: the outermost level that has others still, the innermost that had */
	for (uint32_t node = session->state.node; node != UINT32_MAX; node = rows->nodes[node].parent)
		if (set_siblings(rows, node, is_fewer, false) && (is_fewer || chosen == UINT32_MAX))
			chosen = node;
	if (chosen == UINT32_MAX) {
		session_say(session, is_fewer ? "this is one stream; W shows more" : "all streams are shown");
		return;
	}
	session_keep(session);
	set_siblings(rows, chosen, is_fewer, true);
	rows_update(rows);
}

static void hide(struct session *session)
{
	struct rows_node *node = cursor_node(session);
	uint32_t row = session_row(session);

	if (!node)
		return;
	session_keep(session);
	node->is_hidden = true;
	rows_update(&session->rows);
	session_set_row(session, row);
	session_say(session, "hidden: %s   X shows all again",
		rows_long_label(&session->rows, session->state.node));
}

static void show_all(struct session *session)
{
	session_keep(session);
	for (uint32_t i = 0; i < session->rows.node_count; i++)
		session->rows.nodes[i].is_hidden = false;
	session->filter[0] = '\0';
	rows_filter(&session->rows, NULL, 0, NULL);
}

static void pin(struct session *session)
{
	struct rows_node *node = cursor_node(session);

	if (!node || rows_is_group(node)) {
		session_say(session, "a group cannot be pinned, its streams can");
		return;
	}
	session_keep(session);
	node->is_pinned = !node->is_pinned;
	rows_update(&session->rows);
}

static void light(struct session *session)
{
	const struct frame_line *line;
	struct cell cell;

	if (!session_cell(session, &line, &cell) || cell.function == UINT32_MAX) {
		session_say(session, "no function is under the cursor that could be lit up");
		return;
	}
	session->lit = session->lit == cell.function ? UINT32_MAX : cell.function;
}

bool actions_rows(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_ENTER:
		if (cursor_node(session) && rows_is_group(cursor_node(session)))
			fold(session);
		else
			goto_launch_or_cause(session);
		return true;
	case KEYS_DO_FOLD:
		fold(session);
		return true;
	case KEYS_DO_MORE_STREAMS:
	case KEYS_DO_FEWER_STREAMS:
		narrow(session, action == KEYS_DO_FEWER_STREAMS);
		return true;
	case KEYS_DO_FOLD_ALL:
		fold_all(session);
		return true;
	case KEYS_DO_HIDE:
		hide(session);
		return true;
	case KEYS_DO_SHOW_ALL:
		show_all(session);
		return true;
	case KEYS_DO_PIN:
		pin(session);
		return true;
	case KEYS_DO_ORDER:
		order_rows(session);
		return true;
	case KEYS_DO_DEEPER:
		session_step_depth(session, 1);
		return true;
	case KEYS_DO_HIGHER:
		session_step_depth(session, -1);
		return true;
	case KEYS_DO_MORE_LINES:
	case KEYS_DO_FEWER_LINES:
		session_step_lines(session, session_row(session), action == KEYS_DO_MORE_LINES ? 1 : -1);
		return true;
	case KEYS_DO_AUTO:
		session->state.depth = run_depth_below(0);
		view_state_choose_depth(&session->state, true);
		return true;
	case KEYS_DO_LIGHT:
		light(session);
		return true;
	default:
		return false;
	}
}
