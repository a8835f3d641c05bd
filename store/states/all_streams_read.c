/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams_read.c - reads the sums of all streams. The file is untrusted: impossible sums are damage.
 */
#include "store/read/reader_internal.h"
#include "store/states/all_streams.h"

#define SHIFT_LAST 62u /* times of a line are below 2^62 */

static int find(struct store_reader *reader, uint64_t begin_ns, unsigned shift, struct store_input *input,
	struct error *error)
{
	const struct store_key_rollup key = {.begin_ns = begin_ns,
		.stream = STORE_ROLLUP_ALL,
		.kind = STORE_ROLLUP_ALL_STREAMS,
		.shift = (uint8_t)shift};
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	struct store_slice value;
	int rc;

	store_key_rollup_put(bytes, &key);
	rc = store_tree_get(&reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_ROLL], bytes,
		sizeof bytes, &value, error);
	if (rc == 1)
		*input = store_input_sealed(value, bytes, sizeof bytes);
	return rc;
}

static void get_head(struct store_all_streams_head *head, struct store_input *input)
{
	uint64_t shift;

	head->streams = store_input_u32(input);
	head->begin_ns = store_input_varint(input);
	head->end_ns = store_input_varint(input);
	shift = store_input_varint(input);
	head->shift = shift <= SHIFT_LAST ? (unsigned)shift : SHIFT_LAST;
	head->is_whole = store_input_varint(input) == 1;
	input->bad |= shift > SHIFT_LAST || head->end_ns > (uint64_t)1 << SHIFT_LAST;
	/* Readers look for each of them. */
	input->bad |= head->begin_ns < head->end_ns &&
		      ((head->end_ns - 1) >> head->shift) - (head->begin_ns >> head->shift) >=
			      STORE_ALL_STREAMS_BUCKETS;
}

int store_all_streams_head(
	struct store_reader *reader, struct store_all_streams_head *head, struct error *error)
{
	struct store_input input;
	int rc = find(reader, 0, STORE_SHIFT_MAX, &input, error);

	if (rc != 1)
		return rc;
	get_head(head, &input);
	if (input.bad)
		return store_reader_damaged(reader, "the head of all streams' sums", error);
	return head->streams == store_reader_timed_count(reader);
}

/* No more time than there is, and states that there are. */
static bool is_sound(const struct store_context_sums *sums, const struct store_reader *reader, unsigned shift)
{
	unsigned __int128 time_ns = 0;

	for (uint32_t i = 0; i < sums->count; i++) {
		if ((sums->entries[i].metric & 15) >= EXTENT_STATE_COUNT)
			return false;
		time_ns += sums->entries[i].weight;
	}
	return time_ns <= (unsigned __int128)reader->stream_count << shift;
}

int store_all_streams_read(struct store_reader *reader, uint64_t begin_ns, unsigned shift,
	const struct store_context_sums **sums, struct error *error)
{
	struct store_all_streams_head head = {.is_whole = true};
	struct store_input input;
	int rc = find(reader, begin_ns, shift, &input, error);

	if (rc != 1)
		return rc;
	if (shift == STORE_SHIFT_MAX)
		get_head(&head, &input);
	if (!head.is_whole)
		return 0;
	store_context_sums_clear(&reader->sums);
	store_context_sums_get(
		&reader->sums, &input, reader->contexts.count, UINT32_MAX, 1u << STORE_CONTEXT_SUMS_WEIGHT);
	if (reader->sums.failed)
		return error_memory(error);
	if (input.bad || !is_sound(&reader->sums, reader, shift))
		return store_reader_damaged(reader, "the sums of all streams' lines", error);
	*sums = &reader->sums;
	return 1;
}
