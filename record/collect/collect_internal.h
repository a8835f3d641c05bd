/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_internal.h - the collector's state, and functions its files share. Only collect*.c includes it.
 * Only the thread of the collector's loop uses it.
 */
#ifndef RECORD_COLLECT_INTERNAL_H
#define RECORD_COLLECT_INTERNAL_H

#include "record/base/clock_anchor.h"
#include "record/collect/children.h"
#include "record/collect/collect.h"
#include "record/collect/local_spool.h"
#include "record/gauges/gauges.h"
#include "record/launch/summary.h"
#include "record/names/symbol_client.h"
#include "record/process/process.h"

struct handshake;

struct launcher {
	struct launcher *next;
	int connection;
	bool is_in_other_pid_namespace; /* its pids are of another pid namespace than ours */
	bool has_ended;
	uint32_t pid;	   /* of its program, if its agent should register; 0: none */
	uint64_t begin_ns; /* a time before its program began */
};

/* A connection whose handshake has not arrived yet. */
struct caller {
	struct caller *next;
	int connection;
	uint64_t since_ns;
};

/* What hpct-record --start and --stop asked for, see collect_control.c. */
struct collect_control {
	bool is_on;	    /* at the begin: unless it is dormant */
	uint32_t asked;	    /* how often somebody asked */
	uint64_t off_ns;    /* no process is sampled since then; 0: one is */
	uint64_t asked_ns;  /* when somebody asked last */
	uint64_t nudged_ns; /* when processes that have not obeyed were last reminded */
};

struct collector {
	const struct collect_plan *plan;
	struct rendezvous rendezvous;
	int listener;
	int abstract_listener; /* -1: none */
	struct store_writer *writer;
	struct symbol_client *symbol_client;
	struct source_copies sources;
	struct gauges *gauges; /* NULL: none */
	struct measured_process *processes;
	struct launcher *launchers;
	struct caller *callers;
	struct children children;
	uint32_t host_text;
	uint64_t committed_ns, drained_ns;
	uint64_t commit_ns; /* duration of the last commit */
	uint64_t filled_ns; /* how long the rings filled before the last drain */
	uint64_t ending_ns; /* since when a launcher waits for RENDEZVOUS_DONE; 0: none waits */
	uint64_t progress_ns;
	struct clock_anchor anchor;
	uint64_t origin_ns; /* a time before any program of the run began */
	struct summary summary;
	struct collect_control control;
	bool is_dirty;	 /* uncommitted data exists */
	bool has_failed; /* the store cannot be written: keep draining and counting */
	bool is_closing; /* no process is left to record */
	bool is_settled; /* and all data is symbolized and summed */
	bool is_full;	 /* a connection waits for a free descriptor */
	bool is_called;	 /* the listener or a launcher's connection is readable */
	struct error failure;
	struct local_spool spool;
};

/* collect_store.c */

/* Makes the store. On failure (negative) removes all its traces. */
int collect_store_make(struct collector *collector, struct error *error);
/* Handles a store that cannot be written any more. It keeps its content; the collector drains on, so that
 * the program never meets a full ring, and counts the drained records as lost. */
void collect_store_failed(struct collector *collector, const struct error *error);
/* Commits the drained records and the watermark up to which readers can rely on them. */
void collect_commit(struct collector *collector);
void collect_commit_if_due(struct collector *collector);
/* Time until the next commit is due, rounded up so that one wake-up suffices. INT_MAX: nothing to commit. */
int collect_commit_due_ms(const struct collector *collector);
/* Makes the first commit happen earlier than later ones. */
void collect_commit_soon(struct collector *collector);

/* collect_callers.c */

/* Accepts pending connections and reads handshakes. */
void collect_callers_serve(struct collector *collector);

/* collect_processes.c; they own the descriptors in `handshake` */

void collect_process_take(struct collector *collector, struct handshake *handshake);
/* Adds the switch ring of one thread, of a process that sends its threads one by one. */
/* Opens switch records for the threads of injected agents that have none yet. */
void collect_injected_follow(struct collector *collector);
void collect_switches_take(struct collector *collector, struct handshake *handshake);
/* Counts a process or thread whose descriptors did not arrive: it is measured partly or not at all. */
void collect_cut_count(struct collector *collector, const struct handshake *handshake);
/* Holds descriptors for a process whose program would close them. */
void collect_kept_take(struct collector *collector, struct handshake *handshake);
/* Stores a GPU binary. */
void collect_gpu_module_take(struct collector *collector, const struct handshake *handshake);
/* Drains a last time, closes the streams and frees the process. *link becomes the next one. */
void collect_process_end(struct collector *collector, struct measured_process **link);
/* Tells the processes that this one started who started them; before its children are announced. */
void collect_parents_learn(struct collector *collector, const struct measured_process *parent);

/* collect_control.c */

void collect_control_init(struct collector *collector);
/* Answers hpct-record --start, --stop or --status, and does it. */
void collect_control_serve(struct collector *collector, int connection, const struct handshake *handshake);
/* After each drain: tells processes that do not know yet what was asked. */
void collect_control_pass(struct collector *collector);
/* How long it may wait for the next pass. */
int collect_control_due_ms(const struct collector *collector);

/* collect_launchers.c */

/* Makes the connection a launcher's and sends it RENDEZVOUS_READY. */
void collect_launcher_take(struct collector *collector, int connection, const struct handshake *handshake);
/* Reads the launchers' messages; forgets launchers that hung up. */
void collect_launchers_serve(struct collector *collector);
/* True if a launcher's program has ended, so that it waits for RENDEZVOUS_DONE. */
bool collect_launchers_have_ended(const struct collector *collector);
/* Sends RENDEZVOUS_PROGRESS with a number, or RENDEZVOUS_DONE, to those launchers. */
void collect_launchers_send(struct collector *collector, enum rendezvous_message_type type, uint64_t number);
/* Closes their connections. */
void collect_launchers_dismiss(struct collector *collector);
/* Without a store there is no recording: reports why to the launchers and closes the listener to agents. */
void collect_launchers_refuse(const struct collector *collector, const struct error *why);

#endif
