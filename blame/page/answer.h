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
	ASK_GIL, /* for Python's GIL: by what its holders did, where, by who waited for whom */
	ASK_GIL_WAIT,
	ASK_GIL_PAIR,
	ASK_OMP,      /* OpenMP's regions */
	ASK_MPI_WAIT, /* single waits in calls of MPI, by their states */
	ASK_OF_COUNT
};
/* As --of names them. */
extern const char *const answer_of_names[ASK_OF_COUNT];
#define ANSWER_OF_WORDS                                                                           \
	"gpu-idle, gpu-idle-sampled, all-idle, cpu-idle, cpu-idle-cause, waiting, serial, lock, " \
	"lock-holder, lock-pair, gil, gil-wait, gil-pair, omp or mpi-wait"
int answer_of_find(const char *name); /* -1: none */

enum answer_shape {
	ASK_PAGE,
	ASK_ROWS,
	ASK_SUMMARY,
	ASK_TREE,
	ASK_GAPS,
	ASK_LATE,
	ASK_IMBALANCE,
	ASK_FINDINGS,
	ASK_CRITICAL,
	ASK_MATRIX
};

struct ask {
	enum ask_of of;
	bool has_of;
	enum answer_shape shape;
	enum idle_busy busy;
	bool has_busy;
	enum idle_group group;
	bool has_group;
	bool is_svg;
	const char *waits_path; /* NULL: only the built-in table */
	struct wait_functions *waits;
	const struct stream_groups *groups; /* rows are these; NULL: keys of code */
};

/* ERROR_USAGE for two answers at once, or an option without effect on the answer. */
int option_check_shape(struct ask *ask, enum answer_shape shape, struct error *error);
int option_check_groups(const struct ask *ask, const struct select *select, struct error *error);
int option_check(const struct ask *ask, const struct select *select, struct error *error);

/* The idle-GPU question of the selector and the options. */
struct idle_question answer_idle_question(const struct program_call *call, const struct ask *ask);
/* The same of all chosen streams but the threads of MPI's libraries (helper_threads.h); `left_out`: how many.
 */
int answer_program_question(struct idle_question *question, uint32_t *left_out, struct program_call *call,
	const struct ask *ask, struct error *error);
/* A sentence about those; NULL of none. In the call's arena. */
const char *answer_left_out(struct program_call *call, uint32_t left_out);
/* The requested key of code. ERROR_USAGE: no such key. */
int answer_find_by(const struct program_call *call, enum row_key_by *by, struct error *error);

/* A part of the total without a cause: always the last row. */
struct answer_bucket {
	const char *key;
	uint64_t time_ns;
	uint64_t whole_ns;  /* 100 % */
	uint64_t others_ns; /* what streams have that the selector does not choose: the row before */
};
#define ANSWER_OTHERS "<other streams>"
/* Blame by context, before it is made into rows. */
struct answer_shares {
	const struct exact_share *shares;
	size_t count;
	struct answer_bucket bucket;
};
/* The blame that `of` asks for, without printing. ERROR_EMPTY like the sweeps. In the call's arena. */
int answer_shares_find(
	struct answer_shares *shares, struct program_call *call, const struct ask *ask, struct error *error);
int answer_gpu_idle_shares(
	struct answer_shares *shares, struct program_call *call, const struct ask *ask, struct error *error);
int answer_cpu_idle_shares(
	struct answer_shares *shares, struct program_call *call, const struct ask *ask, struct error *error);
int answer_threads_shares(
	struct answer_shares *shares, struct program_call *call, const struct ask *ask, struct error *error);
/* Their rows by the requested key, without those of the bucket. */
int answer_rows_make(struct exact_share_rows *rows, struct program_call *call,
	const struct answer_shares *shares, struct error *error);
/* Prints shares in the requested shape: rows "key blame_ns percent", or a tree. */
int answer_print_shares(struct program_call *call, const struct ask *ask, const struct answer_shares *shares,
	struct error *error);
/* Top-down, in the columns of hpct-profile; the bucket is a root of its own. */
int answer_print_tree(struct program_call *call, const struct exact_share *shares, size_t count,
	const struct answer_bucket *bucket, struct error *error);
/* "rank 1", or "process 4000.0" without ranks, or "thread 2 worker"; in `arena`. */
const char *answer_party_name(const struct run *run, uint32_t stream, struct arena *arena);
/* "rank 1", "rank 1 as sender", "cpu:..."; in the call's arena. */
const char *answer_late_name(struct program_call *call, const struct last_arrival_party *party);
/* How the clocks of several hosts were put together, and how sure that is; NULL of one clock. In `arena`. */
const char *answer_late_clocks(const struct last_arrival *late, struct arena *arena);
struct answer_late_row {
	const char *key, *path; /* path: NULL: none */
	uint64_t blame_ns;
	uint64_t whole_ns; /* 100 % */
	uint64_t waited_ns, last, occasions;
};
struct answer_late_rows {
	struct answer_late_row *rows;
	size_t count;
	uint64_t left;	  /* of --top, or of the terminal's default */
	uint64_t parties; /* all that the selection asks for, those behind --top, too */
	uint32_t left_out;
	struct last_arrival late;
};
/* Who came last, without printing; in the call's arena. ERROR_EMPTY: nothing is monitored in the window. */
int answer_late_rows(
	struct answer_late_rows *rows, struct program_call *call, const struct ask *ask, struct error *error);
/* 0 of nothing. */
static inline double answer_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}
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

/* The key of a gap's context, in `key`, ended by NUL: a call into a GPU runtime is one function. */
int answer_gap_key(const struct program_call *call, uint32_t context, enum row_key_by by,
	struct store_bytes *key, struct error *error);

/* Each prints one answer, in the requested shape. */
int answer_gpu_idle(struct program_call *call, const struct ask *ask, struct error *error);
int answer_page(struct program_call *call, const struct ask *ask, struct error *error);
struct threads;
int answer_threads(struct program_call *call, const struct ask *ask, struct error *error);
int answer_threads_page(struct program_call *call, const struct ask *ask, struct error *error);
int answer_lock(struct program_call *call, const struct ask *ask, struct error *error);
/* Whether that key of --of lock is one of its own: a chain, a convoy. */
bool answer_lock_queue_is(const char *by);
int answer_lock_queue(struct program_call *call, const struct ask *ask, struct error *error);
int answer_omp(struct program_call *call, const struct ask *ask, struct error *error);
int answer_late(struct program_call *call, const struct ask *ask, struct error *error);
int answer_causes(struct program_call *call, const struct ask *ask, struct error *error);
int answer_mpi_waits(struct program_call *call, const struct ask *ask, struct error *error);
int answer_matrix(struct program_call *call, const struct ask *ask, struct error *error);
int answer_critical(struct program_call *call, const struct ask *ask, struct error *error);
int answer_findings(struct program_call *call, const struct ask *ask, struct error *error);
int answer_steps(struct program_call *call, const struct ask *ask, struct error *error);
int answer_balance(struct program_call *call, const struct ask *ask, struct error *error);
int answer_gaps(struct program_call *call, const struct ask *ask, struct error *error);
int answer_cpu_idle(struct program_call *call, const struct ask *ask, struct error *error);

#endif
