/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_total.h - the weights of the whole run by context, over all streams and all time, added up while
 * samples are encoded. It is the rollup of stream STORE_ROLLUP_ALL: what a profile of the whole run asks for
 * is then one read, however long the run.
 */
#ifndef STORE_RUN_TOTAL_H
#define STORE_RUN_TOTAL_H

#include "store/rollup/rollup_write.h"

/* All-zero is empty, but that `contexts` must be set. */
struct store_run_total {
	const uint32_t *contexts; /* how many there are: a record names none beyond */
	struct store_run_total_metric {
		struct store_run_total_sum {
			uint64_t samples, weight;
		} * sums; /* [context] */
		uint32_t metric;
		size_t room;
	} * metrics;
	uint32_t metric_count, metric_capacity;
	uint64_t samples, put_samples; /* so far; when it was put last */
	uint32_t entries;
	bool is_put; /* by the transaction at hand */
	bool is_bad; /* a record's context was none, or memory is out: there is no total */
};
void store_run_total_fini(struct store_run_total *total);

/* Adds samples. */
void store_run_total_add(struct store_run_total *total, const struct store_record *records, size_t count);
/* Adds what each of `count` contexts has in samples of one metric. */
void store_run_total_add_sums(
	struct store_run_total *total, uint32_t metric, const struct store_sum *entries, uint32_t count);
/* Puts it with `is_end`, else only when so much is new that putting costs little beside it. LMDB's code or
 * ENOMEM. */
int store_run_total_put(struct store_run_total *total, struct store_rollup_maker *maker, MDB_txn *txn,
	const MDB_dbi dbi[STORE_TREE_COUNT], bool is_end);
/* The transaction of the last put is in the file. */
void store_run_total_committed(struct store_run_total *total);

#endif
