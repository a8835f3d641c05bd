/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.c - keeps the selector's options as they were given, and what they mean in the run that it is bound
 * to.
 */
#include "timeline/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/arena.h"
#include "timeline/glob.h"
#include "timeline/run_parts.h"
#include "timeline/select_context.h"
#include "timeline/select_streams.h"
#include "timeline/select_time.h"

enum option {
	OPTION_TIME,
	OPTION_STREAMS,
	OPTION_CONTEXT,
	OPTION_OP,
	OPTION_METRIC,
	OPTION_MIN,
	OPTION_DEPTH,
	OPTION_BY,
	OPTION_TOP,
	OPTION_COUNT
};

struct select {
	char *values[OPTION_COUNT]; /* as given; NULL: not */
	struct select_window window;
	struct select_streams *expression;
	struct select_context *context;
	char **ops, **metrics; /* patterns, ended by NULL */
	uint64_t min_ns, top;
	uint32_t depth;
	/* -- after binding -- */
	struct run *run;
	uint64_t begin_ns, end_ns;
	uint32_t *streams, stream_count;
};

/* ---- taking options: each parses into a fresh place, then takes the old one's ---- */

static void list_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* "kernel,copy" */
static int list_parse(char ***list, const char *option, const char *value, struct error *error)
{
	size_t count = 1, used = 0;
	char **items;

	for (const char *c = value; *c; c++)
		count += *c == ',';
	items = calloc(count + 1, sizeof *items);
	if (!items)
		return error_memory(error);
	for (const char *c = value;; c++) {
		size_t size = strcspn(c, ",");

		items[used] = strndup(c, size);
		if (!items[used] || !size) {
			bool is_memory = !items[used];

			list_free(items);
			return is_memory ? error_memory(error)
					 : error_set(error, ERROR_USAGE,
						   "--%s: a name is missing in '%s': write NAME or NAME,NAME",
						   option, value);
		}
		used++;
		c += size;
		if (!*c)
			break;
	}
	list_free(*list);
	*list = items;
	return 0;
}

static int take_time(struct select *select, const char *value, struct error *error)
{
	struct select_window window;
	int code = select_window_parse(&window, value, error);

	if (code) {
		select_window_fini(&window);
		return code;
	}
	select_window_fini(&select->window);
	select->window = window;
	return 0;
}

static int take_streams(struct select *select, const char *value, struct error *error)
{
	struct select_streams *expression;
	int code = select_streams_parse(&expression, value, error);

	if (code)
		return code;
	select_streams_free(select->expression);
	select->expression = expression;
	return 0;
}

static int take_context(struct select *select, const char *value, struct error *error)
{
	struct select_context *context;
	int code = select_context_new(&context, value, error);

	if (code)
		return code;
	select_context_free(select->context);
	select->context = context;
	if (select->run)
		select_context_bind(context, select->run);
	return 0;
}

static int take_op(struct select *select, const char *value, struct error *error)
{
	return list_parse(&select->ops, "op", value, error);
}

static int take_metric(struct select *select, const char *value, struct error *error)
{
	return list_parse(&select->metrics, "metric", value, error);
}

static int take_min(struct select *select, const char *value, struct error *error)
{
	uint64_t ns;

	if (!select_duration(value, &ns))
		return error_set(error, ERROR_USAGE,
			"--min: '%s' is no duration: write a number with ns, us, ms or s", value);
	select->min_ns = ns;
	return 0;
}

static int read_count(
	const char *option, const char *value, uint64_t most, uint64_t *number, struct error *error)
{
	uint64_t n = 0;

	for (const char *c = value; *c; c++) {
		if (*c < '0' || *c > '9' || n > (most - (uint64_t)(*c - '0')) / 10)
			n = UINT64_MAX;
		if (n == UINT64_MAX)
			break;
		n = n * 10 + (uint64_t)(*c - '0');
	}
	if (!*value || n > most)
		return error_set(error, ERROR_USAGE, "--%s: '%s' is no number from 0 to %llu", option, value,
			(unsigned long long)most);
	*number = n;
	return 0;
}

static int take_depth(struct select *select, const char *value, struct error *error)
{
	uint64_t depth;
	int code = read_count("depth", value, UINT32_MAX - 1, &depth, error);

	if (!code)
		select->depth = (uint32_t)depth;
	return code;
}

static int take_by(struct select *select, const char *value, struct error *error)
{
	(void)select;
	if (*value)
		return 0;
	return error_set(error, ERROR_USAGE, "--by: a key is missing");
}

