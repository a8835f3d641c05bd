/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_question.c - sends a request to a worker (timeline/names/names_worker.h), step by step; a module on
 * which the worker fails is requested again one level lower.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/names/names_worker_internal.h"

static struct names_bad_module *bad_find(struct names_worker *worker, const struct symbol_request *request)
{
	for (size_t i = 0; i < worker->bad_count; i++) {
		struct names_bad_module *bad = &worker->bad[i];

		if (bad->build_id_bytes == request->build_id_bytes && !strcmp(bad->path, request->path) &&
			!memcmp(bad->build_id, request->build_id, request->build_id_bytes))
			return bad;
	}
	return NULL;
}

static void bad_remember(
	struct names_worker *worker, const struct symbol_request *request, enum names_level level)
{
	struct names_bad_module *bad = bad_find(worker, request);

	if (!bad) {
		struct names_bad_module *grown =
			realloc(worker->bad, (worker->bad_count + 1) * sizeof *grown);

		if (!grown)
			return;
		worker->bad = grown;
		bad = &grown[worker->bad_count];
		*bad = (struct names_bad_module){.build_id_bytes = request->build_id_bytes};
		memcpy(bad->build_id, request->build_id, sizeof bad->build_id);
		bad->path = strdup(request->path);
		if (!bad->path)
			return;
		worker->bad_count++;
	}
	bad->level = level;
}

/* ---- one question ---- */

/* How far an exchange with the worker came. */
enum outcome { OUTCOME_GOING, OUTCOME_DONE, OUTCOME_REFUSED, OUTCOME_FAILED };

/* An answer must be to the question asked, or the worker's word is worth nothing. */
static bool answer_fits(const struct names_question *question)
{
	return question->answered < question->request->offset_count &&
	       question->answer.offset == question->request->offsets[question->answered] &&
	       question->answer.module == question->request->module;
}

static enum outcome question_frame(struct names_question *question, const struct symbol_frame *frame)
{
	struct symbol_done done;

	if (frame->type == SYMBOL_DONE) {
		if (symbol_done_parse(frame->bytes, frame->size, &done, NULL) ||
			question->answered != question->request->offset_count)
			return OUTCOME_FAILED;
		if (!question->note[0])
			snprintf(question->note, NAMES_NOTE_BYTES, "%s", done.message);
		return OUTCOME_DONE;
	}
	if (symbol_answer_parse(frame->bytes, frame->size, &question->answer, NULL) || !answer_fits(question))
		return OUTCOME_FAILED;
	question->refusal = question->take(question->context, &question->answer);
	question->answered++;
	return question->refusal ? OUTCOME_REFUSED : OUTCOME_GOING;
}

/* What of it is not answered yet. */
static enum outcome question_send(struct names_question *question, int fd, struct error *error)
{
	struct symbol_request rest = *question->request;
	struct store_bytes out = {0};
	int rc;

	rest.kind = (rest.kind & ((1u << NAMES_LEVEL_SHIFT) - 1)) |
		    (uint32_t)question->level << NAMES_LEVEL_SHIFT | question->parts << NAMES_PARTS_SHIFT;
	rest.offsets += question->answered;
	rest.offset_count -= question->answered;
	rc = symbol_request_put(&out, &rest, error);
	rc = rc ? rc : names_stream_write(fd, &out, error);
	store_bytes_fini(&out);
	question->is_sent = !rc;
	return rc ? OUTCOME_FAILED : OUTCOME_GOING;
}

/* What is left when even the symbols cannot be read. */
static int question_give_up(struct names_question *question)
{
	while (!question->refusal && question->answered < question->request->offset_count) {
		uint64_t offset = question->request->offsets[question->answered++];

		question->answer.module = question->request->module;
		question->answer.offset = offset;
		question->answer.stretch = (struct symbol_stretch){offset, offset + 1};
		question->answer.source = NAMES_FROM_NOTHING;
		question->answer.scope_count = 1;
		question->answer.scopes[0] = (struct names_scope){
			.start = offset, .name = "", .linkage = "", .file = "", .decl_file = ""};
		question->refusal = question->take(question->context, &question->answer);
	}
	return question->refusal;
}

