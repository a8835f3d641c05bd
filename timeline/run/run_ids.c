/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_ids.c - modules, metrics and operations of all stores in one id space each: equal identity, equal
 * number.
 */
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/base/glob.h"
#include "timeline/run/run_internal.h"

/* ---- modules ---- */

static bool module_equal(const void *element, const void *key)
{
	const struct run_module *a = element, *b = key;

	if (a->m.kind != b->m.kind || a->m.is_hidden != b->m.is_hidden ||
		a->m.build_id_bytes != b->m.build_id_bytes)
		return false;
	if (a->m.build_id_bytes)
		return !memcmp(a->m.build_id, b->m.build_id, a->m.build_id_bytes);
	return a->path == b->path; /* interned */
}

static uint64_t module_hash(const struct run_module *module)
{
	uint64_t hash =
		intern_table_hash(module->m.kind + 256u * module->m.is_hidden, module->m.build_id_bytes);

	if (!module->m.build_id_bytes)
		return intern_table_hash(hash, (uintptr_t)module->path);
	for (int i = 0; i < module->m.build_id_bytes; i++)
		hash = intern_table_hash(hash, module->m.build_id[i]);
	return hash;
}

static uint32_t module_unify(struct run *run, unsigned p, const struct store_module *m)
{
	struct run_module module = {.m = *m}, *element;
	const char *slash;
	uint64_t hash;
	uint32_t id;

	if (module.m.build_id_bytes > sizeof module.m.build_id)
		module.m.build_id_bytes = sizeof module.m.build_id;
	module.path = run_intern_text(run, p, m->path);
	slash = strrchr(module.path, '/');
	module.base = slash && slash[1] ? slash + 1 : module.path;
	hash = module_hash(&module);
	id = intern_table_find(&run->modules, hash, module_equal, &module);
	if (id != INTERN_TABLE_NONE)
		return id;
	element = intern_table_add(&run->modules, &id);
	if (!element || !intern_table_index(&run->modules, id, hash))
		return INTERN_TABLE_NONE;
	*element = module;
	return id;
}

static int modules_renew(struct run *run, unsigned p, struct error *error)
{
	struct run_part *part = &run->parts[p];
	uint32_t count, *map;
	const struct store_module *modules = store_reader_modules(part->reader, &count);

	if (!array_resize(&part->modules, (size_t)count + 1, sizeof *map))
		return error_memory(error);
	map = part->modules;
	for (uint32_t id = part->module_count; id < count; id++) {
		/* STORE_MODULE_RESERVED is no file. */
		map[id] = id ? module_unify(run, p, &modules[id]) : INTERN_TABLE_NONE;
		if (id && map[id] == INTERN_TABLE_NONE)
			return error_memory(error);
	}
	part->module_count = count;
	return 0;
}

/* ---- metrics ---- */

static bool metric_equal(const void *element, const void *key)
{
	const struct run_metric *a = element, *b = key;

	return a->name == b->name && a->is_real == b->is_real && a->kind == b->kind;
}

static uint32_t metric_unify(struct run *run, unsigned p, const struct store_metric *m)
{
	struct run_metric metric = {
		run_intern_text(run, p, m->name), run_intern_text(run, p, m->unit), m->is_real, m->kind};
	uint64_t hash = intern_table_hash((uintptr_t)metric.name, metric.is_real);
	uint32_t id = intern_table_find(&run->metrics, hash, metric_equal, &metric);
	struct run_metric *element;

	if (id != INTERN_TABLE_NONE)
		return id;
	element = intern_table_add(&run->metrics, &id);
	if (!element || !intern_table_index(&run->metrics, id, hash))
		return INTERN_TABLE_NONE;
	*element = metric;
	return id;
}

static int metrics_renew(struct run *run, unsigned p, struct error *error)
{
	struct run_part *part = &run->parts[p];
	uint32_t count, *map;
	const struct store_metric *metrics = store_reader_metrics(part->reader, &count);

	if (!array_resize(&part->metrics, (size_t)count + 1, sizeof *map))
		return error_memory(error);
	map = part->metrics;
	for (uint32_t id = part->metric_count; id < count; id++) {
		map[id] = metric_unify(run, p, &metrics[id]);
		if (map[id] == INTERN_TABLE_NONE)
			return error_memory(error);
	}
	part->metric_count = count;
	return 0;
}

