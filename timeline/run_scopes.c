/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_scopes.c - expands contexts to scopes when they are first asked for: each frame becomes its function
 * and the functions inlined there, each call site a scope of its own (C-01).
 *
 *   contexts   root -- (libx, 0x1234) -- (libx, 0x2345)
 *   frames             step              build, inlined: insert        symbols of the store
 *   scopes     root -- step ------------ build ------- insert          keyed by parent, call site, function
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/run_function.h"
#include "timeline/run_parts.h"

#define SHARED UINT32_MAX /* struct frame: the same in all stores */

struct frame {
	uint32_t part;	 /* SHARED, or the store whose text ids these are */
	uint32_t module; /* of the run; of the store when it is one store's; TABLE_NONE: reserved */
	uint64_t offset;
	uint32_t line, lines; /* in frame_lines, outermost first */
	bool is_resolved;     /* nothing better will come */
	bool is_known;
};

struct frame_line {
	const char *file;
	uint32_t line;
	uint32_t function;
	enum run_scope_kind kind;
};

struct scope {
	struct run_scope s;
	uint32_t jump; /* an ancestor far up: any depth is some jumps away */
};

/* ---- functions ---- */

static bool function_equal(const void *element, const void *key)
{
	const struct run_function *a = element, *b = key;

	return a->name == b->name && a->module == b->module; /* interned */
}

/* UINT32_MAX when memory is out. */
static uint32_t function_find(struct run *run, const struct run_function *function)
{
	uint64_t hash = table_hash(table_hash(0, (uintptr_t)function->name), (uintptr_t)function->module);
	uint32_t id = table_find(&run->functions, hash, function_equal, function);
	struct run_function *element;

	if (id != TABLE_NONE) {
		element = table_at(&run->functions, id);
		if (!*element->file) {
			element->file = function->file;
			element->line = function->line;
		}
		return id;
	}
	element = table_add(&run->functions, &id);
	if (!element || !table_index(&run->functions, id, hash))
		return TABLE_NONE;
	*element = *function;
	element->hash = run_function_hash(function->name, function->name_bytes);
	return id;
}

static struct run_function function_named(
	struct run *run, const char *name, size_t name_bytes, const char *module)
{
	return (struct run_function){.name = run_intern(run, name, name_bytes),
		.module = module,
		.file = "",
		.name_bytes = (uint32_t)name_bytes};
}

/* A function known by its place alone. */
static struct run_function function_at(struct run *run, const struct run_module *module, uint64_t offset)
{
	char *name = NULL;
	int size = asprintf(&name, "%s+0x%llx", module->base, (unsigned long long)offset);
	struct run_function function =
		function_named(run, size < 0 ? "" : name, size < 0 ? 0 : (size_t)size, module->path);

	if (size >= 0)
		free(name);
	return function;
}

/* ---- frames ---- */

static bool frame_equal(const void *element, const void *key)
{
	const struct frame *a = element, *b = key;

	return a->offset == b->offset && a->module == b->module && a->part == b->part;
}

static bool add_line(struct run *run, struct frame *frame, const struct run_function *function,
	const struct frame_line *line)
{
	uint32_t id;
	struct frame_line *element = table_add(&run->frame_lines, &id);

	if (!element)
		return false;
	*element = *line;
	element->function = function_find(run, function);
	if (element->function == TABLE_NONE)
		return false;
	if (!frame->lines++)
		frame->line = id;
	return true;
}

static bool add_plain(struct run *run, struct frame *frame, const struct run_function *function)
{
	return add_line(run, frame, function, &(struct frame_line){.file = "", .kind = RUN_SCOPE_FUNCTION});
}

static bool resolve_reserved(struct run *run, struct frame *frame)
{
	const char *name = store_frame_name(frame->offset);
	struct run_function function;

	if (!name)
		name = store_frame_name(STORE_FRAME_UNKNOWN);
	function = function_named(run, name, strlen(name), "");
	function.is_placeholder = true;
	frame->is_resolved = true;
	return add_plain(run, frame, &function);
}

