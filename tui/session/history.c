/* SPDX-License-Identifier: Apache-2.0 */
/* history.c - see history.h. */
#include "tui/session/history.h"

#include <stdlib.h>
#include <string.h>

#define HISTORY_MAX 200u

struct snapshot {
	struct view_state state;
	uint16_t *flags; /* of each node, with its lines */
	uint32_t node_count;
};

struct history {
	struct snapshot steps[HISTORY_MAX + 1]; /* a ring would save nothing: steps are small */
	size_t at, count;			/* steps [at, count) can be redone */
};

int history_new(struct history **history, struct error *error)
{
	*history = calloc(1, sizeof(**history));
	return *history ? 0 : error_memory(error);
}

static void drop(struct history *history, size_t from)
{
	for (size_t i = from; i < history->count; i++)
		free(history->steps[i].flags);
	if (from < history->count)
		history->count = from;
}

void history_free(struct history *history)
{
	if (!history)
		return;
	drop(history, 0);
	free(history);
}

static bool take(struct snapshot *step, const struct view_state *state, const struct rows *rows)
{
	step->state = *state;
	step->node_count = rows->node_count;
	step->flags = malloc(((size_t)rows->node_count + 1) * sizeof(*step->flags));
	if (!step->flags)
		return false;
	for (uint32_t i = 0; i < rows->node_count; i++)
		step->flags[i] = (uint16_t)(rows->nodes[i].is_folded | rows->nodes[i].is_hidden << 1 |
					    rows->nodes[i].is_pinned << 2 |
					    rows->nodes[i].is_branch_folded << 3 | rows->nodes[i].lines << 8);
	return true;
}

static void bring_back(const struct snapshot *step, struct view_state *state, struct rows *rows)
{
	*state = step->state;
	state->is_auto_wanted =
		state->is_auto; /* for the window that it was chosen for, which may be another */
	if (step->node_count != rows->node_count) /* a live run has more streams now: their places moved */
		state->node = state->node < rows->node_count ? state->node : 0;
	for (uint32_t i = 0; i < rows->node_count && step->node_count == rows->node_count; i++) {
		rows->nodes[i].is_folded = step->flags[i] & 1;
		rows->nodes[i].is_hidden = step->flags[i] >> 1 & 1;
		rows->nodes[i].is_pinned = step->flags[i] >> 2 & 1;
		rows->nodes[i].is_branch_folded = step->flags[i] >> 3 & 1;
		rows->nodes[i].lines = (uint8_t)(step->flags[i] >> 8);
	}
	rows_update(rows);
}

void history_keep(struct history *history, const struct view_state *state, const struct rows *rows)
{
	drop(history, history->at);
	if (history->count == HISTORY_MAX) {
		free(history->steps[0].flags);
		memmove(&history->steps[0], &history->steps[1],
			(HISTORY_MAX - 1) * sizeof(history->steps[0]));
		history->count--;
	}
	if (take(&history->steps[history->count], state, rows))
		history->count++;
	history->at = history->count;
}

bool history_undo(struct history *history, struct view_state *state, struct rows *rows)
{
	if (history->at == 0)
		return false;
	if (history->at == history->count) { /* the state of now is what redo comes back to */
		if (!take(&history->steps[history->count], state, rows))
			return false;
		history->count++;
	}
	history->at--;
	bring_back(&history->steps[history->at], state, rows);
	return true;
}

bool history_redo(struct history *history, struct view_state *state, struct rows *rows)
{
	if (history->at + 1 >= history->count)
		return false;
	history->at++;
	bring_back(&history->steps[history->at], state, rows);
	if (history->at + 1 == history->count) { /* it is the state of now again */
		history->count--;
		free(history->steps[history->count].flags);
	}
	return true;
}
