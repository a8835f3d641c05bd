/* SPDX-License-Identifier: Apache-2.0 */
/* ring_records.c - see ring_records.h. */
#include "record/base/ring_records.h"

#include <stdlib.h>
#include <string.h>

/* The longest record that a producer may write. */
#define RECORD_WORDS_MAX (4096u / 8u)
#define RECORD_SHORT 64u
#define TEXTS_MAX (1u << 22) /* of one ring */

static bool is_whole(const struct event_header *h)
{
	static const uint8_t least[EVENT_TYPE_COUNT] = {
		[EVENT_PAD] = sizeof(struct event_header),
		[EVENT_NODE] = sizeof(struct event_node_record),
		[EVENT_SAMPLE] = sizeof(struct event_sample),
		[EVENT_SPAN] = sizeof(struct event_span),
		[EVENT_OPEN] = sizeof(struct event_span),
		[EVENT_CLOSE] = sizeof(struct event_span),
		[EVENT_VALUE] = sizeof(struct event_value),
		[EVENT_LOST] = sizeof(struct event_lost),
		[EVENT_NAME] = sizeof(struct event_text),
		[EVENT_FORK] = sizeof(struct event_fork),
		[EVENT_LAUNCH] = sizeof(struct event_launch),
		[EVENT_GPU] = sizeof(struct event_gpu),
		[EVENT_TEXT] = sizeof(struct event_text),
		[EVENT_GPU_DEVICE] = sizeof(struct event_gpu_device),
		[EVENT_GPU_QUEUE] = sizeof(struct event_gpu_queue),
		[EVENT_GPU_UNMONITORED] = sizeof(struct event_gpu_unmonitored),
		[EVENT_GPU_USED] = sizeof(struct event_gpu_used),
		[EVENT_GPU_FAULT] = sizeof(struct event_gpu_fault),
		[EVENT_GPU_SAMPLE] = sizeof(struct event_gpu_sample),
		[EVENT_GPU_UNSAMPLED] = sizeof(struct event_gpu_unsampled),
		[EVENT_GPU_VALUES] = sizeof(struct event_gpu_values),
		[EVENT_KERNEL] = sizeof(struct event_kernel),
		[EVENT_SWITCH] = sizeof(struct event_switch),
		[EVENT_NODES] = sizeof(struct event_nodes_record) + sizeof(struct event_place),
	};

	return h->type < EVENT_TYPE_COUNT && h->words <= RECORD_WORDS_MAX && h->words * 8u >= least[h->type];
}

/* Copies a record once, so that the producer cannot change it after the check; the header was read before.
 * Most records are short: copying a fixed size is cheaper than a branch. */
static inline void record_copy(
	uint64_t *copy, const uint8_t *record, uint32_t size, uint64_t room, const struct event_header *h)
{
	if (size <= RECORD_SHORT && room >= RECORD_SHORT)
		memcpy(copy, record, RECORD_SHORT);
	else
		memcpy(copy, record, size);
	memcpy(copy, h, sizeof(*h));
}

uint64_t ring_records_walk(const uint8_t *data, uint64_t bytes, uint64_t tail, uint64_t head,
	ring_records_take *take, void *context, bool *is_broken)
{
	uint64_t copy[RECORD_WORDS_MAX];

	while (tail < head) {
		uint64_t at = tail & (bytes - 1);
		struct event_header h;
		uint32_t size;

		memcpy(&h, data + at, sizeof(h));
		size = h.words * 8u;
		if (!size || size > head - tail || at + size > bytes)
			break;
		if (h.type != EVENT_PAD) {
			if (!is_whole(&h))
				break;
			record_copy(copy, data + at, size, bytes - at, &h);
			if (!take(context, (const struct event_header *)copy))
				break;
		}
		tail += size;
	}
	*is_broken |= tail < head;
	return head;
}

bool ring_ids_add(struct ring_ids *ids, uint32_t value, uint32_t most)
{
	if (ids->count == ids->capacity) {
		uint32_t room = ids->capacity ? 2 * ids->capacity : 256;
		uint32_t *grown = room <= most ? realloc(ids->list, room * sizeof(*grown)) : NULL;

		if (!grown)
			return false;
		ids->list = grown;
		ids->capacity = room;
	}
	ids->list[ids->count++] = value;
	return true;
}

bool ring_texts_add(struct ring_ids *texts, struct store_writer *writer, const struct event_text *text)
{
	if (text->id != (uint64_t)texts->count + 1 || text->h.node > text->h.words * 8u - sizeof(*text))
		return false;
	return ring_ids_add(texts, store_writer_text(writer, text->bytes, text->h.node), TEXTS_MAX);
}

uint32_t ring_texts_at(const struct ring_ids *texts, uint32_t id)
{
	return id && id <= texts->count ? texts->list[id - 1] : 0;
}
