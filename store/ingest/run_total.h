/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_total.h - the weights of the whole run by context, over all streams and all time, added up while
 * samples are encoded. Stored as the rollup of stream STORE_ROLLUP_ALL: a profile of the whole run is then
 * one read, whatever the run's length.
 */
#ifndef STORE_RUN_TOTAL_H
#define STORE_RUN_TOTAL_H

#include "store/rollup/rollup_write.h"

/* All-zero is empty; `contexts` must be set. */
struct store_run_total {
	const uint32_t *contexts; /* number of contexts; a record's context is below it */
	struct store_run_total_metric {
		struct store_run_total_sum {
			uint64_t samples, weight;
		} * sums; /* [context] */
		uint32_t metric;
		size_t room;
	} * metrics;
	uint32_t metric_count, metric_capacity;
	uint64_t samples, put_samples; /* samples so far, and when last written */
	uint32_t entries;
	bool is_put; /* by the current transaction */
	bool is_bad; /* a record's context was invalid, or no memory: there is no total */
};
void store_run_total_fini(struct store_run_total *total);

/* Adds samples. */
void store_run_total_add(struct store_run_total *total, const struct store_record *records, size_t count);
/* Adds the samples of one metric of `count` contexts. */
void store_run_total_add_sums(
	struct store_run_total *total, uint32_t metric, const struct store_sum *entries, uint32_t count);
/* Writes it with `is_end`; otherwise only when the new samples outweigh the cost. LMDB's code or ENOMEM. */
int store_run_total_put(struct store_run_total *total, struct store_rollup_maker *maker, MDB_txn *txn,
	const MDB_dbi dbi[STORE_TREE_COUNT], bool is_end);
/* The transaction of the last put was committed. */
void store_run_total_committed(struct store_run_total *total);

#endif
