/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critical_list.h - the critical path of the window as a list of stretches, the longest first: what the
 * window's end waited for (blame/wait/critical_run.h), over all streams of the run.
 */
#ifndef TUI_CRITICAL_LIST_H
#define TUI_CRITICAL_LIST_H

#include "tui/session/session.h"

#define CRITICAL_LIST_MAX 50u

struct critical_stretch {
	uint64_t begin_ns, end_ns;
	uint32_t stream;
	uint32_t context; /* that takes most of it; 0: not known */
	uint32_t party;	  /* of a wait: who let it go on; UINT32_MAX: nobody known */
	const char *kind; /* of a wait: "lock", "child"; NULL: work */
};

struct critical_list {
	struct critical_stretch items[CRITICAL_LIST_MAX];
	uint32_t count;
	size_t all; /* stretches of the path */
	bool is_shown;
	/* of the last answer */
	uint64_t begin_ns, end_ns, run_end_ns;
	char trouble[1100]; /* reason if there is nothing to show, else "" */
};

/* Made at the first call, kept by the session. NULL: no memory. */
struct critical_list *critical_list_of(struct session *session);
void critical_list_free(struct critical_list *list);
/* Of the window on the screen. False: nothing to show, `trouble` says why; a key may have come first. */
bool critical_list_take(struct session *session, struct critical_list *list);

#endif
