/* SPDX-License-Identifier: Apache-2.0 */
/* flame_page.c - see flame_page.h. The numbers are hpct-profile's (timeline/profile/profile.h). */
#include "tui/models/flame_page.h"
#include "tui/models/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"
#include "tui/screen/pattern.h"
#include "tui/session/deadline.h"

static const struct {
	const char *name, *title;
} metrics[] = {{NULL, "on CPU"}, {"REALTIME", "wall time"}, {"BLOCKED", "blocked"}, {"GKER", "GPU kernels"}};
#define METRICS (int)(sizeof(metrics) / sizeof(metrics[0]))

struct flame_page *flame_page_of(struct session *session)
{
	if (!session->flame)
		session->flame = calloc(1, sizeof(*session->flame));
	return session->flame;
}

void flame_page_free(struct flame_page *page)
{
	if (!page)
		return;
	arena_fini(&page->arena);
	free(page);
}

const char *flame_page_metric(const struct flame_page *page)
{
	return metrics[page->metric].title;
}

const char *flame_page_option(const struct flame_page *page)
{
	return metrics[page->metric].name;
}

void flame_page_next_metric(struct flame_page *page)
{
	page->metric = (page->metric + 1) % METRICS;
}

/* ---- the boxes ---- */

/* What a graph is of. */
struct side {
	struct run *run;
	char window[96]; /* as --time takes it */
};

static void put_window(char *out, size_t size_bytes, __int128 begin_ns, __int128 end_ns)
{
	snprintf(out, size_bytes, "%lluns..%lluns", (unsigned long long)(begin_ns > 0 ? begin_ns : 0),
		(unsigned long long)(end_ns > 0 ? end_ns : 1));
}

/* Of two runs A is the first, and the frame's window is moved to the clock of B; the whole run stands for the
 * whole run. Of two windows A is the one that was kept. */
static struct side side_of(struct session *session, const struct flame_page *page, bool is_b)
{
	struct side side = {.run = is_b && session->compare ? session->compare->other->run : session->run};
	__int128 origin_ns = run_origin_ns(side.run);

	if (session->compare && session->state.is_whole)
		snprintf(side.window, sizeof(side.window), "..");
	else if (session->compare && is_b)
		put_window(side.window, sizeof(side.window),
			session->frame.begin_ns + (__int128)session->compare->offset_ns - origin_ns,
			session->frame.end_ns + (__int128)session->compare->offset_ns - origin_ns);
	else if (!session->compare && !is_b)
		put_window(side.window, sizeof(side.window), page->kept_begin_ns - origin_ns,
			page->kept_end_ns - origin_ns);
	else
		session_put_window(side.window, sizeof(side.window), session);
	return side;
}

static int put_options(const struct side *side, const struct flame_page *page, struct select *select,
	const char *streams, struct error *error)
{
	const char *metric = metrics[page->metric].name;
	int result;

	select_take_state_metrics(select);
	select_take_gpu(select);
	result = select_option(select, "time", side->window, error);
	if (!result && streams[0])
		result = select_option(select, "streams", streams, error);
	if (!result && metric)
		result = select_option(select, "metric", metric, error);
	return result ? result : select_bind(select, side->run, error);
}

static int compute_one(struct session *session, struct flame_page *page, bool is_b, const char *streams,
	struct flame *flame, struct error *error)
{
	struct side side = side_of(session, page, is_b);
	struct profile profile = {0};
	struct select *select;
	int result = select_new(&select, error);

	if (result)
		return result;
	result = put_options(&side, page, select, streams, error);
	if (!result)
		result = profile_compute(&profile, side.run, select,
			page->is_bottom_up ? PROFILE_BOTTOM_UP : PROFILE_TOP_DOWN, &page->arena, error);
	select_free(select);
	return result ? result : flame_lay(flame, &profile, page->is_bottom_up, 0, &page->arena, error);
}

/* Siblings of both stand in the order of their names. */
static void join(struct flame_page *page, const struct flame *a, uint32_t of_a, uint32_t of_b)
{
	const struct flame_box *x = a->boxes, *y = page->flame.boxes;
	uint32_t i = of_a + 1, j = of_b + 1;

	page->before[of_b] = x[of_a].value;
	while (i < x[of_a].end || j < y[of_b].end) {
		int order = i >= x[of_a].end ? 1 : j >= y[of_b].end ? -1 : strcmp(x[i].name, y[j].name);

		if (order < 0)
			page->gone += x[i].value;
		if (order == 0)
			join(page, a, i, j);
		if (order <= 0)
			i = x[i].end;
		if (order >= 0)
			j = y[j].end;
	}
}

