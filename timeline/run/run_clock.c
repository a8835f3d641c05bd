/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_clock.c - the times of a run: one clock for all hosts, its origin, begin and end, and whether it is
 * still being written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "store/catalog/stream.h"
#include "timeline/run/run_internal.h"

/* A store whose writer cannot be asked after counts as written while it was changed this recently. */
#define LIVE_SECONDS 10
#define CLOCK_ERROR_MAX ((uint64_t)1 << 62) /* what is said to be more is not known */

static uint64_t time_shift(uint64_t time_ns, int64_t shift_ns)
{
	uint64_t back = 0 - (uint64_t)shift_ns;

	if (time_ns == STORE_OPEN_NS)
		return time_ns;
	if (shift_ns < 0)
		return time_ns > back ? time_ns - back : 0;
	return time_ns < STORE_OPEN_NS - 1 - (uint64_t)shift_ns ? time_ns + (uint64_t)shift_ns
								: STORE_OPEN_NS - 1;
}

uint64_t run_part_time(const struct run_part *part, uint64_t store_ns)
{
	return part->shift_ns ? time_shift(store_ns, part->shift_ns) : store_ns;
}

uint64_t run_part_store_time(const struct run_part *part, uint64_t run_ns)
{
	return part->shift_ns ? time_shift(run_ns, -part->shift_ns) : run_ns;
}

bool run_part_is_bent(const struct run_part *part, uint64_t begin_ns, uint64_t end_ns)
{
	return run_part_time(part, end_ns) - run_part_time(part, begin_ns) != end_ns - begin_ns;
}

static const char *part_meta(const struct run_part *part, const char *key)
{
	const char *value = store_reader_meta(part->reader, key);

	return value ? value : "";
}

static bool is_same_clock(const struct run_part *first, const struct run_part *part)
{
	const char *boot = part_meta(part, "boot");

	return part == first || (*boot && !strcmp(boot, part_meta(first, "boot")));
}

int64_t run_part_shift(const struct run_part *first, const struct run_part *part)
{
	uint64_t origin = store_reader_meta_number(part->reader, "origin_ns", 0);
	uint64_t wall = store_reader_meta_number(part->reader, "wall_ns", 0);
	uint64_t first_origin = store_reader_meta_number(first->reader, "origin_ns", 0);
	uint64_t first_wall = store_reader_meta_number(first->reader, "wall_ns", 0);
	int64_t shift;

	if (is_same_clock(first, part) || !wall || !first_wall)
		return 0;
	shift = (int64_t)((wall - origin) - (first_wall - first_origin));
	return shift == INT64_MIN ? 0 : shift;
}

static int64_t drift_of(const struct run_part *part)
{
	return strtoll(part_meta(part, "wall_drift_ns"), NULL, 10);
}

struct run_clock run_clock(const struct run *run, unsigned store)
{
	const struct run_part *first = &run->parts[0], *part = &run->parts[store];
	struct run_clock clock = {
		part_meta(part, "host"), part->shift_ns, is_same_clock(first, part), true, 0};
	uint64_t own = store_reader_meta_number(part->reader, "wall_error_ns", UINT64_MAX);
	uint64_t others = store_reader_meta_number(first->reader, "wall_error_ns", UINT64_MAX);
	int64_t apart = (int64_t)((uint64_t)drift_of(part) - (uint64_t)drift_of(first));

	if (clock.is_same)
		return clock;
	clock.is_known = own < CLOCK_ERROR_MAX && others < CLOCK_ERROR_MAX && *part_meta(part, "wall_ns") &&
			 *part_meta(first, "wall_ns") && apart != INT64_MIN;
	if (clock.is_known)
		clock.error_ns = own + others + (uint64_t)(apart < 0 ? -apart : apart);
	return clock;
}

/* Is this still the process that wrote the store, and not another that got its number? One that was killed is
 * there until its parent has looked, which in a container may be never. */
static bool collector_lives(uint64_t pid)
{
	char path[64], line[256] = "", *state;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
	file = fopen(path, "re"); /* PID (NAME) STATE ... */
	if (!file)
		return false;
	if (!fgets(line, sizeof line, file))
		line[0] = '\0';
	fclose(file);
	state = strrchr(line, ')');
	return state && strstr(line, "(hpct") && !strchr("ZX", state[2]);
}

static bool is_this_boot(const char *boot)
{
	char here[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file)
		return false;
	if (!fgets(here, sizeof here, file))
		here[0] = '\0';
	fclose(file);
	here[strcspn(here, "\n")] = '\0';
	return *boot && !strcmp(boot, here);
}

static bool part_is_live(const struct run_part *part)
{
	uint64_t pid = store_reader_meta_number(part->reader, "collector_pid", 0);
	struct stat status;

	if (!strcmp(part_meta(part, "state"), "complete") || store_reader_is_archive(part->reader))
		return false;
	if (pid && is_this_boot(part_meta(part, "boot")))
		return collector_lives(pid);
	return !stat(part->path, &status) && status.st_mtime > time(NULL) - LIVE_SECONDS;
}

