/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - opens runs for a connection, once each, and keeps texts that rows repeat.
 */
#include "formats/sql/session.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/escape.h"
#include "timeline/names/names_fill.h"
#include "timeline/sum/parallel_sum.h"

/* ---- texts ---- */

static void texts_fini(struct sql_texts *texts)
{
	for (uint32_t i = 0; i < texts->count; i++)
		free(texts->list[i]);
	free(texts->list);
	*texts = (struct sql_texts){0};
}

/* What a renewed run may say in another way. */
static void forget_texts(struct sql_run *run)
{
	texts_fini(&run->paths);
	free(run->by_text);
	run->by_text = NULL;
	run->by_text_count = 0;
}

static bool texts_widen(struct sql_texts *texts, uint32_t count)
{
	if (count <= texts->count)
		return true;
	if (!array_resize_zero(&texts->list, texts->count, count, sizeof *texts->list))
		return false;
	texts->count = count;
	return true;
}

/* `count`: how many there are at least. */
static const char *text_of(struct sql_texts *texts, uint32_t number, uint32_t count, const char *raw)
{
	struct store_bytes escaped = {0};

	if (!texts_widen(texts, number < count ? count : number + 1))
		return NULL;
	if (!texts->list[number]) {
		escape_field(&escaped, raw, strlen(raw));
		store_bytes_put(&escaped, "", 1);
		texts->list[number] = escaped.failed ? NULL : strdup((const char *)escaped.data);
		store_bytes_fini(&escaped);
	}
	return texts->list[number];
}

const char *sql_run_stream_text(struct sql_run *run, uint32_t stream)
{
	const char *text = stream < run->streams.count ? run->streams.list[stream] : NULL;

	return text ? text
		    : text_of(&run->streams, stream, run_stream_count(run->run),
			      run_stream(run->run, stream)->text);
}

const char *sql_run_op_text(struct sql_run *run, uint32_t op)
{
	return text_of(&run->ops, op, 0, run_op_name(run->run, op));
}

const char *sql_run_metric_text(struct sql_run *run, uint32_t metric)
{
	return text_of(&run->metrics, metric, run_metric_count(run->run), run_metric_name(run->run, metric));
}

const char *sql_run_path(struct sql_run *run, uint32_t context)
{
	struct arena arena = {0};
	const char *path;

	if (context >= run_context_count(run->run))
		return "";
	if (!texts_widen(&run->paths, run_context_count(run->run)))
		return NULL;
	if (!run->paths.list[context]) {
		path = run_context_path(run->run, context, UINT32_MAX, &arena);
		run->paths.list[context] = path ? strdup(path) : NULL;
		arena_fini(&arena);
	}
	return run->paths.list[context];
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
	texts_fini(&run->streams);
	texts_fini(&run->ops);
	texts_fini(&run->metrics);
	if (!run->is_lent)
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

static struct sql_run *find_place(struct sql_session *session, const char *place)
{
	struct sql_run *run = session->runs;

	while (run && strcmp(run->place, place) != 0)
		run = run->next;
	return run;
}

/* Takes the run, unless it is lent. */
static int keep_run(struct sql_session *session, struct sql_run *run, struct error *error)
{
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
	return 0;
}

static int add_run(struct sql_session *session, const char *path, struct sql_run **added, struct error *error)
{
	struct run_options options = session->options;
	struct sql_run *run = calloc(1, sizeof *run);
	int rc;

	if (!run)
		return error_memory(error);
	if (parallel_sum_has_threads())
		options.jobs = 1;
	rc = names_run_open(&run->run, path, &options, error);
	if (rc < 0) {
		free(run);
		return rc;
	}
	rc = keep_run(session, run, error);
	if (rc == 0)
		*added = run;
	return rc;
}

int sql_session_lend(struct sql_session *session, struct run *lent, struct error *error)
{
	struct sql_run *run = calloc(1, sizeof *run);
	int rc;

	if (!run)
		return error_memory(error);
	run->run = lent;
	run->is_lent = true;
	rc = keep_run(session, run, error);
	if (rc == 0)
		session->chosen = run;
	return rc;
}

/* Between statements: what they see while they run stays as it is. */
static int renew(struct sql_session *session, struct sql_run *run, struct error *error)
{
	bool changed = false;
	int rc = 0;

	if (!run->is_lent && run->renewal != session->renewal && run_is_live(run->run))
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
