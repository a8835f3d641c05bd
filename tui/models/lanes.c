/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c - see lanes.h. */
#include "tui/models/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUGGESTED 5u
#define SUGGESTED_LINES 2u
#define BARE_RECORDS \
	6u /* a thread has so many that is not sampled: its begin and end, what it was not monitored in */
#define BARE_STREAMS 4096u  /* a run of more is no run of figures */
#define SPARE_STREAMS 2000u /* a run of more has no line to spare, unless all are folded */
#define SPARE_LINES 2	    /* of a lane in the lines that no row uses, at least */
#define MARK_LINES 3u	    /* of a lane that gets a bound */

static const char *const usual[] = {
	"cpu_user", "resident", "gpu_busy", "gpu_memory_used", "cpu_busy", "memory_used"};

static struct lanes *lanes_of(struct session *session)
{
	if (!session->lanes)
		session->lanes = calloc(1, sizeof *session->lanes);
	if (!session->lanes)
		session_say(session, "no memory for lanes");
	return session->lanes;
}

static void lane_clear(struct lanes_lane *lane)
{
	free(lane->columns);
	free(lane->halves);
	*lane = (struct lanes_lane){.lines = 0};
}

static void lanes_clear(struct lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++)
		lane_clear(&lanes->lane[i]);
	lanes->count = 0;
}

void lanes_free(struct lanes *lanes)
{
	if (!lanes)
		return;
	lanes_clear(lanes);
	arena_fini(&lanes->arena);
	free(lanes);
}

/* ---- choosing ---- */

/* The figure's whole name, NULL: there is none. Labels may be left out; then it is the first of those that
 * differ in them. */
static const char *whole_name(const struct lanes *lanes, const char *name)
{
	const char *found = NULL;

	for (uint32_t i = 0; i < lanes->figure_count; i++) {
		const char *figure = lanes->figures[i].name;

		if (!strcmp(figure, name))
			return figure;
		if (!found && !strpbrk(name, "*?") && figure_is_named(figure, name))
			found = figure;
	}
	return found;
}

static struct lanes_lane *lane_of_whole(struct lanes *lanes, const char *name)
{
	for (uint32_t i = 0; name && i < lanes->count; i++)
		if (!strcmp(lanes->lane[i].name, name))
			return &lanes->lane[i];
	return NULL;
}

/* Labels may be left out, as where it was added. */
static struct lanes_lane *lane_named(struct lanes *lanes, const char *name)
{
	struct lanes_lane *lane = lane_of_whole(lanes, name);

	return lane ? lane : lane_of_whole(lanes, whole_name(lanes, name));
}

static bool is_figure(const struct lanes *lanes, const char *name)
{
	return whole_name(lanes, name) != NULL;
}

/* Amounts of threads, such as counters that are read, are listed by name alone: there may be very many. */
static int figures_add(struct session *session, struct lanes *lanes, const char *const *names, size_t count,
	struct error *error)
{
	struct figure *more, *all;
	uint32_t more_count;
	int rc = count ? figures_list(&more, &more_count, session->run, names, count, &lanes->arena, error)
		       : 0;

	if (rc || !count || !more_count)
		return rc;
	all = arena_calloc(&lanes->arena, (size_t)lanes->figure_count + more_count, sizeof *all);
	if (!all)
		return error_memory(error);
	if (lanes->figure_count)
		memcpy(all, lanes->figures, lanes->figure_count * sizeof *all);
	memcpy(all + lanes->figure_count, more, more_count * sizeof *all);
	lanes->figures = all;
	lanes->figure_count += more_count;
	return 0;
}

/* Figures of the run, read again when it has grown; `also` (NULL: none) if it is a name that has not been
 * listed. */
static int figures_renew(struct session *session, struct lanes *lanes, const char *also, struct error *error)
{
	const char *names[LANES_MOST + 1];
	size_t count = 0;
	int rc;

	if (lanes->figures && lanes->until_ns == run_end_ns(session->run)) {
		if (also && !is_figure(lanes, also))
			return figures_add(session, lanes, &also, 1, error);
		return 0;
	}
	arena_fini(&lanes->arena);
	lanes->arena = (struct arena){0};
	lanes->figures = NULL;
	lanes->users = (struct figure_users){0};
	lanes->until_ns = run_end_ns(session->run);
	rc = figures_list(&lanes->figures, &lanes->figure_count, session->run, NULL, 0, &lanes->arena, error);
	if (rc)
		return rc;
	if (also && !is_figure(lanes, also))
		names[count++] = also;
	for (uint32_t i = 0; i < lanes->count; i++)
		if (!is_figure(lanes, lanes->lane[i].name))
			names[count++] = lanes->lane[i].name;
	rc = figures_add(session, lanes, names, count, error);
	if (!rc)
		rc = figure_users_find(&lanes->users, session->run, &lanes->arena, error);
	if (rc) { /* next time all is read again */
		lanes->figures = NULL;
		lanes->figure_count = 0;
	}
	return rc;
}

