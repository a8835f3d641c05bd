/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_scopes.c - expands contexts to scopes on first use: each frame becomes its function and the functions
 * inlined there, each call site a scope of its own.
 *
 *   contexts   root -- (libx, 0x1234) -- (libx, 0x2345)
 *   frames             step              build, inlined: insert        symbols of the store
 *   scopes     root -- step ------------ build ------- insert          keyed by parent, call site, function
 */
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/run/run_frames.h"

struct scope {
	struct run_scope s;
	uint32_t jump; /* an ancestor far up: any depth is some jumps away */
};

/* ---- scopes ---- */

static bool scope_equal(const void *element, const void *key)
{
	const struct run_scope *a = &((const struct scope *)element)->s, *b = key;

	return a->parent == b->parent && a->function == b->function && a->call_line == b->call_line &&
	       a->call_file == b->call_file && a->kind == b->kind && a->call_loop == b->call_loop;
}

static uint32_t jump_of(const struct run *run, uint32_t parent)
{
	const struct scope *p = intern_table_at(&run->scopes, parent);
	const struct scope *near = intern_table_at(&run->scopes, p->jump);
	const struct scope *far = intern_table_at(&run->scopes, near->jump);

	/* Two jumps of one length make the next one (Myers, An applicative random-access stack). */
	return p->s.depth - near->s.depth == near->s.depth - far->s.depth ? near->jump : parent;
}

/* UINT32_MAX: no memory. */
static uint32_t scope_get(struct run *run, const struct run_scope *key)
{
	uint64_t hash = intern_table_hash(intern_table_hash(key->parent, key->function), key->call_line);
	struct scope *scope;
	uint32_t id;

	hash = intern_table_hash(intern_table_hash(hash, (uintptr_t)key->call_file), key->kind);
	hash = intern_table_hash(hash, key->call_loop);
	id = intern_table_find(&run->scopes, hash, scope_equal, key);
	if (id != INTERN_TABLE_NONE)
		return id;
	scope = intern_table_add(&run->scopes, &id);
	if (!scope || !intern_table_index(&run->scopes, id, hash))
		return INTERN_TABLE_NONE;
	scope->s = *key;
	scope->jump = key->parent == INTERN_TABLE_NONE ? id : jump_of(run, key->parent);
	return id;
}

/* Is the frame's first line in the function of the scope above it? Samples of a device function may name the
 * kernel alone. */
static bool begins_in(struct run *run, const struct run_frame *frame, uint32_t parent)
{
	const struct run_frame_line *first;

	if (!frame->begins_above || parent == INTERN_TABLE_NONE)
		return false;
	first = intern_table_at(&run->frame_lines, frame->line);
	return !strcmp(run_function(run, run_scope(run, parent)->function)->name,
		run_function(run, first->function)->name);
}

/* Adds the scopes of a frame's inline chain below the parent context. False: no memory. */
static bool hang(
	struct run *run, struct run_node *node, const struct run_context *parent, struct run_frame *frame)
{
	struct run_scope key = {.parent = INTERN_TABLE_NONE, .call_file = "", .call_loop = RUN_LOOP_NONE};
	const struct run_frame_line *line = NULL;
	bool is_in = begins_in(run, frame, parent->scope);

	if (parent->scope != INTERN_TABLE_NONE) {
		key.parent = parent->scope;
		key.depth = run_scope(run, parent->scope)->depth + 1;
		key.call_file = parent->file;
		key.call_line = parent->line;
		key.call_loop = parent->loop;
	}
	for (uint32_t i = 0; i < frame->lines; i++) {
		uint32_t scope;

		line = intern_table_at(&run->frame_lines, frame->line + i);
		key.function = line->function;
		key.kind = key.parent == INTERN_TABLE_NONE ? RUN_SCOPE_ROOT : line->kind;
		if (i || !is_in) {
			scope = scope_get(run, &key);
			if (scope == INTERN_TABLE_NONE)
				return false;
			key.parent = scope;
			key.depth++;
		}
		key.call_file = line->file;
		key.call_line = line->line;
		key.call_loop = line->loop;
	}
	node->c.scope = key.parent;
	node->c.file = key.call_file;
	node->c.line = key.call_line;
	node->c.loop = key.call_loop;
	return line != NULL;
}

