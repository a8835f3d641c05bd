/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - the modules, metrics and symbols of one store. Modules and metrics are few, so a linear search
 * finds them.
 *
 *   module | size varint | kind | build id size, bytes | path text | load_ns | unload_ns | 1 if hidden |
 *   metric | size varint | name text | unit text | is real |
 *   symbol | scopes x | kind | name | file | line | decl file | decl line | start | |
 *
 * All numbers are varints. The size lets an older reader skip fields that a newer writer appended.
 */
#ifndef STORE_MODULE_H
#define STORE_MODULE_H

#include "store/base/bytes.h"
#include "store/catalog/text.h"
#include "store/store.h"

struct store_modules {
	struct store_module *modules; /* [0] is STORE_MODULE_RESERVED, all zero */
	uint32_t count, capacity;
	struct store_hash *identities; /* of each */
	uint32_t identity_count, identity_capacity;
	const struct store_texts *texts; /* holds the paths */
};

int store_modules_init(struct store_modules *modules, const struct store_texts *texts);
void store_modules_fini(struct store_modules *modules);
uint32_t store_modules_intern(struct store_modules *modules, const struct store_module *module);
void store_modules_put(const void *modules, uint32_t id, struct store_bytes *out);
/* Adds the module, or replaces the one of that id. */
int store_modules_get(void *modules, uint32_t id, struct store_input *input);

struct store_metrics {
	struct store_metric *metrics;
	uint32_t count, capacity;
};

void store_metrics_fini(struct store_metrics *metrics);
uint32_t store_metrics_intern(struct store_metrics *metrics, const struct store_metric *metric);
void store_metrics_put(const void *metrics, uint32_t id, struct store_bytes *out);
int store_metrics_get(void *metrics, uint32_t id, struct store_input *input);

void store_symbol_put(struct store_bytes *out, const struct store_scope *scopes, size_t count);
/* Number of scopes, at most STORE_SCOPE_MAX; input->bad when the bytes are damaged. */
int store_symbol_get(struct store_input *input, struct store_scope *scopes, uint32_t texts);

#endif