static void lane_add(struct session *session, struct lanes *lanes, const char *name, uint32_t lines,
	const struct figure_condition *condition)
{
	struct lanes_lane *lane = lane_named(lanes, name);

	if (!lane && lanes->count == LANES_MOST) {
		session_say(session, "there are %u lanes already; :lane NAME off takes one away", LANES_MOST);
		return;
	}
	if (!lane)
		lane = &lanes->lane[lanes->count++];
	snprintf(lane->name, sizeof lane->name, "%s", name);
	lane->lines = lines ? lines : lane->lines ? lane->lines : 1;
	if (condition) {
		lane->has_condition = true;
		lane->condition = *condition;
	}
}

static void lane_drop(struct lanes *lanes, struct lanes_lane *lane)
{
	lane_clear(lane);
	memmove(lane, lane + 1, (size_t)(lanes->lane + lanes->count - (lane + 1)) * sizeof *lane);
	lanes->lane[--lanes->count] = (struct lanes_lane){.lines = 0};
}

/* The user's own choice begins. True: some were seen. */
static bool drop_spare(struct lanes *lanes)
{
	bool is_seen = lanes->is_spare && lanes->spare_rows;

	if (lanes->is_spare)
		lanes_clear(lanes);
	lanes->is_spare = false;
	return is_seen;
}

static void usual_toggle(struct session *session, struct lanes *lanes)
{
	if (lanes->count) {
		lanes_clear(lanes);
		return;
	}
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		const char *name = whole_name(lanes, usual[i]);

		if (name)
			lane_add(session, lanes, name, 1, NULL);
	}
}

bool lanes_are_all(const struct run *run)
{
	uint64_t figures = 0, records = 0, streams = 0;

	if (run_timed_count(run) == run_stream_count(run) || run_timed_count(run) > BARE_STREAMS)
		return false;
	for (uint32_t i = 0; i < run_stream_count(run); i++) {
		const struct store_stream *s = &run_stream(run, i)->s;

		if (s->kind == STORE_STREAM_GAUGES) {
			figures += s->count[STORE_VALUES];
			continue;
		}
		streams++;
		records += s->count[STORE_SAMPLES] + s->count[STORE_SPANS];
	}
	return figures && records <= BARE_RECORDS * streams;
}

void lanes_suggest(struct session *session)
{
	struct lanes *lanes = lanes_of(session);
	struct error error;

	if (!lanes || lanes->count || figures_renew(session, lanes, NULL, &error))
		return;
	usual_toggle(session, lanes);
	for (uint32_t i = 0; i < lanes->figure_count && lanes->count < SUGGESTED; i++)
		if (!lane_named(lanes, lanes->figures[i].name) &&
			lanes->figures[i].least < lanes->figures[i].most)
			lane_add(session, lanes, lanes->figures[i].name, 1, NULL);
	for (uint32_t i = 0; i < lanes->count; i++)
		lanes->lane[i].lines = SUGGESTED_LINES;
}

void lanes_suggest_spare(struct session *session)
{
	struct lanes *lanes;
	struct error error;

	if (run_timed_count(session->run) == run_stream_count(session->run) ||
		run_stream_count(session->run) > SPARE_STREAMS)
		return;
	lanes = lanes_of(session);
	if (!lanes || lanes->count || figures_renew(session, lanes, NULL, &error))
		return;
	usual_toggle(session, lanes);
	lanes->is_spare = lanes->count > 0;
}

bool lanes_are_spare(const struct session *session)
{
	return session->lanes && session->lanes->is_spare;
}

bool lanes_fit(struct session *session, int free)
{
	struct lanes *lanes = session->lanes;
	int before, lines, shown;

	if (!lanes_are_spare(session))
		return false;
	before = lanes->spare_rows;
	free--; /* between them and the rows */
	shown = (int)lanes->count < free / SPARE_LINES ? (int)lanes->count : free / SPARE_LINES;
	lines = shown > 0 ? free / shown : 0;
	lines = lines < (int)LANES_LINES ? lines : (int)LANES_LINES;
	for (uint32_t i = 0; i < lanes->count; i++)
		lanes->lane[i].lines = (uint32_t)lines;
	lanes->spare_rows = shown * lines;
	return lanes->spare_rows != before;
}

