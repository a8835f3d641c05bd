/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_line.c - see import_line.h. Changes of one moment come one by one: what they lead to is known when
 * time goes on.
 */
#include "formats/base/import_line.h"

#include <stdlib.h>

#include "store/base/array.h"

uint32_t import_line_state(const char *name, size_t size)
{
	uint32_t op = store_op_find(name, size);

	switch (op) {
	case STORE_OP_BLOCKED:
	case STORE_OP_RUNNABLE:
	case STORE_OP_SYNC:
	case STORE_OP_UNMONITORED:
	case STORE_OP_LOST:
		return op;
	default:
		return STORE_OP_COUNT;
	}
}

int import_line_begin(struct import_line *line, struct import_run *run, uint32_t stream, struct error *error)
{
	struct import_stream *to = import_stream_at(run, stream);

	line->run = run;
	line->stream = stream;
	line->metric = store_writer_metric(import_run_writer(run), "time", "ns", false);
	line->count = 0;
	line->state = STORE_OP_COUNT;
	line->shown = IMPORT_NONE;
	line->has_any = false;
	line->waited_ns = line->now_ns = 0;
	to->has_switches = true;
	if (!to->metric)
		to->metric = import_name(run, "time", 4);
	return to->metric ? 0 : error_memory(error);
}

void import_line_fini(struct import_line *line)
{
	free(line->contexts);
}

static int put_sample(
	struct import_line *line, uint32_t context, uint64_t weight, bool is_source, struct error *error)
{
	const struct import_record record = {.shape = IMPORT_SAMPLE,
		.begin_ns = line->now_ns,
		.stream = line->stream,
		.name = context,
		.op = line->metric,
		.bytes = weight,
		.is_source = is_source};

	return import_record(line->run, &record, error);
}

static int put_span(
	struct import_line *line, uint32_t op, uint32_t context, uint64_t begin_ns, struct error *error)
{
	const struct import_record record = {.shape = IMPORT_PLACED,
		.begin_ns = begin_ns,
		.end_ns = line->now_ns,
		.stream = line->stream,
		.name = context,
		.op = op};

	return import_record(line->run, &record, error);
}

/* What was shown before this moment ends. */
static int put_past(struct import_line *line, struct error *error)
{
	uint64_t busy_ns = line->now_ns - line->since_ns;

	if (line->shown == IMPORT_NONE)
		return line->has_any && busy_ns
			       ? put_span(line, STORE_OP_UNMONITORED, 0, line->since_ns, error)
			       : 0;
	busy_ns -= line->waited_ns < busy_ns ? line->waited_ns : busy_ns;
	return busy_ns ? put_sample(line, line->shown, busy_ns, false, error) : 0;
}

/* All changes of the moment are known. */
static int settle(struct import_line *line, struct error *error)
{
	size_t calls = line->count - (line->state != STORE_OP_COUNT);
	uint32_t now = calls ? line->contexts[calls - 1] : IMPORT_NONE;
	int rc;

	if (now == line->shown)
		return 0;
	rc = put_past(line, error);
	if (rc == 0 && now != IMPORT_NONE)
		rc = put_sample(line, now, 0, true, error);
	line->shown = now;
	line->since_ns = line->now_ns;
	line->waited_ns = 0;
	line->has_any = true;
	return rc;
}

static int move_to(struct import_line *line, uint64_t time_ns, struct error *error)
{
	int rc = time_ns > line->now_ns ? settle(line, error) : 0;

	if (time_ns > line->now_ns)
		line->now_ns = time_ns;
	return rc;
}

int import_line_enter(
	struct import_line *line, uint64_t time_ns, uint32_t name, uint32_t state, struct error *error)
{
	int rc = move_to(line, time_ns, error);
	uint32_t above = line->count ? line->contexts[line->count - 1] : 0;

	if (rc < 0)
		return rc;
	if (!array_widen(&line->contexts, &line->room, line->count, sizeof *line->contexts))
		return error_memory(error);
	if (state != STORE_OP_COUNT && line->state == STORE_OP_COUNT) {
		line->state = state;
		line->state_ns = line->now_ns;
		line->contexts[line->count++] = above;
		return 0;
	}
	line->contexts[line->count++] = import_frame(line->run, above, name);
	return 0;
}

/* A state ends. Without a call around it the gap before it ends where it began. */
static int leave_state(struct import_line *line, struct error *error)
{
	uint64_t from_ns = line->state_ns > line->since_ns ? line->state_ns : line->since_ns;
	uint32_t context = line->contexts[line->count], state = line->state;
	bool is_alone = line->shown == IMPORT_NONE;
	int rc = 0;

	line->state = STORE_OP_COUNT;
	if (is_alone && line->has_any && line->state_ns > line->since_ns) {
		const struct import_record gap = {.shape = IMPORT_PLACED,
			.begin_ns = line->since_ns,
			.end_ns = line->state_ns,
			.stream = line->stream,
			.op = STORE_OP_UNMONITORED};

		rc = import_record(line->run, &gap, error);
	}
	if (rc == 0)
		rc = put_span(line, state, context, line->state_ns, error);
	if (is_alone) {
		line->since_ns = line->now_ns;
		line->has_any = true;
	}
	line->waited_ns += line->now_ns - from_ns;
	return rc;
}

int import_line_leave(struct import_line *line, uint64_t time_ns, struct error *error)
{
	int rc = move_to(line, time_ns, error);

	if (rc < 0 || !line->count)
		return rc;
	line->count--;
	return line->state == STORE_OP_COUNT ? 0 : leave_state(line, error);
}

int import_line_end(struct import_line *line, struct error *error)
{
	int rc = 0;

	while (line->count && rc == 0)
		rc = import_line_leave(line, line->now_ns, error);
	return rc == 0 ? settle(line, error) : rc;
}
