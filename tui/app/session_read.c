/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_read.c - reads rows from the cursor's outward, a few columns at a time, then the sums of groups.
 * Rows for which no time is left get a coarse picture where that is cheap.
 */
#include "tui/app/session_read.h"

#include <stdio.h>
#include <stdlib.h>

#include "timeline/base/progress.h"
#include "tui/models/compare.h"
#include "tui/models/plot.h"
#include "tui/models/profile_page.h"
#include "tui/session/deadline.h"
#include "tui/session/session.h"
#include "tui/timeline/group_busy.h"
#include "tui/views/views.h"

#define SESSION_STEP_MIN 4u
#define SESSION_STEP_MS 10u
#define SESSION_COARSE_MS 12u /* for rows that the time does not suffice for */
#define SESSION_GROUPS_SOON_MS 8
#define SESSION_GROUPS_MS 1000 /* for groups, where nothing else limits a picture */

/* Adapts the number of columns per step so that a step takes a few ms: from a disk a row may take a second.
 */
static int read_step(struct session *session, uint32_t stream, bool *is_done, struct error *error)
{
	uint64_t begin_ms = deadline_now_ms(), took_ms;
	int result;

	if (session->step_columns < SESSION_STEP_MIN)
		session->step_columns = SESSION_STEP_MIN;
	result = frame_read_step(&session->frame, stream, session->step_columns, is_done, error);
	took_ms = deadline_now_ms() - begin_ms;
	if (took_ms > SESSION_STEP_MS)
		session->step_columns /= 2;
	else if (took_ms < SESSION_STEP_MS / 2 && session->step_columns < UINT16_MAX)
		session->step_columns *= 2;
	return result;
}

/* Reports damage once per window and leaves the data out, so that the rest can be shown. */
static bool pass_damage(struct session *session, int result, const struct error *error)
{
	if (result != -ERROR_RUN)
		return false;
	snprintf(session->damage, sizeof(session->damage), "%.500s", error->text);
	if (!session->frame.is_damage_said)
		session_say(session, "%s", error->text);
	session->frame.is_damage_said = true;
	return true;
}

static int read_stream(
	struct session *session, uint32_t stream, struct deadline *deadline, struct error *error)
{
	bool is_done = frame_line(&session->frame, stream) || session->frame.is_damaged[stream];
	int result = 0;

	while (!is_done && !result) {
		if (deadline_is_past(deadline)) {
			deadline->is_over = true;
			return 0;
		}
		result = read_step(session, stream, &is_done, error);
		if (deadline_put_off(session, result)) {
			deadline->is_over = true;
			return 0;
		}
		if (pass_damage(session, result, error)) {
			session->frame.is_damaged[stream] = true;
			return 0;
		}
	}
	return result;
}

static int read_row(struct session *session, uint32_t row, struct deadline *deadline, struct error *error)
{
	const struct rows_node *node = &session->rows.nodes[session->rows.shown[row]];

	return rows_is_group(node) ? 0 : read_stream(session, node->stream, deadline, error);
}

/* Reads previews of rows that are not read yet. */
static int read_coarse(struct session *session, struct error *error)
{
	uint64_t until_ms = deadline_now_ms() + SESSION_COARSE_MS;
	uint32_t top, count = session_rows_on_screen(session, &top);
	int result = 0;

	for (uint32_t row = top; row < top + count && !result && deadline_now_ms() < until_ms; row++) {
		const struct rows_node *node = &session->rows.nodes[session->rows.shown[row]];
		if (!rows_is_group(node) && !frame_line(&session->frame, node->stream) &&
			!session->frame.is_damaged[node->stream])
			result = frame_read_coarse(&session->frame, node->stream, error);
		if (deadline_put_off(session, result) || pass_damage(session, result, error))
			return 0;
	}
	return result;
}

