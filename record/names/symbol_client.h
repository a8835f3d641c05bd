/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_client.h - the collector's client of hpct-names: requests symbols for new frames and stores the
 * answers. hpct-names parses untrusted binaries in a separate, niced process; if it dies or hangs, recording
 * continues, and `hpct-names RUN` finds the rest later.
 *
 *   new contexts -> unrequested frames -> REQUEST pipe -> hpct-names -> ANSWER pipe -> symbols
 */
#ifndef RECORD_SYMBOL_CLIENT_H
#define RECORD_SYMBOL_CLIENT_H

#include "record/names/source_copies.h"

struct symbol_client;

/* `program`: path of hpct-names, which starts with the first request. Source files in answers go to
 * `sources`, which stays the caller's. */
int symbol_client_new(struct symbol_client **client, const char *program, struct source_copies *sources,
	struct error *error);
void symbol_client_free(struct symbol_client *client);

/* Queues requests for the frames of contexts added since the last call. */
void symbol_client_ask(struct symbol_client *client, struct store_writer *writer);
/* Writes and reads the pipes without blocking. */
void symbol_client_pump(struct symbol_client *client, struct store_writer *writer);
/* Descriptor that becomes readable with answers; -1: none. */
int symbol_client_descriptor(const struct symbol_client *client);
/* The program has ended, and with it what may have taken the descriptors and processes that the child lacks:
 * a child that still cannot be started after some pumps never can. */
void symbol_client_begin_end(struct symbol_client *client, struct store_writer *writer);
/* Number of unanswered requests whose answers may still come. */
uint32_t symbol_client_outstanding(const struct symbol_client *client);
/* Number of frames without an answer, whether one may come or not. */
uint32_t symbol_client_unnamed(const struct symbol_client *client);

#endif
