/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_tree.h - the processes of a run: who started whom, with which command, and how each ended. Read
 * from the attributes `parent=`, `command=`, `title=`, `exit=` and `signal=` of their main threads. An exec
 * is a process of its own here, with the same parent.
 *
 *   parent=P   the process of that pid and host that began last before the child did
 */
#ifndef TIMELINE_PROCESS_TREE_H
#define TIMELINE_PROCESS_TREE_H

#include "store/base/arena.h"
#include "timeline/run/run.h"

#define PROCESS_TREE_NONE UINT32_MAX

struct process_tree_node {
	uint32_t stream;	   /* of the main thread, else its first one */
	uint32_t parent;	   /* node; PROCESS_TREE_NONE: not in the run, or not known */
	uint32_t depth;		   /* 0: has no parent in the run */
	uint32_t threads, queues;  /* streams */
	uint64_t begin_ns, end_ns; /* life of its streams; end STORE_OPEN_NS: it runs */
	uint64_t parent_pid;	   /* 0: not known */
	const char *command;	   /* "" if not known */
	const char *title;	   /* that it gave itself, "postgres: checkpointer"; "" if none */
	const char *exit;	   /* "3", "signal 9", "exec"; "" if not known */
};

struct process_tree {
	struct process_tree_node *nodes; /* a parent before its children, children by begin */
	uint32_t count;
	const uint32_t *node_of; /* by stream */
};

/* In `arena`. Reads the first spans of each main thread. */
int process_tree_make(struct process_tree *tree, struct run *run, struct arena *arena, struct error *error);

#endif