/* NAME, NAME<30, then off or a number of lines. */
static void take_one(struct session *session, struct lanes *lanes, const char *value)
{
	struct figure_condition condition;
	char word[FIGURE_NAME_MAX + 32], rest[16] = "", *end;
	struct error error;
	bool has_condition;
	unsigned long lines;

	if (sscanf(value, "%280s %15s", word, rest) < 1)
		return;
	has_condition = strpbrk(word, "<>") != NULL;
	if (has_condition && figure_condition_parse(&condition, word, &error)) {
		session_say(session, "%s", error.text);
		return;
	}
	if (has_condition)
		snprintf(word, sizeof word, "%s", condition.name);
	if (!strcmp(rest, "off")) {
		struct lanes_lane *lane = lane_named(lanes, word);

		if (lane)
			lane_drop(lanes, lane);
		return;
	}
	lines = strtoul(rest, &end, 10);
	if (*end || lines > LANES_LINES || (rest[0] && !lines)) {
		session_say(session, ":lane NAME 1..%u: so many lines, or off", LANES_LINES);
		return;
	}
	if (figures_renew(session, lanes, word, &error)) {
		session_say(session, "%s", error.text);
		return;
	}
	if (!is_figure(lanes, word)) {
		session_say(session,
			"there is no figure '%.60s' over time here; hpct-info --metrics lists them", word);
		return;
	}
	lane_add(session, lanes, whole_name(lanes, word), (uint32_t)lines, has_condition ? &condition : NULL);
}

void lanes_set(struct session *session, const char *value)
{
	struct lanes *lanes = lanes_of(session);
	struct error error;

	if (!lanes)
		return;
	if (figures_renew(session, lanes, NULL, &error)) {
		session_say(session, "%s", error.text);
		return;
	}
	if (drop_spare(lanes) && !*value)
		return;
	if (!strcmp(value, "off"))
		lanes_clear(lanes);
	else if (!lanes->figure_count && !*value)
		session_say(session, "this run has no figures over time (hpct-record --gauges)");
	else if (!*value)
		usual_toggle(session, lanes);
	else
		take_one(session, lanes, value);
}

void lanes_set_mark(struct session *session, const char *value)
{
	struct figure_condition condition;
	struct lanes *lanes = lanes_of(session);
	struct lanes_lane *lane;
	char word[FIGURE_NAME_MAX + 32], rest[16] = "";
	struct error error;

	if (!lanes || sscanf(value, "%280s %15s", word, rest) < 1)
		return;
	drop_spare(lanes);
	lane = lane_named(lanes, word);
	if (!strcmp(rest, "off")) {
		if (lane)
			lane->has_condition = false;
		return;
	}
	if (figure_condition_parse(&condition, word, &error)) {
		session_say(session, "%s", error.text);
		return;
	}
	lane = lane_named(lanes, condition.name);
	snprintf(rest, sizeof rest, "%u", lane && lane->lines > 1 ? lane->lines : MARK_LINES);
	snprintf(word + strlen(word), sizeof word - strlen(word), " %.10s", rest);
	take_one(session, lanes, word);
}

/* "0..100", with units as in conditions. */
static bool range_read(const char *text, struct lane_scale *scale)
{
	struct figure_condition least, most;
	const char *dots = strstr(text, "..");
	char words[2][64];
	struct error error;

	if (!dots)
		return false;
	snprintf(words[0], sizeof words[0], "x>%.*s", (int)(dots - text < 40 ? dots - text : 40), text);
	snprintf(words[1], sizeof words[1], "x>%.40s", dots + 2);
	if (figure_condition_parse(&least, words[0], &error) ||
		figure_condition_parse(&most, words[1], &error))
		return false;
	*scale = (struct lane_scale){least.bound, most.bound};
	return least.bound < most.bound;
}

static void scale_of_one(struct session *session, struct lanes *lanes, const char *value)
{
	char word[FIGURE_NAME_MAX + 32], rest[64] = "";
	struct lanes_lane *lane =
		sscanf(value, "%280s %63s", word, rest) == 2 ? lane_named(lanes, word) : NULL;
	struct lane_scale scale;

	if (lane && !strcmp(rest, "auto"))
		lane->has_scale = false;
	else if (lane && range_read(rest, &scale)) {
		lane->has_scale = true;
		lane->chosen = scale;
	} else
		session_say(session, ":scale own gives each lane its own, shared those of one unit the same; "
				     ":scale NAME 0..100 or NAME auto is of one lane");
}

