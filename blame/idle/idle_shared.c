/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_shared.c - see idle_shared.h: one message of each rank that had a group.
 *
 *   contexts of the run u32 | struct idle, of which its pointers say nothing | shares x 3 | gaps, if wanted
 *   shares: count u32 | count x (context u32, group u32, amount u128)
 *   gaps:   GAP_CLASSES x struct gap_class | struct gap ...
 */
#include "blame/idle/idle_shared.h"

#include <string.h>

#include "blame/idle/gaps.h"
#include "blame/idle/idle_cache_file.h"
#include "timeline/sum/mpi_ranks.h"

#define SHARE_BYTES (2 * sizeof(uint32_t) + sizeof(exact_share_fixed))

static bool is_split(const struct idle_question *question)
{
	return mpi_ranks_count() > 1 && question->group == IDLE_GROUP_PROCESS &&
	       !(question->gaps && gaps_are_spilled(question->gaps));
}

bool idle_shared_is_own(const struct idle_question *question, uint32_t number)
{
	return !is_split(question) || number % mpi_ranks_count() == mpi_ranks_own();
}

bool idle_shared_is_part(const struct idle_question *question)
{
	return is_split(question) && mpi_ranks_own() > 0;
}

static void put_shares(struct store_bytes *out, const struct exact_share_sums *sums)
{
	struct exact_share share;
	uint32_t count = 0;

	for (size_t at = 0; exact_share_sums_next(sums, &at, &share);)
		count++;
	store_bytes_put(out, &count, sizeof count);
	for (size_t at = 0; exact_share_sums_next(sums, &at, &share);) {
		store_bytes_put(out, &share.context, sizeof share.context);
		store_bytes_put(out, &share.group, sizeof share.group);
		store_bytes_put(out, &share.amount, sizeof share.amount);
	}
}

static void put_gaps(struct store_bytes *out, struct gaps *gaps)
{
	size_t count;
	const struct gap *list = gaps_list(gaps, &count);

	store_bytes_put(out, gaps_classes(gaps), GAP_CLASSES * sizeof(struct gap_class));
	if (count)
		store_bytes_put(out, list, count * sizeof *list);
}

static int send_sums(const struct group *group, struct error *error)
{
	struct store_bytes out = {0};
	uint32_t contexts = run_context_count(group->run);
	int result;

	store_bytes_put(&out, &contexts, sizeof contexts);
	store_bytes_put(&out, group->idle, sizeof *group->idle);
	put_shares(&out, group->blamed);
	put_shares(&out, group->waited);
	put_shares(&out, group->sampled);
	if (group->question->gaps)
		put_gaps(&out, group->question->gaps);
	result = out.failed ? error_memory(error) : mpi_ranks_send(&out, error);
	store_bytes_fini(&out);
	return result;
}

/* False: no memory, or the input ends. */
static bool take_shares(struct store_input *input, struct exact_share_sums *sums)
{
	const uint8_t *head = store_input_take(input, sizeof(uint32_t));
	struct exact_share share;
	uint32_t count = 0;

	if (head)
		memcpy(&count, head, sizeof count);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *at = store_input_take(input, SHARE_BYTES);

		if (!at)
			return false;
		memcpy(&share.context, at, sizeof share.context);
		memcpy(&share.group, at + sizeof share.context, sizeof share.group);
		memcpy(&share.amount, at + 2 * sizeof share.context, sizeof share.amount);
		if (!exact_share_sums_put(sums, &share))
			return false;
	}
	return head;
}

static bool take_gaps(struct store_input *input, struct gaps *gaps)
{
	struct gap_class classes[GAP_CLASSES];
	const uint8_t *at = store_input_take(input, sizeof classes);
	struct gap gap;

	if (!at)
		return false;
	memcpy(classes, at, sizeof classes);
	if (!gaps_add(gaps, NULL, 0, classes))
		return false;
	memset(classes, 0, sizeof classes);
	while ((at = store_input_take(input, sizeof gap))) {
		memcpy(&gap, at, sizeof gap);
		if (!gaps_add(gaps, &gap, 1, classes))
			return false;
	}
	return true;
}

static int take_sums(struct group *group, const struct store_bytes *from, struct error *error)
{
	struct store_input input = {.at = from->data, .end = from->data + from->size};
	uint32_t contexts = 0;
	struct idle idle;

	if (from->size < sizeof contexts + sizeof idle)
		return error_set(error, ERROR_IO, "a rank has sent half an answer; read it without mpirun");
	memcpy(&contexts, store_input_take(&input, sizeof contexts), sizeof contexts);
	memcpy(&idle, store_input_take(&input, sizeof idle), sizeof idle);
	if (contexts != run_context_count(group->run))
		return error_set(error, ERROR_RUN,
			"the run changed while several ranks opened it: read it with one, or when it has "
			"ended");
	idle_cache_sums_add_idle(group->idle, &idle);
	group->idle->groups += idle.groups;
	group->idle->unused_ns += idle.unused_ns;
	group->idle->ended_ns += idle.ended_ns;
	if (!take_shares(&input, group->blamed) || !take_shares(&input, group->waited) ||
		!take_shares(&input, group->sampled) ||
		(group->question->gaps && !take_gaps(&input, group->question->gaps)))
		return error_memory(error);
	return 0;
}

int idle_shared_gather(struct group *group, uint32_t groups, struct error *error)
{
	struct store_bytes sums = {0};
	int result = 0;

	if (!is_split(group->question))
		return 0;
	if (mpi_ranks_own() > 0)
		return mpi_ranks_own() < groups ? send_sums(group, error) : 0;
	for (uint32_t rank = 1; rank < mpi_ranks_count() && rank < groups && !result; rank++) {
		result = mpi_ranks_receive(rank, &sums, error);
		if (!result)
			result = take_sums(group, &sums, error);
	}
	store_bytes_fini(&sums);
	return result;
}
