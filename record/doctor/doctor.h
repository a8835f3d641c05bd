/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - what can be measured here: one row per capability, found out by trying it where that does no
 * harm. The checks of one part of a machine stand in one doctor_PART.c; hpct-doctor prints the rows.
 */
#ifndef RECORD_DOCTOR_H
#define RECORD_DOCTOR_H

#include <stdbool.h>

enum doctor_state {
	DOCTOR_YES,
	DOCTOR_PARTLY, /* it works, with a limit that could be lifted */
	DOCTOR_NO,     /* something forbids it */
	DOCTOR_NONE    /* not on this machine, or not wanted: nothing is wrong */
};

#define DOCTOR_TEXT 256

struct doctor_row {
	const char *capability;
	enum doctor_state state;
	char reason[DOCTOR_TEXT]; /* what was found; why it is not more */
	char remedy[DOCTOR_TEXT]; /* "": nothing to do */
	bool is_vital;		  /* NO: no program can be recorded */
};

struct doctor_check {
	const char *capability; /* also the row's name */
	void (*look)(struct doctor_row *row);
	bool is_vital;
};

/* Tables ended by a NULL capability. */
extern const struct doctor_check doctor_process[]; /* timers, memory, descriptors, processes */
extern const struct doctor_check doctor_kernel[];  /* perf events and what limits them */
extern const struct doctor_check doctor_place[];   /* the folder, the terminal, servers */
extern const struct doctor_check doctor_devices[]; /* GPUs and counter libraries */

/* Fills a row. `remedy` NULL: none. */
__attribute__((format(printf, 4, 5))) void doctor_say(
	struct doctor_row *row, enum doctor_state state, const char *remedy, const char *reason, ...);

/* First line of a small file such as /proc/sys/...; false: it cannot be read. */
bool doctor_line(const char *path, char *line, unsigned room);
/* Its number; `missing` when it cannot be read. */
long doctor_number(const char *path, long missing);

/* This process has the capability (CAP_..., linux/capability.h) as the kernel asks for it where a user's
 * rights end: root of a container or of a user namespace has few of them. */
bool doctor_has(unsigned capability);

/* Finds a shared library as the loader would, in a process of its own: libraries of drivers do much when
 * they are loaded. true: its path. */
bool doctor_library(const char *name, char *path, unsigned room);

#endif