static uint64_t clock_now(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) ? 0 : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t run_now_ns(const struct run *run)
{
	uint64_t wall_ns = clock_now(CLOCK_REALTIME);

	for (unsigned i = 0; i < run->part_count; i++)
		if (is_this_boot(part_meta(&run->parts[i], "boot")))
			return run_part_time(&run->parts[i], clock_now(CLOCK_MONOTONIC));
	return run->wall_ns && wall_ns > run->wall_ns ? run->origin_ns + (wall_ns - run->wall_ns) : 0;
}

static uint64_t part_origin(const struct run_part *part)
{
	return run_part_time(part, store_reader_meta_number(part->reader, "origin_ns", 0));
}

/* End of a stream's records; of one that still grows: until where they are complete. */
static uint64_t stream_known_until(
	const struct run_part *part, const struct store_stream *stream, bool *grows)
{
	uint64_t least = UINT64_MAX; /* = STORE_OPEN_NS: says nothing, either */

	*grows = stream->end_ns == STORE_OPEN_NS;
	if (!*grows)
		return run_part_time(part, stream->end_ns);
	for (int track = 0; track < STORE_TRACK_COUNT; track++) {
		uint64_t complete = stream->complete_ns[track];

		complete = complete ? run_part_time(part, complete) : 0;
		if (complete && complete < least)
			least = complete;
	}
	return least == UINT64_MAX ? 0 : least;
}

/* Of a stream that does not say: from its records. */
static void stream_reach(struct run *run, uint32_t stream, uint64_t *begin_ns, uint64_t *until_ns)
{
	const struct run_part *part;
	const struct store_stream *s = run_stored_stream(run, stream, &part);
	const struct run_line *line;

	*begin_ns = run_part_time(part, s->begin_ns);
	if ((*until_ns && run_part_time(part, s->end_ns) > *begin_ns) || run_line(run, stream, &line, NULL))
		return;
	*begin_ns = line->begin_ns;
	*until_ns = line->last_ns;
}

/* What a run's streams are together. */
struct reach {
	uint64_t begin_ns, end_ns, live_end_ns;
};

static void reach_add(struct reach *reach, uint64_t begin_ns, uint64_t end_ns)
{
	reach->begin_ns = begin_ns < reach->begin_ns ? begin_ns : reach->begin_ns;
	reach->end_ns = end_ns > reach->end_ns ? end_ns : reach->end_ns;
}

/* By what the store says of all its streams; false: it does not. */
static bool reach_part(const struct run_part *part, struct reach *reach)
{
	const struct store_stream_list *list = store_reader_stream_list(part->reader);

	if (!list || run_part_is_bent(part, list->begin_ns, list->end_ns))
		return false;
	reach_add(reach, run_part_time(part, list->begin_ns), run_part_time(part, list->end_ns));
	return true;
}

static void reach_stream(struct run *run, uint32_t stream, struct reach *reach)
{
	const struct run_part *part;
	const struct store_stream *s = run_stored_stream(run, stream, &part);
	uint64_t begin_ns, until_ns;
	bool grows;

	if (s->kind == STORE_STREAM_GAUGES)
		return;
	until_ns = stream_known_until(part, s, &grows);
	if (grows && until_ns && until_ns < reach->live_end_ns)
		reach->live_end_ns = until_ns;
	stream_reach(run, stream, &begin_ns, &until_ns);
	reach_add(reach, begin_ns, until_ns);
}

/* A run of nothing but gauges reaches as far as those do. */
static void reach_gauges(struct run *run, struct reach *reach)
{
	for (uint32_t i = 0; i < run->streams.count; i++) {
		const struct run_part *part;
		const struct store_stream *s = run_stored_stream(run, i, &part);
		uint64_t complete_ns = s->complete_ns[STORE_VALUES];
		uint64_t end_ns = s->end_ns == STORE_OPEN_NS ? complete_ns : s->end_ns;

		reach_add(reach, run_part_time(part, s->begin_ns), run_part_time(part, end_ns));
	}
}

static struct reach reach_all(struct run *run)
{
	struct reach reach = {UINT64_MAX, 0, UINT64_MAX};

	for (unsigned p = 0; p < run->part_count; p++)
		run->parts[p].is_listed = reach_part(&run->parts[p], &reach);
	for (uint32_t i = 0; i < run->streams.count; i++)
		if (!run->parts[run->places[i].part].is_listed)
			reach_stream(run, i, &reach);
	if (reach.begin_ns == UINT64_MAX)
		reach_gauges(run, &reach);
	return reach;
}

void run_times(struct run *run)
{
	const struct reach reach = reach_all(run);
	uint64_t end = reach.end_ns;

	run->origin_ns = UINT64_MAX;
	run->is_live = false;
	for (unsigned i = 0; i < run->part_count; i++) {
		uint64_t origin = part_origin(&run->parts[i]);

		if (origin < run->origin_ns)
			run->origin_ns = origin;
		run->is_live |= part_is_live(&run->parts[i]);
	}
	if (run->is_live && reach.live_end_ns != UINT64_MAX)
		end = reach.live_end_ns;
	run->begin_ns = reach.begin_ns == UINT64_MAX ? run->origin_ns : reach.begin_ns;
	run->end_ns = end > run->begin_ns ? end : run->begin_ns;
	run->wall_ns = store_reader_meta_number(run->parts[0].reader, "wall_ns", 0);
	if (run->wall_ns)
		run->wall_ns -= part_origin(&run->parts[0]) - run->origin_ns;
}
