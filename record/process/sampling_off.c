/* SPDX-License-Identifier: Apache-2.0 */
/* sampling_off.c - see sampling_off.h. */
#include "record/process/sampling_off.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLING_OFF_KEPT_MAX (1u << 20) /* further switches of a program are ignored */

static void time_add(struct sampling_off *sampling_off, uint64_t time_ns)
{
	uint64_t last_ns = sampling_off->count ? sampling_off->times_ns[sampling_off->count - 1] : 0;

	if (sampling_off->count == sampling_off->capacity) {
		uint32_t room = sampling_off->capacity ? 2 * sampling_off->capacity : 16;
		uint64_t *grown = room <= SAMPLING_OFF_KEPT_MAX
					  ? realloc(sampling_off->times_ns, room * sizeof(*grown))
					  : NULL;

		if (!grown)
			return;
		sampling_off->times_ns = grown;
		sampling_off->capacity = room;
	}
	sampling_off->times_ns[sampling_off->count++] = time_ns < last_ns ? last_ns : time_ns;
}

void sampling_off_take(struct sampling_off *sampling_off, struct event_process *shared, uint64_t now_ns)
{
	uint32_t count = atomic_load_explicit(&shared->pause_count, memory_order_acquire);
	uint32_t taken = atomic_load(&shared->pauses_taken);

	if (count - taken > EVENT_PAUSES_MAX)
		taken = count - EVENT_PAUSES_MAX;
	for (; taken != count; taken++) {
		uint64_t time_ns = atomic_load(&shared->pause_ns[taken % EVENT_PAUSES_MAX]);

		time_add(sampling_off, time_ns < now_ns ? time_ns : now_ns);
	}
	atomic_store(&shared->pauses_taken, count);
}

void sampling_off_fini(struct sampling_off *sampling_off)
{
	free(sampling_off->times_ns);
	*sampling_off = (struct sampling_off){0};
}

static struct store_record span_of(struct store_writer *writer, uint64_t begin_ns, uint64_t end_ns)
{
	static const char reason[] = "reason=sampling was off";

	return (struct store_record){.begin_ns = begin_ns,
		.end_ns = end_ns,
		.what = STORE_OP_UNMONITORED,
		.attributes = store_writer_text(writer, reason, strlen(reason))};
}

static void line_open(
	struct sampling_off_stream *line, struct store_writer *writer, uint32_t stream, uint64_t begin_ns)
{
	struct store_record span = span_of(writer, begin_ns, STORE_OPEN_NS);

	line->is_open = true;
	line->begin_ns = begin_ns;
	store_writer_span_open(writer, stream, SAMPLING_OFF_SPAN_HANDLE, &span);
}

static void line_close(
	struct sampling_off_stream *line, struct store_writer *writer, uint32_t stream, uint64_t end_ns)
{
	struct store_record span = span_of(writer, line->begin_ns, end_ns);

	line->is_open = false;
	store_writer_span_close(
		writer, stream, SAMPLING_OFF_SPAN_HANDLE, end_ns > line->begin_ns ? &span : NULL);
}

void sampling_off_publish(const struct sampling_off *sampling_off, struct sampling_off_stream *line,
	struct store_writer *writer, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	for (; line->published < sampling_off->count; line->published++) {
		uint64_t time_ns = sampling_off->times_ns[line->published];

		if (time_ns >= end_ns)
			break;
		if (line->published % 2 == 0)
			line_open(line, writer, stream, time_ns > begin_ns ? time_ns : begin_ns);
		else if (line->is_open)
			line_close(line, writer, stream, time_ns);
	}
	if (line->is_open && end_ns != UINT64_MAX)
		line_close(line, writer, stream, end_ns);
}
