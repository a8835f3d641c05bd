/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_streams.c - parses stream expressions into a tree and evaluates it for streams.
 */
#include "timeline/select/select_streams.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "timeline/base/glob.h"

#define NESTING_MAX 100

enum field {
	FIELD_KIND,
	FIELD_HOST,
	FIELD_RANK,
	FIELD_PID,
	FIELD_GENERATION,
	FIELD_THREAD,
	FIELD_TID,
	FIELD_DEVICE,
	FIELD_CONTEXT,
	FIELD_QUEUE,
	FIELD_NAME,
	FIELD_STREAM,
	FIELD_COUNT
};

static const char *const field_names[FIELD_COUNT] = {"kind", "host", "rank", "pid", "generation", "thread",
	"tid", "device", "context", "queue", "name", "stream"};

enum node_kind { NODE_TERM, NODE_NOT, NODE_AND, NODE_OR };

struct value {
	struct value *next;
	const char *pattern;
	uint64_t least, most; /* a number's range when is_number */
	bool is_number, is_none;
};

struct node {
	enum node_kind kind;
	enum field field;
	struct value *values;
	struct node *left, *right;
};

struct select_streams {
	struct arena arena;
	struct node *root;
};

struct parser {
	struct arena *arena;
	const char *text, *at;
	unsigned nesting;
	struct error *error;
};

/* ---- parsing ---- */

/* NULL, with the sentence. */
static struct node *wrong(struct parser *p, const char *why)
{
	error_set(p->error, ERROR_USAGE,
		"--streams: %s at '%s'; write terms such as kind=gpu, rank=0-3, name=worker* joined by & | ! "
		"( )",
		why, *p->at ? p->at : "the end");
	return NULL;
}

static void skip_space(struct parser *p)
{
	p->at += strspn(p->at, " \t");
}

static struct node *node_new(struct parser *p, enum node_kind kind, struct node *left, struct node *right)
{
	struct node *node = arena_calloc(p->arena, 1, sizeof *node);

	if (!node) {
		error_memory(p->error);
		return NULL;
	}
	*node = (struct node){.kind = kind, .left = left, .right = right};
	return node;
}

/* A word up to what ends it; quotes are taken off. NULL: none there, or memory. */
static const char *word(struct parser *p, const char *ends)
{
	size_t size;

	if (*p->at == '"') {
		const char *from = ++p->at;

		size = strcspn(from, "\"");
		if (!from[size])
			return NULL;
		p->at += size + 1;
		return arena_copy(p->arena, from, size);
	}
	size = strcspn(p->at, ends);
	p->at += size;
	return size ? arena_copy(p->arena, p->at - size, size) : NULL;
}

static bool read_u32(const char **at, uint64_t *number)
{
	const char *c = *at;

	for (*number = 0; *c >= '0' && *c <= '9' && *number <= UINT32_MAX; c++)
		*number = *number * 10 + (uint64_t)(*c - '0');
	if (c == *at || *number > UINT32_MAX)
		return false;
	*at = c;
	return true;
}

/* N, N-M, N- */
static bool read_range(struct value *value)
{
	const char *at = value->pattern;

	if (!read_u32(&at, &value->least))
		return false;
	value->most = value->least;
	if (*at == '-') {
		at++;
		value->most = UINT64_MAX;
		if (*at && !read_u32(&at, &value->most))
			return false;
	}
	return !*at && value->least <= value->most;
}

static bool is_text_field(enum field field)
{
	return field == FIELD_KIND || field == FIELD_HOST || field == FIELD_NAME || field == FIELD_STREAM;
}

static struct value *parse_value(struct parser *p, enum field field)
{
	struct value *value = arena_calloc(p->arena, 1, sizeof *value);
	const char *begin;

	skip_space(p);
	begin = p->at;
	if (!value) {
		error_memory(p->error);
		return NULL;
	}
	value->pattern = word(p, " \t|&!(),\"");
	if (!value->pattern) {
		wrong(p, "a value is missing");
		return NULL;
	}
	value->is_none = !strcmp(value->pattern, "-");
	value->is_number = !is_text_field(field) && read_range(value);
	if (!is_text_field(field) && field != FIELD_DEVICE && !value->is_number && !value->is_none) {
		p->at = begin;
		wrong(p, "a number or a range N-M (N first) is missing");
		return NULL;
	}
	return value;
}

static struct node *parse_values(struct parser *p, struct node *term)
{
	struct value **last = &term->values;

	do {
		*last = parse_value(p, term->field);
		if (!*last)
			return NULL;
		last = &(*last)->next;
		skip_space(p);
	} while (*p->at == ',' && p->at++);
	return term;
}

static enum field find_field(const char *name)
{
	int field = 0;

	while (field < FIELD_COUNT && strcmp(field_names[field], name) != 0)
		field++;
	return (enum field)field;
}

static struct node *parse_term(struct parser *p)
{
	const char *from = p->at, *name = word(p, " \t|&!(),=\"");
	struct node *term = node_new(p, NODE_TERM, NULL, NULL);
	bool is_not;