static void note_failure(struct names_question *question)
{
	const struct symbol_request *request = question->request;

	snprintf(question->note, NAMES_NOTE_BYTES, "%s: reading its %s failed, the file may be damaged",
		request->real_path[0] ? request->real_path : request->path,
		question->level == NAMES_ALL ? "debug information" : "symbols");
}

int names_worker_begin(struct names_worker *worker, const struct symbol_request *request, unsigned parts,
	names_take *take, void *context, char note[NAMES_NOTE_BYTES], struct error *error)
{
	struct names_bad_module *bad = bad_find(worker, request);

	if (request->offset_count > NAMES_OFFSETS_MAX)
		return error_set(
			error, ERROR_USAGE, "more than %u addresses in one question", NAMES_OFFSETS_MAX);
	worker->question = calloc(1, sizeof *worker->question);
	if (!worker->question)
		return error_memory(error);
	note[0] = '\0';
	*worker->question = (struct names_question){.request = request,
		.level = bad ? bad->level : NAMES_ALL,
		.parts = parts,
		.take = take,
		.context = context,
		.note = note};
	return 0;
}

/* The next frame, or the question itself where it was not sent yet. */
static enum outcome worker_exchange(struct names_worker *worker, struct error *error)
{
	struct names_question *question = worker->question;
	bool came_before = question->is_sent && names_stream_has(&worker->stream);
	struct symbol_frame frame;
	enum outcome outcome;

	if (!question->is_sent)
		outcome = question_send(question, worker->stream.fd, error);
	else
		outcome = names_stream_next(&worker->stream, &frame, error) > 0
				  ? question_frame(question, &frame)
				  : OUTCOME_FAILED;
	if (!came_before)
		names_worker_heard(worker);
	return outcome;
}

static int worker_finish(struct names_worker *worker, int rc)
{
	free(worker->question);
	worker->question = NULL;
	return rc < 0 ? rc : 1;
}

int names_worker_step(struct names_worker *worker, struct error *error)
{
	struct names_question *question = worker->question;
	enum outcome outcome;
	int rc;

	if (question->level == NAMES_NONE)
		return worker_finish(worker, question_give_up(question));
	rc = names_worker_start(worker, error);
	if (rc)
		return worker_finish(worker, rc);
	outcome = worker_exchange(worker, error);
	if (outcome == OUTCOME_GOING)
		return 0;
	if (outcome == OUTCOME_DONE)
		return worker_finish(worker, 0);
	/* Answers still on their way would be taken for those to the next question. */
	names_worker_stop(worker, false);
	if (outcome == OUTCOME_REFUSED)
		return worker_finish(worker, question->refusal);
	question->is_sent = false;
	/* Several are silent until the end; one tells as it goes, and may take longer. */
	if (question->parts > 1) {
		question->parts = 1;
		return 0;
	}
	note_failure(question);
	bad_remember(worker, question->request, ++question->level);
	return 0;
}

bool names_worker_is_asking(const struct names_worker *worker)
{
	return worker->question;
}

bool names_worker_is_ready(const struct names_worker *worker)
{
	return !worker->question->is_sent || names_stream_has(&worker->stream) ||
	       names_worker_is_late(worker);
}

int names_worker_descriptor(const struct names_worker *worker)
{
	return worker->stream.fd;
}

int names_worker_ask(struct names_worker *worker, const struct symbol_request *request, names_take *take,
	void *context, char note[NAMES_NOTE_BYTES], struct error *error)
{
	int rc = names_worker_begin(worker, request, 1, take, context, note, error);

	while (!rc)
		rc = names_worker_step(worker, error);
	return rc < 0 ? rc : 0;
}
