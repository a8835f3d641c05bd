/* SPDX-License-Identifier: Apache-2.0 */
/* collect_internal.h - inside the collector: what it holds, and what its parts do for each other. Only
 * collect*.c includes it. All of it belongs to the thread of the collector's loop. */
#ifndef RECORD_COLLECT_INTERNAL_H
#define RECORD_COLLECT_INTERNAL_H

#include "record/base/clock_anchor.h"
#include "record/collect/children.h"
#include "record/collect/collect.h"
#include "record/collect/local_spool.h"
#include "record/launch/summary.h"
#include "record/names/symbol_client.h"
#include "record/process/process.h"

struct handshake;

struct launcher {
	struct launcher *next;
	int connection;
	bool is_in_other_pid_namespace; /* in a pid namespace of its own */
	bool has_ended;
	uint32_t pid;	   /* of its program, if an agent of that is to register; 0: none is */
	uint64_t begin_ns; /* ahead of its program's begin */
};

/* A connection that has not said yet who it is. */
struct caller {
	struct caller *next;
	int connection;
	uint64_t since_ns;
};

struct collector {
	const struct collect_plan *plan;
	struct rendezvous rendezvous;
	int listener;
	int abstract_listener; /* -1: none */
	struct store_writer *writer;
	struct symbol_client *symbol_client;
	struct source_copies sources;
	struct measured_process *processes;
	struct launcher *launchers;
	struct caller *callers;
	struct children children;
	uint32_t host_text;
	uint64_t committed_ns, drained_ns;
	uint64_t commit_ns; /* that the last commit took */
	uint64_t filled_ns; /* how long rings had filled when they were last drained */
	uint64_t ending_ns; /* since when a launcher waits for our last word; 0: none does */
	uint64_t progress_ns;
	struct clock_anchor anchor;
	uint64_t origin_ns; /* before any program of the run began */
	struct summary summary;
	bool is_dirty;	 /* there is something to commit */
	bool has_failed; /* the store takes no more: drain and count on */
	bool is_closing; /* nobody is left to be recorded */
	bool is_settled; /* and all of it is named and summed up */
	bool is_full; /* no descriptor was left for who waits at the listener: one that is freed lets it in */
	bool is_called; /* the listener has a connection, or a launcher something to say */
	struct error failure;
	struct local_spool spool;
};

/* collect_store.c */

/* Makes the store. Negative: nothing is left of it. */
int collect_store_make(struct collector *collector, struct error *error);
/* A store that cannot be written any more keeps what it has; the rings are drained all the same, so that the
 * program never meets a full one, and what they held counts as lost. */
void collect_store_failed(struct collector *collector, const struct error *error);
/* What was drained so far is on disk then, and readers know how far that reaches. */
void collect_commit(struct collector *collector);
void collect_commit_if_due(struct collector *collector);
/* When that will be, a moment late: who comes early has to come again. INT_MAX: nothing waits. */
int collect_commit_due_ms(const struct collector *collector);
/* Has the first commit come earlier than the next ones. */
void collect_commit_soon(struct collector *collector);

/* collect_callers.c */

/* Accepts who waits at the listener, and hears those that have not said hello yet. */
void collect_callers_serve(struct collector *collector);

/* collect_processes.c; what came with `handshake` becomes the process's, or is closed */

void collect_process_take(struct collector *collector, struct handshake *handshake);
/* One more thread of a process that sends them one by one. */
void collect_switches_take(struct collector *collector, struct handshake *handshake);
/* What came without its descriptors is not measured, or not all of it. */
void collect_cut_count(struct collector *collector, const struct handshake *handshake);
/* What a process may not keep itself, because the program closes what it does not know. */
void collect_kept_take(struct collector *collector, struct handshake *handshake);
/* The binary of GPU code. */
void collect_gpu_module_take(struct collector *collector, const struct handshake *handshake);
/* Takes its last records, closes its streams and frees it; *link is the next one then. */
void collect_process_end(struct collector *collector, struct measured_process **link);

/* collect_launchers.c */

/* The connection becomes a launcher's, which is told that we are ready. */
void collect_launcher_take(struct collector *collector, int connection, const struct handshake *handshake);
/* Hears what they say; those that are gone are forgotten. */
void collect_launchers_serve(struct collector *collector);
/* True: one has said that its program has ended, and waits for RENDEZVOUS_DONE. */
bool collect_launchers_have_ended(const struct collector *collector);
/* RENDEZVOUS_PROGRESS with a number, or RENDEZVOUS_DONE, to those. */
void collect_launchers_send(struct collector *collector, enum rendezvous_message_type type, uint64_t number);
/* Closes their connections. */
void collect_launchers_dismiss(struct collector *collector);
/* No store, no recording: who started the program is told why, and agents find nobody to talk to. */
void collect_launchers_refuse(const struct collector *collector, const struct error *why);

#endif
