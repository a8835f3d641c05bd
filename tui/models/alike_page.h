/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alike_page.h - which streams of the window do alike and which do not (timeline/stats/clusters.h).
 * view_alike.c draws it.
 */
#ifndef TUI_ALIKE_PAGE_H
#define TUI_ALIKE_PAGE_H

#include "store/base/arena.h"
#include "timeline/stats/clusters.h"
#include "tui/session/session.h"

struct alike_page {
	struct clusters clusters; /* its heat map has the lines */
	struct arena arena;	  /* of them */
	uint32_t line, top;	  /* the cursor's line; the first one on the screen */
	uint64_t key;		  /* of the question that it answers */
	bool is_loaded;
	char trouble[1100]; /* why there is nothing to show; "" */
};

/* The page, made at the first call; NULL: memory is out. */
struct alike_page *alike_page_of(struct session *session);
void alike_page_free(struct alike_page *page);
/* Compares the streams if the window or the filter has changed. False: nothing to show, `trouble` says why.
 */
bool alike_page_take(struct session *session, struct alike_page *page);
/* The stream of a line. */
const struct cluster_stream *alike_page_stream(const struct alike_page *page, uint32_t line);

#endif
