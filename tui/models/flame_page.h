/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_page.h - the flame graph of the window, of all streams that the filter keeps: which metric is wide,
 * which way it grows, the box with the cursor and the one that is zoomed into. view_flame.c draws it. With a
 * second run the boxes are B's, and each knows what A had on that path (all streams of both). So it is with a
 * window that was kept: the boxes are this window's, and A's values are taken as if it were as long.
 */
#ifndef TUI_FLAME_PAGE_H
#define TUI_FLAME_PAGE_H

#include "timeline/profile/flame.h"
#include "tui/session/session.h"

struct flame_page {
	struct arena arena;		     /* of the profile and the boxes */
	uint64_t *before;		     /* by box: A's value of the same path; NULL: one run */
	uint64_t before_total, gone;	     /* A's sum; of it, paths that B does not have */
	uint64_t kept_begin_ns, kept_end_ns; /* the window A; both 0: none */
	double scale;			     /* of A's values; 1: two runs, or windows of one length */
	uint8_t *is_match;		     /* by box, of the last search; NULL: none */
	uint64_t matched;		     /* inclusive value of the boxes that match, each once */
	struct flame flame;
	uint64_t key; /* of the question that it answers */
	bool is_loaded, is_bottom_up;
	int metric;	       /* flame_page_metric() */
	uint32_t cursor, zoom; /* boxes */
	uint32_t top;	       /* depth at the top of the screen */
	char trouble[1100];    /* why there is nothing to show; "" */
};

/* The page, made at the first call; NULL: memory is out. */
struct flame_page *flame_page_of(struct session *session);
void flame_page_free(struct flame_page *page);
/* Computes the boxes if the question has changed. False: nothing to show, `trouble` says why. */
bool flame_page_take(struct session *session, struct flame_page *page);
/* What is wide: "on CPU", "wall time", "blocked", "GPU kernels"; the next one. */
const char *flame_page_metric(const struct flame_page *page);
/* As --metric takes it; NULL: without the option. */
const char *flame_page_option(const struct flame_page *page);
void flame_page_next_metric(struct flame_page *page);

/* Keeps the frame's window as A; again: no more. */
void flame_page_keep(struct session *session, struct flame_page *page);
/* The window A as --time takes it, or "off". */
void flame_page_against(struct session *session, const char *value);
/* The window A, for people: "1.25..2 s". */
void flame_page_put_kept(
	const struct session *session, const struct flame_page *page, char *out, size_t size_bytes);

/* Of a box of two runs: 1 more in B than in A, -1 less, 0 about the same. */
int flame_page_change(const struct flame_page *page, uint32_t box);

/* The cursor to the caller, the widest callee, or the neighbour on the same depth that `columns` have room
 * for. */
void flame_page_up(struct flame_page *page);
void flame_page_down(struct flame_page *page);
void flame_page_beside(struct flame_page *page, bool is_left, uint32_t columns);
/* To the next box whose function session->find matches. */
void flame_page_find(struct session *session, bool is_back);

#endif
