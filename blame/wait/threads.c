/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - see threads.h: one sweep per process over its threads. */
#include "blame/wait/threads.h"

#include <stdlib.h>

#include "blame/base/helper_threads.h"
#include "blame/base/kernel_frames.h"
#include "blame/base/process.h"
#include "blame/base/related.h"
#include "blame/base/sweep.h"

enum thread_state {
	THREAD_ABSENT,
	THREAD_UNKNOWN,
	THREAD_WORK,
	THREAD_SPIN,
	THREAD_SYNC,
	THREAD_BLOCKED,
	THREAD_RUNNABLE
};

struct thread_line {
	enum thread_state state;
	uint32_t context, stream;
	uint64_t begin_ns;
	bool is_last_seen;
	bool is_reported;
	bool is_unseen; /* whether it works is not known: unmonitored, or lost */
};

struct thread_team {
	struct run *run;
	const struct idle_question *question;
	struct threads *threads;
	struct sweep *sweep;
	struct thread_line *lines;
	uint32_t line_count;
	uint32_t working, living, unseen;
	uint64_t now_ns;
	struct exact_share_sums *waited, *after, *serial;
};

static enum thread_state state_of(const struct thread_team *team, const struct extent *piece)
{
	switch (piece->state) {
	case EXTENT_ABSENT:
		return THREAD_ABSENT;
	case EXTENT_SYNC:
		return THREAD_SYNC;
	case EXTENT_BLOCKED:
		return THREAD_BLOCKED;
	case EXTENT_RUNNABLE:
		return THREAD_RUNNABLE;
	default:
		if (!extent_state_is_busy(piece->state))
			return THREAD_UNKNOWN;
		return wait_functions_match(team->question->waits, piece->context) ? THREAD_SPIN
										   : THREAD_WORK;
	}
}

static uint64_t *sum_of(struct threads *threads, enum thread_state state)
{
	switch (state) {
	case THREAD_WORK:
		return &threads->work_ns;
	case THREAD_SPIN:
		return &threads->spin_ns;
	case THREAD_SYNC:
		return &threads->sync_ns;
	case THREAD_BLOCKED:
		return &threads->blocked_ns;
	case THREAD_RUNNABLE:
		return &threads->runnable_ns;
	case THREAD_UNKNOWN:
		return &threads->unknown_ns;
	default:
		return &threads->absent_ns;
	}
}

/* The one thread at work, while others live and are known not to work. */
static bool pass(struct thread_team *team, uint64_t to_ns)
{
	uint64_t dt_ns = to_ns - team->now_ns;

	team->now_ns = to_ns;
	if (!dt_ns || team->working != 1 || team->living < 2 || team->unseen)
		return true;
	for (uint32_t i = 0; i < team->line_count; i++) {
		const struct thread_line *line = &team->lines[i];

		if (line->state != THREAD_WORK || !line->is_reported)
			continue;
		team->threads->serial_ns += dt_ns;
		return exact_share_sums_add_of(
			team->serial, line->stream, line->context, exact_share_of(dt_ns, 1));
	}
	return true;
}

/* One that was seen waiting and then sleeps goes on with that; one that was seen at work does not wait in its
 * work. */
static bool is_unknown_wait(const struct thread_team *team, const struct thread_line *line)
{
	return line->state == THREAD_BLOCKED && line->is_last_seen &&
	       !wait_functions_match(team->question->waits, line->context);
}

static bool line_leave(struct thread_team *team, struct thread_line *line, uint64_t time_ns)
{
	uint64_t dt_ns = time_ns - line->begin_ns;
	bool is_waiting =
		line->state == THREAD_SPIN || line->state == THREAD_SYNC || line->state == THREAD_BLOCKED;

	team->working -= line->state == THREAD_WORK;
	team->living -= line->state != THREAD_ABSENT;
	team->unseen -= line->is_unseen;
	if (!line->is_reported)
		return true;
	*sum_of(team->threads, line->state) += dt_ns;
	if (!is_waiting || !dt_ns)
		return true;
	if (!is_unknown_wait(team, line))
		return exact_share_sums_add_of(team->waited, line->stream,
			kernel_frames_caller(team->run, line->context), exact_share_of(dt_ns, 1));
	team->threads->pathless_ns += dt_ns;
	return exact_share_sums_add_of(team->after, line->stream, line->context, exact_share_of(dt_ns, 1));
}

