/* SPDX-License-Identifier: Apache-2.0 */
/* critical_list.c - see critical_list.h. */
#include "tui/models/critical_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/base/wait_functions.h"
#include "blame/wait/critical_run.h"
#include "tui/session/deadline.h"

struct critical_list *critical_list_of(struct session *session)
{
	if (!session->critical)
		session->critical = calloc(1, sizeof(*session->critical));
	return session->critical;
}

void critical_list_free(struct critical_list *list)
{
	free(list);
}

static void put(struct critical_list *list, const struct critical_segment *segment)
{
	const struct critical_stretch stretch = {.begin_ns = segment->begin_ns,
		.end_ns = segment->end_ns,
		.stream = segment->stream,
		.party = segment->is_wait && segment->party != CAUSE_NOBODY ? segment->party : UINT32_MAX,
		.kind = segment->is_wait ? wait_cause_names[segment->kind] : NULL};
	uint64_t length_ns = segment->end_ns - segment->begin_ns;
	uint32_t at = list->count;

	while (at > 0 && list->items[at - 1].end_ns - list->items[at - 1].begin_ns < length_ns)
		at--;
	if (at == CRITICAL_LIST_MAX)
		return;
	list->count += list->count < CRITICAL_LIST_MAX;
	memmove(&list->items[at + 1], &list->items[at], (list->count - 1 - at) * sizeof(stretch));
	list->items[at] = stretch;
}

/* Segments of one stream at work that touch are one stretch. */
static void put_all(struct critical_list *list, const struct critical_path *path)
{
	for (size_t i = 0; i < path->count; i++) {
		struct critical_segment segment = path->segments[i];

		while (!segment.is_wait && i + 1 < path->count && !path->segments[i + 1].is_wait &&
			path->segments[i + 1].stream == segment.stream &&
			path->segments[i + 1].is_absent == segment.is_absent)
			segment.end_ns = path->segments[++i].end_ns;
		list->all++;
		if (!segment.is_absent)
			put(list, &segment);
	}
}

static int put_contexts(struct critical_list *list, struct critical_run *critical, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < list->count && !result; i++) {
		struct critical_stretch *stretch = &list->items[i];
		const struct critical_segment segment = {
			.begin_ns = stretch->begin_ns, .end_ns = stretch->end_ns, .stream = stretch->stream};

		result = critical_run_context(critical, &segment, &stretch->context, error);
	}
	return result;
}

static int find(struct session *session, struct critical_list *list, struct error *error)
{
	struct wait_functions *waits = NULL;
	/* no stream is reported: the code is looked up for what is listed */
	struct idle_question question = {.begin_ns = list->begin_ns, .end_ns = list->end_ns};
	struct critical_run critical;
	struct arena arena = {0};
	int result = wait_functions_new(&waits, session->run, NULL, error);

	if (result)
		return result;
	question.waits = waits;
	result = critical_run_find(&critical, session->run, &question, 0, &arena, error);
	if (!result) {
		put_all(list, &critical.path);
		result = put_contexts(list, &critical, error);
	}
	critical_run_fini(&critical);
	arena_fini(&arena);
	wait_functions_free(waits);
	return result;
}

bool critical_list_take(struct session *session, struct critical_list *list)
{
	uint64_t run_end_ns_now = run_end_ns(session->run);
	struct error error;

	if (list->begin_ns == session->frame.begin_ns && list->end_ns == session->frame.end_ns &&
		list->run_end_ns == run_end_ns_now)
		return !list->trouble[0];
	list->begin_ns = session->frame.begin_ns;
	list->end_ns = session->frame.end_ns;
	list->run_end_ns = run_end_ns_now;
	list->count = 0;
	list->all = 0;
	list->trouble[0] = '\0';
	if (!find(session, list, &error))
		return true;
	list->count = 0;
	if (deadline_read_later(session)) { /* the next picture asks again */
		list->end_ns = 0;
		snprintf(list->trouble, sizeof(list->trouble), "reading ...");
	} else {
		snprintf(list->trouble, sizeof(list->trouble), "%s", error.text);
	}
	return false;
}
