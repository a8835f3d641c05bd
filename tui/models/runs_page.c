/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_page.c - lists the runs in the directory of the shown one. A run's first store is read only when its
 * line is on the screen.
 */
#include "tui/models/runs_page.h"

#include <stdlib.h>
#include <string.h>

#include "store/read/reader.h"

void runs_page_free(struct runs_page *page)
{
	if (!page)
		return;
	run_find_all_free(page->found, page->count);
	free(page->entries);
	free(page);
}

static struct runs_page *look(const struct session *session)
{
	struct runs_page *page = calloc(1, sizeof(*page));
	const char *path = run_path(session->run), *slash = strrchr(path, '/');
	struct error error;

	if (!page)
		return NULL;
	snprintf(page->directory, sizeof(page->directory), "%.*s", slash ? (int)(slash - path) : 1,
		slash ? path : ".");
	if (slash == path)
		strcpy(page->directory, "/");
	if (run_find_all(page->directory, &page->found, &page->count, &error))
		snprintf(page->trouble, sizeof(page->trouble), "%s", error.text);
	page->entries = calloc(page->count + 1, sizeof(*page->entries));
	for (size_t i = 0; i < page->count; i++)
		if (strcmp(page->found[i].path, path) == 0)
			page->line = i;
	if (page->entries)
		return page;
	runs_page_free(page);
	return NULL;
}

void runs_page_renew(struct session *session)
{
	runs_page_free(session->runs);
	session->runs = look(session);
}

static void take_meta(struct runs_entry *entry, const struct store_reader *reader)
{
	const char *command = store_reader_meta(reader, "command"), *host = store_reader_meta(reader, "host"),
		   *state = store_reader_meta(reader, "state");

	snprintf(entry->command, sizeof(entry->command), "%s", command ? command : "");
	snprintf(entry->host, sizeof(entry->host), "%s", host ? host : "");
	snprintf(entry->state, sizeof(entry->state), "%s", state ? state : "");
}

void runs_page_read(struct runs_page *page, size_t at)
{
	const struct run_found *run = &page->found[at];
	struct runs_entry *entry = &page->entries[at];
	struct store_reader *reader;
	struct error error;
	char **names, *path;
	size_t count;

	entry->is_read = true;
	if (run_find_stores(run->path, &names, &count, &error)) {
		snprintf(entry->command, sizeof(entry->command), "%.255s", error.text);
		return;
	}
	path = NULL;
	if (asprintf(&path, "%s/%s", run->path, names[0]) < 0)
		path = NULL;
	if (path && store_reader_open(&reader, path, &error)) {
		snprintf(entry->command, sizeof(entry->command), "%.255s", error.text);
	} else if (path) {
		take_meta(entry, reader);
		store_reader_close(reader);
	}
	free(path);
	run_find_free(names, count);
}
