/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcrun_file.h - reads what HPCToolkit's hpcrun writes into its measurement directory, a profile (.hpcrun,
 * version 4) and a trace (.hpctrace, version 1.01) for each thread and GPU stream. Knows only the files;
 * hpcrun_import.c makes a run of them. All numbers are big-endian, none is trusted.
 *
 *   .hpcrun    | magic, facts | modules | nodes of the call tree | metrics | kinds of ids | ids, values |
 * footer | .hpctrace  | magic, flags | (time, node) ...
 */
#ifndef FORMATS_HPCRUN_FILE_H
#define FORMATS_HPCRUN_FILE_H

#include "store/base/bytes.h"

#define HPCRUN_MAGIC "HPCRUN-profile____"
#define HPCRUN_TRACE_MAGIC "HPCRUN-trace______"
#define HPCRUN_HEAD_BYTES 24u	    /* magic, version, order of bytes */
#define HPCRUN_TRACE_HEAD_BYTES 32u /* and flags */
#define HPCRUN_TRACE_ELEMENT_BYTES 12u

/* A profile in memory: its parts, whose readers are below. */
struct hpcrun_file {
	struct store_input facts, modules, nodes, metrics, kinds, values;
};

/* False: it is no profile of version 4, or has no footer, or parts that do not lie in it. The bytes are the
 * caller's, and outlive the file. */
bool hpcrun_file_open(struct hpcrun_file *file, const uint8_t *bytes, size_t size);

/* The next number of `size` bytes; 0 behind the end, which sets input->bad. */
uint64_t hpcrun_number(struct store_input *input, unsigned size);

struct hpcrun_text {
	const char *bytes; /* without a NUL */
	size_t size;
};

/* Each `next` takes what stands there; false: nothing is left, or input->bad: it is damaged. `count` is
 * what hpcrun_count() gave, and counts down. */
uint64_t hpcrun_count(struct store_input *part, unsigned size);

struct hpcrun_fact {
	struct hpcrun_text name, value;
};
bool hpcrun_fact_next(struct store_input *facts, uint64_t *count, struct hpcrun_fact *fact);

struct hpcrun_module {
	struct hpcrun_text path;
	uint16_t id;
};
bool hpcrun_module_next(struct store_input *modules, uint64_t *count, struct hpcrun_module *module);

#define HPCRUN_MODULE_NONE 0u	    /* the offset is a word of hpcrun's own, hpcrun_word() */
#define HPCRUN_MODULE_RANGES 65531u /* this and above: groups of PC samples, no frames */

struct hpcrun_node {
	uint64_t offset; /* of a caller: in its call */
	uint32_t id, parent;
	uint16_t module;
};
bool hpcrun_node_next(struct store_input *nodes, uint64_t *count, struct hpcrun_node *node);

struct hpcrun_metric {
	struct hpcrun_text name;
	uint64_t period; /* values count in it */
	bool is_real;
	bool is_derived; /* computed of others: no values */
};
bool hpcrun_metric_next(struct store_input *metrics, uint64_t *count, struct hpcrun_metric *metric);

enum hpcrun_kind {
	HPCRUN_SUMMARY,
	HPCRUN_NODE,
	HPCRUN_RANK,
	HPCRUN_THREAD,
	HPCRUN_DEVICE,
	HPCRUN_CONTEXT,
	HPCRUN_STREAM,
	HPCRUN_CORE,
	HPCRUN_KINDS
};
struct hpcrun_identity {
	uint64_t ids[HPCRUN_KINDS];
	bool has[HPCRUN_KINDS];
};
/* Of which thread or stream the profile is; first of `values`. */
void hpcrun_identity_read(struct store_input *values, struct hpcrun_identity *identity);

/* What follows there: values (bits, metric), then (node, the first of its values) and an end. */
struct hpcrun_values {
	const uint8_t *values, *owners;
	uint64_t count, owner_count;
};
bool hpcrun_values_read(struct store_input *values, struct hpcrun_values *found);
/* Of the i-th owner: its node, and its values [*first, *end). */
uint32_t hpcrun_values_owner(const struct hpcrun_values *values, uint64_t i, uint64_t *first, uint64_t *end);
uint64_t hpcrun_value_at(const struct hpcrun_values *values, uint64_t i, uint16_t *metric);

/* hpcrun's words, as "GPUTrace", by their name in a call path; NULL: it is none that is known. */
const char *hpcrun_word(uint64_t offset);
#define HPCRUN_WORD(a, b, c, d, e, f, g, h)                                                      \
	((uint64_t)(a) << 56 | (uint64_t)(b) << 48 | (uint64_t)(c) << 40 | (uint64_t)(d) << 32 | \
		(uint64_t)(e) << 24 | (uint64_t)(f) << 16 | (uint64_t)(g) << 8 | (uint64_t)(h))
#define HPCRUN_WORD_PRIMARY HPCRUN_WORD('^', 'P', 'r', 'i', 'm', 'a', 'r', 'y')
#define HPCRUN_WORD_IDLE HPCRUN_WORD('N', 'o', 'A', 'c', 't', 'v', 't', 'y')
#define HPCRUN_WORD_MAIN HPCRUN_WORD('|', ' ', 'M', 'a', 'i', 'n', ' ', ' ')

#endif