static bool resolve_text(struct run *run, struct frame *frame, unsigned part, const struct run_module *module)
{
	struct run_function function;
	size_t size = 0;
	const char *name = "";

	if (frame->offset <= UINT32_MAX)
		name = store_reader_text(run->parts[part].reader, (uint32_t)frame->offset, &size);
	function = function_named(run, name, size, module->path);
	frame->is_resolved = true;
	return add_plain(run, frame, &function);
}

static const char *intern_from(struct run *run, const struct store_reader *reader, uint32_t text)
{
	size_t size = 0;
	const char *bytes = store_reader_text(reader, text, &size);

	return run_intern(run, bytes, size);
}

/* The scopes' text ids are of `reader`. */
static bool add_scopes(struct run *run, struct frame *frame, const struct store_reader *reader,
	const struct run_module *module, const struct store_scope *scopes, int count)
{
	bool ok = true;

	for (int i = 0; i < count && ok; i++) {
		const struct store_scope *s = &scopes[i];
		struct frame_line line = {.file = intern_from(run, reader, s->file), .line = s->line};
		struct run_function function;
		size_t size = 0;
		const char *name = store_reader_text(reader, s->name, &size);

		line.kind = i && s->kind == STORE_SCOPE_INLINE ? RUN_SCOPE_INLINE : RUN_SCOPE_FUNCTION;
		function = size ? function_named(run, name, size, module->path)
				: function_at(run, module, s->start);
		function.file = intern_from(run, reader, s->decl_file);
		function.line = s->decl_line;
		ok = add_line(run, frame, &function, &line);
	}
	return ok;
}

/* The store's id of a module of the run; 0: the store does not have it. */
static uint32_t module_in(const struct run_part *part, uint32_t module)
{
	for (uint32_t id = 1; id < part->module_count; id++)
		if (part->modules[id] == module)
			return id;
	return 0;
}

/* Asks the cache of what was found later, then the store that has the context, then the others: any may
 * have been named. */
static bool resolve_native(struct run *run, struct frame *frame, unsigned part, uint32_t in_store,
	const struct run_module *module)
{
	struct run_function function;
	int later = names_cache_find(run->names, &module->m, module->path, frame->offset, run->symbol);

	frame->is_resolved = later > 0;
	if (later > 0)
		return add_scopes(
			run, frame, names_cache_reader(run->names), module, run->symbol, later);
	for (unsigned i = 0; i < run->part_count; i++) {
		unsigned p = i ? (i <= part ? i - 1 : i) : part;
		uint32_t id = p == part ? in_store : module_in(&run->parts[p], frame->module);
		int count =
			id ? store_reader_symbol(run->parts[p].reader, id, frame->offset, run->symbol, NULL)
			   : 0;

		if (count <= 0)
			continue;
		frame->is_resolved = true;
		return add_scopes(run, frame, run->parts[p].reader, module, run->symbol,
			count > STORE_SCOPE_MAX ? STORE_SCOPE_MAX : count);
	}
	frame->is_resolved = false;
	function = function_at(run, module, frame->offset);
	return add_plain(run, frame, &function);
}

static const struct run_module *module_of(const struct run *run, unsigned part, uint32_t in_store)
{
	if (in_store == STORE_MODULE_RESERVED || in_store >= run->parts[part].module_count)
		return NULL;
	return table_at(&run->modules, run->parts[part].modules[in_store]);
}

/* The frame of a store's context; NULL when memory is out. */
static struct frame *frame_get(struct run *run, unsigned part, const struct store_context *context)
{
	const struct run_module *module = module_of(run, part, context->module);
	struct frame key = {SHARED, TABLE_NONE, context->offset}, *frame;
	uint64_t hash;
	uint32_t id;
	bool ok;

