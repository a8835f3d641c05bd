/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpctoolkit_line.c - see hpctoolkit_line.h.
 */
#include "formats/hpctoolkit/hpctoolkit_line.h"

#include <string.h>

uint32_t hpctoolkit_operation(const char *name)
{
	static const struct {
		const char *name;
		uint32_t op;
	} operations[] = {{"<gpu kernel>", STORE_OP_KERNEL}, {"<gpu copy>", STORE_OP_COPY},
		{"<gpu copyin>", STORE_OP_COPY}, {"<gpu copyout>", STORE_OP_COPY},
		{"<gpu memset>", STORE_OP_SET}, {"<gpu set>", STORE_OP_SET}, {"<gpu sync>", STORE_OP_SYNC}};

	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (strcmp(operations[i].name, name) == 0)
			return operations[i].op;
	return STORE_OP_COUNT;
}

void hpctoolkit_line_begin(
	struct hpctoolkit_line *line, struct import_run *run, uint32_t stream, uint32_t metric)
{
	*line = (struct hpctoolkit_line){.run = run, .stream = stream, .metric = metric};
	line->is_gpu = import_stream_at(run, stream)->s.kind == STORE_STREAM_GPU;
}

static int put_span(const struct hpctoolkit_line *line, uint64_t end_ns, uint32_t op, uint32_t context,
	struct error *error)
{
	const struct import_record record = {.shape = IMPORT_PLACED,
		.begin_ns = line->last_ns,
		.end_ns = end_ns,
		.stream = line->stream,
		.op = op,
		.name = context};

	return import_record(line->run, &record, error);
}

static int put_sample(const struct hpctoolkit_line *line, uint64_t time_ns, uint32_t context, uint64_t weight,
	struct error *error)
{
	const struct import_record record = {.shape = IMPORT_SAMPLE,
		.begin_ns = time_ns,
		.end_ns = time_ns,
		.stream = line->stream,
		.op = line->metric,
		.name = context,
		.bytes = weight,
		.is_source = !weight};

	return import_record(line->run, &record, error);
}

/* What went on from the element before until this one. */
static int put_past(const struct hpctoolkit_line *line, uint64_t now_ns, struct error *error)
{
	const struct hpctoolkit_place *last = &line->last;

	if (!line->has_last || now_ns <= line->last_ns)
		return 0;
	if (line->is_gpu)
		return last->is_idle ? 0 : put_span(line, now_ns, last->op, last->context, error);
	if (last->is_idle)
		return put_span(line, now_ns, STORE_OP_BLOCKED, 0, error);
	return put_sample(line, now_ns, last->context, now_ns - line->last_ns, error);
}

int hpctoolkit_line_take(struct hpctoolkit_line *line, uint64_t time_ns, const struct hpctoolkit_place *place,
	struct error *error)
{
	int code = put_past(line, time_ns, error);

	if (code == 0 && !line->is_gpu && !place->is_idle)
		code = put_sample(line, time_ns, place->context, 0, error);
	line->has_last = true;
	line->last = *place;
	line->last_ns = time_ns;
	return code;
}
