/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel_sum_rows.c - see parallel_sum_rows.h.
 *
 *   rows | header | error's text, or: | times | weights | names of operations, NUL-terminated |
 */
#include "timeline/sum/parallel_sum_rows.h"

#include <string.h>

#include "timeline/run/run_internal.h"

struct header {
	int32_t code;			     /* negative: the error's text follows */
	uint32_t contexts, streams, metrics; /* of the run as the process has it */
	uint64_t times, weights, names_bytes;
};

/* Operations beyond the fixed ones have numbers of the process: their names go along, by place. */
bool parallel_sum_rows_put(struct store_bytes *out, const struct run *run, const struct window *window)
{
	struct header header = {.contexts = run_context_count(run),
		.streams = run_stream_count(run),
		.metrics = run_metric_count(run)};
	size_t times, weights;
	const struct window_time *time = window_times(window, &times);
	const struct window_weight *weight = window_weights(window, &weights);
	struct store_bytes names = {0};

	for (size_t i = 0; i < times; i++)
		if (time[i].op >= STORE_OP_TEXT) {
			const char *name = run_op_name(run, time[i].op);

			store_bytes_put(&names, name, strlen(name) + 1);
		}
	header.times = times;
	header.weights = weights;
	header.names_bytes = names.size;
	store_bytes_put(out, &header, sizeof header);
	if (times)
		store_bytes_put(out, time, times * sizeof *time);
	if (weights)
		store_bytes_put(out, weight, weights * sizeof *weight);
	if (names.size)
		store_bytes_put(out, names.data, names.size);
	out->failed |= names.failed;
	store_bytes_fini(&names);
	return !out->failed;
}

void parallel_sum_rows_put_error(struct store_bytes *out, int code, const struct error *error)
{
	struct header header = {.code = code, .names_bytes = strlen(error->text)};

	out->size = 0;
	out->failed = false;
	store_bytes_put(out, &header, sizeof header);
	store_bytes_put(out, error->text, strlen(error->text));
}

static int take_times(struct window *window, struct run *run, struct store_input *input,
	const struct header *header, const char *name, const char *names_end, struct error *error)
{
	struct window_time time;
	int code = 0;

	for (uint64_t i = 0; i < header->times && !code; i++) {
		const uint8_t *at = store_input_take(input, sizeof time);

		memcpy(&time, at, sizeof time);
		if (time.op >= STORE_OP_TEXT && name < names_end) {
			time.op = run_op_named(run, name, strlen(name));
			name += strlen(name) + 1;
		}
		code = window_put_time(window, &time, error);
	}
	return code;
}

static int take_weights(
	struct window *window, struct store_input *input, const struct header *header, struct error *error)
{
	struct window_weight weight;
	int code = 0;

	for (uint64_t i = 0; i < header->weights && !code; i++) {
		memcpy(&weight, store_input_take(input, sizeof weight), sizeof weight);
		code = window_put_weight(window, &weight, error);
	}
	return code;
}

/* They come from another process of this program, so only what can happen is checked: it died, or on another
 * host it sees another state of the run. */
int parallel_sum_rows_take(
	struct window *window, struct run *run, struct store_slice from, struct error *error)
{
	struct store_input input = {.at = from.bytes, .end = from.bytes + from.size};
	struct header header;
	uint64_t rows_bytes;
	int code;

	if (from.size < sizeof header)
		return error_set(
			error, ERROR_IO, "a process that was to help has died; --jobs 1 does without");
	memcpy(&header, store_input_take(&input, sizeof header), sizeof header);
	if (header.code)
		return error_set(error, (enum error_code) - header.code, "%.*s", (int)(input.end - input.at),
			(const char *)input.at);
	if (header.contexts != run_context_count(run) || header.streams != run_stream_count(run) ||
		header.metrics != run_metric_count(run))
		return error_set(error, ERROR_RUN,
			"the run changed while several ranks opened it: read it with one, or when it has "
			"ended");
	rows_bytes =
		header.times * sizeof(struct window_time) + header.weights * sizeof(struct window_weight);
	if ((uint64_t)(input.end - input.at) != rows_bytes + header.names_bytes)
		return error_set(
			error, ERROR_IO, "a process that was to help has died; --jobs 1 does without");
	code = take_times(window, run, &input, &header, (const char *)input.at + rows_bytes,
		(const char *)input.end, error);
	return code ? code : take_weights(window, &input, &header, error);
}
