/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_options.c - sets the selector's options one by one; a wrong value leaves the old one in place.
 */
#include "timeline/select/select_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- each parses into a fresh place, then takes the old one's ---- */

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
	if (!select->run)
		return 0;
	select_context_bind(context, select->run);
	return select_bind_cost(select, error);
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

bool select_read_depth(const char *value, uint32_t *depth)
{
	bool is_below = strncmp(value, "auto", 4) == 0;
	const char *number = value + 4 * is_below;
	char *end = (char *)(uintptr_t)number;
	long steps;

	if (is_below && *number && *number != '+' && *number != '-')
		return false;
	if (!is_below && (*number < '0' || *number > '9'))
		return false;
	steps = *number ? strtol(number, &end, 10) : 0;
	if (*end || (is_below ? steps <= -RUN_DEPTH_STEPS || steps >= RUN_DEPTH_STEPS
			      : steps >= (long)UINT32_MAX))
		return false;
	*depth = is_below			 ? run_depth_below((int)steps)
		 : steps < (long)RUN_DEPTH_BELOW ? (uint32_t)steps
						 : RUN_DEPTH_BELOW - 1;
	return true;
}

static int take_depth(struct select *select, const char *value, struct error *error)
{
	if (select_read_depth(value, &select->depth))
		return 0;
	return error_set(error, ERROR_USAGE,
		"--depth: '%s' is no number from 0 on, and not auto or auto+1 (below the frames that pass on "
		"nearly all of their time)",
		value);
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
	uint64_t top = 0;
	int code = read_count("top", value, UINT32_MAX, &top, error);

	if (!code)
		select->top = top;
	return code;
}

const char *const select_option_names[SELECT_OPTION_COUNT] = {
	[SELECT_OPTION_TIME] = "time",
	[SELECT_OPTION_STREAMS] = "streams",
	[SELECT_OPTION_CONTEXT] = "context",
	[SELECT_OPTION_OP] = "op",
	[SELECT_OPTION_METRIC] = "metric",
	[SELECT_OPTION_MIN] = "min",
	[SELECT_OPTION_DEPTH] = "depth",
	[SELECT_OPTION_BY] = "by",
	[SELECT_OPTION_TOP] = "top",
};

static int (*const takers[SELECT_OPTION_COUNT])(
	struct select *select, const char *value, struct error *error) = {
	[SELECT_OPTION_TIME] = take_time,
	[SELECT_OPTION_STREAMS] = take_streams,
	[SELECT_OPTION_CONTEXT] = take_context,
	[SELECT_OPTION_OP] = take_op,
	[SELECT_OPTION_METRIC] = take_metric,
	[SELECT_OPTION_MIN] = take_min,
	[SELECT_OPTION_DEPTH] = take_depth,
	[SELECT_OPTION_BY] = take_by,
	[SELECT_OPTION_TOP] = take_top,
};

int select_option(struct select *select, const char *name, const char *value, struct error *error)
{
	for (int i = 0; i < SELECT_OPTION_COUNT; i++) {
		char *copy;
		int code;

		if (strcmp(select_option_names[i], name) != 0)
			continue;
		if (i == SELECT_OPTION_METRIC && select->takes_formulas && select_is_formula(value))
			return select_add_formula(select, value, error);
		copy = strdup(value);
		if (!copy)
			return error_memory(error);
		code = takers[i](select, value, error);
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

int select_refuse(const struct select *select, const char *names, const char *with, struct error *error)
{
	for (size_t size; *names; names += size + (names[size] == ' ')) {
		size = strcspn(names, " ");
		for (int i = 0; i < SELECT_OPTION_COUNT; i++)
			if (select->values[i] && strlen(select_option_names[i]) == size &&
				memcmp(names, select_option_names[i], size) == 0)
				return error_set(error, ERROR_USAGE,
					"--%s has no effect with %s; leave it out", select_option_names[i],
					with);
	}
	return 0;
}

const char *select_help(void)
{
	return "  --time A..B       1.5s..2s, -10s.., @MARK, 14:32:05..+20s, ISO 8601 (ns us ms s; from the "
	       "origin)\n"
	       "  --streams EXPR    kind=gpu & rank=0-3, name=worker*, !(thread=0) | pid=71; * and ? in "
	       "names\n"
	       "                    fields: kind host rank pid generation thread tid device context queue "
	       "name stream\n"
	       "  --context GLOB    call paths: main;*;solve* (* spans frames), main;*;@loop;*@cost>1% "
	       "(hpct(1))\n"
	       "  --op NAMES        kernel,copy,set,sync,blocked,...\n"
	       "  --metric NAME     records of this metric\n"
	       "  --min DURATION    leave out shorter records\n"
	       "  --depth D         cut call paths below depth D (0: the root; auto: where they divide)\n"
	       "  --by KEY          the key of the rows\n"
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
	for (int i = 0; i < SELECT_OPTION_COUNT; i++)
		free(select->values[i]);
	select_window_fini(&select->window);
	select_streams_free(select->expression);
	select_context_free(select->context);
	select_cost_free(select->cost);
	list_free(select->ops);
	list_free(select->metrics);
	for (size_t i = 0; i < select->formula_count; i++)
		free(select->formulas[i]);
	free(select->formulas);
	free(select->streams);
	free(select->all);
	free(select);
}