static uint64_t scaled(const struct flame_page *page, uint64_t value)
{
	return page->scale == 1 ? value : (uint64_t)((double)value * page->scale + 0.5);
}

/* A window of another length would have more or less of all. */
static void scale_before(const struct session *session, struct flame_page *page)
{
	uint64_t length_ns = page->kept_end_ns - page->kept_begin_ns;

	page->scale = 1;
	if (!session->compare && length_ns)
		page->scale = (double)(session->frame.end_ns - session->frame.begin_ns) / (double)length_ns;
	for (uint32_t i = 0; i < page->flame.count; i++)
		page->before[i] = scaled(page, page->before[i]);
	page->before_total = scaled(page, page->before_total);
	page->gone = scaled(page, page->gone);
}

static int compute(struct session *session, struct flame_page *page, const char *streams, struct error *error)
{
	struct flame before = {0};
	bool has_kept = !session->compare && page->kept_end_ns;
	int result = compute_one(session, page, true, session->compare ? "" : streams, &page->flame, error);

	if (!result && (session->compare || has_kept))
		result = compute_one(session, page, false, has_kept ? streams : "", &before, error);
	if (result || !page->flame.count || !(session->compare || has_kept))
		return result;
	page->before = arena_calloc(&page->arena, page->flame.count, sizeof(*page->before));
	if (!page->before)
		return error_memory(error);
	page->before_total = before.total;
	if (before.count)
		join(page, &before, 0, 0);
	scale_before(session, page);
	return 0;
}

/* ---- the window A ---- */

static void say_two_runs(struct session *session)
{
	session_say(session, "two runs are held against each other already; 9 q goes back to one");
}

void flame_page_keep(struct session *session, struct flame_page *page)
{
	char window[96];

	if (session->compare) {
		say_two_runs(session);
	} else if (page->kept_end_ns) {
		page->kept_begin_ns = page->kept_end_ns = 0;
		session_say(session, "no window is held against this one any more");
	} else {
		page->kept_begin_ns = session->frame.begin_ns;
		page->kept_end_ns = session->frame.end_ns;
		flame_page_put_kept(session, page, window, sizeof(window));
		session_say(session,
			"%s is A: go to another window, and G shows it against this one; m forgets it",
			window);
	}
}

void flame_page_against(struct session *session, const char *value)
{
	struct flame_page *page = flame_page_of(session);
	struct select *select = NULL;
	struct error error;

	if (!page)
		return;
	if (session->compare) {
		say_two_runs(session);
	} else if (!strcmp(value, "off")) {
		page->kept_begin_ns = page->kept_end_ns = 0;
	} else if (select_new(&select, &error) || select_option(select, "time", value, &error) ||
		   select_bind(select, session->run, &error)) {
		session_say(session, "%s", error.text);
	} else {
		page->kept_begin_ns = select_begin_ns(select);
		page->kept_end_ns = select_end_ns(select);
	}
	select_free(select);
}

void flame_page_put_kept(
	const struct session *session, const struct flame_page *page, char *out, size_t size_bytes)
{
	uint64_t origin_ns = run_origin_ns(session->run);

	snprintf(out, size_bytes, "%.4g..%.4g s", (double)(page->kept_begin_ns - origin_ns) / 1e9,
		(double)(page->kept_end_ns - origin_ns) / 1e9);
}

int flame_page_change(const struct flame_page *page, uint32_t box)
{
	uint64_t a = page->before[box], b = page->flame.boxes[box].value, most = a > b ? a : b;
	uint64_t delta = a > b ? a - b : b - a;
	uint64_t total = page->before_total > page->flame.total ? page->before_total : page->flame.total;

	/* sampling alone makes a tenth of a box, or a hundredth of the whole */
	if (delta <= most / 10 || delta <= total / 100)
		return 0;
	return b > a ? 1 : -1;
}

static uint64_t key_of(struct session *session, const struct flame_page *page, const char *streams)
{
	uint64_t of[] = {session->frame.begin_ns, session->frame.end_ns, run_end_ns(session->run),
		(uint64_t)page->metric, page->is_bottom_up,
		session->compare ? (uint64_t)session->compare->offset_ns : 0, session->compare != NULL,
		page->kept_begin_ns, page->kept_end_ns};

	return store_hash64(streams, strlen(streams), store_hash64(of, sizeof(of), 7));
}

