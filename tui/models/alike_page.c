/* SPDX-License-Identifier: Apache-2.0 */
/* alike_page.c - see alike_page.h. */
#include "tui/models/alike_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"
#include "tui/session/deadline.h"

struct alike_page *alike_page_of(struct session *session)
{
	if (!session->alike)
		session->alike = calloc(1, sizeof(*session->alike));
	return session->alike;
}

void alike_page_free(struct alike_page *page)
{
	if (page)
		arena_fini(&page->arena);
	free(page);
}

static int compare_streams(struct session *session, struct alike_page *page, struct error *error)
{
	struct select *select;
	int result = session_select(&select, session, error);

	if (result)
		return result;
	result = clusters_make(&page->clusters, session->run, select, NULL, 0, &page->arena, error);
	select_free(select);
	return result;
}

static void load(struct session *session, struct alike_page *page)
{
	struct error error = {0};

	arena_fini(&page->arena);
	page->arena = (struct arena){0};
	page->clusters = (struct clusters){0};
	page->trouble[0] = '\0';
	page->is_loaded = true;
	if (compare_streams(session, page, &error)) {
		page->clusters = (struct clusters){0};
		page->is_loaded = !deadline_read_later(session);
		snprintf(page->trouble, sizeof(page->trouble), "%s",
			page->is_loaded ? error.text : "reading ...");
	} else if (!page->clusters.heat_count) {
		snprintf(page->trouble, sizeof(page->trouble), "There are no streams to compare.");
	}
	page->line = page->line < page->clusters.heat_count ? page->line : 0;
}

bool alike_page_take(struct session *session, struct alike_page *page)
{
	uint64_t of[] = {session->frame.begin_ns, session->frame.end_ns, run_end_ns(session->run)};
	uint64_t key = store_hash64(
		session->filter, strlen(session->filter), store_hash64(of, sizeof(of), session->frame.depth));

	if (!page->is_loaded || key != page->key) {
		page->key = key;
		load(session, page);
	}
	return page->trouble[0] == '\0';
}

const struct cluster_stream *alike_page_stream(const struct alike_page *page, uint32_t line)
{
	return &page->clusters.streams[page->clusters.heat_streams[line]];
}
