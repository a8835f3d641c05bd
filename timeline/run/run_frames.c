/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_frames.c - the functions of a frame: its own and those inlined there, from names found after the
 * recording, from the symbols of any store, else from the address only. Computed once per frame.
 */
#include "timeline/run/run_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/path.h"
#include "timeline/debug/demangle.h"
#include "timeline/run/run_function.h"
#include "timeline/run/run_kernels.h"

#define SHARED UINT32_MAX	   /* struct run_frame: the same in all stores */
#define CONSTRUCT (UINT32_MAX - 1) /* likewise: `module` is an enum store_frame, `offset` its name */

/* ---- functions ---- */

/* Static functions of one name in two files of a module are two; a file that is not known may be any. */
static bool function_equal(const void *element, const void *key)
{
	const struct run_function *a = element, *b = key;

	return a->name == b->name && a->module == b->module && /* interned */
	       (a->file == b->file || !*a->file || !*b->file || path_is_same(a->file, b->file));
}

/* UINT32_MAX: no memory. */
static uint32_t function_find(struct run *run, const struct run_function *function)
{
	uint64_t hash = intern_table_hash(
		intern_table_hash(0, (uintptr_t)function->name), (uintptr_t)function->module);
	uint32_t id = intern_table_find(&run->functions, hash, function_equal, function);
	struct run_function *element;

	if (id != INTERN_TABLE_NONE) {
		element = intern_table_at(&run->functions, id);
		if (!*element->file) {
			element->file = function->file;
			element->line = function->line;
		}
		return id;
	}
	element = intern_table_add(&run->functions, &id);
	if (!element || !intern_table_index(&run->functions, id, hash))
		return INTERN_TABLE_NONE;
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

/* Code that was made at run time and has no name: all of a process is one function, since nothing tells where
 * one begins. The recorder's "[anonymous code of java, process 4711]" is "[anonymous code of java]". */
static struct run_function function_anonymous(struct run *run, const struct run_module *module)
{
	static const char prefix[] = "[anonymous code of ", unknown[] = "[anonymous code]";
	const char *path = module->path, *comma = strrchr(path, ',');
	struct run_function function = function_named(run, unknown, sizeof(unknown) - 1, path);
	char name[512];
	int size;

	if (comma && !strncmp(path, prefix, sizeof(prefix) - 1)) {
		size = snprintf(name, sizeof(name), "%.*s]", (int)(comma - path), path);
		if (size > 0 && (size_t)size < sizeof(name))
			function = function_named(run, name, (size_t)size, path);
	}
	return function;
}

/* ---- frames ---- */

static bool frame_equal(const void *element, const void *key)
{
	const struct run_frame *a = element, *b = key;

	return a->offset == b->offset && a->module == b->module && a->part == b->part;
}

static bool add_line(struct run *run, struct run_frame *frame, const struct run_function *function,
	const struct run_frame_line *line)
{
	uint32_t id;
	struct run_frame_line *element = intern_table_add(&run->frame_lines, &id);

	if (!element)
		return false;
	*element = *line;
	element->function = function_find(run, function);
	if (element->function == INTERN_TABLE_NONE)
		return false;
	if (!frame->lines++)
		frame->line = id;
	return true;
}

static bool add_plain(struct run *run, struct run_frame *frame, const struct run_function *function)
{
	return add_line(run, frame, function,
		&(struct run_frame_line){.file = "", .kind = RUN_SCOPE_FUNCTION, .loop = RUN_LOOP_NONE});
}

static bool resolve_reserved(struct run *run, struct run_frame *frame)
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

static bool is_recorded(const struct store_reader *reader)
{
	const char *recorder = store_reader_meta(reader, "recorder");

	return recorder && strncmp(recorder, "hpct-import", strlen("hpct-import")) != 0;
}

static bool resolve_text(
	struct run *run, struct run_frame *frame, unsigned part, const struct run_module *module)
{
	struct run_function function;
	size_t size = 0, symbol_size;
	const char *name = "", *symbol;
	char people[DEMANGLE_MAX];

	if (frame->offset <= UINT32_MAX)
		name = store_reader_text(run->parts[part].reader, (uint32_t)frame->offset, &size);
	symbol = name;
	symbol_size = size;
	/* Kernels come with their linker's spelling. What was imported stays as it was written. */
	if (is_recorded(run->parts[part].reader) && size > 2 && !memcmp(name, "_Z", 2) &&
		demangle_symbol(name, people, sizeof(people))) {
		name = people;
		size = strlen(people);
	}
	function = function_named(run, name, size, module->path);
	frame->is_resolved = true;
	run_kernel_place(run, symbol, symbol_size, &function.file, &function.line);
	return add_line(run, frame, &function,
		&(struct run_frame_line){.file = function.file,
			.line = function.line,
			.kind = RUN_SCOPE_FUNCTION,
			.loop = RUN_LOOP_NONE});
}

/* The text of a Python function in its three parts; `file` and `line` may be missing. */
struct python_function {
	const char *name, *file;
	size_t name_bytes, file_bytes;
	uint32_t line;
};

static struct python_function python_split(const char *text, size_t size)
{
	const char *end = text + size, *nul = memchr(text, '\0', size), *second;
	struct python_function of = {
		.name = text, .file = "", .name_bytes = nul ? (size_t)(nul - text) : size};

	if (!size) {
		of.name = "<python>";
		of.name_bytes = strlen(of.name);
	}
	if (!nul)
		return of;
	of.file = nul + 1;
	second = memchr(of.file, '\0', (size_t)(end - of.file));
	of.file_bytes = (size_t)((second ? second : end) - of.file);
	for (const char *at = second ? second + 1 : end; at < end && *at >= '0' && *at <= '9'; at++)
		of.line = of.line * 10 + (uint32_t)(*at - '0');
	return of;
}

/* A Python function's module is its file: functions of one name in two files are two. */
static bool resolve_python(struct run *run, struct run_frame *frame, unsigned part)
{
	uint64_t id = frame->offset >> STORE_PYTHON_LINE_BITS;
	struct python_function of;
	struct run_function function;
	const char *text, *file;
	size_t size = 0;

	text = store_reader_text(run->parts[part].reader, id <= UINT32_MAX ? (uint32_t)id : 0, &size);
	of = python_split(text, size);
	file = run_intern(run, of.file, of.file_bytes);
	function = function_named(run, of.name, of.name_bytes, file);
	function.file = file;
	function.line = of.line;
	function.is_python = true;
	frame->is_resolved = true;
	return add_line(run, frame, &function,
		&(struct run_frame_line){.file = file,
			.line = (uint32_t)(frame->offset & STORE_PYTHON_LINE_MAX),
			.kind = RUN_SCOPE_FUNCTION,
			.loop = RUN_LOOP_NONE});
}

static const char *intern_from(struct run *run, const struct store_reader *reader, uint32_t text)
{
	size_t size = 0;
	const char *bytes = store_reader_text(reader, text, &size);

	return run_intern(run, bytes, size);
}

/* ---- loops ---- */

static bool loop_equal(const void *element, const void *key)
{
	const struct run_loop *a = element, *b = key;

	return a->parent == b->parent && a->function == b->function && a->line == b->line &&
	       a->file == b->file && a->start == b->start;
}

static const char *loop_name(struct run *run, const struct run_module *module, const struct run_loop *loop)
{
	const char *name = "";
	char *text = NULL;
	int size;

	if (loop->line)
		size = asprintf(&text, "loop at %s: %u", path_base(loop->file), loop->line);
	else
		size = asprintf(&text, "loop at %s+0x%llx", module->base, (unsigned long long)loop->start);
	if (size >= 0) {
		name = run_intern(run, text, (size_t)size);
		free(text);
	}
	return name;
}

/* INTERN_TABLE_NONE: no memory. */
static uint32_t loop_find(struct run *run, const struct run_module *module, struct run_loop *key)
{
	uint64_t hash = intern_table_hash(intern_table_hash(key->parent, key->function), key->line);
	struct run_loop *element;
	uint32_t id;

	hash = intern_table_hash(intern_table_hash(hash, (uintptr_t)key->file), key->start);
	id = intern_table_find(&run->loops, hash, loop_equal, key);
	if (id != INTERN_TABLE_NONE)
		return id;
	element = intern_table_add(&run->loops, &id);
	if (!element || !intern_table_index(&run->loops, id, hash))
		return INTERN_TABLE_NONE;
	key->name = loop_name(run, module, key);
	key->depth = key->parent == RUN_LOOP_NONE ? 1 : run_loop(run, key->parent)->depth + 1;
	*element = *key;
	return id;
}

/* The loop is in the function of the last added entry, and takes over its position. */
static bool add_loop(struct run *run, struct run_frame *frame, const struct store_reader *reader,
	const struct run_module *module, const struct store_scope *s)
{
	struct run_frame_line *line;
	struct run_loop key = {.line = s->decl_line, .file = intern_from(run, reader, s->decl_file)};

	if (!frame->lines)
		return true;
	line = intern_table_at(&run->frame_lines, frame->line + frame->lines - 1);
	key.parent = line->loop;
	key.function = line->function;
	key.start = key.line ? 0 : s->start;
	line->file = intern_from(run, reader, s->file);
	line->line = s->line;
	line->loop = loop_find(run, module, &key);
	return line->loop != RUN_LOOP_NONE;
}

/* Below code in a loop that waits, so that its time is apart from work. */
static bool add_spin(struct run *run, struct run_frame *frame, const struct run_module *module)
{
	const struct run_frame_line *last =
		intern_table_at(&run->frame_lines, frame->line + frame->lines - 1);
	struct run_frame_line line = {
		.file = last->file, .line = last->line, .kind = RUN_SCOPE_INLINE, .loop = RUN_LOOP_NONE};
	struct run_function function =
		function_named(run, RUN_SPIN_NAME, sizeof RUN_SPIN_NAME - 1, module->path);

	return add_line(run, frame, &function, &line);
}

/* The scopes' text ids are of `reader`. */
static bool add_scopes(struct run *run, struct run_frame *frame, const struct store_reader *reader,
	const struct run_module *module, const struct store_scope *scopes, int count)
{
	bool ok = true, spins = false;

	for (int i = 0; i < count && ok; i++) {
		const struct store_scope *s = &scopes[i];
		struct run_frame_line line = {
			.file = intern_from(run, reader, s->file), .line = s->line, .loop = RUN_LOOP_NONE};
		struct run_function function;
		size_t size = 0;
		const char *name = store_reader_text(reader, s->name, &size);

		if (s->kind == STORE_SCOPE_LOOP) {
			ok = add_loop(run, frame, reader, module, s);
			spins |= size == sizeof STORE_LOOP_SPIN - 1 && !memcmp(name, STORE_LOOP_SPIN, size);
			continue;
		}
		line.kind = i && s->kind == STORE_SCOPE_INLINE ? RUN_SCOPE_INLINE : RUN_SCOPE_FUNCTION;
		function = size ? function_named(run, name, size, module->path)
				: function_at(run, module, s->start);
		function.file = intern_from(run, reader, s->decl_file);
		function.line = s->decl_line;
		ok = add_line(run, frame, &function, &line);
	}
	return ok && (!spins || !frame->lines || add_spin(run, frame, module));
}

/* The store's id of a module of the run; 0: the store does not have it. */
static uint32_t module_in(const struct run_part *part, uint32_t module)
{
	for (uint32_t id = 1; id < part->module_count; id++)
		if (part->modules[id] == module)
			return id;
	return 0;
}

/* The frame's symbol in a store. Keeps the error of an unreadable one for run_names_check(). */
static int stored_symbol(struct run *run, unsigned part, uint32_t module, uint64_t offset)
{
	struct error error = {0};
	int count = store_reader_symbol(run->parts[part].reader, module, offset, run->symbol, &error);

	if (count == -ERROR_RUN && !run->names_error.code)
		run->names_error = error;
	return count;
}

int run_names_check(const struct run *run, struct error *error)
{
	if (!run->names_error.code)
		return 0;
	return error_set(error, ERROR_RUN, "some functions have no name: %s", run->names_error.text);
}

/* Asks the cache of what was found later, then the store that has the context, then the others: any may
 * have been named. */
static bool resolve_native(struct run *run, struct run_frame *frame, unsigned part, uint32_t in_store,
	const struct run_module *module)
{
	struct run_function function;
	int later = names_run_cache_find(run->names, &module->m, module->path, frame->offset, run->symbol);

	frame->is_resolved = later > 0;
	if (later > 0)
		return add_scopes(run, frame, names_run_cache_reader(run->names), module, run->symbol, later);
	for (unsigned i = 0; i < run->part_count; i++) {
		unsigned p = i ? (i <= part ? i - 1 : i) : part;
		uint32_t id = p == part ? in_store : module_in(&run->parts[p], frame->module);
		int count = id ? stored_symbol(run, p, id, frame->offset) : 0;

		if (count <= 0)
			continue;
		frame->is_resolved = true;
		return add_scopes(run, frame, run->parts[p].reader, module, run->symbol,
			count > STORE_SCOPE_MAX ? STORE_SCOPE_MAX : count);
	}
	frame->is_resolved = false;
	function = module->m.kind == STORE_MODULE_JIT ? function_anonymous(run, module)
						      : function_at(run, module, frame->offset);
	return add_plain(run, frame, &function);
}

/* An instruction of a GPU binary, KEY+0xADDRESS: its function stands above it in the path. A name, once one
 * was found, tells its line, and the functions inlined between. */
static bool resolve_instruction(struct run *run, struct run_frame *frame, unsigned part, uint32_t in_store,
	const struct run_module *module)
{
	struct run_frame_line line = {.file = "", .kind = RUN_SCOPE_INSTRUCTION, .loop = RUN_LOOP_NONE};
	struct run_function function;
	char name[48];
	int size = snprintf(name, sizeof name, "%016llx+0x%llx",
		(unsigned long long)store_gpu_module_key(module->m.build_id, module->m.build_id_bytes),
		(unsigned long long)frame->offset);

	if (!resolve_native(run, frame, part, in_store, module))
		return false;
	if (frame->lines) {
		const struct run_frame_line *last =
			intern_table_at(&run->frame_lines, frame->line + frame->lines - 1);

		line.file = last->file;
		line.line = last->line;
		line.loop = last->loop;
	}
	frame->begins_above = frame->is_resolved && frame->lines;
	if (!frame->begins_above)
		frame->lines = 0;
	function = function_named(run, name, (size_t)size, module->path);
	return add_line(run, frame, &function, &line);
}

static const struct run_module *module_of(const struct run *run, unsigned part, uint32_t in_store)
{
	if (in_store == STORE_MODULE_RESERVED || in_store >= run->parts[part].module_count)
		return NULL;
	return intern_table_at(&run->modules, run->parts[part].modules[in_store]);
}

struct run_frame *run_frame_get(struct run *run, unsigned part, const struct store_context *context)
{
	const struct run_module *module = module_of(run, part, context->module);
	struct run_frame key = {SHARED, INTERN_TABLE_NONE, context->offset}, *frame;
	uint64_t hash;
	uint32_t id;
	bool ok;

	if (module && (module->m.kind == STORE_MODULE_TEXT || module->m.kind == STORE_MODULE_PYTHON))
		key.part = part;
	if (module)
		key.module = key.part == SHARED ? run->parts[part].modules[context->module] : context->module;
	else if (context->module != STORE_MODULE_RESERVED)
		key.offset = STORE_FRAME_UNKNOWN;
	hash = intern_table_hash(intern_table_hash(key.part, key.module), key.offset);
	id = intern_table_find(&run->frames, hash, frame_equal, &key);
	if (id == INTERN_TABLE_NONE) {
		frame = intern_table_add(&run->frames, &id);
		if (!frame || !intern_table_index(&run->frames, id, hash))
			return NULL;
		*frame = key;
	}
	frame = intern_table_at(&run->frames, id);
	if (frame->is_known)
		return frame;
	frame->lines = 0;
	if (!module)
		ok = resolve_reserved(run, frame);
	else if (module->m.kind == STORE_MODULE_PYTHON)
		ok = resolve_python(run, frame, part);
	else if (key.part != SHARED)
		ok = resolve_text(run, frame, part, module);
	else if (module->m.kind == STORE_MODULE_GPU)
		ok = resolve_instruction(run, frame, part, context->module, module);
	else
		ok = resolve_native(run, frame, part, context->module, module);
	frame->is_known = ok;
	return ok ? frame : NULL;
}

/* Without a line the function has to do. */
static char *construct_name(
	const char *name, const struct run_context *at, const struct run_function *function)
{
	char *text = NULL;
	int length = (int)strlen(name) - 1, size = 0;

	if (at->line && at->file[0])
		size = asprintf(&text, "%.*s %s:%u>", length, name, path_base(at->file), at->line);
	else
		size = asprintf(&text, "%.*s %s>", length, name, function->name);
	return size < 0 ? NULL : text;
}

struct run_frame *run_frame_construct(
	struct run *run, uint64_t number, const struct run_context *at, const struct run_function *above)
{
	char *text =
		above && !above->is_placeholder ? construct_name(store_frame_name(number), at, above) : NULL;
	const char *name = text ? text : store_frame_name(number);
	struct run_function function = function_named(run, name, strlen(name), "");
	struct run_frame key = {CONSTRUCT, (uint32_t)number, (uintptr_t)function.name}, *frame;
	uint64_t hash = intern_table_hash(intern_table_hash(key.part, key.module), key.offset);
	uint32_t id = intern_table_find(&run->frames, hash, frame_equal, &key);

	free(text);
	if (id != INTERN_TABLE_NONE)
		return intern_table_at(&run->frames, id);
	frame = intern_table_add(&run->frames, &id);
	if (!frame || !intern_table_index(&run->frames, id, hash))
		return NULL;
	*frame = key;
	function.is_placeholder = true;
	frame->is_resolved = frame->is_known = true;
	return add_plain(run, frame, &function) ? frame : NULL;
}
