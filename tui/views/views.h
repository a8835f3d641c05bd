/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.h - all views, and the functions that actions and other views call beside a view's operations.
 */
#ifndef TUI_VIEWS_H
#define TUI_VIEWS_H

#include "tui/session/session.h"

extern const struct view view_minimap;
extern const struct view view_timeline;
extern const struct view view_stats;
extern const struct view view_stack;
extern const struct view view_summary;
extern const struct view view_depth;
extern const struct view view_blame;
extern const struct view view_gaps;
extern const struct view view_jumps;
extern const struct view view_advice;
extern const struct view view_alike;
extern const struct view view_code;
extern const struct view view_flame;
extern const struct view view_info;
extern const struct view view_profile;
extern const struct view view_source;
extern const struct view view_compare;
extern const struct view view_both;
extern const struct view view_runs;
extern const struct view view_settings;
extern const struct view view_help;

/* view_timeline.c */
void view_timeline_ruler(struct session *session, struct grid *grid);
/* view_margins.c: minimap, ruler and call stack, for views that keep them while they have the screen. */
void view_margins_draw(struct session *session, struct grid *grid);
/* view_lanes.c: figures over time, in layout.lanes. */
void view_lanes_draw(struct session *session, struct grid *grid);
/* path_line.c: on the row layout.path. */
void path_line_draw(struct session *session, struct grid *grid);
/* view_source.c: the source of the profile's scope, or of the cursor's frame. */
void view_source_draw_at(struct session *session, struct grid *grid, struct grid_area area, bool is_profile);
/* view_jumps.c: looks up who the waits that it shows were for, for about `limit_ms` (0: to the end). */
void view_jumps_look_up(struct session *session, unsigned limit_ms);
/* view_help.c: opens the help at a heading (NULL: at its begin); looks for session->find in it. */
void view_help_open(struct session *session, const char *heading);
void view_help_find(struct session *session, bool is_back);
/* view_runs.c: lists the runs of the directory anew and gives the list the screen. */
void view_runs_open(struct session *session);
/* view_compare.c: computes how many pairs have room. */
void view_compare_lay(struct session *session);
/* view_compare_act.c, view_profile_act.c: keys of these views. */
bool view_compare_act(struct session *session, enum keys_action action);
bool view_profile_act(struct session *session, enum keys_action action);
/* compare_table.c: draws the difference; the area's first row is its title line. */
void compare_table_draw(struct session *session, struct grid *grid, struct grid_area area);
/* view_both.c: opens the profile or the gaps of both runs; moves to the next line of both profiles that
 * session->find matches. */
void view_both_open(struct session *session, const struct view *inner);
void view_both_find(struct session *session, bool is_back);

struct plot;
struct profile_page;

/* view_plot.c: the plot in the profile's place, its status, and its keys (false: the profile takes the key).
 */
void view_plot_draw(
	struct session *session, struct profile_page *page, struct grid *grid, struct grid_area area);
void view_plot_status(
	const struct session *session, const struct profile_page *page, char *out, size_t size_bytes);
bool view_plot_act(struct session *session, struct profile_page *page, enum keys_action action);

#endif