	if (!term)
		return NULL;
	if (!name)
		return wrong(p, "a term is missing");
	skip_space(p);
	is_not = p->at[0] == '!' && p->at[1] == '=';
	if (*p->at != '=' && !is_not) {
		/* No field: a pattern for the identity. */
		p->at = from;
		term->field = FIELD_STREAM;
		return parse_values(p, term);
	}
	term->field = find_field(name);
	if (term->field == FIELD_COUNT) {
		p->at = from;
		return wrong(p, "no such field (there are kind host rank pid generation thread tid device "
				"context queue "
				"name stream)");
	}
	p->at += is_not ? 2 : 1;
	term = parse_values(p, term);
	return term && is_not ? node_new(p, NODE_NOT, term, NULL) : term;
}

static struct node *parse_or(struct parser *p);

static struct node *parse_not(struct parser *p)
{
	struct node *node;

	skip_space(p);
	if (p->nesting > NESTING_MAX)
		return wrong(p, "too deeply nested");
	p->nesting++;
	if (*p->at == '!') {
		p->at++;
		node = parse_not(p);
		node = node ? node_new(p, NODE_NOT, node, NULL) : NULL;
	} else if (*p->at == '(') {
		p->at++;
		node = parse_or(p);
		if (node && *p->at++ != ')') {
			p->at--;
			node = wrong(p, "a ) is missing");
		}
	} else {
		node = parse_term(p);
	}
	p->nesting--;
	skip_space(p);
	return node;
}

static struct node *parse_and(struct parser *p)
{
	struct node *node = parse_not(p);

	while (node && *p->at == '&') {
		struct node *right;

		p->at++;
		right = parse_not(p);
		node = right ? node_new(p, NODE_AND, node, right) : NULL;
	}
	return node;
}

static struct node *parse_or(struct parser *p)
{
	struct node *node = parse_and(p);

	while (node && *p->at == '|') {
		struct node *right;

		p->at++;
		right = parse_and(p);
		node = right ? node_new(p, NODE_OR, node, right) : NULL;
	}
	return node;
}

int select_streams_parse(struct select_streams **streams, const char *text, struct error *error)
{
	struct error local = {0}, *sentence = error ? error : &local;
	struct select_streams *s = calloc(1, sizeof *s);
	struct parser parser = {.text = text, .at = text, .error = sentence};

	*streams = NULL;
	if (!s)
		return error_memory(error);
	parser.arena = &s->arena;
	s->root = parse_or(&parser);
	if (s->root && *parser.at)
		s->root = wrong(&parser, "nothing can follow");
	if (!s->root) {
		select_streams_free(s);
		return -sentence->code;
	}
	*streams = s;
	return 0;
}

void select_streams_free(struct select_streams *streams)
{
	if (!streams)
		return;
	arena_fini(&streams->arena);
	free(streams);
}

/* ---- asking ---- */

/* A numeric property; false: the stream has none. */
static bool number_of(const struct run_stream *stream, enum field field, uint64_t *number)
{
	const struct store_stream *s = &stream->s;
	bool is_cpu = s->kind == STORE_STREAM_CPU;

	switch (field) {
	case FIELD_RANK:
		*number = (uint64_t)s->rank;
		return s->rank >= 0;
	case FIELD_PID:
		*number = s->pid;
		break;
	case FIELD_GENERATION:
		*number = s->generation;
		break;
	case FIELD_THREAD:
		*number = s->thread;
		return is_cpu && s->thread != UINT32_MAX;
	case FIELD_TID:
		*number = s->tid;
		return is_cpu && s->tid;
	case FIELD_DEVICE:
		*number = s->device;
		return !is_cpu && s->device != UINT32_MAX;
	case FIELD_CONTEXT:
		*number = s->context;
		return !is_cpu && s->context != UINT32_MAX;
	case FIELD_QUEUE:
		*number = s->queue;
		return !is_cpu && s->queue != UINT32_MAX;
	default:
		return false;
	}
	return *number != UINT32_MAX;
}

static const char *text_of(const struct run_stream *stream, enum field field)
{
	switch (field) {
	case FIELD_KIND:
		return store_stream_kind_name(stream->s.kind);
	case FIELD_HOST:
		return stream->host;
	case FIELD_NAME:
		return stream->name;
	case FIELD_DEVICE:
		return stream->device_name;
	default:
		return stream->text;
	}
}

static bool value_matches(const struct value *value, const struct run_stream *stream, enum field field)
{
	const char *text;
	uint64_t number;

	if (!is_text_field(field)) {
		bool has = number_of(stream, field, &number);

		if (value->is_none && !has)
			return true;
		if (value->is_number && has && number >= value->least && number <= value->most)
			return true;
		if (field != FIELD_DEVICE || !has)
			return false;
	}
	text = text_of(stream, field);
	return glob_match(value->pattern, text) || (value->is_none && !*text);
}

static bool node_matches(const struct node *node, const struct run_stream *stream)
{
	switch (node->kind) {
	case NODE_NOT:
		return !node_matches(node->left, stream);
	case NODE_AND:
		return node_matches(node->left, stream) && node_matches(node->right, stream);
	case NODE_OR:
		return node_matches(node->left, stream) || node_matches(node->right, stream);
	case NODE_TERM:
		break;
	}
	for (const struct value *value = node->values; value; value = value->next)
		if (value_matches(value, stream, node->field))
			return true;
	return false;
}

bool select_streams_match(const struct select_streams *streams, const struct run_stream *stream)
{
	return node_matches(streams->root, stream);
}