	if (module && module->m.kind == STORE_MODULE_TEXT)
		key.part = part;
	if (module)
		key.module = key.part == SHARED ? run->parts[part].modules[context->module] : context->module;
	else if (context->module != STORE_MODULE_RESERVED)
		key.offset = STORE_FRAME_UNKNOWN;
	hash = table_hash(table_hash(key.part, key.module), key.offset);
	id = table_find(&run->frames, hash, frame_equal, &key);
	if (id == TABLE_NONE) {
		frame = table_add(&run->frames, &id);
		if (!frame || !table_index(&run->frames, id, hash))
			return NULL;
		*frame = key;
	}
	frame = table_at(&run->frames, id);
	if (frame->is_known)
		return frame;
	frame->lines = 0;
	if (!module)
		ok = resolve_reserved(run, frame);
	else if (key.part != SHARED)
		ok = resolve_text(run, frame, part, module);
	else
		ok = resolve_native(run, frame, part, context->module, module);
	frame->is_known = ok;
	return ok ? frame : NULL;
}

/* ---- scopes ---- */

static bool scope_equal(const void *element, const void *key)
{
	const struct run_scope *a = &((const struct scope *)element)->s, *b = key;

	return a->parent == b->parent && a->function == b->function && a->call_line == b->call_line &&
	       a->call_file == b->call_file && a->kind == b->kind;
}

static uint32_t jump_of(const struct run *run, uint32_t parent)
{
	const struct scope *p = table_at(&run->scopes, parent);
	const struct scope *near = table_at(&run->scopes, p->jump);
	const struct scope *far = table_at(&run->scopes, near->jump);

	/* Two jumps of one length make the next one (Myers, An applicative random-access stack). */
	return p->s.depth - near->s.depth == near->s.depth - far->s.depth ? near->jump : parent;
}

/* UINT32_MAX when memory is out. */
static uint32_t scope_get(struct run *run, const struct run_scope *key)
{
	uint64_t hash = table_hash(table_hash(key->parent, key->function), key->call_line);
	struct scope *scope;
	uint32_t id;

	hash = table_hash(table_hash(hash, (uintptr_t)key->call_file), key->kind);
	id = table_find(&run->scopes, hash, scope_equal, key);
	if (id != TABLE_NONE)
		return id;
	scope = table_add(&run->scopes, &id);
	if (!scope || !table_index(&run->scopes, id, hash))
		return TABLE_NONE;
	scope->s = *key;
	scope->jump = key->parent == TABLE_NONE ? id : jump_of(run, key->parent);
	return id;
}

/* Hangs the lines of a frame below the parent context. False when memory is out. */
static bool hang(
	struct run *run, struct run_node *node, const struct run_context *parent, struct frame *frame)
{
	struct run_scope key = {.parent = TABLE_NONE, .call_file = ""};
	const struct frame_line *line = NULL;

	if (parent->scope != TABLE_NONE) {
		key.parent = parent->scope;
		key.depth = run_scope(run, parent->scope)->depth + 1;
		key.call_file = parent->file;
		key.call_line = parent->line;
	}
	for (uint32_t i = 0; i < frame->lines; i++) {
		uint32_t scope;

		line = table_at(&run->frame_lines, frame->line + i);
		key.function = line->function;
		key.kind = key.parent == TABLE_NONE ? RUN_SCOPE_ROOT : line->kind;
		scope = scope_get(run, &key);
		if (scope == TABLE_NONE)
			return false;
		key.parent = scope;
		key.depth++;
		key.call_file = line->file;
		key.call_line = line->line;
	}
	node->c.scope = key.parent;
	node->c.file = key.call_file;
	node->c.line = key.call_line;
	return line != NULL;
}

static const struct store_context *source_of(const struct run *run, const struct run_node *node)
{
	uint32_t count;
	const struct store_context *contexts = store_reader_contexts(run->parts[node->part].reader, &count);

	return node->id < count ? &contexts[node->id] : NULL;
}

