/* SPDX-License-Identifier: Apache-2.0 */
/* select_frame.c - see select_frame.h. */
#include "timeline/select/select_frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/path.h"
#include "timeline/base/glob.h"

enum {
	WHAT_FUNCTION,
	WHAT_INLINE,
	WHAT_KERNEL,
	WHAT_FILE,
	WHAT_MODULE,
	WHAT_LOOP,
	WHAT_LINE,
	WHAT_COST,
	WHAT_OWN
};

static const struct {
	const char *word;
	bool needs_glob, is_cost;
} words[] = {[WHAT_FUNCTION] = {"function", false, false},
	[WHAT_INLINE] = {"inline", false, false},
	[WHAT_KERNEL] = {"kernel", false, false},
	[WHAT_FILE] = {"file", true, false},
	[WHAT_MODULE] = {"module", true, false},
	[WHAT_LOOP] = {"loop", false, false},
	[WHAT_LINE] = {"line", false, false},
	[WHAT_COST] = {"cost", false, true},
	[WHAT_OWN] = {"own", false, true}};
#define WORDS (sizeof words / sizeof *words)

/* ---- reading ---- */

size_t select_frame_size(const char *text)
{
	size_t size = 0;

	while (text[size] && text[size] != ';')
		size += text[size] == '\\' && text[size + 1] ? 2 : 1;
	return size;
}

/* The condition that begins at text[at], an '@': its number; WORDS: it is part of a name. *next: what follows
 * its word. */
static size_t condition_at(const char *text, size_t at, size_t size, size_t *next)
{
	for (size_t what = 0; what < WORDS; what++) {
		size_t end = at + 1 + strlen(words[what].word), sign = end;

		if (end > size || strncmp(text + at + 1, words[what].word, end - at - 1) != 0)
			continue;
		while (words[what].is_cost && sign < size && text[sign] == ' ')
			sign++;
		*next = sign;
		if (words[what].is_cost ? sign < size && strchr("<>", text[sign])
					: end == size || text[end] == '=' || text[end] == '@')
			return what;
	}
	return WORDS;
}

static size_t next_condition(const char *text, size_t at, size_t size)
{
	size_t next;

	while (at < size && (text[at] != '@' || condition_at(text, at, size, &next) == WORDS))
		at++;
	return at;
}

bool select_frame_is_special(const char *text, size_t size)
{
	return next_condition(text, 0, size) < size;
}

static int wrong(const char *text, size_t size, const char *why, struct error *error)
{
	return error_set(error, ERROR_USAGE, "--context: '%.*s': %s; hpct(1) has the conditions of a frame",
		(int)(size < 200 ? size : 200), text, why);
}

static bool limit_unit(struct select_frame_condition *condition, const char *at)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {{"%", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t size = strlen(units[i].name);

		if (strncmp(at, units[i].name, size) == 0 && at[size + strspn(at + size, " ")] == '\0') {
			condition->limit *= units[i].factor;
			condition->is_percent = i == 0;
			return true;
		}
	}
	return false;
}

/* "> 1 %"; the condition's glob is scratch for it. */
static bool take_limit(struct select_frame_condition *condition)
{
	const char *at = condition->glob;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a condition has its glob */
	size_t signs = 1 + (at[1] == '=');
	char *end;

	memcpy(condition->sign, at, signs);
	condition->limit = strtod(at + signs, &end);
	if (end == at + signs || !isfinite(condition->limit))
		return false;
	return limit_unit(condition, end + strspn(end, " "));
}

/* What the condition makes of the frame; NULL: all is well. */
static const char *apply(struct select_frame *frame, struct select_frame_condition *condition)
{
	enum select_frame_node node = condition->what == WHAT_LOOP   ? SELECT_FRAME_LOOP
				      : condition->what == WHAT_LINE ? SELECT_FRAME_LINE
								     : frame->node;
	bool is_of_function = condition->what <= WHAT_KERNEL || condition->what == WHAT_MODULE;

	if (words[condition->what].is_cost) {
		frame->has_cost = true;
		return take_limit(condition) ? NULL : "a cost needs a number with %, ns, us, ms or s";
	}
	if (words[condition->what].needs_glob && !condition->glob)
		return "@file and @module need =GLOB";
	if (frame->node != SELECT_FRAME_FUNCTION && (node != frame->node || is_of_function))
		return "a loop or a line is no function and none of the other";
	for (size_t i = 0; node != SELECT_FRAME_FUNCTION && i + 1 < frame->count; i++)
		if (frame->conditions[i].what <= WHAT_KERNEL || frame->conditions[i].what == WHAT_MODULE)
			return "a loop or a line is no function and none of the other";
	frame->node = node;
	return NULL;
}

static int take_condition(struct select_frame *frame, size_t what, const char *text, size_t from, size_t to,
	struct error *error)
{
	struct select_frame_condition *condition;

	if (!array_resize(&frame->conditions, frame->count + 1, sizeof *frame->conditions))
		return error_memory(error);
	condition = &frame->conditions[frame->count++];
	*condition = (struct select_frame_condition){.what = (unsigned)what};
	if (to > from && (words[what].is_cost || text[from] == '=')) {
		from += !words[what].is_cost;
		condition->glob = strndup(text + from, to - from);
		if (!condition->glob)
			return error_memory(error);
	}
	return 0;
}

