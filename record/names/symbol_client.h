/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_client.h - the collector's side of hpct-names: asks for the names of frames that are new in the
 * store, puts the answers in. hpct-names reads untrusted binaries in a niced process of its own; if it dies
 * or hangs, recording goes on and the names stay open for readers to find.
 *
 *   new contexts -> frames not asked yet -> REQUEST pipe -> hpct-names -> ANSWER pipe -> symbols
 */
#ifndef RECORD_SYMBOL_CLIENT_H
#define RECORD_SYMBOL_CLIENT_H

#include "record/names/source_copies.h"

struct symbol_client;

/* `program`: path of hpct-names. Nothing is started until there is something to name. Files that answers
 * mention are told to `sources`, which stays the caller's. */
int symbol_client_new(struct symbol_client **client, const char *program, struct source_copies *sources,
	struct error *error);
void symbol_client_free(struct symbol_client *client);

/* Queues the frames of contexts added since the last call. */
void symbol_client_ask(struct symbol_client *client, struct store_writer *writer);
/* Moves what the pipes take and give without waiting. */
void symbol_client_pump(struct symbol_client *client, struct store_writer *writer);
/* Descriptor that becomes readable with answers, -1: none. */
int symbol_client_descriptor(const struct symbol_client *client);
/* Frames asked for and not answered yet. */
uint32_t symbol_client_outstanding(const struct symbol_client *client);

#endif