static const struct store_context *source_of(const struct run *run, const struct run_node *node)
{
	uint32_t count;
	const struct store_context *contexts = store_reader_contexts(run->parts[node->part].reader, &count);

	return node->id < count ? &contexts[node->id] : NULL;
}

static bool is_openmp(const struct run_module *module)
{
	static const char *const names[] = {"libgomp", "libomp", "libiomp"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(module->base, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Whether paths leave the frame out. Sets node->has_python. */
static bool is_left_out(const struct run *run, struct run_node *node, const struct run_node *parent,
	const struct store_context *source)
{
	const struct run_part *part = &run->parts[node->part];
	const struct run_module *module;
	bool is_python, is_runtime;

	node->has_python = parent->has_python;
	if (source->module == STORE_MODULE_RESERVED || source->module >= part->module_count)
		return false;
	module = intern_table_at(&run->modules, part->modules[source->module]);
	is_python = module->m.kind == STORE_MODULE_PYTHON;
	node->has_python |= is_python;
	is_runtime = module->m.is_hidden && is_openmp(module);
	if (is_runtime && run->options.runtime_frames)
		return run->options.python == RUN_PYTHON_ONLY && node->has_python;
	switch (run->options.python) {
	case RUN_PYTHON_NATIVE:
		return is_python || is_runtime;
	case RUN_PYTHON_ONLY:
		return module->m.is_hidden || (!is_python && node->has_python);
	default:
		return module->m.is_hidden;
	}
}

/* The frame of a construct of OpenMP depends on where it is called. */
static struct run_frame *frame_of(
	struct run *run, unsigned part, const struct run_context *parent, const struct store_context *source)
{
	if (source->module != STORE_MODULE_RESERVED || source->offset < STORE_FRAME_OMP_REGION ||
		source->offset > STORE_FRAME_OMP_TASKWAIT || source->offset == STORE_FRAME_OMP_IDLE ||
		parent->scope == INTERN_TABLE_NONE)
		return run_frame_get(run, part, source);
	return run_frame_construct(
		run, source->offset, parent, run_function(run, run_scope(run, parent->scope)->function));
}

/* Requires the parent to be expanded. Without memory the context stands for its parent. */
static void expand_one(struct run *run, uint32_t context)
{
	struct run_node *node = (struct run_node *)run_node(run, context);
	uint32_t parent_id = run_node_parent(run, context);
	const struct run_node *parent = run_node(run, parent_id);
	const struct store_context *source = source_of(run, node);
	struct run_frame *frame = NULL;

	node->is_expanded = true;
	node->c.scope = parent->c.scope;
	node->c.file = parent->c.file;
	node->c.line = parent->c.line;
	node->c.loop = parent->c.loop;
	node->c.is_partial = parent->c.is_partial;
	node->is_unresolved = parent->is_unresolved;
	if (!source)
		return;
	node->c.hash = source->hash;
	node->c.is_partial |=
		source->module == STORE_MODULE_RESERVED && source->offset == STORE_FRAME_PARTIAL;
	if (is_left_out(run, node, parent, source))
		return;
	frame = frame_of(run, node->part, &parent->c, source);
	if (!frame || !hang(run, node, &parent->c, frame))
		return;
	node->is_unresolved |= !frame->is_resolved;
}

/* "No context" has no scope. */
static void expand_none(struct run *run)
{
	struct run_node *node = (struct run_node *)run_node(run, STORE_CONTEXT_NONE);

	node->c = (struct run_context){.scope = INTERN_TABLE_NONE, .file = "", .loop = RUN_LOOP_NONE};
	node->is_expanded = true;
}

/* Expands the ancestors first, from the topmost that is not, without recursion: paths may be very deep. */
static void expand(struct run *run, uint32_t context)
{
	uint32_t *path = NULL;
	size_t count = 0, capacity = 0;

	for (uint32_t at = context; at && !run_node(run, at)->is_expanded; at = run_node_parent(run, at)) {
		if (!array_widen(&path, &capacity, count, sizeof *path))
			break;
		path[count++] = at;
	}
	while (count)
		expand_one(run, path[--count]);
	free(path);
}

int run_scopes_init(struct run *run, struct error *error)
{
	static const enum store_frame roots[] = {STORE_FRAME_PROGRAM_ROOT, STORE_FRAME_THREAD_ROOT};

	intern_table_init(&run->functions, sizeof(struct run_function));
	intern_table_init(&run->scopes, sizeof(struct scope));
	intern_table_init(&run->loops, sizeof(struct run_loop));
	intern_table_init(&run->frames, sizeof(struct run_frame));
	intern_table_init(&run->frame_lines, sizeof(struct run_frame_line));
	run->symbol = calloc(STORE_SCOPE_MAX, sizeof *run->symbol);
	if (!run->symbol)
		return error_memory(error);
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		struct store_context root = {.module = STORE_MODULE_RESERVED, .offset = roots[i]};
		struct run_context none = {.scope = INTERN_TABLE_NONE, .file = "", .loop = RUN_LOOP_NONE};
		struct run_node node = {0};
		struct run_frame *frame = run_frame_get(run, 0, &root);

		if (!frame || !hang(run, &node, &none, frame))
			return error_memory(error);
	}
	return 0;
}

void run_scopes_renew(struct run *run)
{
	for (uint32_t i = 0; i < run->frames.count; i++) {
		struct run_frame *frame = intern_table_at(&run->frames, i);

		frame->is_known &= frame->is_resolved;
	}
	for (uint32_t i = 0; i < run->contexts.count; i++) {
		struct run_node *node = intern_table_at(&run->contexts, i);

		node->is_expanded &= !node->is_unresolved;
	}
}

/* ---- what it says ---- */

const struct run_context *run_context(const struct run *run, uint32_t context)
{
	struct run *r = (struct run *)run; /* expansion is remembered */

	if (context >= run->contexts.count)
		context = STORE_CONTEXT_NONE;
	if (!run_node(run, STORE_CONTEXT_NONE)->is_expanded)
		expand_none(r);
	if (!run_node(run, context)->is_expanded)
		expand(r, context);
	return &run_node(run, context)->c;
}

const struct run_function *run_context_kernel(const struct run *run, uint32_t context)
{
	uint32_t scope = run_context(run, context)->scope;

	while (scope != UINT32_MAX && !run_scope_is_kernel(run, scope))
		scope = run_scope(run, scope)->parent;
	return scope == UINT32_MAX ? NULL : run_function(run, run_scope(run, scope)->function);
}

bool run_context_below(const struct run *run, uint32_t parent, uint32_t context, struct run_context *place)
{
	struct run *r = (struct run *)run; /* scopes are remembered */
	const struct run_context *above = run_context(run, parent);
	const struct run_node *own = run_node(run, context < run->contexts.count ? context : 0);
	const struct store_context *source = context ? source_of(run, own) : NULL;
	struct run_frame *frame = source ? frame_of(r, own->part, above, source) : NULL;
	struct run_node node = {.c = *above};

	if (!frame || !hang(r, &node, above, frame))
		return false;
	*place = node.c;
	return true;
}

uint32_t run_function_count(const struct run *run)
{
	return run->functions.count;
}

const struct run_function *run_function(const struct run *run, uint32_t function)
{
	return intern_table_at(&run->functions, function);
}

uint32_t run_scope_count(const struct run *run)
{
	return run->scopes.count;
}

const struct run_scope *run_scope(const struct run *run, uint32_t scope)
{
	return &((struct scope *)intern_table_at(&run->scopes, scope))->s;
}

const struct run_loop *run_loop(const struct run *run, uint32_t loop)
{
	return intern_table_at(&run->loops, loop);
}

bool run_context_place(const struct run *run, uint32_t context, const char **module, uint64_t *offset)
{
	const struct run_node *node = run_node(run, context < run->contexts.count ? context : 0);
	const struct store_context *source = context ? source_of(run, node) : NULL;
	const struct run_module *of;

	if (!source || source->module == STORE_MODULE_RESERVED ||
		source->module >= run->parts[node->part].module_count)
		return false;
	of = intern_table_at(&run->modules, run->parts[node->part].modules[source->module]);
	*module = of->path;
	*offset = source->offset;
	return of->m.kind != STORE_MODULE_TEXT && of->m.kind != STORE_MODULE_PYTHON;
}

uint32_t run_context_parent(const struct run *run, uint32_t context)
{
	return context && context < run->contexts.count ? run_node_parent(run, context) : 0;
}

static uint32_t scope_above(const struct run *run, uint32_t scope, uint32_t depth)
{
	const struct scope *s;

	for (s = intern_table_at(&run->scopes, scope); s->s.depth > depth;
		s = intern_table_at(&run->scopes, scope)) {
		const struct scope *far = intern_table_at(&run->scopes, s->jump);

		scope = far->s.depth >= depth ? s->jump : s->s.parent;
	}
	return scope;
}

/* ---- depths that depend on the path ---- */

bool run_scope_is_kernel(const struct run *run, uint32_t scope)
{
	uint32_t parent = run_scope(run, scope)->parent;
	const struct run_function *above;

	if (parent == INTERN_TABLE_NONE)
		return false;
	above = run_function(run, run_scope(run, parent)->function);
	return above->is_placeholder && strcmp(above->name, store_frame_name(STORE_FRAME_GPU_KERNEL)) == 0;
}

uint32_t run_depth_of(const struct run *run, uint32_t scope, uint32_t depth)
{
	int64_t number = (int64_t)depth - RUN_DEPTH_BELOW - RUN_DEPTH_STEPS;
	const struct run_scope *s;

	if (!run_depth_is_below(depth) || scope >= run->scopes.count)
		return depth;
	s = run_scope(run, scope);
	if (run_scope_is_kernel(run, scope)) {
		number += s->depth;
	} else {
		scope = scope_above(run, scope, run->passing_deepest);
		while (run_scope(run, scope)->depth > 0 &&
			!(scope < run->passing_count && run->passing[scope]))
			scope = run_scope(run, scope)->parent;
		number += run_scope(run, scope)->depth + 1;
	}
	return number < 1 ? 1 : (uint32_t)number;
}

uint32_t run_scope_at(const struct run *run, uint32_t scope, uint32_t depth)
{
	if (scope >= run->scopes.count)
		return scope;
	return scope_above(run, scope, run_depth_of(run, scope, depth));
}

static bool is_same_passing(const struct run *run, const uint8_t *passing, uint32_t count)
{
	for (uint32_t i = 0; i < count || i < run->passing_count; i++)
		if ((i < count && passing[i]) != (i < run->passing_count && run->passing[i]))
			return false;
	return true;
}

int run_set_passing(
	struct run *run, const uint32_t *scopes, size_t count, bool *is_changed, struct error *error)
{
	uint32_t scope_count = run_scope_count(run), deepest = 0;
	uint8_t *passing = calloc((size_t)scope_count + 1, 1);

	if (!passing)
		return error_memory(error);
	for (size_t i = 0; i < count; i++)
		if (scopes[i] < scope_count)
			passing[scopes[i]] = 1;
	for (uint32_t i = 0; i < scope_count; i++) { /* parents come before their children */
		const struct run_scope *s = run_scope(run, i);

		passing[i] = passing[i] && s->depth && (s->depth == 1 || passing[s->parent]);
		deepest = passing[i] && s->depth > deepest ? s->depth : deepest;
	}
	*is_changed = !is_same_passing(run, passing, scope_count);
	free(run->passing);
	run->passing = passing;
	run->passing_count = scope_count;
	run->passing_deepest = deepest;
	return 0;
}
