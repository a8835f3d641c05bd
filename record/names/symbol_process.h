/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_process.h - hpct-names as a child of the collector, and the two pipes to it. It is started when
 * there is something to ask, again after it has died, and nothing here waits for it but symbol_process_end.
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
	int to, from;		/* ends of the pipes, -1: none */
	unsigned starts;	/* so far */
	struct store_bytes out; /* to be written: the caller appends */
	size_t out_sent;	/* of it */
	struct store_bytes in;	/* was read: the caller takes it out */
};

/* `program`: path of hpct-names; it is copied. 0, or -1: memory is out. */
int symbol_process_init(struct symbol_process *child, const char *program);
/* Kills it if it runs. */
void symbol_process_fini(struct symbol_process *child);

/* Both pipes are empty then. false: it cannot be started, or has been started too often. */
bool symbol_process_start(struct symbol_process *child);
/* Kills it if it runs; what is in `out` and `in` is of no use any more. */
void symbol_process_stop(struct symbol_process *child);
/* It has died so often that it is not started again. */
bool symbol_process_is_over(const struct symbol_process *child);
/* Lets it end by itself: with nothing left to answer it keeps what it found for other runs. Waits for that a
 * moment. */
void symbol_process_end(struct symbol_process *child);

/* Writes of `out` what the pipe takes. false: the child is gone. */
bool symbol_process_write(struct symbol_process *child);
/* Reads into `in`: 1: more may come, 0: nothing now, -1: the child is gone. */
int symbol_process_read(struct symbol_process *child);

#endif
