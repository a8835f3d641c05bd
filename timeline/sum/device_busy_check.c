/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_busy_check.c - subtracts the union of a device's queues from its buckets of all sizes at once, and
 * checks that nothing remains.
 */
#include "timeline/sum/device_busy_check.h"

#include <stdlib.h>

#include "store/base/id_table.h"
#include "store/states/device_busy.h"
#include "timeline/run/run_internal.h"
#include "timeline/sum/device_busy.h"

/* Those of one size, in order. */
struct level {
	struct store_device_busy_bucket *buckets; /* busy_ns: what is left */
	uint32_t count, capacity, at;		  /* those before `at` are done */
};

struct check {
	struct run *run;
	const struct run_part *part;
	struct level levels[STORE_SHIFT_MAX + 1];
	uint64_t found;
};

static uint64_t end_of(const struct store_device_busy_bucket *bucket)
{
	return bucket->begin_ns + ((uint64_t)1 << bucket->shift);
}

static void take(struct level *level, uint64_t begin_ns, uint64_t end_ns)
{
	while (level->at < level->count && end_of(&level->buckets[level->at]) <= begin_ns)
		level->at++;
	for (uint32_t i = level->at; i < level->count && level->buckets[i].begin_ns < end_ns; i++) {
		struct store_device_busy_bucket *bucket = &level->buckets[i];
		uint64_t from_ns = begin_ns > bucket->begin_ns ? begin_ns : bucket->begin_ns;

		bucket->busy_ns -= (end_ns < end_of(bucket) ? end_ns : end_of(bucket)) - from_ns;
	}
}

static void take_stretch(void *own, uint64_t begin_ns, uint64_t end_ns)
{
	struct check *check = own;

	begin_ns = run_part_store_time(check->part, begin_ns);
	end_ns = run_part_store_time(check->part, end_ns);
	for (unsigned shift = 0; shift <= STORE_SHIFT_MAX; shift++)
		take(&check->levels[shift], begin_ns, end_ns);
}

/* Of one queue: only that below which its device's are has any. */
static int read_buckets(struct check *check, uint32_t stream, struct error *error)
{
	struct store_device_busy_bucket bucket = {0}, *to;
	unsigned shift = STORE_SHIFT_MAX;
	uint64_t from_ns = 0;
	int code;

	while ((code = store_device_busy_find(check->part->reader, stream, from_ns, shift, &bucket, error)) ==
		1) {
		struct level *level = &check->levels[bucket.shift];

		to = store_id_table_add(&level->buckets, &level->count, &level->capacity, sizeof *to);
		if (!to)
			return error_memory(error);
		*to = bucket;
		check->found++;
		from_ns = bucket.begin_ns + (bucket.shift == 0);
		shift = bucket.shift ? bucket.shift - 1u : STORE_SHIFT_MAX;
	}
	return code;
}

/* One that is bent is never used. */
static bool has_left(const struct check *check, const struct store_device_busy_bucket *bucket)
{
	return bucket->busy_ns && !run_part_is_bent(check->part, bucket->begin_ns, end_of(bucket));
}

static int is_nothing(const struct check *check, struct error *error)
{
	for (unsigned shift = 0; shift <= STORE_SHIFT_MAX; shift++)
		for (uint32_t i = 0; i < check->levels[shift].count; i++)
			if (has_left(check, &check->levels[shift].buckets[i]))
				return error_set(error, ERROR_RUN,
					"'%s' is damaged: the busy time of a device from %llu ns on, 2^%u ns "
					"long, is not "
					"what its queues' records say; ask with --no-rollups, or use a copy "
					"of the run",
					check->part->path,
					(unsigned long long)check->levels[shift].buckets[i].begin_ns, shift);
	return 0;
}

static int check_device(void *own, const uint32_t *queues, uint32_t count, struct error *error)
{
	struct check *check = own;
	uint64_t found = check->found;
	int code = 0;

	check->part = &check->run->parts[run_stream(check->run, queues[0])->store];
	for (unsigned shift = 0; shift <= STORE_SHIFT_MAX; shift++)
		check->levels[shift].count = check->levels[shift].at = 0;
	for (uint32_t i = 0; i < count && !code; i++)
		code = read_buckets(check, run_stream(check->run, queues[i])->id_in_store, error);
	if (code || check->found == found)
		return code;
	code = device_busy_sweep(check->run, queues, count, 0, STORE_OPEN_NS, take_stretch, check, error);
	return code ? code : is_nothing(check, error);
}

int device_busy_check(struct run *run, uint64_t *rollups, struct error *error)
{
	struct check check = {.run = run};
	int code = device_busy_each(run, check_device, &check, error);

	for (unsigned shift = 0; shift <= STORE_SHIFT_MAX; shift++)
		free(check.levels[shift].buckets);
	*rollups += check.found;
	return code;
}