void lanes_set_scale(struct session *session, const char *value)
{
	struct lanes *lanes = lanes_of(session);

	if (!lanes)
		return;
	if (!strcmp(value, "own") || !strcmp(value, "shared"))
		lanes->is_shared = value[0] == 's';
	else
		scale_of_one(session, lanes, value);
}

int lanes_rows(const struct session *session)
{
	int rows = 0;

	if (lanes_are_spare(session))
		return session->lanes->spare_rows;
	for (uint32_t i = 0; session->lanes && i < session->lanes->count; i++)
		rows += (int)session->lanes->lane[i].lines;
	return rows;
}

/* ---- reading ---- */

/* The stream that the cursor's row, or its first stream, is of; UINT32_MAX: no row. */
static uint32_t stream_at(const struct session *session)
{
	uint32_t row = session_row(session);

	return row == UINT32_MAX ? UINT32_MAX : session->rows.nodes[session->rows.shown[row]].stream;
}

static const struct figure *figure_for(
	const struct session *session, const struct lanes *lanes, const struct lanes_lane *lane)
{
	const struct figure *best = NULL;
	uint32_t stream = stream_at(session);
	enum figure_nearness most = FIGURE_OF_OTHERS;

	for (uint32_t i = 0; i < lanes->figure_count; i++) {
		enum figure_nearness near = FIGURE_OF_OTHERS;

		if (!strcmp(lanes->figures[i].name, lane->name))
			near = stream == UINT32_MAX
				       ? FIGURE_OF_HOST
				       : figure_nearness(&lanes->users, stream, &lanes->figures[i]);
		if (near > most) {
			most = near;
			best = &lanes->figures[i];
		}
	}
	return best;
}

static bool are_dots(const struct session *session)
{
	return session->looks.has_dots && !session->looks.is_ascii;
}

static bool is_read(const struct session *session, const struct lanes *lanes, const struct lanes_lane *lane,
	const struct figure *figure)
{
	const struct frame *frame = &session->frame;

	return lane->is_there && lane->columns && (lane->halves != NULL) == are_dots(session) &&
	       lane->figure.stream == figure->stream && lane->figure.metric == figure->metric &&
	       lane->count == frame->columns.count && lane->begin_ns == frame->begin_ns &&
	       lane->end_ns == frame->end_ns && lane->until_ns == lanes->until_ns;
}

static int halves_read(
	struct session *session, struct lanes_lane *lane, const uint64_t *edges, struct error *error)
{
	const uint32_t count = lane->count;
	uint64_t *halves;
	int rc;

	free(lane->halves);
	lane->halves = NULL;
	if (!are_dots(session))
		return 0;
	lane->halves = calloc(2 * (size_t)count + 1, sizeof *lane->halves);
	halves = malloc((2 * (size_t)count + 1) * sizeof *halves);
	if (!lane->halves || !halves) {
		free(halves);
		return error_memory(error);
	}
	for (uint32_t i = 0; i < count; i++) {
		halves[2 * i] = edges[i];
		halves[2 * i + 1] = edges[i] + (edges[i + 1] - edges[i]) / 2;
	}
	halves[2 * count] = edges[count];
	rc = figure_columns(session->run, &lane->figure, halves, 2 * count, lane->halves, error);
	free(halves);
	return rc;
}

static int lane_read(struct session *session, const struct lanes *lanes, struct lanes_lane *lane,
	const uint64_t *edges, struct error *error)
{
	const struct figure *figure = figure_for(session, lanes, lane);
	const uint32_t count = session->frame.columns.count;
	int rc;

	if (!figure) {
		lane->is_there = false;
		return 0;
	}
	if (is_read(session, lanes, lane, figure))
		return 0;
	free(lane->columns);
	lane->columns = calloc((size_t)count + 1, sizeof *lane->columns);
	if (!lane->columns)
		return error_memory(error);
	lane->figure = *figure;
	lane->unit = figure_unit(session->run, figure->metric).text;
	lane->count = count;
	lane->begin_ns = session->frame.begin_ns;
	lane->end_ns = session->frame.end_ns;
	lane->until_ns = lanes->until_ns;
	rc = figure_columns(session->run, figure, edges, count, lane->columns, error);
	if (!rc)
		rc = halves_read(session, lane, edges, error);
	lane->is_there = !rc;
	return rc;
}