static void load(struct session *session, struct flame_page *page, const char *streams)
{
	struct error error;

	arena_fini(&page->arena);
	page->flame = (struct flame){0};
	page->cursor = page->zoom = page->top = 0;
	page->is_match = NULL;
	page->before = NULL;
	page->before_total = page->gone = 0;
	page->trouble[0] = '\0';
	page->is_loaded = true;
	if (compute(session, page, streams, &error)) {
		page->is_loaded = !deadline_read_later(session);
		snprintf(page->trouble, sizeof(page->trouble), "%s",
			page->is_loaded ? error.text : "reading ...");
	} else if (!page->flame.total) {
		snprintf(page->trouble, sizeof(page->trouble),
			"%s: nothing on these streams in this window; b shows another metric.",
			metrics[page->metric].title);
	}
}

bool flame_page_take(struct session *session, struct flame_page *page)
{
	uint64_t key = key_of(session, page, session->filter);

	if (!page->is_loaded || key != page->key) {
		page->key = key;
		load(session, page, session->filter);
	}
	return page->trouble[0] == '\0';
}

/* ---- the cursor ---- */

void flame_page_up(struct flame_page *page)
{
	if (page->flame.count && page->flame.boxes[page->cursor].parent != UINT32_MAX)
		page->cursor = page->flame.boxes[page->cursor].parent;
}

void flame_page_down(struct flame_page *page)
{
	const struct flame_box *boxes = page->flame.boxes;
	uint32_t widest = UINT32_MAX;

	if (!page->flame.count)
		return;
	for (uint32_t i = page->cursor + 1; i < boxes[page->cursor].end; i = boxes[i].end)
		if (widest == UINT32_MAX || boxes[i].value > boxes[widest].value)
			widest = i;
	if (widest != UINT32_MAX)
		page->cursor = widest;
}

void flame_page_beside(struct flame_page *page, bool is_left, uint32_t columns)
{
	struct flame_span *spans = calloc((size_t)columns + 1, sizeof(*spans));
	size_t count, at = 0;

	if (spans && page->flame.count) {
		count = flame_row(
			&page->flame, page->zoom, page->flame.boxes[page->cursor].depth, columns, spans);
		while (at < count && spans[at].box < page->cursor)
			at++;
		if (is_left && at > 0)
			page->cursor = spans[at - 1].box;
		at += at < count && spans[at].box == page->cursor;
		if (!is_left && at < count)
			page->cursor = spans[at].box;
	}
	free(spans);
}

/* What lies below a box that matches is counted with it. */
static void take_matches(struct flame_page *page, const struct pattern *pattern)
{
	const struct flame_box *boxes = page->flame.boxes;
	uint32_t counted = 0;

	page->matched = 0;
	if (!page->is_match)
		page->is_match = arena_calloc(&page->arena, page->flame.count, sizeof(*page->is_match));
	for (uint32_t i = 0; page->is_match && i < page->flame.count; i++) {
		page->is_match[i] = pattern_match(pattern, boxes[i].name);
		if (!page->is_match[i] || i < counted)
			continue;
		counted = boxes[i].end;
		page->matched += boxes[i].value;
	}
}

void flame_page_find(struct session *session, bool is_back)
{
	struct flame_page *page = session->flame;
	struct pattern pattern;
	uint32_t at, count = page ? page->flame.count : 0;

	if (!count || !session->find[0])
		return;
	if (!pattern_init(&pattern, session->find)) {
		session_say(session, "'%s' is no regular expression", session->find);
		return;
	}
	take_matches(page, &pattern);
	at = page->cursor;
	for (uint32_t steps = 0; steps < count; steps++) {
		at = is_back ? (at + count - 1) % count : (at + 1) % count;
		if (!pattern_match(&pattern, page->flame.boxes[at].name))
			continue;
		page->cursor = at;
		if (at < page->zoom || at >= page->flame.boxes[page->zoom].end)
			page->zoom = 0;
		pattern_fini(&pattern);
		return;
	}
	pattern_fini(&pattern);
	page->is_match = NULL;
	session_say(session, "no function here has '%s' in its name", session->find);
}