static int take_top(struct select *select, const char *value, struct error *error)
{
	uint64_t top;
	int code = read_count("top", value, UINT32_MAX, &top, error);

	if (!code)
		select->top = top;
	return code;
}

static const struct {
	const char *name;
	int (*take)(struct select *select, const char *value, struct error *error);
} options[OPTION_COUNT] = {
	[OPTION_TIME] = {"time", take_time},
	[OPTION_STREAMS] = {"streams", take_streams},
	[OPTION_CONTEXT] = {"context", take_context},
	[OPTION_OP] = {"op", take_op},
	[OPTION_METRIC] = {"metric", take_metric},
	[OPTION_MIN] = {"min", take_min},
	[OPTION_DEPTH] = {"depth", take_depth},
	[OPTION_BY] = {"by", take_by},
	[OPTION_TOP] = {"top", take_top},
};

int select_option(struct select *select, const char *name, const char *value, struct error *error)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		char *copy;
		int code;

		if (strcmp(options[i].name, name) != 0)
			continue;
		copy = strdup(value);
		if (!copy)
			return error_memory(error);
		code = options[i].take(select, value, error);
		if (code) {
			free(copy);
			return code;
		}
		free(select->values[i]);
		select->values[i] = copy;
		return 0;
	}
	return 1;
}

const char *select_help(void)
{
	return "  --time A..B       1.5s..2s, -10s.., @MARK, 14:32:05..+20s, ISO 8601 (ns us ms s; from the "
	       "origin)\n"
	       "  --streams EXPR    kind=gpu & rank=0-3, name=worker*, !(thread=0) | pid=71; * and ? in "
	       "names\n"
	       "                    fields: kind host rank pid generation thread tid device context queue "
	       "name stream\n"
	       "  --context GLOB    call paths: main;*;solve* (* spans frames)\n"
	       "  --op NAMES        kernel,copy,set,sync,blocked,...\n"
	       "  --metric NAME     records of this metric\n"
	       "  --min DURATION    leave out what is shorter\n"
	       "  --depth D         cut call paths below depth D (0: the root)\n"
	       "  --by KEY          what rows are about\n"
	       "  --top N           the first N rows\n";
}

int select_new(struct select **select, struct error *error)
{
	*select = calloc(1, sizeof **select);
	if (!*select)
		return error_memory(error);
	(*select)->depth = UINT32_MAX;
	(*select)->top = UINT64_MAX;
	return 0;
}

void select_free(struct select *select)
{
	if (!select)
		return;
	for (int i = 0; i < OPTION_COUNT; i++)
		free(select->values[i]);
	select_window_fini(&select->window);
	select_streams_free(select->expression);
	select_context_free(select->context);
	list_free(select->ops);
	list_free(select->metrics);
	free(select->streams);
	free(select);
}

/* ---- binding ---- */

static int bind_streams(struct select *select, struct error *error)
{
	uint32_t count = run_stream_count(select->run);
	uint32_t *streams = realloc(select->streams, ((size_t)count + 1) * sizeof *streams);

	if (!streams)
		return error_memory(error);
	select->streams = streams;
	select->stream_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		/* Not run_stream(): what a stream's records say is not needed here, and costs. */
		const struct run_line_state *state = table_at(&select->run->streams, i);

		if (!select->expression || select_streams_match(select->expression, &state->r))
			streams[select->stream_count++] = i;
	}
	if (select->stream_count)
		return 0;
	if (!count)
		return error_set(
			error, ERROR_EMPTY, "%s has no streams: nothing was recorded", run_path(select->run));
	return error_set(error, ERROR_EMPTY,
		"none of the %u streams of %s matches '%s'; hpct-info --streams lists them", count,
		run_path(select->run), select->values[OPTION_STREAMS]);
}

static bool list_matches(char *const *list, const char *name)
{
	for (size_t i = 0; list[i]; i++)
		if (glob_match(list[i], name))
			return true;
	return false;
}

/* A metric that the run has not is a slip of the pen, not a selection. */
static int bind_metrics(const struct select *select, struct error *error)
{
	for (size_t i = 0; select->metrics && select->metrics[i]; i++) {
		bool found = false;

		for (uint32_t m = 0; m < run_metric_count(select->run); m++)
			found |= glob_match(select->metrics[i], run_metric_name(select->run, m));
		if (!found)
			return error_set(error, ERROR_USAGE, "--metric: %s has no metric '%s' (it has %s%s)",
				run_path(select->run), select->metrics[i],
				run_metric_count(select->run) ? run_metric_name(select->run, 0) : "none",
				run_metric_count(select->run) > 1 ? " and others" : "");
	}
	return 0;
}

