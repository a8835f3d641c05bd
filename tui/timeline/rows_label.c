/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_label.c - the labels of rows. The three labels of a row are made at the first request, and kept: from
 * the stream table, the commands of processes (rows_tree.h), and the first records of threads that have no
 * name of their own (rows_routine.h).
 */
#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "store/base/hash.h"
#include "timeline/report/program_role.h"
#include "tui/timeline/rows.h"
#include "tui/timeline/rows_routine.h"
#include "tui/timeline/rows_tree.h"

#define ROUTINES_MAX 2000u /* threads of a run: of more, nobody reads what each was started for */
#define NAMES_MAX 1000u	   /* streams of a process whose names are compared */

struct labels {
	const char *label, *short_label, *long_label; /* NULL: not made yet */
};

struct rows_labels {
	const struct run *run;
	const struct rows_tree *tree; /* NULL: none */
	struct arena arena;
	struct labels *of;	  /* [node] */
	uint32_t named, names;	  /* process whose streams' names are here, how many they are */
	uint64_t name[NAMES_MAX]; /* as hashes */
};

struct rows_labels *rows_labels_new(const struct run *run, uint32_t node_count, const struct rows_tree *tree)
{
	struct rows_labels *labels = calloc(1, sizeof(*labels));

	if (!labels)
		return NULL;
	labels->run = run;
	labels->tree = tree;
	labels->named = UINT32_MAX;
	labels->of =
		calloc((size_t)node_count + 1, sizeof(*labels->of)); /* not touched where none is asked for */
	if (labels->of)
		return labels;
	free(labels);
	return NULL;
}

void rows_labels_free(struct rows_labels *labels)
{
	if (!labels)
		return;
	arena_fini(&labels->arena);
	free(labels->of);
	free(labels);
}

/* ---- texts: copies, for the run's own may move when it is renewed ---- */

static const char *join(struct rows_labels *labels, const char *first, const char *second)
{
	return arena_printf(&labels->arena, "%s %s", first, second);
}

static const char *join_number(struct rows_labels *labels, const char *first, uint32_t number)
{
	return arena_printf(&labels->arena, "%s %u", first, number);
}

/* Streams are only looked at in passing; stays until the next one. */
static const struct run_stream *peek(const struct rows_labels *labels, uint32_t stream)
{
	return run_stream_peek((struct run *)(uintptr_t)labels->run, stream); /* which changes no answer */
}

/* ---- kinds of rows ---- */

static struct labels of_process(struct rows_labels *labels, uint32_t stream, const struct run_stream *first)
{
	const char *name, *text;
	bool is_told;

	if (first->s.rank >= 0) {
		text = arena_printf(&labels->arena, "rank %d", first->s.rank);
		return (struct labels){
			arena_printf(&labels->arena, "rank %d %s", first->s.rank, first->host), text, text};
	}
	name = program_role_name(labels->tree ? rows_tree_command(labels->tree, stream) : "",
		labels->tree ? rows_tree_title(labels->tree, stream) : "", first->name, &labels->arena);
	if (!name)
		return (struct labels){NULL, NULL, NULL};
	text = first->s.generation
		       ? arena_printf(&labels->arena, "%s %u.%u", name, first->s.pid, first->s.generation)
		       : join_number(labels, name, first->s.pid);
	/* a role tells processes apart, as the pid does where there is none, or several have one role */
	is_told = strchr(name, ' ') &&
		  !(labels->tree && rows_tree_is_shared(labels->tree, labels->run, stream));
	return (struct labels){text, is_told ? name : text, text};
}

static uint64_t hash_of(const char *name)
{
	return store_hash64(name, strlen(name), 0);
}

/* Names of all streams of a process, as many as are compared. */
static void take_names(struct rows_labels *labels, const struct rows *rows, uint32_t process)
{
	uint32_t count = 0;

	for (uint32_t i = process; i < rows->nodes[process].next && count < NAMES_MAX; i++)
		if (!rows_is_group(&rows->nodes[i]))
			labels->name[count++] = hash_of(peek(labels, rows->nodes[i].stream)->name);
	labels->named = process;
	labels->names = count;
}

