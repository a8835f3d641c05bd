/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_page.h - what would make the kernels of the window faster: the text of hpct-advise, of the kernel
 * under the cursor, or of all where there is none. view_advice.c draws it.
 */
#ifndef TUI_ADVICE_PAGE_H
#define TUI_ADVICE_PAGE_H

#include "tui/session/session.h"

struct advice_page {
	char *text;	    /* "": nothing to show */
	const char **lines; /* their begins in it; each ends before a newline */
	uint32_t count;
	uint32_t top;		   /* line at the top of the screen */
	char kernel[SESSION_TEXT]; /* "": all */
	uint64_t key;		   /* of the question that it answers */
	bool is_loaded, is_all;	   /* is_all: of all kernels, wherever the cursor stands */
	char trouble[1100];	   /* why there is nothing to show; "" */
};

/* The run has samples of GPU instructions. */
bool advice_page_is_offered(const struct session *session);
/* The kernel that holds most of the cursor's cell, as the run names it; "": none. */
const char *advice_page_kernel_at_cursor(struct session *session);
/* The page, made at the first call; NULL: memory is out. */
struct advice_page *advice_page_of(struct session *session);
void advice_page_free(struct advice_page *page);
/* Reads the samples if the question has changed. False: nothing to show, `trouble` says why. */
bool advice_page_take(struct session *session, struct advice_page *page);
/* From one piece of advice to the next, or to the one before. False: there is none. */
bool advice_page_step(struct advice_page *page, bool is_back);
/* Copies the name of the kernel that the line at the top is about; false: of none. */
bool advice_page_top_kernel(const struct advice_page *page, char *out, size_t size_bytes);

#endif
