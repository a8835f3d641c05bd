/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope_export.c - exports a run for speedscope: a profile per stream, its line as frames that open and
 * close. Frames are numbered by first use, so their table stands behind the profiles.
 *
 *   {"profiles": [{"type": "evented", "name": "worker 1", "events": [{"type": "O", "frame": 3, "at": 12}, ...
 *    "shared": {"frames": [{"name": "main", "file": "phases.c", "line": 12}, ...
 */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/base/format.h"
#include "formats/base/stack_changes.h"
#include "store/base/array.h"
#include "store/base/json.h"
#include "timeline/report/coverage.h"
#include "timeline/select/select.h"

#define NOT_USED UINT32_MAX

struct speedscope {
	struct run *run;
	const struct select *select;
	FILE *out;
	uint32_t *numbers; /* [function] of its frame */
	size_t number_room;
	uint32_t *frames; /* [frame] function, or STACK_STATE + state */
	size_t frame_room;
	uint32_t frame_count, states[EXTENT_STATE_COUNT];
	bool failed, has_event, has_any;
	struct store_bytes text;
};

static uint32_t *number_of(struct speedscope *file, uint32_t frame)
{
	size_t before = file->number_room;
	uint32_t function;

	if (frame >= STACK_STATE)
		return &file->states[frame - STACK_STATE];
	function = run_scope(file->run, frame)->function;
	if (!array_reserve(&file->numbers, &file->number_room, (size_t)function + 1, sizeof *file->numbers))
		return NULL;
	for (size_t i = before; i < file->number_room; i++)
		file->numbers[i] = NOT_USED;
	return &file->numbers[function];
}

static bool find_frame(struct speedscope *file, uint32_t frame, uint32_t *number)
{
	uint32_t *at = number_of(file, frame);

	if (!at)
		return false;
	if (*at == NOT_USED) {
		if (!array_widen(&file->frames, &file->frame_room, file->frame_count, sizeof *file->frames))
			return false;
		file->frames[file->frame_count] =
			frame >= STACK_STATE ? frame : run_scope(file->run, frame)->function;
		*at = file->frame_count++;
	}
	*number = *at;
	return true;
}

static void write_change(void *own, uint32_t frame, uint64_t time_ns, bool is_begin)
{
	struct speedscope *file = own;
	uint64_t origin_ns = run_origin_ns(file->run);
	uint32_t number;

	if (file->failed || !find_frame(file, frame, &number)) {
		file->failed = true;
		return;
	}
	fprintf(file->out, "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64 "}",
		file->has_event ? ",\n" : "\n", is_begin ? 'O' : 'C', number,
		time_ns > origin_ns ? time_ns - origin_ns : 0);
	file->has_event = true;
}

static void put_text(struct speedscope *file, const char *key, const char *text, size_t size)
{
	fprintf(file->out, "\"%s\":", key);
	file->text.size = 0;
	json_put_string(&file->text, text, size);
	file->failed |= file->text.failed;
	fwrite(file->text.data, 1, file->text.size, file->out);
}

/* The profile's range: the stream's life in the window. */
static void begin_profile(struct speedscope *file, const struct run_stream *stream)
{
	uint64_t origin_ns = run_origin_ns(file->run), begin_ns = select_begin_ns(file->select),
		 end_ns = select_end_ns(file->select);

	if (stream->s.begin_ns > begin_ns && stream->s.begin_ns < end_ns)
		begin_ns = stream->s.begin_ns;
	if (stream->s.end_ns < end_ns && stream->s.end_ns > begin_ns)
		end_ns = stream->s.end_ns;
	fputs(file->has_any ? ",\n{" : "\n{", file->out);
	put_text(file, "name", stream->name[0] ? stream->name : stream->text,
		strlen(stream->name[0] ? stream->name : stream->text));
	fprintf(file->out,
		",\"type\":\"evented\",\"unit\":\"nanoseconds\",\"startValue\":%" PRIu64
		",\"endValue\":%" PRIu64 ",\"events\":[",
		begin_ns > origin_ns ? begin_ns - origin_ns : 0, end_ns > origin_ns ? end_ns - origin_ns : 0);
	file->has_any = true;
	file->has_event = false;
}

static int put_profiles(struct speedscope *file, bool *has_events, struct error *error)
{
	struct stack_changes calls = {.change = write_change, .own = file};
	uint32_t count;
	const uint32_t *streams = select_streams(file->select, &count);
	int rc = 0;

	for (uint32_t i = 0; i < count && rc == 0; i++) {
		const struct run_stream *stream = run_stream(file->run, streams[i]);

		if (!store_stream_has_states(stream->s.kind))
			continue; /* weights alone: nothing lasts */
		begin_profile(file, stream);
		rc = stack_changes_stream(&calls, file->run, file->select, streams[i], error);
		fputs("]}", file->out);
		*has_events |= file->has_event;
	}
	stack_changes_fini(&calls);
	return rc;
}

static void put_frame(struct speedscope *file, uint32_t frame, bool is_first)
{
	const struct run_function *function;
	char name[64];

	fputs(is_first ? "\n{" : ",\n{", file->out);
	if (frame >= STACK_STATE) {
		snprintf(name, sizeof name, "[%s]",
			extent_state_word((enum extent_state)(frame - STACK_STATE)));
		put_text(file, "name", name, strlen(name));
	} else {
		function = run_function(file->run, frame);
		put_text(file, "name", function->name, function->name_bytes);
		if (function->file[0] || function->module[0]) {
			const char *place = function->file[0] ? function->file : function->module;

			fputs(",", file->out);
			put_text(file, "file", place, strlen(place));
		}
		if (function->line)
			fprintf(file->out, ",\"line\":%" PRIu32, function->line);
	}
	fputs("}", file->out);
}

static int put_all(struct speedscope *file, struct error *error)
{
	const char *command = run_meta(file->run, "command");
	bool has_events = false;
	int rc;

	fputs("{\"$schema\":\"https://www.speedscope.app/"
	      "file-format-schema.json\",\"exporter\":\"hpct " HPCT_VERSION "\",\n",
		file->out);
	put_text(file, "name", command && *command ? command : run_path(file->run),
		strlen(command && *command ? command : run_path(file->run)));
	fputs(",\"profiles\":[", file->out);
	rc = put_profiles(file, &has_events, error);
	fputs("],\n\"shared\":{\"frames\":[", file->out);
	for (uint32_t i = 0; i < file->frame_count && rc == 0; i++)
		put_frame(file, file->frames[i], i == 0);
	fputs("]}}\n", file->out);
	if (rc == 0 && file->failed)
		rc = error_memory(error);
	if (rc == 0 && ferror(file->out))
		rc = error_unwritten(error);
	return rc < 0 ? rc : !has_events;
}

static int speedscope_put(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	struct speedscope file = {.run = run, .select = select, .out = output->out};
	int rc = coverage_require(run, select, error);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < EXTENT_STATE_COUNT; i++)
		file.states[i] = NOT_USED;
	rc = put_all(&file, error);
	free(file.numbers);
	free(file.frames);
	store_bytes_fini(&file.text);
	return rc;
}

const struct format format_speedscope = {.name = "speedscope",
	.about = "speedscope.app",
	.put = speedscope_put,
	.lacks = FORMAT_LACKS_VALUES | FORMAT_LACKS_PC | FORMAT_LACKS_REGIONS,
	.refused = "metric"};
