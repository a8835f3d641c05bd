/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formula.c - parses by recursive descent into steps for a stack machine; a row's value is one pass over
 * them.
 */
#include "timeline/base/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "timeline/base/formula_function.h"

#define NESTING_MAX 64u
#define STEPS_MAX 1024u

/* Ends of columns' names that may be left out. */
static const char *const endings[] = {":incl", "_ns"};

enum step_kind {
	STEP_NUMBER,
	STEP_ROW,
	STEP_ROOT,
	STEP_NEGATE,
	STEP_ADD,
	STEP_SUBTRACT,
	STEP_MULTIPLY,
	STEP_DIVIDE,
	STEP_POWER,
	STEP_LESS,
	STEP_LESS_EQUAL,
	STEP_GREATER,
	STEP_GREATER_EQUAL,
	STEP_EQUAL,
	STEP_NOT_EQUAL,
	STEP_CALL
};

struct step {
	enum step_kind kind;
	const struct formula_function *function; /* of a call */
	uint32_t arguments;
	size_t column;
	double number;
};

struct formula {
	struct step steps[STEPS_MAX];
	size_t count;
};

/* ---- parsing ---- */

struct parser {
	const char *text, *at;
	size_t columns;
	const char *const *names; /* of the columns; NULL: none */
	unsigned nesting;
	struct formula *formula;
	struct error *error;
};

static int fail(struct parser *p, const char *what)
{
	return error_set(p->error, ERROR_USAGE, "formula '%.80s', character %zu: %s", p->text,
		(size_t)(p->at - p->text) + 1, what);
}

static void skip_blanks(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
}

static bool take(struct parser *p, const char *token)
{
	skip_blanks(p);
	if (strncmp(p->at, token, strlen(token)) != 0)
		return false;
	p->at += strlen(token);
	return true;
}

static int emit(struct parser *p, struct step step)
{
	if (p->formula->count == STEPS_MAX)
		return fail(p, "it is too long");
	p->formula->steps[p->formula->count++] = step;
	return 0;
}

static int parse_comparison(struct parser *p);

/* How much of the text is this name, with or without its ending; 0: it is another one. */
static size_t name_match(const char *text, const char *name)
{
	size_t size = strlen(name);

	if (size && strncasecmp(text, name, size) == 0)
		return size;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t ending = strlen(endings[i]);

		if (size > ending && strcmp(name + size - ending, endings[i]) == 0 &&
			strncasecmp(text, name, size - ending) == 0)
			return size - ending;
	}
	return 0;
}

/* The longest name that stands here; a name may begin with another. */
static int parse_column_name(struct parser *p, enum step_kind kind)
{
	size_t longest = 0, column = 0, word = strcspn(p->at, " \t+-*/^()<>=!,{}$@");
	char what[300];

	for (size_t i = 0; p->names && i < p->columns; i++) {
		size_t size = p->names[i] ? name_match(p->at, p->names[i]) : 0;

		if (size > longest) {
			longest = size;
			column = i;
		}
	}
	if (!longest) {
		snprintf(what, sizeof(what), "%s%.*s%sa column's number%s%s%.100s%s is missing here",
			word ? "there is no column '" : "", (int)(word < 60 ? word : 60), p->at,
			word ? "'; " : "", p->names ? " or name" : "",
			p->names && p->columns ? ", such as " : "",
			p->names && p->columns && p->names[0] ? p->names[0] : "",
			p->names && p->columns ? "," : "");
		return fail(p, what);
	}
	p->at += longest;
	return emit(p, (struct step){.kind = kind, .column = column});
}

static int parse_column(struct parser *p, enum step_kind kind)
{
	char *end;
	unsigned long column;
	char what[96];

	if (*p->at == '{') {
		int rc;

		p->at++;
		rc = parse_column_name(p, kind);
		if (rc == 0 && *p->at != '}')
			return fail(p, "} is missing");
		p->at += rc == 0;
		return rc;
	}
	if (!isdigit((unsigned char)*p->at))
		return parse_column_name(p, kind);
	column = strtoul(p->at, &end, 10);
	if (column >= p->columns) {
		snprintf(what, sizeof(what), "there are only columns 0 to %zu", p->columns - 1);
		return fail(p, p->columns ? what : "there are no columns");
	}
	p->at = end;
	return emit(p, (struct step){.kind = kind, .column = column});
}

static int parse_call(struct parser *p, const struct formula_function *function)
{
	uint32_t count = 0;
	char what[96];

	if (!take(p, "("))
		return fail(p, "( is missing here");
	do {
		int result = parse_comparison(p);
		if (result)
			return result;
	} while (++count < FORMULA_ARGUMENTS_MAX && take(p, ","));
	if (count < function->least || count > function->most) {
		snprintf(what, sizeof(what), "%s takes %u argument%s, not %u", function->name,
			function->least, function->least == 1 ? "" : "s", count);
		return fail(p, what);
	}
	if (!take(p, ")"))
		return fail(p, ") is missing here");
	return emit(p, (struct step){.kind = STEP_CALL, .function = function, .arguments = count});
}

static int parse_name(struct parser *p)
{
	const struct formula_function *function;
	size_t size = 0;

	while (isalnum((unsigned char)p->at[size]))
		size++;
	function = formula_function_find(p->at, size);
	if (function) {
		p->at += size;
		return parse_call(p, function);
	}
	return fail(p, "no such function; there are avg sum min max stdev abs sqrt exp log log10 floor ceil "
		       "round pow if");
}

