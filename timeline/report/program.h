/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - the common part of every reader's main(): options from a table, the selector, the run, --help,
 * error message and exit code. A program declares its options and works in one function.
 *
 *   main -> program_main -> parse -> run_open -> select_bind -> work(call)
 */
#ifndef TIMELINE_PROGRAM_H
#define TIMELINE_PROGRAM_H

#include "store/base/arena.h"
#include "timeline/report/report.h"
#include "timeline/select/select.h"

enum program_use {
	PROGRAM_FORMAT = 1, /* --format */
	PROGRAM_SELECT = 2, /* the selector's options; the run is bound to them */
	PROGRAM_RUN = 4,    /* the operand is a run (default: the newest here); options as below */
	PROGRAM_RUNS = 8, /* --debug-path, --debuginfod, --python, --runtime, --no-rollups, --jobs, --mem, for
			     runs that the program opens itself */
	PROGRAM_STATE_METRICS = 16, /* --metric may name derived metrics (state_metrics.h) */
	PROGRAM_GPU = 32,	    /* ... and those of GPU operations (gpu_metric.h) */
	PROGRAM_BESIDE = 64,	    /* a second operand is a run shown beside the first: the program calls
				       select_bind_time() once it knows both */
	PROGRAM_FORMULAS = 128,	    /* --metric 'NAME = FORMULA' (formula_columns.h) */
	PROGRAM_ROW_FORMULAS = 256  /* the same, done by all reports of the program (report_formulas.h); if
				       `refused` has "metric", --metric takes nothing else */
};

struct program_option {
	char letter; /* 0: none */
	const char *name;
	const char *value; /* its name in --help; NULL: a flag */
	const char *help;
	/* `own` is the program's; `value` NULL for a flag, else it lives as long as argv. 0 or negative.
	 * NULL: the value (const char *), or true (bool), is put into `own` at the offset `to`. */
	int (*take)(void *own, const char *value, struct error *error);
	size_t to;
};

struct program_call {
	enum report_format format;
	bool is_format_given, no_pager;
	struct select *select; /* NULL without PROGRAM_SELECT */
	struct run_options run_options;
	struct run *run;       /* NULL without PROGRAM_RUN */
	const char *run_path;  /* NULL: none was named */
	bool is_newest;	       /* no run was named: this is the newest here */
	const char **operands; /* without the run */
	size_t operand_count;
	struct arena arena; /* freed after the call */
	void *own;
};

struct program {
	const char *name;
	const char *about;    /* one line */
	const char *operands; /* in the usage line: "[RUN]" */
	size_t operands_min, operands_max;
	unsigned uses;	     /* enum program_use */
	const char *metric;  /* that --metric may name beside the run's; NULL: none */
	const char *refused; /* selector options that mean nothing to this program: "by top", NULL: none */
	const struct program_option *options;
	size_t option_count;
	/* Once the words are read, before the run is opened, whose path an option may have told; NULL:
	 * nothing. */
	void (*prepare)(struct program_call *call);
	const char *notes; /* printed below the options, one paragraph per line, wrapped when printed;
			      NULL: none */
	int (*work)(struct program_call *call, struct error *error);
};

/* Returns the exit code. */
int program_main(const struct program *program, void *own, int argc, char **argv);

/* The first rows of a ranking: those that --top asks for, PROGRAM_TERMINAL_ROWS on a terminal, else all
 * (UINT64_MAX). */
#define PROGRAM_TERMINAL_ROWS 20u
uint64_t program_top(const struct program_call *call);
/* Behind such a ranking of `count` rows: says that the terminal's default has left some out. */
void program_say_left_out(const struct program_call *call, uint64_t count);

/* For other main() functions; program_main does both. Where stdin, stdout or stderr is closed, opens a
 * placeholder, so that no file or pipe of ours gets that descriptor; writing still fails. Ignores SIGXFSZ,
 * so that a file beyond `ulimit -f` is an error like a full disk. */
void program_standard_reserve(void);

/* ERROR_IO if output to stdout was lost. */
int program_standard_flush(struct error *error);

#endif
