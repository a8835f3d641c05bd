/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.c - modules, metrics and symbols: look-up, encoding and decoding.
 */
#include "store/catalog/module.h"

#include <stdlib.h>

#include "store/base/hash.h"
#include "store/base/id_table.h"

/* Puts what `entry` holds, led by its size. */
static void put_sized(struct store_bytes *out, struct store_bytes *entry)
{
	out->failed |= entry->failed;
	store_bytes_put_varint(out, entry->size);
	store_bytes_put(out, entry->data, entry->size);
	store_bytes_fini(entry);
}

/* The entry that is led by its size. */
static struct store_input get_sized(struct store_input *input)
{
	uint64_t size = store_input_varint(input);
	const uint8_t *at = store_input_take(input, size);

	return (struct store_input){.at = at, .end = at ? at + size : NULL, .bad = !at};
}

/* ---- modules ---- */

int store_modules_init(struct store_modules *modules, const struct store_texts *texts)
{
	*modules = (struct store_modules){.texts = texts};
	if (!store_id_table_add(
		    &modules->modules, &modules->count, &modules->capacity, sizeof *modules->modules) ||
		!store_id_table_add(&modules->identities, &modules->identity_count,
			&modules->identity_capacity, sizeof *modules->identities))
		return -1;
	return 0;
}

void store_modules_fini(struct store_modules *modules)
{
	free(modules->modules);
	free(modules->identities);
	*modules = (struct store_modules){0};
}

#define HIDDEN_KIND 0x80u /* beside the kind, in the identity of a module without a build id */

/* Identity of a module across stores: its build id, else its kind and path. */
static struct store_hash store_module_identity(const struct store_module *module, struct store_slice path)
{
	struct store_bytes bytes = {0};
	struct store_hash hash = {0};
	uint8_t head[2] = {module->build_id_bytes != 0, (uint8_t)module->kind};

	if (head[0]) {
		head[1] = module->is_hidden;
		store_bytes_put(&bytes, head, sizeof head);
		store_bytes_put(&bytes, module->build_id, module->build_id_bytes);
	} else {
		head[1] |= module->is_hidden ? HIDDEN_KIND : 0;
		store_bytes_put(&bytes, head, sizeof head);
		store_bytes_put(&bytes, path.bytes, path.size);
	}
	if (!bytes.failed)
		hash = store_hash128(bytes.data, bytes.size);
	store_bytes_fini(&bytes);
	return hash;
}

static uint32_t modules_append(struct store_modules *modules, const struct store_module *module)
{
	struct store_module *to;
	struct store_hash *identity;

	identity = store_id_table_add(&modules->identities, &modules->identity_count,
		&modules->identity_capacity, sizeof *identity);
	if (!identity)
		return STORE_ID_FAILED;
	to = store_id_table_add(&modules->modules, &modules->count, &modules->capacity, sizeof *to);
	if (!to) {
		modules->identity_count--;
		return STORE_ID_FAILED;
	}
	*to = *module;
	*identity = store_module_identity(module, store_texts_at(modules->texts, module->path));
	return modules->count - 1;
}

uint32_t store_modules_intern(struct store_modules *modules, const struct store_module *module)
{
	struct store_hash wanted =
		store_module_identity(module, store_texts_at(modules->texts, module->path));

	for (uint32_t id = 1; id < modules->count; id++)
		if (modules->identities[id].low == wanted.low && modules->identities[id].high == wanted.high)
			return id;
	return modules_append(modules, module);
}

void store_modules_put(const void *modules, uint32_t id, struct store_bytes *out)
{
	const struct store_module *module = &((const struct store_modules *)modules)->modules[id];
	struct store_bytes entry = {0};

	store_bytes_put_varint(&entry, module->kind);
	store_bytes_put_varint(&entry, module->build_id_bytes);
	store_bytes_put(&entry, module->build_id, module->build_id_bytes);
	store_bytes_put_varint(&entry, module->path);
	store_bytes_put_varint(&entry, module->load_ns);
	store_bytes_put_varint(&entry, module->unload_ns);
	if (module->is_hidden)
		store_bytes_put_varint(&entry, 1);
	put_sized(out, &entry);
}