/* Reads one group's sums. A stopped union of queues starts over, all other steps continue. */
static int read_group(struct session *session, uint32_t node, struct deadline *deadline, struct error *error)
{
	bool is_resumable = session->is_resumable, is_done = false;
	int result = 0;

	while (!is_done && !result) {
		if (deadline_is_past(deadline)) {
			session->has_groups_left = true;
			return 0;
		}
		session->is_resumable =
			is_resumable && !(deadline->is_patient &&
						group_busy_is_uniting(&session->frame, &session->rows, node));
		session->is_restartable = is_resumable && !session->is_resumable;
		result = group_busy_step(&session->frame, &session->rows, node, &is_done, error);
		session->is_restartable = false;
		session->is_resumable = is_resumable;
		if (deadline_put_off(session, result)) {
			session->has_groups_left = true;
			return 0;
		}
		if (pass_damage(session, result, error))
			return 0;
	}
	return result;
}

/* The sums of the groups on the screen: what a group stands for may be far more than what the screen shows,
 * so that they come last, and the picture is there without them. */
static int read_groups(struct session *session, struct deadline *deadline, struct error *error)
{
	uint32_t top, count = session_rows_on_screen(session, &top);
	int result = 0;

	session->has_groups_left = false;
	for (uint32_t row = top; row < top + count && !result && !session->has_groups_left; row++) {
		uint32_t node = session->rows.shown[row];
		if (rows_is_group(&session->rows.nodes[node]))
			result = read_group(session, node, deadline, error);
	}
	return result;
}

static int read_lost_of(struct session *session, const uint32_t *streams, uint32_t count,
	struct deadline *deadline, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < count && !result; i++) {
		if (session->frame.is_damaged[streams[i]] ||
			frame_lost_ns(&session->frame, streams[i]) != FRAME_LOST_UNREAD)
			continue;
		if (deadline_is_past(deadline))
			return 0;
		result = frame_lost_read(&session->frame, streams[i], error);
		if (deadline_put_off(session, result))
			return 0;
		if (pass_damage(session, result, error)) {
			session->frame.is_damaged[streams[i]] = true;
			result = 0;
		}
	}
	session->has_lost_left = result != 0;
	return result;
}

/* What streams beyond the screen lost: the title and the status line say how much of the window that is. */
static int read_lost(struct session *session, struct deadline *deadline, struct error *error)
{
	uint32_t count = rows_lost_streams(&session->rows, NULL);
	uint32_t *streams = calloc((size_t)count + 1, sizeof(*streams));
	int result;

	if (!streams)
		return error_memory(error);
	session->has_lost_left = true;
	rows_lost_streams(&session->rows, streams);
	result = read_lost_of(session, streams, count, deadline, error);
	free(streams);
	return result;
}

/* The rows on the screen, the cursor's first, then its neighbours to both sides. */
static int read_rows(struct session *session, struct deadline *until, struct error *error)
{
	struct deadline deadline = *until;
	uint32_t top, count = session_rows_on_screen(session, &top), cursor = session_row(session);
	int result = 0;

	if (cursor == UINT32_MAX || cursor < top || cursor >= top + count)
		cursor = top;
	for (uint32_t step = 0; step < count && !result && !deadline.is_over; step++) {
		if (cursor + step < top + count)
			result = read_row(session, cursor + step, &deadline, error);
		if (step && !result && cursor >= top + step)
			result = read_row(session, cursor - step, &deadline, error);
	}
	session->is_unread = deadline.is_over;
	/* on a terminal the picture comes first */
	deadline.at_ms = deadline_now_ms() + (until->at_ms ? SESSION_GROUPS_SOON_MS : SESSION_GROUPS_MS);
	if (!result && !deadline.is_over)
		result = read_groups(session, &deadline, error);
	return result;
}

/* Which frames pass on their time depends on the run and the window alone: it is asked before anything is
 * laid or read. Two runs side by side need one number. */
int session_choose_depth(struct session *session, unsigned limit_ms, struct error *error)
{
	struct view_state *state = &session->state;
	struct dividing found;
	int result;

	if (!state->is_auto || !state->is_auto_wanted)
		return 0;
	if (state->auto_begin_ns == state->auto_end_ns) {
		state->auto_begin_ns = state->begin_ns;
		state->auto_end_ns = state->end_ns;
	}
	session->is_resumable = limit_ms > 0;
	result = dividing_find(session->run, state->auto_begin_ns, state->auto_end_ns, &found, error);
	session->is_resumable = false;
	if (deadline_put_off(session, result)) /* a key came: the next picture asks again */
		return 0;
	if (result) {
		state->is_auto_wanted = false;
		return result == -ERROR_RUN ? 0 : result; /* what is damaged is said where it is read */
	}
	dividing_fini(&session->dividing);
	session->dividing = found;
	session->dividing_changes++;
	if (found.is_changed)
		frame_passing_changed(&session->frame);
	if (!run_depth_is_below(state->depth))
		state->depth = run_depth_below(0);
	if (session->compare)
		state->depth = found.depth ? found.depth : 1;
	state->is_auto_wanted = false;
	session->auto_span_ns = state->auto_end_ns - state->auto_begin_ns;
	return 0;
}

