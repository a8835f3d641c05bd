/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - opens runs for a connection, once each, and keeps texts that rows repeat.
 */
#include "formats/sql/session.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "store/base/escape.h"
#include "timeline/names/names_fill.h"

/* ---- texts ---- */

static void forget_texts(struct sql_run *run)
{
	for (uint32_t i = 0; i < run->path_count; i++)
		free(run->paths[i]);
	free(run->paths);
	free(run->by_text);
	run->paths = NULL;
	run->by_text = NULL;
	run->path_count = run->by_text_count = 0;
}

static bool widen_paths(struct sql_run *run)
{
	uint32_t count = run_context_count(run->run);
	char **paths = realloc(run->paths, ((size_t)count + 1) * sizeof *paths);

	if (!paths)
		return false;
	memset(paths + run->path_count, 0, ((size_t)count + 1 - run->path_count) * sizeof *paths);
	run->paths = paths;
	run->path_count = count;
	return true;
}

const char *sql_run_path(struct sql_run *run, uint32_t context)
{
	struct arena arena = {0};
	const char *path;

	if (context >= run->path_count && (!widen_paths(run) || context >= run->path_count))
		return context >= run_context_count(run->run) ? "" : NULL;
	if (!run->paths[context]) {
		path = run_context_path(run->run, context, UINT32_MAX, &arena);
		run->paths[context] = path ? strdup(path) : NULL;
		arena_fini(&arena);
	}
	return run->paths[context];
}

static int compare_streams(const void *left, const void *right, void *own)
{
	const struct run *run = own;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = strcmp(run_stream(run, a)->text, run_stream(run, b)->text);

	return order ? order : (a > b) - (a < b);
}

static bool sort_streams(struct sql_run *run)
{
	uint32_t count = run_stream_count(run->run);

	if (run->by_text && run->by_text_count == count)
		return true;
	free(run->by_text);
	run->by_text = malloc(((size_t)count + 1) * sizeof *run->by_text);
	run->by_text_count = run->by_text ? count : 0;
	for (uint32_t i = 0; run->by_text && i < count; i++)
		run->by_text[i] = i;
	if (run->by_text)
		qsort_r(run->by_text, count, sizeof *run->by_text, compare_streams, run->run);
	return run->by_text;
}

uint32_t sql_run_stream(struct sql_run *run, const char *text)
{
	struct store_bytes raw = {0};
	uint32_t found = UINT32_MAX, from = 0, to;

	if (!sort_streams(run) || !escape_undo(&raw, text, strlen(text)))
		goto out;
	store_bytes_put(&raw, "", 1);
	to = raw.failed ? 0 : run->by_text_count;
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (strcmp(run_stream(run->run, run->by_text[middle])->text, (const char *)raw.data) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	if (from < run->by_text_count && !raw.failed &&
		strcmp(run_stream(run->run, run->by_text[from])->text, (const char *)raw.data) == 0)
		found = run->by_text[from];
out:
	store_bytes_fini(&raw);
	return found;
}

/* ---- runs ---- */

struct sql_session *sql_session_new(const struct run_options *options)
{
	struct sql_session *session = calloc(1, sizeof *session);

	if (session && options)
		session->options = *options;
	return session;
}

static void run_free(struct sql_run *run)
{
	forget_texts(run);
	run_close(run->run);
	free(run->place);
	free(run);
}

void sql_session_free(struct sql_session *session)
{
	while (session->runs) {
		struct sql_run *next = session->runs->next;

		run_free(session->runs);
		session->runs = next;
	}
	free(session->named);
	free(session);
}

/* Sums of many streams are shared by processes: only a process of one thread can be forked. */
static bool has_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned count = 0;

	while (tasks && (entry = readdir(tasks)))
		count += entry->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	return count != 1;
}

static struct sql_run *find_place(struct sql_session *session, const char *place)
{
	struct sql_run *run = session->runs;

	while (run && strcmp(run->place, place) != 0)
		run = run->next;
	return run;
}

static int add_run(struct sql_session *session, const char *path, struct sql_run **added, struct error *error)
{
	struct run_options options = session->options;
	struct sql_run *run = calloc(1, sizeof *run);
	int rc;

	if (!run)
		return error_memory(error);
	if (has_threads())
		options.jobs = 1;
	rc = names_run_open(&run->run, path, &options, error);
	if (rc < 0) {
		free(run);
		return rc;
	}
	run->place = realpath(run_path(run->run), NULL);
	if (!run->place)
		run->place = strdup(run_path(run->run));
	if (!run->place) {
		run_free(run);
		return error_memory(error);
	}
	run->renewal = session->renewal;
	run->next = session->runs;
	session->runs = run;
	*added = run;
	return 0;
}

/* Between statements: what they see while they run stays as it is. */
static int renew(struct sql_session *session, struct sql_run *run, struct error *error)
{
	bool changed = false;
	int rc = 0;

	if (run->renewal != session->renewal && run_is_live(run->run))
		rc = run_renew(run->run, &changed, error);
	run->renewal = session->renewal;
	if (changed)
		forget_texts(run);
	return rc;
}

static int open_path(
	struct sql_session *session, const char *path, struct sql_run **found, struct error *error)
{
	char *place = path ? realpath(path, NULL) : NULL;

	*found = place ? find_place(session, place) : NULL;
	free(place);
	return *found ? 0 : add_run(session, path, found, error);
}

int sql_session_choose(struct sql_session *session, const char *path, struct error *error)
{
	char *named = path ? strdup(path) : NULL;
	struct sql_run *run;
	int rc = path && !named ? error_memory(error) : open_path(session, path, &run, error);

	if (rc < 0) {
		free(named);
		return rc;
	}
	free(session->named);
	session->named = named;
	session->chosen = run;
	return 0;
}

int sql_session_run(
	struct sql_session *session, const char *path, struct sql_run **found, struct error *error)
{
	int rc = 0;

	if (path)
		rc = open_path(session, path, found, error);
	else if (!session->chosen)
		rc = sql_session_choose(session, session->named, error);
	if (rc == 0 && !path)
		*found = session->chosen;
	return rc < 0 ? rc : renew(session, *found, error);
}