/* A bound must be seen. */
static struct lane_scale scale_take(const struct lanes_lane *lane)
{
	struct lane_scale scale = lane_scale(lane->columns, lane->count, lane->unit), bound;

	if (!lane->has_condition)
		return scale;
	bound = (struct lane_scale){scale.least, lane->condition.bound * 1.01};
	lane_scale_join(&scale, &bound);
	scale.least = lane->condition.bound < scale.least ? lane->condition.bound : scale.least;
	return scale;
}

static void scales_take(struct lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++)
		if (lanes->lane[i].is_there)
			lanes->lane[i].scale = scale_take(&lanes->lane[i]);
	for (uint32_t i = 0; i < lanes->count && lanes->is_shared; i++)
		for (uint32_t j = 0; j < lanes->count; j++)
			if (lanes->lane[i].is_there && lanes->lane[j].is_there &&
				!strcmp(lanes->lane[i].unit, lanes->lane[j].unit))
				lane_scale_join(&lanes->lane[i].scale, &lanes->lane[j].scale);
	for (uint32_t i = 0; i < lanes->count; i++)
		if (lanes->lane[i].has_scale)
			lanes->lane[i].scale = lanes->lane[i].chosen;
}

/* ---- at the cursor ---- */

/* In how much of the window the columns meet the condition. */
static unsigned percent_met(const struct lanes_lane *lane)
{
	uint32_t met = 0, there = 0;

	for (uint32_t i = 0; i < lane->count; i++) {
		there += lane->columns[i].is_there;
		met += lane->columns[i].is_there &&
		       figure_condition_holds(&lane->condition, lane->columns[i].mean);
	}
	return there ? (unsigned)(100.0 * met / there + 0.5) : 0;
}

static void lane_status(const struct lanes_lane *lane, uint32_t column, char *out, size_t size)
{
	const struct figure_column *at = &lane->columns[column];
	char mean[FIGURE_TEXT_MAX], least[FIGURE_TEXT_MAX], most[FIGURE_TEXT_MAX];
	int used;

	figure_text(mean, at->mean, lane->unit);
	figure_text(least, at->least, lane->unit);
	figure_text(most, at->most, lane->unit);
	used = snprintf(out, size, "%.40s %s", lane->name, mean);
	if (strcmp(least, most) != 0)
		used += snprintf(out + used, size - (size_t)used, " (%s..%s)", least, most);
	if (lane->has_condition)
		snprintf(out + used, size - (size_t)used, " %c%g: %u %%", lane->condition.op,
			lane->condition.bound, percent_met(lane));
}

void lanes_status(const struct session *session, char *out, size_t size_bytes, int cells)
{
	const struct lanes *lanes = session->lanes;
	const uint32_t column = session_column(session);
	size_t used = 0;

	out[0] = '\0';
	if (lanes_are_spare(session)) /* their labels say it */
		return;
	for (uint32_t i = 0; lanes && i < lanes->count; i++) {
		const struct lanes_lane *lane = &lanes->lane[i];
		char text[64 + 4 * FIGURE_TEXT_MAX];

		if (!lane->is_there || !lane->columns || column >= lane->count ||
			!lane->columns[column].is_there)
			continue;
		lane_status(lane, column, text, sizeof text);
		if ((int)(used + strlen(text)) + 2 > cells || used + strlen(text) + 3 > size_bytes)
			break;
		used += (size_t)snprintf(out + used, size_bytes - used, "%s%s", used ? "  " : "", text);
	}
}

int lanes_read(struct session *session, struct error *error)
{
	struct lanes *lanes = session->lanes;
	const uint32_t count = session->frame.columns.count;
	uint64_t *edges;
	int rc;

	if (!lanes || !lanes->count || !count)
		return 0;
	rc = figures_renew(session, lanes, NULL, error);
	edges = rc ? NULL : malloc(((size_t)count + 1) * sizeof *edges);
	if (!rc && !edges)
		return error_memory(error);
	for (uint32_t i = 0; i <= count && !rc; i++)
		edges[i] = i < count ? frame_column_ns(&session->frame, i) : session->frame.end_ns;
	for (uint32_t i = 0; i < lanes->count && !rc; i++)
		rc = lane_read(session, lanes, &lanes->lane[i], edges, error);
	free(edges);
	if (!rc)
		scales_take(lanes);
	return rc;
}
