/* SPDX-License-Identifier: Apache-2.0 */
/* call_messages.c - see call_messages.h. */
#include "blame/wait/call_messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"

#define LOOK_AHEAD 4096u /* sends that are passed over for one of another tag */

struct pair_key {
	char communicator[MESSAGE_COMMUNICATOR_BYTES];
	uint32_t from, to;
};

static struct pair_key key_of(const char *communicator, uint32_t from, uint32_t to)
{
	struct pair_key key;

	memset(&key, 0, sizeof key);
	snprintf(key.communicator, sizeof key.communicator, "%s", communicator);
	key.from = from;
	key.to = to;
	return key;
}

void call_messages_init(struct call_messages *messages)
{
	*messages = (struct call_messages){0};
	key_ids_init(&messages->pairs, sizeof(struct pair_key));
	key_ids_init(&messages->unknown, sizeof(struct pair_key));
}

void call_messages_fini(struct call_messages *messages)
{
	free(messages->sides);
	free(messages->list);
	key_ids_fini(&messages->pairs);
	key_ids_fini(&messages->unknown);
}

bool call_messages_add(struct call_messages *messages, struct message_side side, const char *communicator,
	uint32_t from, uint32_t to)
{
	struct pair_key key = key_of(communicator, from, to);

	if (from == MESSAGE_RANK_ANY)
		return key_ids_put(&messages->unknown, &key, NULL) != KEY_IDS_NONE;
	side.pair = key_ids_put(&messages->pairs, &key, NULL);
	if (side.pair == KEY_IDS_NONE || !array_widen(&messages->sides, &messages->side_capacity,
						 messages->side_count, sizeof(*messages->sides)))
		return false;
	messages->sides[messages->side_count++] = side;
	return true;
}

/* By pair, sends first, in the order of the calls. */
static int side_compare(const void *left, const void *right)
{
	const struct message_side *a = left, *b = right;

	if (a->pair != b->pair)
		return a->pair < b->pair ? -1 : 1;
	if (a->is_receive != b->is_receive)
		return a->is_receive ? 1 : -1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static bool is_unknown(const struct call_messages *messages, uint32_t pair)
{
	struct pair_key key = *(const struct pair_key *)key_ids_key(&messages->pairs, pair);

	key.from = MESSAGE_RANK_ANY;
	return key_ids_find(&messages->unknown, &key) != KEY_IDS_NONE;
}

static bool put(struct call_messages *messages, struct message_side *send, struct message_side *receive)
{
	if (!array_widen(&messages->list, &messages->capacity, messages->count, sizeof(*messages->list)))
		return false;
	messages->list[messages->count++] = (struct message){send, receive};
	return true;
}

static bool is_same_tag(const struct message_side *send, const struct message_side *receive)
{
	return send->tag == MESSAGE_TAG_ANY || receive->tag == MESSAGE_TAG_ANY || send->tag == receive->tag;
}

/* False for the whole pair: on one clock a receive is over before its message is sent, or has no room for
 * it. Then the first records of the two are not of one message, or not all were recorded. */
static bool is_possible(const struct message_side *send, const struct message_side *receive)
{
	if (send->bytes && receive->bytes && send->bytes > receive->bytes)
		return false;
	return send->clock != receive->clock || !receive->end_ns || receive->end_ns >= send->begin_ns;
}

/* The sides [0, count) of one pair. */
static bool match_pair(struct call_messages *messages, struct message_side *sides, size_t count)
{
	size_t sends = 0, first = 0, before = messages->count;

	while (sends < count && !sides[sends].is_receive)
		sends++;
	for (size_t i = sends; i < count; i++) {
		size_t at = first;

		while (at < sends && at - first < LOOK_AHEAD &&
			(sides[at].pair == KEY_IDS_NONE || !is_same_tag(&sides[at], &sides[i])))
			at++;
		if (at == sends || at - first == LOOK_AHEAD)
			continue;
		if (!is_possible(&sides[at], &sides[i])) {
			messages->count = before;
			return true;
		}
		if (!put(messages, &sides[at], &sides[i]))
			return false;
		sides[at].pair = KEY_IDS_NONE; /* taken */
		while (first < sends && sides[first].pair == KEY_IDS_NONE)
			first++;
	}
	return true;
}

static void find_windows(struct call_messages *messages, const struct call_requests *requests)
{
	for (size_t i = 0; i < messages->side_count; i++) {
		struct message_side *side = &messages->sides[i];
		const struct call_window *window;

		if (side->window == CALL_WINDOW_NONE)
			continue;
		window = &requests->windows[side->window];
		side->wait_begin_ns = window->begin_ns;
		side->end_ns = window->end_ns;
		side->is_polled = window->is_polled;
		side->polled_by = window->stream;
	}
}

static bool is_summed(const struct call_requests *requests, const struct message_side *sides, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (call_requests_is_summed(requests, sides[i].process))
			return true;
	return false;
}

bool call_messages_match(struct call_messages *messages, const struct call_requests *requests)
{
	size_t count;

	find_windows(messages, requests);
	if (messages->side_count)
		qsort(messages->sides, messages->side_count, sizeof(*messages->sides), side_compare);
	for (size_t i = 0; i < messages->side_count; i += count) {
		uint32_t pair = messages->sides[i].pair;

		for (count = 1; i + count < messages->side_count && messages->sides[i + count].pair == pair;)
			count++;
		if (!is_unknown(messages, pair) && !is_summed(requests, &messages->sides[i], count) &&
			!match_pair(messages, &messages->sides[i], count))
			return false;
	}
	return true;
}
