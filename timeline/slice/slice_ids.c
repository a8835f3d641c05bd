/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_ids.c - one table for each kind of id; what an id names is copied on first use, so that the copy has
 * nothing unused.
 */
#include "timeline/slice/slice_ids.h"

#include <stdio.h>
#include <stdlib.h>

struct frame_key {
	uint64_t offset;
	uint32_t module, zero;
};

int slice_ids_init(
	struct slice_ids *ids, struct store_reader *reader, struct store_writer *writer, struct error *error)
{
	*ids = (struct slice_ids){.reader = reader, .writer = writer};
	ids->from_contexts = store_reader_contexts(reader, &ids->context_count);
	ids->from_modules = store_reader_modules(reader, &ids->module_count);
	ids->from_metrics = store_reader_metrics(reader, &ids->metric_count);
	key_ids_init(&ids->frames, sizeof(struct frame_key));
	slice_files_init(&ids->files);
	ids->contexts = calloc((size_t)ids->context_count + 1, sizeof *ids->contexts);
	ids->modules = calloc((size_t)ids->module_count + 1, sizeof *ids->modules);
	ids->metrics = calloc((size_t)ids->metric_count + 1, sizeof *ids->metrics);
	ids->scopes = calloc(STORE_SCOPE_MAX, sizeof *ids->scopes);
	if (!ids->contexts || !ids->modules || !ids->metrics || !ids->scopes)
		return error_memory(error);
	for (uint32_t i = 0; i < STORE_CONTEXT_FIRST && i < ids->context_count; i++)
		ids->contexts[i] = i + 1;
	return 0;
}

void slice_ids_fini(struct slice_ids *ids)
{
	key_ids_fini(&ids->frames);
	slice_files_fini(&ids->files);
	free(ids->contexts);
	free(ids->modules);
	free(ids->metrics);
	free(ids->scopes);
}

uint32_t slice_ids_text(struct slice_ids *ids, uint32_t text)
{
	size_t size;
	const char *bytes = store_reader_text(ids->reader, text, &size);

	return store_writer_text(ids->writer, bytes, size);
}

static uint32_t copy_module(struct slice_ids *ids, uint32_t module)
{
	if (module == STORE_MODULE_RESERVED || module >= ids->module_count)
		return STORE_MODULE_RESERVED;
	if (ids->modules[module] == 0) {
		struct store_module to = ids->from_modules[module];

		to.path = slice_ids_text(ids, to.path);
		if (to.kind == STORE_MODULE_GPU)
			slice_files_want(&ids->files, store_gpu_module_key(to.build_id, to.build_id_bytes));
		ids->modules[module] = store_writer_module(ids->writer, &to) + 1;
	}
	return ids->modules[module] - 1;
}

static int copy_symbol(struct slice_ids *ids, const struct store_context *from, uint32_t module,
	uint64_t offset, struct error *error)
{
	struct frame_key key = {.offset = offset, .module = module};
	bool is_new;
	int count;

	if (key_ids_put(&ids->frames, &key, &is_new) == KEY_IDS_NONE)
		return error_memory(error);
	if (!is_new)
		return 0;
	count = store_reader_symbol(ids->reader, from->module, from->offset, ids->scopes, error);
	for (int i = 0; i < count; i++) {
		struct store_scope *scope = &ids->scopes[i];

		if (!slice_files_want_source(
			    &ids->files, store_reader_text(ids->reader, scope->file, NULL)) ||
			!slice_files_want_source(
				&ids->files, store_reader_text(ids->reader, scope->decl_file, NULL)))
			return error_memory(error);
		scope->name = slice_ids_text(ids, scope->name);
		scope->file = slice_ids_text(ids, scope->file);
		scope->decl_file = slice_ids_text(ids, scope->decl_file);
	}
	if (count > 0)
		store_writer_symbol(ids->writer, module, offset, ids->scopes, (size_t)count);
	return count < 0 ? count : 0;
}

/* The parent is copied already. */
static int copy_one_context(struct slice_ids *ids, uint32_t context, struct error *error)
{
	const struct store_context *from = &ids->from_contexts[context];
	uint32_t module = copy_module(ids, from->module);
	enum store_module_kind kind =
		module == STORE_MODULE_RESERVED ? STORE_MODULE_ELF : ids->from_modules[from->module].kind;
	bool is_text = kind == STORE_MODULE_TEXT || kind == STORE_MODULE_PYTHON;
	uint64_t offset = from->offset;
	uint32_t to;

	if (kind == STORE_MODULE_TEXT)
		offset = slice_ids_text(ids, (uint32_t)offset);
	else if (kind == STORE_MODULE_PYTHON)
		offset = (uint64_t)slice_ids_text(ids, (uint32_t)(offset >> STORE_PYTHON_LINE_BITS))
				 << STORE_PYTHON_LINE_BITS |
			 (offset & STORE_PYTHON_LINE_MAX);
	to = store_writer_context(ids->writer, ids->contexts[from->parent] - 1, module, offset);

	ids->contexts[context] = to + 1;
	return is_text || module == STORE_MODULE_RESERVED ? 0 : copy_symbol(ids, from, module, offset, error);
}

/* Ids of the store's own contexts are the same everywhere; a parent's id is below its child's. */
int slice_ids_context(struct slice_ids *ids, uint32_t context, uint32_t *to, struct error *error)
{
	uint32_t *path, count = 0, capacity = 0;
	int rc = 0;

	if (context >= ids->context_count) {
		*to = STORE_CONTEXT_NONE;
		return 0;
	}
	if (ids->contexts[context] != 0) {
		*to = ids->contexts[context] - 1;
		return 0;
	}
	for (uint32_t at = context; ids->contexts[at] == 0; at = ids->from_contexts[at].parent)
		capacity++;
	path = malloc((size_t)(capacity + 1) * sizeof *path);
	if (!path)
		return error_memory(error);
	for (uint32_t at = context; ids->contexts[at] == 0; at = ids->from_contexts[at].parent)
		path[count++] = at;
	while (count > 0 && rc == 0)
		rc = copy_one_context(ids, path[--count], error);
	free(path);
	*to = rc < 0 ? STORE_CONTEXT_NONE : ids->contexts[context] - 1;
	return rc;
}

uint32_t slice_ids_metric(struct slice_ids *ids, uint32_t metric)
{
	const struct store_metric *from = &ids->from_metrics[metric];

	if (metric >= ids->metric_count)
		return 0;
	if (ids->metrics[metric] == 0) {
		size_t size;
		char name[512], unit[64];

		snprintf(name, sizeof name, "%s", store_reader_text(ids->reader, from->name, &size));
		snprintf(unit, sizeof unit, "%s", store_reader_text(ids->reader, from->unit, &size));
		ids->metrics[metric] = store_writer_figure(ids->writer, name, unit, from->is_real,
					       (enum store_metric_kind)from->kind) +
				       1;
	}
	return ids->metrics[metric] - 1;
}

uint32_t slice_ids_op(struct slice_ids *ids, uint32_t op)
{
	size_t size;
	const char *name;

	if (op < STORE_OP_TEXT)
		return op;
	name = store_reader_op(ids->reader, op, &size);
	return store_writer_op(ids->writer, name, size);
}