int select_bind(struct select *select, struct run *run, struct error *error)
{
	int code = 0;

	select->run = run;
	select->begin_ns = run_begin_ns(run);
	select->end_ns = run_end_ns(run);
	if (select->context)
		select_context_bind(select->context, run);
	if (select->values[OPTION_TIME])
		code = select_window_resolve(&select->window, run, &select->begin_ns, &select->end_ns, error);
	if (!code)
		code = bind_metrics(select, error);
	return code ? code : bind_streams(select, error);
}

/* ---- what it says ---- */

uint64_t select_begin_ns(const struct select *select)
{
	return select->begin_ns;
}

uint64_t select_end_ns(const struct select *select)
{
	return select->end_ns;
}

uint64_t select_records_begin_ns(const struct select *select)
{
	bool is_left_out = !select->values[OPTION_TIME] ||
			   (!select->window.is_mark && select->window.begin.kind == SELECT_LEFT_OUT);

	return is_left_out ? 0 : select->begin_ns;
}

uint64_t select_records_end_ns(const struct select *select)
{
	bool is_left_out = !select->values[OPTION_TIME] ||
			   (!select->window.is_mark && select->window.end.kind == SELECT_LEFT_OUT);

	return is_left_out ? STORE_OPEN_NS : select->end_ns;
}

bool select_has_time(const struct select *select)
{
	return select->values[OPTION_TIME] != NULL;
}

const uint32_t *select_streams(const struct select *select, uint32_t *count)
{
	*count = select->stream_count;
	return select->streams;
}

bool select_wants_context(const struct select *select, uint32_t context)
{
	return !select->context || select_context_match(select->context, context);
}

bool select_wants_op(const struct select *select, uint32_t op)
{
	return !select->ops ||
	       (op != STORE_OP_NONE && list_matches(select->ops, run_op_name(select->run, op)));
}

bool select_wants_metric(const struct select *select, uint32_t metric)
{
	return !select->metrics || list_matches(select->metrics, run_metric_name(select->run, metric));
}

bool select_has_record_filter(const struct select *select)
{
	return select->context || select->ops || select->metrics || select->min_ns;
}

uint64_t select_min_ns(const struct select *select)
{
	return select->min_ns;
}

uint32_t select_depth(const struct select *select)
{
	return select->depth;
}

const char *select_by(const struct select *select)
{
	return select->values[OPTION_BY];
}

uint64_t select_top(const struct select *select)
{
	return select->top;
}

/* ---- as a command line ---- */

static bool is_plain(const char *value)
{
	return *value && !value[strspn(value,
				 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-")];
}

/* A word that a shell takes as it is. */
static const char *quoted(const char *value, struct arena *arena)
{
	size_t size = 3;
	char *word, *at;

	if (is_plain(value))
		return value;
	for (const char *c = value; *c; c++)
		size += *c == '\'' ? 4 : 1;
	word = at = arena_alloc(arena, size);
	if (!word)
		return NULL;
	*at++ = '\'';
	for (const char *c = value; *c; c++)
		at = *c == '\'' ? stpcpy(at, "'\\''") : (*at = *c, at + 1);
	strcpy(at, "'");
	return word;
}

/* Exact, without trailing zeros: "1.335886s". */
static const char *seconds(uint64_t ns, uint64_t origin_ns, char text[40])
{
	uint64_t from_origin = ns > origin_ns ? ns - origin_ns : 0;
	int size = snprintf(text, 32, "%llu.%09llu", (unsigned long long)(from_origin / 1000000000),
		(unsigned long long)(from_origin % 1000000000));

	while (text[size - 1] == '0')
		size--;
	if (text[size - 1] == '.')
		size--;
	strcpy(text + size, "s");
	return text;
}

static const char *value_text(const struct select *select, int option, struct arena *arena)
{
	char begin[40], end[40];

	if (option != OPTION_TIME || !select->run)
		return quoted(select->values[option], arena);
	return arena_printf(arena, "%s..%s", seconds(select->begin_ns, run_origin_ns(select->run), begin),
		seconds(select->end_ns, run_origin_ns(select->run), end));
}

char *select_command(const struct select *select, struct arena *arena)
{
	char *command = arena_copy(arena, "", 0);

	for (int i = 0; i < OPTION_COUNT && command; i++) {
		const char *value = select->values[i] ? value_text(select, i, arena) : NULL;

		if (value)
			command = arena_printf(
				arena, "%s%s--%s %s", command, *command ? " " : "", options[i].name, value);
	}
	return command;
}