int select_frame_parse(struct select_frame *frame, const char *text, size_t size, struct error *error)
{
	size_t at = next_condition(text, 0, size), next = 0;

	*frame = (struct select_frame){.end = size};
	frame->name = at ? strndup(text, at) : NULL;
	if (at && !frame->name)
		return error_memory(error);
	while (at < size) {
		size_t what = condition_at(text, at, size, &next);
		const char *why;
		int rc;

		at = next_condition(text, at + 1, size);
		rc = take_condition(frame, what, text, next, at, error);
		if (rc)
			return rc;
		why = apply(frame, &frame->conditions[frame->count - 1]);
		if (why)
			return wrong(text, size, why, error);
	}
	if (frame->name && frame->node != SELECT_FRAME_FUNCTION)
		return wrong(text, size, "a loop or a line has no name: write @loop=FILE:LINE", error);
	return 0;
}

void select_frame_fini(struct select_frame *frame)
{
	for (size_t i = 0; i < frame->count; i++)
		free(frame->conditions[i].glob);
	free(frame->conditions);
	free(frame->name);
}

/* ---- matching ---- */

static bool cost_holds(const struct select_frame_condition *condition, struct select_cost_time time,
	const struct select_cost *costs)
{
	double value = (double)(condition->what == WHAT_COST ? time.inclusive_ns : time.own_ns);
	bool or_equal = condition->sign[1] == '=';

	if (condition->is_percent)
		value = select_cost_total_ns(costs) ? 100 * value / (double)select_cost_total_ns(costs) : 0;
	if (condition->sign[0] == '>')
		return or_equal ? value >= condition->limit : value > condition->limit;
	return or_equal ? value <= condition->limit : value < condition->limit;
}

static bool path_matches(const char *glob, const char *path)
{
	return glob_match(glob, path) || glob_match(glob, path_base(path));
}

/* A line is 12, FILE:12 or a glob of that. */
static bool line_matches(const char *glob, const char *file, uint32_t line)
{
	const char *files[] = {"", file, path_base(file)};
	bool matches = false;

	for (size_t i = 0; i < 3 && !matches; i++) {
		char *text;

		if (asprintf(&text, "%s%s%u", files[i], i ? ":" : "", line) < 0)
			return true;
		matches = glob_match(glob, text);
		free(text);
	}
	return matches;
}

static bool scope_holds(const struct select_frame_condition *condition, const struct run *run, uint32_t scope,
	const char *name, const struct select_cost *costs)
{
	const struct run_scope *s = run_scope(run, scope);
	const struct run_function *function = run_function(run, s->function);
	bool is_inline = s->kind == RUN_SCOPE_INLINE, is_kernel = run_scope_is_kernel(run, scope);

	switch (condition->what) {
	case WHAT_COST:
	case WHAT_OWN:
		return cost_holds(condition, select_cost_scope(costs, scope), costs);
	case WHAT_FILE:
		return path_matches(condition->glob, function->file);
	case WHAT_MODULE:
		return path_matches(condition->glob, function->module);
	case WHAT_FUNCTION:
		if (is_inline || is_kernel || function->is_placeholder)
			return false;
		break;
	case WHAT_INLINE:
		if (!is_inline)
			return false;
		break;
	default:
		if (!is_kernel)
			return false;
	}
	return !condition->glob || glob_match(condition->glob, name);
}

bool select_frame_match_scope(const struct select_frame *frame, const struct run *run, uint32_t scope,
	const char *name, const struct select_cost *costs)
{
	if (frame->node != SELECT_FRAME_FUNCTION || (frame->name && !glob_match(frame->name, name)))
		return false;
	for (size_t i = 0; i < frame->count; i++)
		if (!scope_holds(&frame->conditions[i], run, scope, name, costs))
			return false;
	return true;
}

/* Of a loop or a line, which are at FILE:LINE. */
static bool place_matches(const struct select_frame *frame, const char *file, uint32_t line,
	struct select_cost_time time, const struct select_cost *costs)
{
	for (size_t i = 0; i < frame->count; i++) {
		const struct select_frame_condition *condition = &frame->conditions[i];

		if (words[condition->what].is_cost) {
			if (!cost_holds(condition, time, costs))
				return false;
		} else if (condition->what == WHAT_FILE) {
			if (!path_matches(condition->glob, file))
				return false;
		} else if (condition->glob && !line_matches(condition->glob, file, line)) {
			return false;
		}
	}
	return true;
}

bool select_frame_match_loop(const struct select_frame *frame, const struct run *run, uint32_t scope,
	uint32_t loop, const struct select_cost *costs)
{
	const struct run_loop *l = run_loop(run, loop);
	struct select_cost_time time = {0};

	if (frame->node != SELECT_FRAME_LOOP)
		return false;
	if (frame->has_cost)
		time = select_cost_loop(costs, scope, loop);
	return place_matches(frame, l->file, l->line, time, costs);
}

bool select_frame_match_line(const struct select_frame *frame, const struct run *run, uint32_t scope,
	const char *file, uint32_t line, const struct select_cost *costs)
{
	struct select_cost_time time = {0};

	(void)run;
	if (frame->node != SELECT_FRAME_LINE || !line)
		return false;
	if (frame->has_cost)
		time = select_cost_line(costs, scope, file, line);
	return place_matches(frame, file, line, time, costs);
}