uint32_t run_metric_count(const struct run *run)
{
	return run->metrics.count;
}

static const struct run_metric *metric_at(const struct run *run, uint32_t metric)
{
	static const struct run_metric none = {"", "", false};

	return metric < run->metrics.count ? intern_table_at(&run->metrics, metric) : &none;
}

const char *run_metric_name(const struct run *run, uint32_t metric)
{
	return metric_at(run, metric)->name;
}

const char *run_metric_unit(const struct run *run, uint32_t metric)
{
	return metric_at(run, metric)->unit;
}

enum store_metric_kind run_metric_kind(const struct run *run, uint32_t metric)
{
	return (enum store_metric_kind)metric_at(run, metric)->kind;
}

bool run_metric_is_real(const struct run *run, uint32_t metric)
{
	return metric_at(run, metric)->is_real;
}

int run_metric_compare(const struct run *run, uint32_t a, uint32_t b)
{
	const struct run_metric *x = metric_at(run, a), *y = metric_at(run, b);
	int order = strcmp(x->name, y->name);

	order = order ? order : strcmp(x->unit, y->unit);
	return order ? order : (int)x->is_real - (int)y->is_real;
}

uint32_t run_metric_of(const struct run *run, unsigned store, uint32_t metric_in_store)
{
	const struct run_part *part = store < run->part_count ? &run->parts[store] : NULL;

	return part && metric_in_store < part->metric_count ? part->metrics[metric_in_store]
							    : INTERN_TABLE_NONE;
}

/* ---- operations ---- */

static bool op_equal(const void *element, const void *key)
{
	return ((const struct run_text *)element)->bytes == key;
}

const char *run_op_name(const struct run *run, uint32_t op)
{
	const char *name = store_op_name(op);

	if (name)
		return name;
	if (op < STORE_OP_TEXT || op - STORE_OP_TEXT >= run->ops.count)
		return "";
	return ((struct run_text *)intern_table_at(&run->ops, op - STORE_OP_TEXT))->bytes;
}

/* Assigns numbers on first use. */
uint32_t run_op_named(struct run *run, const char *name, size_t size)
{
	struct run_text *op;
	uint32_t id;

	if (!size)
		return STORE_OP_NONE;
	id = store_op_find(name, size);
	if (id != STORE_OP_COUNT)
		return id;
	name = run_intern(run, name, size);
	id = intern_table_find(&run->ops, intern_table_hash(0, (uintptr_t)name), op_equal, name);
	if (id != INTERN_TABLE_NONE)
		return STORE_OP_TEXT + id;
	op = intern_table_add(&run->ops, &id);
	if (!op)
		return STORE_OP_NONE;
	*op = (struct run_text){name, (uint32_t)size};
	(void)intern_table_index(&run->ops, id, intern_table_hash(0, (uintptr_t)name));
	return STORE_OP_TEXT + id;
}

uint32_t run_op_of(const struct run *run, unsigned store, uint32_t op_in_store)
{
	size_t size = 0;
	const char *name;

	if (op_in_store < STORE_OP_COUNT || store >= run->part_count)
		return op_in_store < STORE_OP_COUNT ? op_in_store : STORE_OP_NONE;
	name = store_reader_op(run->parts[store].reader, op_in_store, &size);
	return name ? run_op_named((struct run *)run, name, size) : STORE_OP_NONE;
}

bool run_has_op(const struct run *run, const char *glob)
{
	for (uint32_t op = 0; op < STORE_OP_COUNT; op++)
		if (glob_match(glob, store_op_name(op)))
			return true;
	for (unsigned p = 0; p < run->part_count; p++) {
		const struct store_reader *reader = run->parts[p].reader;

		for (uint32_t id = 0; id < store_reader_text_count(reader); id++)
			if (glob_match(glob, store_reader_text_peek(reader, id)))
				return true;
	}
	return false;
}

int run_ids_renew(struct run *run, struct error *error)
{
	int code = 0;

	for (unsigned p = 0; p < run->part_count && !code; p++) {
		code = modules_renew(run, p, error);
		if (!code)
			code = metrics_renew(run, p, error);
	}
	return code;
}
