/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_class.h - what kind of thing a thread did, by its state and by the functions on its path: the
 * outermost call into MPI, I/O, memory management or a GPU runtime decides; else an OpenMP runtime's own
 * code; the rest of its work is computing.
 */
#ifndef BLAME_TIME_CLASS_H
#define BLAME_TIME_CLASS_H

#include "blame/base/wait_functions.h"
#include "timeline/sum/window.h"

#define TIME_CLASSES(X)                                                        \
	X(COMPUTE, "compute", "computing")                                     \
	X(MPI, "mpi", "in MPI, working or waiting")                            \
	X(OPENMP, "openmp", "in the OpenMP runtime")                           \
	X(IO, "io", "reading and writing files")                               \
	X(MEMORY, "memory", "allocating, copying and clearing memory")         \
	X(GPU, "gpu", "in calls of a GPU runtime: launches, synchronizations") \
	X(WAIT, "wait", "waiting for locks, threads, sleep and the like")      \
	X(RUNNABLE, "runnable", "waiting for a core")                          \
	X(UNKNOWN, "unknown", "unknown, lost or unmonitored")                  \
	X(ABSENT, "absent", "not born yet, or ended")
enum time_class {
#define X(name, word, text) TIME_##name,
	TIME_CLASSES(X)
#undef X
		TIME_CLASS_COUNT
};
const char *time_class_name(enum time_class class);
const char *time_class_text(enum time_class class);
int time_class_find(const char *name); /* -1: none */

struct time_classes;
/* `waits` must outlive it. */
int time_classes_new(
	struct time_classes **classes, struct run *run, struct wait_functions *waits, struct error *error);
void time_classes_free(struct time_classes *classes);
/* Of a piece of a CPU thread's time. Paths are walked once. */
enum time_class time_class_of(struct time_classes *classes, const struct window_time *piece);

#endif