static int team_run(struct thread_team *team, struct error *error)
{
	struct sweep_change change;
	int more;

	while ((more = sweep_next(team->sweep, &change, error)) > 0) {
		struct thread_line *line = &team->lines[change.line];

		if (!pass(team, change.time_ns) || !line_leave(team, line, change.time_ns))
			return error_memory(error);
		*line = (struct thread_line){.state = THREAD_ABSENT,
			.stream = line->stream,
			.begin_ns = change.time_ns,
			.is_reported = line->is_reported};
		if (change.piece) {
			line->state = state_of(team, change.piece);
			line->context = change.piece->context;
			line->is_last_seen = change.is_last_seen;
			line->is_unseen = change.piece->state == EXTENT_UNMONITORED ||
					  change.piece->state == EXTENT_LOST;
		}
		team->working += line->state == THREAD_WORK;
		team->living += line->state != THREAD_ABSENT;
		team->unseen += line->is_unseen;
	}
	return more;
}

static int team_sweep(struct thread_team *team, const struct process *process, struct error *error)
{
	const struct idle_question *question = team->question;
	uint32_t reported = 0;
	int result = sweep_new(&team->sweep, team->run, question->begin_ns, question->end_ns, error);

	team->now_ns = question->begin_ns;
	team->lines = calloc(process->stream_count + 1, sizeof(*team->lines));
	if (!team->lines) {
		error_memory(error);
		result = -ERROR_IO;
	}
	for (uint32_t i = 0; i < process->stream_count && !result; i++) {
		if (run_stream(team->run, process->streams[i])->s.kind != STORE_STREAM_CPU)
			continue;
		team->lines[team->line_count].stream = process->streams[i];
		team->lines[team->line_count].is_reported =
			related_is_reported(question->related, process->streams[i]);
		reported += team->lines[team->line_count].is_reported;
		team->lines[team->line_count++].begin_ns = question->begin_ns;
		result = sweep_add_stream(team->sweep, process->streams[i], error);
	}
	team->threads->threads += reported;
	team->threads->processes += reported != 0;
	if (!result)
		result = team_run(team, error);
	sweep_free(team->sweep);
	free(team->lines);
	return result;
}

static int check_known(const struct threads *threads, struct error *error)
{
	if (!threads->threads)
		return error_set(error, ERROR_EMPTY,
			"no CPU thread is among the chosen streams; hpct-info --streams lists them");
	if (threads->window_ns == threads->unknown_ns + threads->absent_ns)
		return error_set(error, ERROR_EMPTY, "no CPU thread was monitored in this window");
	return 0;
}

/* Threads of MPI's libraries are nobody's peers: only those that were chosen themselves stay. */
static int leave_out_helpers(
	struct related *related, struct run *run, struct arena *arena, struct error *error)
{
	uint32_t left_out, kept_count, count = 0, at = 0, *streams;
	const uint32_t *kept;
	int result = helper_threads_leave_out(
		run, &kept, &kept_count, &left_out, related->streams, related->count, arena, error);

	if (result || !left_out || !related->bits)
		return result;
	streams = arena_calloc(arena, (size_t)related->count + 1, sizeof(*streams));
	if (!streams)
		return error_memory(error);
	for (uint32_t i = 0; i < related->count; i++) {
		bool is_kept = at < kept_count && kept[at] == related->streams[i];

		at += is_kept;
		if (is_kept || related_is_reported(related->bits, related->streams[i]))
			streams[count++] = related->streams[i];
	}
	related->streams = streams;
	related->count = count;
	return 0;
}

int threads_sweep(struct threads *threads, struct run *run, const struct idle_question *asked,
	struct arena *arena, struct error *error)
{
	struct idle_question related_question = *asked;
	const struct idle_question *question = &related_question;
	struct exact_share_sums waited = {.groups = asked->groups}, after = {.groups = asked->groups},
				serial = {.groups = asked->groups};
	struct related related = {0};
	struct process *processes;
	uint32_t count = 0;
	int result = related_find(&related, run, asked->streams, asked->stream_count, false, arena, error);

	if (!result)
		result = leave_out_helpers(&related, run, arena, error);
	if (!result)
		result = process_list(&processes, &count, run, related.streams, related.count, arena, error);
	related_question.related = related.bits;

	*threads = (struct threads){0};
	for (uint32_t p = 0; p < count && !result; p++) {
		struct thread_team team = {.run = run,
			.question = question,
			.threads = threads,
			.waited = &waited,
			.after = &after,
			.serial = &serial};

		result = team_sweep(&team, &processes[p], error);
	}
	threads->window_ns = threads->threads * (question->end_ns - question->begin_ns);
	if (!result)
		result = check_known(threads, error);
	if (!result)
		result = exact_share_sums_list(
			&waited, &threads->waited, &threads->waited_count, arena, error);
	if (!result)
		result = exact_share_sums_list(&after, &threads->after, &threads->after_count, arena, error);
	if (!result)
		result = exact_share_sums_list(
			&serial, &threads->serial, &threads->serial_count, arena, error);
	exact_share_sums_fini(&waited);
	exact_share_sums_fini(&after);
	exact_share_sums_fini(&serial);
	return result;
}
