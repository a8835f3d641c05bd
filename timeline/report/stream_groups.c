/* SPDX-License-Identifier: Apache-2.0 */
/* stream_groups.c - see stream_groups.h: sorts the streams by what tells the groups apart. */
#include "timeline/report/stream_groups.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/report/process_tree.h"
#include "timeline/report/program_role.h"

static const char *const names[STREAM_GROUPS_BY_COUNT] = {
	"rank", "thread", "process", "program", "host", "device", "stream"};

int stream_groups_find(const char *name)
{
	for (int i = 0; i < STREAM_GROUPS_BY_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

const char *stream_groups_name(enum stream_groups_by by)
{
	return names[by];
}

bool stream_groups_is_row(enum stream_groups_by by)
{
	return by == STREAM_GROUPS_RANK || by == STREAM_GROUPS_PROCESS || by == STREAM_GROUPS_PROGRAM ||
	       by == STREAM_GROUPS_HOST;
}

/* A stream on its way into a group. */
struct member {
	const char *text; /* host or program; "": does not matter */
	uint64_t number, generation;
	uint32_t stream;
};

struct making {
	struct stream_groups *groups;
	struct run *run;
	struct process_tree tree;   /* without nodes where nobody asks for it */
	bool has_labels, has_hosts; /* several hosts */
	struct arena *arena;
};

/* Of the stream's process; NULL: not read, or it has none. */
static const struct process_tree_node *node_of(const struct making *making, uint32_t stream)
{
	uint32_t node = making->tree.node_of ? making->tree.node_of[stream] : PROCESS_TREE_NONE;

	return node == PROCESS_TREE_NONE ? NULL : &making->tree.nodes[node];
}

/* By the command line, else by the name of the main thread; "": neither is known. NULL: no memory. */
static const char *program_of(const struct making *making, uint32_t stream)
{
	const struct process_tree_node *node = node_of(making, stream);
	char program[PROGRAM_ROLE_BYTES], role[PROGRAM_ROLE_BYTES];

	if (!node)
		return "";
	if (!node->command[0])
		return run_stream(making->run, node->stream)->name;
	program_role_of(node->command, program, role);
	return arena_copy(making->arena, program, strlen(program));
}

/* 1: it has a group, 0: it has none; negative: no memory. */
static int member_of(struct member *member, const struct making *making, uint32_t stream)
{
	const struct run_stream *r = run_stream(making->run, stream);
	bool is_thread = r->s.kind == STORE_STREAM_CPU;

	*member = (struct member){.text = "", .stream = stream};
	switch (making->groups->by) {
	case STREAM_GROUPS_RANK:
		member->number = (uint32_t)r->s.rank;
		return r->s.rank >= 0;
	case STREAM_GROUPS_THREAD:
		member->number = stream;
		return is_thread;
	case STREAM_GROUPS_PROCESS:
		member->text = r->host;
		member->number = r->s.pid;
		member->generation = r->s.generation;
		return 1;
	case STREAM_GROUPS_PROGRAM:
		member->text = program_of(making, stream);
		return member->text ? member->text[0] != '\0' : -1;
	case STREAM_GROUPS_HOST:
		member->text = r->host;
		return 1;
	case STREAM_GROUPS_DEVICE:
		member->text = r->host;
		member->number = r->s.device;
		return !is_thread && r->s.device != UINT32_MAX;
	default:
		member->number = stream;
		return 1;
	}
}

static int compare_groups(const struct member *a, const struct member *b)
{
	int order = strcmp(a->text, b->text);

	if (!order)
		order = (a->number > b->number) - (a->number < b->number);
	return order ? order : (a->generation > b->generation) - (a->generation < b->generation);
}

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	int order = compare_groups(a, b);

	return order ? order : (a->stream > b->stream) - (a->stream < b->stream);
}

/* ---- texts ---- */

static const char *key_of(const struct making *making, const struct member *member)
{
	switch (making->groups->by) {
	case STREAM_GROUPS_RANK:
		return arena_printf(making->arena, "%u", (unsigned)member->number);
	case STREAM_GROUPS_PROCESS:
		return arena_printf(making->arena, "%s/%llu.%llu", member->text,
			(unsigned long long)member->number, (unsigned long long)member->generation);
	case STREAM_GROUPS_HOST:
	case STREAM_GROUPS_PROGRAM:
		return member->text;
	case STREAM_GROUPS_DEVICE:
		return arena_printf(
			making->arena, "%s/%llu", member->text, (unsigned long long)member->number);
	default:
		return run_stream(making->run, member->stream)->text;
	}
}

/* "rank 3 cc1plus foo.cc node1 4711.1": what there is of these, the pid last. */
static const char *process_label(const struct making *making, const struct member *member)
{
	const struct process_tree_node *node = node_of(making, member->stream);
	const struct run_stream *r = run_stream(making->run, node ? node->stream : member->stream);
	const char *name =
		program_role_name(node ? node->command : "", node ? node->title : "", r->name, making->arena);
	const char *rank = r->s.rank < 0 ? "" : arena_printf(making->arena, "rank %d ", r->s.rank);
	const char *generation =
		r->s.generation ? arena_printf(making->arena, ".%u", (unsigned)r->s.generation) : "";

	if (!name || !rank || !generation)
		return NULL;
	return arena_printf(making->arena, "%s%s %s%s%u%s", rank, name, making->has_hosts ? r->host : "",
		making->has_hosts ? " " : "", (unsigned)r->s.pid, generation);
}

static const char *label_of(const struct making *making, const struct member *member, const char *key)
{
	if (!making->has_labels)
		return key;
	if (making->groups->by == STREAM_GROUPS_RANK)
		return arena_printf(making->arena, "rank %u", (unsigned)member->number);
	return making->groups->by == STREAM_GROUPS_PROCESS ? process_label(making, member) : key;
}

/* ---- groups ---- */

static bool put_group(const struct making *making, const struct member *member, uint32_t first)
{
	struct stream_group *group = &making->groups->groups[making->groups->count++];

	group->first = first;
	group->key = key_of(making, member);
	group->label = group->key ? label_of(making, member, group->key) : NULL;
	return group->label;
}

static bool put_members(const struct making *making, const struct member *members, size_t count, uint32_t *of)
{
	struct stream_groups *groups = making->groups;

	for (size_t i = 0; i < count; i++) {
		if ((!i || compare_groups(&members[i - 1], &members[i])) &&
			!put_group(making, &members[i], (uint32_t)i))
			return false;
		groups->streams[i] = members[i].stream;
		groups->groups[groups->count - 1].count++;
		of[members[i].stream] = groups->count - 1;
	}
	return true;
}

static int put(const struct making *making, const uint32_t *streams, uint32_t count, struct member *members)
{
	struct stream_groups *groups = making->groups;
	uint32_t run_streams = run_stream_count(making->run);
	uint32_t *of = arena_calloc(making->arena, (size_t)run_streams + 1, sizeof(*of));
	size_t member_count = 0;

	groups->streams = arena_calloc(making->arena, (size_t)count + 1, sizeof(*groups->streams));
	groups->groups = arena_calloc(making->arena, (size_t)count + 1, sizeof(*groups->groups));
	groups->no_group = arena_printf(making->arena, "<no %s>", names[groups->by]);
	if (!of || !groups->streams || !groups->groups || !groups->no_group)
		return -1;
	memset(of, 0xff, run_streams * sizeof(*of));
	groups->of = of;
	for (uint32_t i = 0; i < count; i++) {
		int has_group = member_of(&members[member_count], making, streams[i]);

		if (has_group < 0)
			return -1;
		member_count += (size_t)has_group;
	}
	if (member_count)
		qsort(members, member_count, sizeof(*members), compare_members);
	return put_members(making, members, member_count, of) ? 0 : -1;
}

static bool are_several_hosts(const struct run *run, const uint32_t *streams, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (strcmp(run_stream(run, streams[i])->host, run_stream(run, streams[0])->host) != 0)
			return true;
	return false;
}

int stream_groups_make(struct stream_groups *groups, struct run *run, const uint32_t *streams, uint32_t count,
	enum stream_groups_by by, bool has_labels, struct arena *arena, struct error *error)
{
	struct making making = {.groups = groups, .run = run, .has_labels = has_labels, .arena = arena};
	struct member *members = calloc((size_t)count + 1, sizeof(*members));
	int rc = members ? 0 : error_memory(error);

	*groups = (struct stream_groups){.by = by};
	making.has_hosts = are_several_hosts(run, streams, count);
	if (rc == 0 && (by == STREAM_GROUPS_PROGRAM || (by == STREAM_GROUPS_PROCESS && has_labels)))
		rc = process_tree_make(&making.tree, run, arena, error);
	if (rc == 0 && put(&making, streams, count, members) < 0)
		rc = error_memory(error);
	free(members);
	return rc;
}

const char *stream_groups_text(const struct stream_groups *groups, uint32_t group)
{
	return group == STREAM_GROUPS_NONE ? groups->no_group : groups->groups[group].label;
}