int store_modules_get(void *modules, uint32_t id, struct store_input *input)
{
	struct store_modules *of = modules;
	struct store_input entry = get_sized(input);
	struct store_module module = {.kind = store_input_u32(&entry)};
	uint64_t build_id_bytes = store_input_varint(&entry);
	const uint8_t *build_id = store_input_take(&entry, build_id_bytes);

	module.path = store_input_u32(&entry);
	module.load_ns = store_input_varint(&entry);
	module.unload_ns = store_input_varint(&entry);
	if (!entry.bad && entry.at < entry.end)
		module.is_hidden = store_input_varint(&entry) == 1;
	if (entry.bad || build_id_bytes > sizeof module.build_id || module.path >= of->texts->count) {
		input->bad = true;
		return 0;
	}
	module.build_id_bytes = (uint8_t)build_id_bytes;
	memcpy(module.build_id, build_id, build_id_bytes);
	if (id == 0)
		return 0;
	if (id < of->count) {
		of->modules[id].unload_ns = module.unload_ns;
		return 0;
	}
	return modules_append(of, &module) == STORE_ID_FAILED ? -1 : 0;
}

/* ---- metrics ---- */

void store_metrics_fini(struct store_metrics *metrics)
{
	free(metrics->metrics);
	*metrics = (struct store_metrics){0};
}

uint32_t store_metrics_intern(struct store_metrics *metrics, const struct store_metric *metric)
{
	struct store_metric *to;

	for (uint32_t id = 0; id < metrics->count; id++)
		if (metrics->metrics[id].name == metric->name && metrics->metrics[id].unit == metric->unit &&
			metrics->metrics[id].is_real == metric->is_real &&
			metrics->metrics[id].kind == metric->kind)
			return id;
	to = store_id_table_add(&metrics->metrics, &metrics->count, &metrics->capacity, sizeof *to);
	if (!to)
		return STORE_ID_FAILED;
	*to = *metric;
	return metrics->count - 1;
}

void store_metrics_put(const void *metrics, uint32_t id, struct store_bytes *out)
{
	const struct store_metric *metric = &((const struct store_metrics *)metrics)->metrics[id];
	struct store_bytes entry = {0};

	store_bytes_put_varint(&entry, metric->name);
	store_bytes_put_varint(&entry, metric->unit);
	store_bytes_put_varint(&entry, metric->is_real);
	store_bytes_put_varint(&entry, metric->kind);
	put_sized(out, &entry);
}

int store_metrics_get(void *metrics, uint32_t id, struct store_input *input)
{
	struct store_metrics *of = metrics;
	struct store_input entry = get_sized(input);
	struct store_metric metric, *to;
	uint64_t kind;

	metric.name = store_input_u32(&entry);
	metric.unit = store_input_u32(&entry);
	metric.is_real = store_input_varint(&entry) != 0;
	kind = entry.bad || entry.at == entry.end ? STORE_METRIC_AMOUNT : store_input_varint(&entry);
	metric.kind = kind < STORE_METRIC_KINDS ? (uint8_t)kind : STORE_METRIC_AMOUNT;
	if (entry.bad) {
		input->bad = true;
		return 0;
	}
	if (id < of->count)
		return 0;
	to = store_id_table_add(&of->metrics, &of->count, &of->capacity, sizeof *to);
	if (!to)
		return -1;
	*to = metric;
	return 0;
}

/* ---- symbols ---- */

void store_symbol_put(struct store_bytes *out, const struct store_scope *scopes, size_t count)
{
	store_bytes_put_varint(out, count);
	for (size_t i = 0; i < count; i++) {
		store_bytes_put_varint(out, scopes[i].kind);
		store_bytes_put_varint(out, scopes[i].name);
		store_bytes_put_varint(out, scopes[i].file);
		store_bytes_put_varint(out, scopes[i].line);
		store_bytes_put_varint(out, scopes[i].decl_file);
		store_bytes_put_varint(out, scopes[i].decl_line);
		store_bytes_put_varint(out, scopes[i].start);
	}
}

int store_symbol_get(struct store_input *input, struct store_scope *scopes, uint32_t texts)
{
	uint64_t count = store_input_varint(input);

	if (count > STORE_SCOPE_MAX)
		input->bad = true;
	for (uint64_t i = 0; i < count && !input->bad; i++) {
		struct store_scope *scope = &scopes[i];

		scope->kind = store_input_u32(input);
		scope->name = store_input_u32(input);
		scope->file = store_input_u32(input);
		scope->line = store_input_u32(input);
		scope->decl_file = store_input_u32(input);
		scope->decl_line = store_input_u32(input);
		scope->start = store_input_varint(input);
		if (scope->name >= texts || scope->file >= texts || scope->decl_file >= texts)
			input->bad = true;
	}
	return input->bad ? 0 : (int)count;
}
