/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_filter.c - see process_filter.h. The random number is a hash of seed and rank (pid without a rank),
 * so that all callers get the same result and a run can be repeated.
 */
#include "record/agent/process/process_filter.h"

#include <stdlib.h>
#include <string.h>

#include "store/ring/handshake.h"

/* The value after the word, or NULL. */
static const char *value_of(const char *events, const char *word)
{
	const char *at = strstr(events, word);

	return at ? at + strlen(word) : NULL;
}

static bool number_read(const char **at, long *number)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*number = strtol(*at, &end, 10);
	*at = end;
	return *number <= INT32_MAX;
}

/* "8", "0-3", "8:2", "0-30:2" */
static bool range_read(const char **at, int32_t rank, bool *has)
{
	long first, last, step = 1;

	if (!number_read(at, &first))
		return false;
	last = first;
	if (**at == '-') {
		++*at;
		if (!number_read(at, &last) || last < first)
			return false;
	} else if (**at == ':' || **at == '/') {
		last = INT32_MAX;
	}
	if (**at == ':' || **at == '/') {
		++*at;
		if (!number_read(at, &step) || !step)
			return false;
	}
	*has |= rank >= first && rank <= last && (rank - first) % step == 0;
	return true;
}

bool process_filter_has_rank(const char *list, int32_t rank, bool *is_wrong)
{
	bool has = false;

	*is_wrong = true;
	do {
		if (!range_read(&list, rank, &has))
			return false;
	} while (*list == ',' && *++list);
	*is_wrong = *list && *list != ' ';
	return has && !*is_wrong;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static bool is_drawn(const char *fraction, pid_t pid, int32_t rank)
{
	char *end;
	uint64_t limit = strtoull(fraction, &end, 10), seed = *end == ',' ? strtoull(end + 1, NULL, 10) : 0;
	uint64_t who = rank >= 0 ? (uint64_t)rank : UINT64_C(1) << 40 | (uint64_t)pid;

	return rank == 0 || mix(seed + (who + 1) * UINT64_C(0x9e3779b97f4a7c15)) >> 32 < limit;
}

bool process_filter_wants(const char *events, pid_t pid, int32_t rank)
{
	const char *alone = value_of(events, EVENT_WORD_ALONE), *ranks = value_of(events, EVENT_WORD_RANKS);
	const char *fraction = value_of(events, EVENT_WORD_FRACTION);
	bool is_wrong;

	if (alone && strtol(alone, NULL, 10) != pid)
		return false;
	if (ranks && rank >= 0 && !process_filter_has_rank(ranks, rank, &is_wrong))
		return false;
	return !fraction || is_drawn(fraction, pid, rank);
}

const char *process_filter_reason(const char *events)
{
	if (value_of(events, EVENT_WORD_FRACTION))
		return "left out by --process-fraction";
	if (value_of(events, EVENT_WORD_RANKS))
		return "left out by --ranks";
	return strstr(events, EVENT_WORD_NO_CHILDREN) ? "left out by --no-children" : NULL;
}
