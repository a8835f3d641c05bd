/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - what can be measured on this machine: one row per capability, tested by trying it where that is
 * harmless. One doctor_PART.c checks one part of the machine; hpct-doctor prints the rows.
 */
#ifndef RECORD_DOCTOR_H
#define RECORD_DOCTOR_H

#include <stdbool.h>

enum doctor_state {
	DOCTOR_YES,
	DOCTOR_PARTLY, /* works, with a limit that the user could lift */
	DOCTOR_NO,     /* forbidden */
	DOCTOR_NONE    /* absent or not wanted; no problem */
};

#define DOCTOR_TEXT 256

struct doctor_row {
	const char *capability;
	enum doctor_state state;
	char reason[DOCTOR_TEXT]; /* the finding, or why not more works */
	char remedy[DOCTOR_TEXT]; /* "": nothing to do */
	bool is_vital;		  /* if DOCTOR_NO, no program can be recorded */
};

struct doctor_check {
	const char *capability; /* the row's name */
	void (*look)(struct doctor_row *row);
	bool is_vital;
};

/* Tables end with a NULL capability. */
extern const struct doctor_check doctor_programs[]; /* hpct's own programs and libraries, a recording */
extern const struct doctor_check doctor_process[];  /* timers, memory, descriptors, processes */
extern const struct doctor_check doctor_kernel[];   /* perf events and what limits them */
extern const struct doctor_check doctor_place[];    /* the folder, the terminal, servers */
extern const struct doctor_check doctor_devices[];  /* GPUs and counter libraries */

/* Fills a row. `remedy` NULL: none. */
__attribute__((format(printf, 4, 5))) void doctor_say(
	struct doctor_row *row, enum doctor_state state, const char *remedy, const char *reason, ...);

/* First line of a small file such as /proc/sys/...; false: unreadable. */
bool doctor_line(const char *path, char *line, unsigned room);
/* The number in such a file; `missing` if unreadable. */
long doctor_number(const char *path, long missing);

/* True if the kernel would grant this process the capability (CAP_..., linux/capability.h) on the host.
 * Root of a container or user namespace has few of these. */
bool doctor_has(unsigned capability);

/* Finds a shared library as the loader would; true: sets its path. Loads it in a child process, because
 * driver libraries run much code when loaded. */
bool doctor_library(const char *name, char *path, unsigned room);

/* A recording of a short program, and what hpct-info says of it, in a directory of its own that is removed.
 */
struct doctor_recording {
	int code, info_code; /* exit codes of hpct-record and hpct-info */
	bool has_no_place;   /* no directory could be made; `said` says where */
	char said[8192], info_said[16384];
};
void doctor_recording_try(struct doctor_recording *try);

#endif