/* Threads that share a name get their number behind it; of very many, all. */
static bool is_shared_name(const struct rows_labels *labels, const char *name)
{
	const uint64_t hash = hash_of(name);
	uint32_t same = 0;

	for (uint32_t i = 0; i < labels->names && same < 2; i++)
		same += labels->name[i] == hash;
	return same > 1 || labels->names == NAMES_MAX;
}

static const char *thread_label(struct rows_labels *labels, const struct rows *rows, uint32_t node)
{
	const struct run_stream *s;
	char routine[ROWS_ROUTINE_BYTES];
	const char *name;
	uint32_t number;

	if (labels->named != rows_process(rows, node))
		take_names(labels, rows, rows_process(rows, node));
	s = peek(labels, rows->nodes[node].stream);
	if (s->s.thread == 0)
		return "main";
	if (!s->name[0])
		return join_number(labels, "thread", s->s.thread);
	if (is_shared_name(labels, s->name)) {
		number = s->s.thread;
		name = arena_copy(&labels->arena, s->name, strlen(s->name));
		if (name && rows->thread_count <= ROUTINES_MAX &&
			rows_routine(routine, labels->run, rows->nodes[node].stream))
			name = arena_copy(&labels->arena, routine, strlen(routine));
		return name ? join_number(labels, name, number) : NULL;
	}
	return arena_copy(&labels->arena, s->name, strlen(s->name));
}

static struct labels of_thread(struct rows_labels *labels, const struct rows *rows, uint32_t node)
{
	const char *label = thread_label(labels, rows, node);

	return (struct labels){label, label,
		label ? join(labels, rows_long_label(rows, rows_process(rows, node)), label) : NULL};
}

static struct labels of_pool(struct rows_labels *labels, const struct rows_node *pool, uint32_t node)
{
	uint32_t count = pool->next - node - 1;
	const char *label = arena_printf(&labels->arena, "%u idle threads", count);

	return (struct labels){label, arena_printf(&labels->arena, "%u idle", count), label};
}

static struct labels of_device(struct rows_labels *labels, const struct run_stream *first)
{
	const char *name = arena_printf(&labels->arena, "gpu%u", first->s.device);

	return (struct labels){
		name && first->device_name[0] ? join(labels, name, first->device_name) : name, name, name};
}

static struct labels of_queue(struct rows_labels *labels, const struct run_stream *s)
{
	const char *name = arena_printf(&labels->arena, "q%u", s->s.queue);

	return (struct labels){name && s->name[0] ? join(labels, name, s->name) : name, name,
		arena_printf(&labels->arena, "gpu%u q%u", s->s.device, s->s.queue)};
}

static struct labels make(struct rows_labels *labels, const struct rows *rows, uint32_t node)
{
	const struct rows_node *n = &rows->nodes[node];

	if (!n->level)
		return of_process(labels, n->stream, peek(labels, n->stream));
	if (n->kind == ROWS_THREAD)
		return of_thread(labels, rows, node);
	if (n->kind == ROWS_POOL)
		return of_pool(labels, n, node);
	return n->kind == ROWS_DEVICE ? of_device(labels, peek(labels, n->stream))
				      : of_queue(labels, peek(labels, n->stream));
}

static const struct labels *labels_of(const struct rows *rows, uint32_t node)
{
	static const struct labels nothing = {"", "", ""};
	struct labels *of = &rows->labels->of[node];

	if (!of->label)
		*of = make(rows->labels, rows, node);
	return of->label && of->short_label && of->long_label ? of : &nothing;
}

const char *rows_label(const struct rows *rows, uint32_t node)
{
	return labels_of(rows, node)->label;
}

const char *rows_short_label(const struct rows *rows, uint32_t node)
{
	return labels_of(rows, node)->short_label;
}

const char *rows_long_label(const struct rows *rows, uint32_t node)
{
	return labels_of(rows, node)->long_label;
}

const char *rows_stream_label(const struct rows *rows, uint32_t stream)
{
	const uint32_t node = rows_node_of(rows, stream);

	return node == UINT32_MAX ? "" : rows_long_label(rows, node);
}
