/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_process.h - hpct-names as a child of the collector, and the two pipes to it. Starts with the first
 * request and again after it died. Only symbol_process_end blocks.
 *
 *   out -> REQUESTs -> hpct-names --pipe -> ANSWERs -> in        (store/catalog/symbol_protocol.h)
 */
#ifndef RECORD_SYMBOL_PROCESS_H
#define RECORD_SYMBOL_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "store/base/bytes.h"

struct symbol_process {
	char *program;
	pid_t pid;		/* 0: not running */
	int to, from;		/* pipe ends, -1: none */
	unsigned starts;	/* number of starts */
	struct store_bytes out; /* to be written; the caller appends */
	size_t out_sent;	/* bytes of `out` already written */
	struct store_bytes in;	/* bytes read; the caller consumes them */
};

/* `program`: path of hpct-names; copied. -1: no memory. */
int symbol_process_init(struct symbol_process *child, const char *program);
/* Kills a running child. */
void symbol_process_fini(struct symbol_process *child);

/* Starts the child with empty buffers. False: it cannot be started now, for lack of descriptors, memory or
 * processes, or was started too often. */
bool symbol_process_start(struct symbol_process *child);
/* Kills a running child; the content of `out` and `in` becomes invalid. */
void symbol_process_stop(struct symbol_process *child);
/* True if it has died so often that it is not started again. */
bool symbol_process_is_over(const struct symbol_process *child);
/* Closes its input and waits a moment for it to end: with all answered, it saves its results in the cache
 * for other runs. */
void symbol_process_end(struct symbol_process *child);

/* Writes as much of `out` as the pipe takes. False: the child has died. */
bool symbol_process_write(struct symbol_process *child);
/* Reads into `in`. 1: more may come, 0: nothing now, -1: the child has died. */
int symbol_process_read(struct symbol_process *child);

#endif