static void set_depth(struct session *session)
{
	const struct profile_page *page = session->profile;

	if (page)
		frame_set_filters(&session->frame, page->filters, page->filter_count, page->filter_changes);
	if (session->frame.depth != session->state.depth)
		frame_set_depth(&session->frame, session->state.depth);
	frame_set_below(&session->frame, session_rows_below(session));
}

/* Rows are resumable: each piece read is kept. */
int session_read_screen(struct session *session, unsigned limit_ms, struct error *error)
{
	struct deadline deadline = deadline_in(limit_ms);
	int result = 0;

	session->is_resumable = limit_ms > 0;
	set_depth(session);
	deadline.is_over = limit_ms && session->state.is_auto_wanted;
	session->is_unread = deadline.is_over;
	if (!result && compare_has_screen(session))
		result = compare_read(session, deadline.at_ms, error);
	else if (!result && !deadline.is_over)
		result = read_rows(session, &deadline, error);
	if (!result && !session->is_unread) {
		deadline = deadline_in(limit_ms ? SESSION_GROUPS_SOON_MS : SESSION_GROUPS_MS);
		result = read_lost(session, &deadline, error);
	}
	if (!result && session->is_unread && !compare_has_screen(session))
		result = read_coarse(session, error);
	session->is_resumable = false;
	return result;
}

/* ---- what the picture can do without ---- */

static bool is_minimap_refining(const struct session *session)
{
	return !session->layout.is_too_small && session->layout.minimap >= 0 && session->minimap.width &&
	       !session->minimap.is_done;
}

static bool is_plot_refining(const struct session *session)
{
	return session->full == &view_profile && session->profile && plot_is_reading(session->profile->plot);
}

static bool is_groups_refining(const struct session *session)
{
	return session->has_groups_left && !session->full && !session->layout.is_too_small;
}

static bool is_lost_refining(const struct session *session)
{
	return session->has_lost_left && !session->layout.is_too_small;
}

static bool is_whom_refining(const struct session *session)
{
	return session->has_whom_left && !session->layout.is_too_small &&
	       (session->full == &view_jumps || (!session->full && session->pane == &view_jumps));
}

bool session_is_refining(const struct session *session)
{
	return is_whom_refining(session) || is_lost_refining(session) || is_plot_refining(session) ||
	       is_groups_refining(session) || is_minimap_refining(session);
}

void session_refine(struct session *session, unsigned limit_ms)
{
	struct deadline deadline = deadline_in(limit_ms);
	struct error error;
	int result = 0;

	deadline.is_patient = true;
	session->is_resumable = limit_ms > 0;
	if (is_plot_refining(session)) {
		session->is_resumable = false;
		session->is_restartable = limit_ms > 0;
		plot_read(session, session->profile, limit_ms);
		session->is_restartable = false;
	} else if (is_whom_refining(session)) {
		session->is_resumable = false; /* a search begins anew: it is not left for being long */
		session->is_restartable = limit_ms > 0;
		view_jumps_look_up(session, limit_ms);
		session->is_restartable = false;
	} else if (is_lost_refining(session)) {
		result = read_lost(session, &deadline, &error);
		session->has_lost_left = session->has_lost_left && !result;
	} else if (is_groups_refining(session)) {
		result = read_groups(session, &deadline, &error);
		session->has_groups_left = session->has_groups_left && !result;
	} else if (is_minimap_refining(session)) {
		result = minimap_read(&session->minimap, session->tiles, &session->rows, limit_ms, &error);
		if (deadline_put_off(session, result))
			session->minimap.is_done = false, result = 0;
	}
	session->is_resumable = false;
	if (result)
		session_say(session, "%s", error.text);
}