static int parse_value(struct parser *p)
{
	char *end;
	double number;
	int result;

	skip_blanks(p);
	if (take(p, "$"))
		return parse_column(p, STEP_ROW);
	if (take(p, "@"))
		return parse_column(p, STEP_ROOT);
	if (take(p, "(")) {
		result = parse_comparison(p);
		if (!result && !take(p, ")"))
			result = fail(p, ") is missing here");
		return result;
	}
	if (isalpha((unsigned char)*p->at))
		return parse_name(p);
	if (!isdigit((unsigned char)*p->at) && *p->at != '.')
		return fail(p, *p->at ? "a value is missing here" : "it ends where a value is missing");
	number = strtod(p->at, &end);
	if (end == p->at)
		return fail(p, "this is no number");
	p->at = end;
	return emit(p, (struct step){.kind = STEP_NUMBER, .number = number});
}

/* A minus binds looser than the power right of it: -2^2 is -4, 2^-2 is 0.25. */
static int parse_sign(struct parser *p)
{
	int result;

	if (++p->nesting > NESTING_MAX)
		return fail(p, "it is nested too deep");
	if (take(p, "-")) {
		result = parse_sign(p);
		if (!result)
			result = emit(p, (struct step){.kind = STEP_NEGATE});
	} else {
		result = parse_value(p);
		if (!result && take(p, "^")) {
			result = parse_sign(p);
			if (!result)
				result = emit(p, (struct step){.kind = STEP_POWER});
		}
	}
	p->nesting--;
	return result;
}

static int parse_product(struct parser *p)
{
	int result = parse_sign(p);

	while (!result) {
		enum step_kind kind = take(p, "*") ? STEP_MULTIPLY : take(p, "/") ? STEP_DIVIDE : STEP_NUMBER;
		if (kind == STEP_NUMBER)
			break;
		result = parse_sign(p);
		if (!result)
			result = emit(p, (struct step){.kind = kind});
	}
	return result;
}

static int parse_sum(struct parser *p)
{
	int result = parse_product(p);

	while (!result) {
		enum step_kind kind = take(p, "+") ? STEP_ADD : take(p, "-") ? STEP_SUBTRACT : STEP_NUMBER;
		if (kind == STEP_NUMBER)
			break;
		result = parse_product(p);
		if (!result)
			result = emit(p, (struct step){.kind = kind});
	}
	return result;
}

static int parse_comparison(struct parser *p)
{
	static const struct {
		const char *token;
		enum step_kind kind;
	} tokens[] = {{"<=", STEP_LESS_EQUAL}, {">=", STEP_GREATER_EQUAL}, {"==", STEP_EQUAL},
		{"!=", STEP_NOT_EQUAL}, {"<", STEP_LESS}, {">", STEP_GREATER}};
	int result = parse_sum(p);

	for (size_t i = 0; !result && i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		if (!take(p, tokens[i].token))
			continue;
		result = parse_sum(p);
		return result ? result : emit(p, (struct step){.kind = tokens[i].kind});
	}
	return result;
}

int formula_parse(struct formula **formula, const char *text, size_t columns, struct error *error)
{
	return formula_parse_named(formula, text, NULL, columns, error);
}

int formula_parse_named(struct formula **formula, const char *text, const char *const *names, size_t columns,
	struct error *error)
{
	struct parser p = {.text = text, .at = text, .names = names, .columns = columns, .error = error};
	int result;

	*formula = NULL;
	p.formula = calloc(1, sizeof(*p.formula));
	if (!p.formula)
		return error_memory(error);
	result = parse_comparison(&p);
	skip_blanks(&p);
	if (!result && *p.at)
		result = fail(&p, "this is too much");
	if (result) {
		free(p.formula);
		return result;
	}
	*formula = p.formula;
	return 0;
}

void formula_free(struct formula *formula)
{
	free(formula);
}

bool formula_has_root(const struct formula *formula)
{
	for (size_t i = 0; i < formula->count; i++)
		if (formula->steps[i].kind == STEP_ROOT)
			return true;
	return false;
}

/* ---- values ---- */

static double apply(enum step_kind kind, double a, double b)
{
	switch (kind) {
	case STEP_ADD:
		return a + b;
	case STEP_SUBTRACT:
		return a - b;
	case STEP_MULTIPLY:
		return a * b;
	case STEP_DIVIDE:
		return b == 0 ? NAN : a / b;
	case STEP_POWER:
		return pow(a, b);
	case STEP_LESS:
		return a < b;
	case STEP_LESS_EQUAL:
		return a <= b;
	case STEP_GREATER:
		return a > b;
	case STEP_GREATER_EQUAL:
		return a >= b;
	case STEP_EQUAL:
		return a == b;
	default:
		return a != b;
	}
}

double formula_value(const struct formula *formula, const double *row, const double *root)
{
	double stack[STEPS_MAX + 1];
	size_t depth = 0;

	for (size_t i = 0; i < formula->count; i++) {
		const struct step *step = &formula->steps[i];
		switch (step->kind) {
		case STEP_NUMBER:
			stack[depth++] = step->number;
			break;
		case STEP_ROW:
			stack[depth++] = row[step->column];
			break;
		case STEP_ROOT:
			stack[depth++] = root[step->column];
			break;
		case STEP_NEGATE:
			stack[depth - 1] = -stack[depth - 1];
			break;
		case STEP_CALL:
			depth -= step->arguments;
			stack[depth] = step->function->call(&stack[depth], step->arguments);
			depth++;
			break;
		default:
			depth--;
			stack[depth - 1] = apply(step->kind, stack[depth - 1], stack[depth]);
		}
	}
	return stack[0];
}
