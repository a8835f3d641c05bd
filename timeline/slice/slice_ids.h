/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_ids.h - maps ids of a store to ids of its copy: copies what an id names (a context with its parents,
 * modules and symbols, a metric, a text) on first use. For slice_copy.c.
 */
#ifndef TIMELINE_SLICE_IDS_H
#define TIMELINE_SLICE_IDS_H

#include "store/read/reader.h"
#include "store/write/writer.h"
#include "timeline/base/key_ids.h"
#include "timeline/slice/slice_files.h"

struct slice_ids {
	struct store_reader *reader;
	struct store_writer *writer;
	const struct store_context *from_contexts;
	const struct store_module *from_modules;
	const struct store_metric *from_metrics;
	uint32_t context_count, module_count, metric_count;
	uint32_t *contexts, *modules, *metrics; /* id there -> id here + 1; 0: not copied yet */
	struct key_ids frames;			/* whose symbols were copied */
	struct slice_files files;		/* needed files, copied at the end */
	struct store_scope *scopes;		/* scratch */
};

/* Reader and writer must outlive it. Call slice_ids_fini also after a failure. */
int slice_ids_init(
	struct slice_ids *ids, struct store_reader *reader, struct store_writer *writer, struct error *error);
void slice_ids_fini(struct slice_ids *ids);

/* The copy's id of a text, a metric, an operation: 0 for an unknown metric; operations without a text have
 * the same id everywhere. The writer reports missing memory at its commit. */
uint32_t slice_ids_text(struct slice_ids *ids, uint32_t text);
uint32_t slice_ids_metric(struct slice_ids *ids, uint32_t metric);
uint32_t slice_ids_op(struct slice_ids *ids, uint32_t op);
/* The copy's id of a context, with its ancestors; STORE_CONTEXT_NONE for an unknown one. */
int slice_ids_context(struct slice_ids *ids, uint32_t context, uint32_t *to, struct error *error);

#endif
