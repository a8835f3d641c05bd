/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - the parsed question of hpct-blame, and the functions that print answers: one file per answer,
 * on standard output in the requested format. main_blame.c parses the question and chooses.
 */
#ifndef BLAME_ANSWER_H
#define BLAME_ANSWER_H

#include "blame/idle/idle.h"
#include "blame/wait/last_arrival.h"
#include "timeline/report/program.h"

enum ask_of {
	ASK_GPU_IDLE,
	ASK_GPU_IDLE_SAMPLED,
	ASK_ALL_IDLE, /* the part of it in which no thread works: contexts in which they wait */
	ASK_CPU_IDLE,
	ASK_CPU_IDLE_CAUSE,
	ASK_WAITING,
	ASK_SERIAL,
	ASK_LOCK, /* waits for locks: where, by what their holders did, by who waited for whom */
	ASK_LOCK_HOLDER,
	ASK_LOCK_PAIR,
	ASK_OF_COUNT
};
enum answer_shape {
	ASK_PAGE,
	ASK_ROWS,
	ASK_SUMMARY,
	ASK_TREE,
	ASK_GAPS,
	ASK_LATE,
	ASK_IMBALANCE,
	ASK_FINDINGS
};

struct ask {
	enum ask_of of;
	bool has_of;
	enum answer_shape shape;
	enum idle_busy busy;
	bool has_busy;
	enum idle_group group;
	bool has_group;
	const char *waits_path; /* NULL: only the built-in table */
	struct wait_functions *waits;
};

/* ERROR_USAGE for two answers at once, or an option without effect on the answer. */
int option_check_shape(struct ask *ask, enum answer_shape shape, struct error *error);
int option_check(const struct ask *ask, const struct select *select, struct error *error);

/* The idle-GPU question of the selector and the options. */
struct idle_question answer_idle_question(const struct program_call *call, const struct ask *ask);
/* The same of all chosen streams but the threads of MPI's libraries (helper_threads.h); `left_out`: how many.
 */
int answer_program_question(struct idle_question *question, uint32_t *left_out, struct program_call *call,
	const struct ask *ask, struct error *error);
/* A sentence about those; NULL of none. In the call's arena. */
const char *answer_left_out(struct program_call *call, uint32_t left_out);
/* The requested key. ERROR_USAGE: no such key. */
int answer_find_by(const struct program_call *call, enum row_key_by *by, struct error *error);

/* A part of the total without a cause: always the last row. */
struct answer_bucket {
	const char *key;
	uint64_t time_ns;
	uint64_t whole_ns;  /* 100 % */
	uint64_t others_ns; /* what streams have that the selector does not choose: the row before */
};
#define ANSWER_OTHERS "<other streams>"
/* Prints shares in the requested shape: rows "key blame_ns percent", or a tree. */
int answer_print_shares(struct program_call *call, const struct ask *ask, const struct exact_share *shares,
	size_t count, const struct answer_bucket *bucket, struct error *error);
/* Top-down, in the columns of hpct-profile; the bucket is a root of its own. */
int answer_print_tree(struct program_call *call, const struct exact_share *shares, size_t count,
	const struct answer_bucket *bucket, struct error *error);
/* "rank 1", or "process 4000.0" without ranks, or "thread 2 worker"; in `arena`. */
const char *answer_party_name(const struct run *run, uint32_t stream, struct arena *arena);
/* "rank 1", "rank 1 as sender", "cpu:..."; in the call's arena. */
const char *answer_late_name(struct program_call *call, const struct last_arrival_party *party);
/* How the clocks of several hosts were put together, and how sure that is; NULL of one clock. In `arena`. */
const char *answer_late_clocks(const struct last_arrival *late, struct arena *arena);
/* Above a table: that records were lost, if any were; what its numbers are, and that. */
void answer_print_losses(const struct program_call *call);
void answer_print_definition(const struct program_call *call, const char *text);
/* Rows "key value". */
struct answer_fact {
	const char *key;
	uint64_t value;
};
int answer_print_facts(
	const struct program_call *call, const struct answer_fact *facts, size_t count, struct error *error);

/* Each prints one answer, in the requested shape. */
int answer_gpu_idle(struct program_call *call, const struct ask *ask, struct error *error);
int answer_page(struct program_call *call, const struct ask *ask, struct error *error);
struct threads;
int answer_threads(struct program_call *call, const struct ask *ask, struct error *error);
int answer_threads_page(struct program_call *call, const struct ask *ask, struct error *error);
int answer_lock(struct program_call *call, const struct ask *ask, struct error *error);
int answer_late(struct program_call *call, const struct ask *ask, struct error *error);
int answer_findings(struct program_call *call, const struct ask *ask, struct error *error);
int answer_steps(struct program_call *call, const struct ask *ask, struct error *error);
int answer_balance(struct program_call *call, const struct ask *ask, struct error *error);
int answer_gaps(struct program_call *call, const struct ask *ask, struct error *error);
int answer_cpu_idle(struct program_call *call, const struct ask *ask, struct error *error);

#endif