/* The parent is expanded already. When memory is out the context stands for its parent. */
static void expand_one(struct run *run, uint32_t context)
{
	struct run_node *node = (struct run_node *)run_node(run, context);
	uint32_t parent_id = run_node_parent(run, context);
	const struct run_node *parent = run_node(run, parent_id);
	const struct store_context *source = source_of(run, node);
	struct frame *frame = source ? frame_get(run, node->part, source) : NULL;

	node->is_expanded = true;
	node->c.scope = parent->c.scope;
	node->c.file = parent->c.file;
	node->c.line = parent->c.line;
	node->c.is_partial = parent->c.is_partial;
	node->is_unresolved = parent->is_unresolved;
	if (!source)
		return;
	node->c.hash = source->hash;
	node->c.is_partial |=
		source->module == STORE_MODULE_RESERVED && source->offset == STORE_FRAME_PARTIAL;
	if (!frame || !hang(run, node, &parent->c, frame))
		return;
	node->is_unresolved |= !frame->is_resolved;
}

/* "No context" has no scope. */
static void expand_none(struct run *run)
{
	struct run_node *node = (struct run_node *)run_node(run, STORE_CONTEXT_NONE);

	node->c = (struct run_context){.scope = TABLE_NONE, .file = ""};
	node->is_expanded = true;
}

/* Expands the ancestors first, from the topmost that is not, without recursion: paths may be very deep. */
static void expand(struct run *run, uint32_t context)
{
	uint32_t *path = NULL;
	size_t count = 0, room = 0;

	for (uint32_t at = context; at && !run_node(run, at)->is_expanded; at = run_node_parent(run, at)) {
		if (count == room) {
			uint32_t *more = realloc(path, (room = room ? room * 2 : 64) * sizeof *path);

			if (!more)
				break;
			path = more;
		}
		path[count++] = at;
	}
	while (count)
		expand_one(run, path[--count]);
	free(path);
}

int run_scopes_init(struct run *run, struct error *error)
{
	static const enum store_frame roots[] = {STORE_FRAME_PROGRAM_ROOT, STORE_FRAME_THREAD_ROOT};

	table_init(&run->functions, sizeof(struct run_function));
	table_init(&run->scopes, sizeof(struct scope));
	table_init(&run->frames, sizeof(struct frame));
	table_init(&run->frame_lines, sizeof(struct frame_line));
	run->symbol = calloc(STORE_SCOPE_MAX, sizeof *run->symbol);
	if (!run->symbol)
		return error_memory(error);
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		struct store_context root = {.module = STORE_MODULE_RESERVED, .offset = roots[i]};
		struct run_context none = {.scope = TABLE_NONE, .file = ""};
		struct run_node node = {0};
		struct frame *frame = frame_get(run, 0, &root);

		if (!frame || !hang(run, &node, &none, frame))
			return error_memory(error);
	}
	return 0;
}

void run_scopes_renew(struct run *run)
{
	for (uint32_t i = 0; i < run->frames.count; i++) {
		struct frame *frame = table_at(&run->frames, i);

		frame->is_known &= frame->is_resolved;
	}
	for (uint32_t i = 0; i < run->contexts.count; i++) {
		struct run_node *node = table_at(&run->contexts, i);

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

uint32_t run_function_count(const struct run *run)
{
	return run->functions.count;
}

const struct run_function *run_function(const struct run *run, uint32_t function)
{
	return table_at(&run->functions, function);
}

uint32_t run_scope_count(const struct run *run)
{
	return run->scopes.count;
}

const struct run_scope *run_scope(const struct run *run, uint32_t scope)
{
	return &((struct scope *)table_at(&run->scopes, scope))->s;
}

uint32_t run_scope_at(const struct run *run, uint32_t scope, uint32_t depth)
{
	const struct scope *s;

	if (scope >= run->scopes.count)
		return scope;
	for (s = table_at(&run->scopes, scope); s->s.depth > depth; s = table_at(&run->scopes, scope)) {
		const struct scope *far = table_at(&run->scopes, s->jump);

		scope = far->s.depth >= depth ? s->jump : s->s.parent;
	}
	return scope;
}
