/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_file.c - see perf_file.h.
 *
 *   file   | header | ids of events | events | records ... | sections of features: build ids, names, ... |
 *   pipe   | magic, 16 | records; the first of them are the events |
 */
#include "formats/perf/perf_file.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/perf/perf_unpack.h"
#include "store/base/array.h"

#define MAGIC "PERFILE2"
#define HEADER_BYTES 104u
#define ATTR_BYTES_MIN 64u
#define IDS_MAX (1u << 20)
#define SECTION_BYTES_MAX ((uint64_t)64 << 20)

enum { /* bits of the header's features */
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_MACHINE = 6,
	FEATURE_EVENT_DESC = 12,
	FEATURES = 256
};
#define RECORD_HEADER_ATTR 64u
#define RECORD_COMPRESSED 81u
#define RECORD_COMPRESSED_2 83u /* the number of its bytes before them, padding behind them */

struct section {
	uint64_t at, size;
};

/* ---- pieces of the file ---- */

static bool read_at(FILE *in, uint64_t at, void *to, size_t size)
{
	return at <= INT64_MAX && fseeko(in, (off_t)at, SEEK_SET) == 0 && fread(to, 1, size, in) == size;
}

static uint8_t *read_section(FILE *in, const struct section *section)
{
	uint8_t *bytes = section->size && section->size <= SECTION_BYTES_MAX ? malloc(section->size) : NULL;

	if (bytes && !read_at(in, section->at, bytes, section->size)) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

/* ---- events ---- */

static const char *const software_names[] = {"cpu-clock", "task-clock", "page-faults", "context-switches",
	"cpu-migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy"};
static const char *const hardware_names[] = {"cycles", "instructions", "cache-references", "cache-misses",
	"branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
	"ref-cycles"};

static void name_event(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->type == PERF_TYPE_SOFTWARE && attr->config < sizeof software_names / sizeof *software_names)
		snprintf(event->name, sizeof event->name, "%s", software_names[attr->config]);
	else if (attr->type == PERF_TYPE_HARDWARE &&
		 attr->config < sizeof hardware_names / sizeof *hardware_names)
		snprintf(event->name, sizeof event->name, "%s", hardware_names[attr->config]);
	else
		snprintf(event->name, sizeof event->name, "event-%u:0x%llx", attr->type,
			(unsigned long long)attr->config);
}

static struct perf_event *add_event(struct perf_file *file, const uint8_t *bytes, size_t size)
{
	struct perf_event *event;

	if (file->event_count == PERF_EVENTS_MAX || size < ATTR_BYTES_MIN)
		return NULL;
	event = &file->events[file->event_count++];
	memcpy(&event->attr, bytes, size < sizeof event->attr ? size : sizeof event->attr);
	name_event(event);
	return event;
}

static bool add_ids(struct perf_event *event, const uint8_t *bytes, uint64_t count)
{
	if (!count)
		return true;
	if (count > IDS_MAX || event->ids || !array_resize(&event->ids, count, sizeof *event->ids))
		return false;
	memcpy(event->ids, bytes, count * sizeof *event->ids);
	event->id_count = count;
	return true;
}

static bool read_events(struct perf_file *file, const struct section *attrs, uint64_t entry_bytes)
{
	uint8_t entry[4096];

	if (entry_bytes < ATTR_BYTES_MIN + sizeof(struct section) || entry_bytes > sizeof entry)
		return false;
	for (uint64_t at = 0; at + entry_bytes <= attrs->size; at += entry_bytes) {
		struct perf_event *event;
		struct section ids;
		uint8_t *bytes;
		bool is_done = true;

		if (!read_at(file->in, attrs->at + at, entry, entry_bytes))
			return false;
		memcpy(&ids, entry + entry_bytes - sizeof ids, sizeof ids);
		event = add_event(file, entry, entry_bytes - sizeof ids);
		bytes = event ? read_section(file->in, &ids) : NULL;
		if (bytes)
			is_done = add_ids(event, bytes, ids.size / 8);
		free(bytes);
		if (!event || !is_done)
			return false;
	}
	return file->event_count > 0;
}

/* ---- features ---- */

/* "cycles:ppp" is "cycles"; a raw event's "cpu/event=0x3c/u" stays. */
static void cut_modifiers(char *name)
{
	char *colon = strrchr(name, ':');

	if (colon && strspn(colon + 1, "ukhHGpPSDIWeb") == strlen(colon + 1))
		*colon = '\0';
}

/* Number of events, size of an attr; of each: attr, number of ids, name, ids. */
static void read_names(struct perf_file *file, const uint8_t *bytes, size_t size)
{
	struct store_input input = {bytes, bytes + size, false};
	const uint8_t *head = store_input_take(&input, 8);
	uint32_t count = head ? store_load32(head) : 0, attr_bytes = head ? store_load32(head + 4) : 0;

	for (uint32_t i = 0; i < count && i < file->event_count; i++) {
		const uint8_t *at = store_input_take(&input, attr_bytes), *sizes, *text;
		uint32_t ids, length;

		sizes = at ? store_input_take(&input, 8) : NULL;
		if (!sizes)
			return;
		ids = store_load32(sizes);
		length = store_load32(sizes + 4);
		text = store_input_take(&input, length);
		if (!text || !store_input_take(&input, (size_t)ids * 8))
			return;
		snprintf(file->events[i].name, sizeof file->events[i].name, "%.*s",
			(int)strnlen((const char *)text, length), (const char *)text);
		cut_modifiers(file->events[i].name);
	}
}

/* Records of their own: header, pid, 20 bytes and their number, padding, path. */
static void read_build_ids(struct perf_file *file, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + 36 < size;) {
		struct perf_event_header header;
		struct perf_build_id *to;

		memcpy(&header, bytes + at, sizeof header);
		if (header.size <= 36 || header.size > size - at ||
			!array_resize(&file->build_ids, file->build_id_count + 1, sizeof *file->build_ids))
			return;
		to = &file->build_ids[file->build_id_count];
		memcpy(to->bytes, bytes + at + 12, sizeof to->bytes);
		to->size = bytes[at + 32] && bytes[at + 32] <= sizeof to->bytes ? bytes[at + 32]
										: sizeof to->bytes;
		to->path = strndup((const char *)bytes + at + 36, header.size - 36);
		file->build_id_count += to->path != NULL;
		at += header.size;
	}
}

/* Their length in four bytes stands before them. */
static void read_text(char **text, const uint8_t *bytes, size_t size)
{
	if (size > 4 && !*text)
		*text = strndup((const char *)bytes + 4, size - 4);
}

/* The sections stand behind the records, in the order of the bits. */
static void read_features(struct perf_file *file, const uint8_t *bits)
{
	uint64_t at = file->data_end;

	for (unsigned bit = 0; bit < FEATURES; bit++) {
		struct section section;
		uint8_t *bytes;

		if (!(bits[bit / 8] >> (bit % 8) & 1))
			continue;
		if (!read_at(file->in, at, &section, sizeof section))
			return;
		at += sizeof section;
		if (bit != FEATURE_BUILD_ID && bit != FEATURE_HOSTNAME && bit != FEATURE_MACHINE &&
			bit != FEATURE_EVENT_DESC)
			continue;
		bytes = read_section(file->in, &section);
		if (bytes && bit == FEATURE_BUILD_ID)
			read_build_ids(file, bytes, section.size);
		else if (bytes && bit == FEATURE_HOSTNAME)
			read_text(&file->host, bytes, section.size);
		else if (bytes && bit == FEATURE_MACHINE)
			read_text(&file->machine, bytes, section.size);
		else if (bytes)
			read_names(file, bytes, section.size);
		free(bytes);
	}
}

/* ---- the file ---- */

static bool read_head(struct perf_file *file, const uint8_t *head, const char **why)
{
	struct section attrs, data;
	uint64_t entry_bytes = store_load64(head + 16);

	memcpy(&attrs, head + 24, sizeof attrs);
	memcpy(&data, head + 40, sizeof data);
	file->data_at = data.at;
	*why = "its list of events is damaged";
	if (!read_events(file, &attrs, entry_bytes))
		return false;
	*why = "its records do not lie in it";
	/* No file system has a file of that size: it cannot be gone to. */
	if (data.at < HEADER_BYTES || data.at > INT64_MAX / 2 || data.size > INT64_MAX / 2 ||
		fseeko(file->in, (off_t)data.at, SEEK_SET) != 0)
		return false;
	file->is_cut = data.size == 0; /* perf was killed: it writes the size when it ends */
	file->data_end = data.size ? data.at + data.size : 0;
	if (data.size)
		read_features(file, head + 72);
	return true;
}

/* Through a pipe the events are records, and come before the samples. */
static bool read_pipe(struct perf_file *file)
{
	struct perf_record record;

	file->is_pipe = true;
	file->data_at = 16;
	if (perf_file_rewind(file, NULL))
		return false;
	while (perf_file_next(file, &record, NULL) > 0) {
		uint32_t size;
		struct perf_event *event;

		if (record.header.type != RECORD_HEADER_ATTR || record.size < ATTR_BYTES_MIN)
			continue;
		size = store_load32(record.body + 4);
		if (size < ATTR_BYTES_MIN || size > record.size)
			return false;
		event = add_event(file, record.body, size);
		if (!event || !add_ids(event, record.body + size, (record.size - size) / 8))
			return false;
	}
	return file->event_count > 0;
}

int perf_file_open(struct perf_file **made, FILE *in, const char *name, struct error *error)
{
	struct perf_file *file = calloc(1, sizeof *file);
	uint8_t head[HEADER_BYTES] = {0};
	const char *why = "it is cut short";
	uint64_t head_bytes;
	bool is_read = file && read_at(in, 0, head, 16);

	*made = file;
	if (!file)
		return error_memory(error);
	file->in = in;
	file->name = name;
	if (is_read && memcmp(head, "2ELIFREP", 8) == 0) {
		why = "it is of a machine with the other order of bytes";
		is_read = false;
	} else if (is_read && memcmp(head, MAGIC, 8) != 0) {
		why = "it does not begin with " MAGIC;
		is_read = false;
	}
	head_bytes = store_load64(head + 8);
	if (is_read && head_bytes == 16) {
		why = "it has no events";
		is_read = read_pipe(file);
	} else if (is_read) {
		is_read = read_at(in, 0, head, HEADER_BYTES) && read_head(file, head, &why);
	}
	if (is_read)
		return perf_file_rewind(file, error);
	perf_file_close(file);
	*made = NULL;
	return error_set(error, ERROR_RUN, "%s is no file of perf record that can be read: %s", name, why);
}

void perf_file_close(struct perf_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->event_count; i++)
		free(file->events[i].ids);
	for (size_t i = 0; i < file->build_id_count; i++)
		free(file->build_ids[i].path);
	free(file->build_ids);
	free(file->host);
	free(file->machine);
	perf_unpack_free(file->unpack);
	free(file);
}

int perf_file_rewind(struct perf_file *file, struct error *error)
{
	file->at = file->data_at;
	file->record_count = file->damaged_count = 0;
	if (file->unpack)
		perf_unpack_reset(file->unpack);
	if (fseeko(file->in, (off_t)file->at, SEEK_SET) == 0)
		return 0;
	return error_set(error, ERROR_IO, "cannot read %s: %s", file->name, strerror(errno));
}

static int next_stored(struct perf_file *file, struct perf_record *record, struct error *error)
{
	struct perf_event_header header;
	size_t got;

	if (file->data_end && file->at + sizeof header > file->data_end)
		return 0;
	got = fread(&header, 1, sizeof header, file->in);
	if (got == 0 && feof(file->in)) {
		file->is_cut |= file->data_end != 0;
		return 0;
	}
	if (got == sizeof header && header.size >= sizeof header) {
		record->header = header;
		record->body = file->buffer;
		record->size = header.size - sizeof header;
		if (fread(file->buffer, 1, record->size, file->in) == record->size) {
			file->at += header.size;
			return 1;
		}
	}
	if (ferror(file->in))
		return error_set(error, ERROR_IO, "cannot read %s: %s", file->name, strerror(errno));
	file->is_cut = true;
	return 0;
}

static int feed_block(struct perf_file *file, const struct perf_record *block, struct error *error)
{
	size_t before = block->header.type == RECORD_COMPRESSED_2 ? 8 : 0, size;

	if (!file->unpack && !(file->unpack = perf_unpack_new()))
		return error_memory(error);
	if (block->size < before || perf_unpack_is_damaged(file->unpack)) {
		file->damaged_count++;
		return 0;
	}
	size = block->size - before;
	if (before && store_load64(block->body) < size)
		size = (size_t)store_load64(block->body);
	perf_unpack_feed(file->unpack, block->body + before, size);
	return 0;
}

static bool next_unpacked(struct perf_file *file, struct perf_record *record)
{
	bool was_damaged = perf_unpack_is_damaged(file->unpack);
	const uint8_t *bytes = perf_unpack_next(file->unpack, &record->header);

	file->damaged_count += !was_damaged && perf_unpack_is_damaged(file->unpack);
	if (!bytes)
		return false;
	record->body = bytes + sizeof record->header;
	record->size = record->header.size - sizeof record->header;
	return true;
}

int perf_file_next(struct perf_file *file, struct perf_record *record, struct error *error)
{
	for (;;) {
		int next;

		if (file->unpack && next_unpacked(file, record))
			break;
		next = next_stored(file, record, error);
		if (next <= 0) {
			file->is_cut |= file->unpack && perf_unpack_is_cut(file->unpack);
			return next;
		}
		if (record->header.type != RECORD_COMPRESSED && record->header.type != RECORD_COMPRESSED_2)
			break;
		next = feed_block(file, record, error);
		if (next)
			return next;
	}
	file->record_count++;
	return 1;
}

/* ---- records ---- */

bool perf_trailer_read(
	const struct perf_file *file, const struct perf_record *record, struct perf_trailer *trailer)
{
	static const uint64_t behind[] = {
		PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
	const struct perf_event_attr *attr = &file->events[0].attr;
	size_t after = 0, time_at;

	*trailer = (struct perf_trailer){0};
	if (!attr->sample_id_all || !(attr->sample_type & PERF_SAMPLE_TIME))
		return false;
	for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
		after += attr->sample_type & behind[i] ? 8 : 0;
	if (record->size < after + 8)
		return false;
	time_at = record->size - after - 8;
	trailer->time_ns = store_load64(record->body + time_at);
	if (attr->sample_type & PERF_SAMPLE_TID && time_at >= 8) {
		trailer->pid = store_load32(record->body + time_at - 8);
		trailer->tid = store_load32(record->body + time_at - 4);
	}
	return true;
}

static const struct perf_event *event_of(const struct perf_file *file, uint64_t id)
{
	for (size_t e = 0; e < file->event_count; e++)
		for (size_t i = 0; i < file->events[e].id_count; i++)
			if (file->events[e].ids[i] == id)
				return &file->events[e];
	return NULL;
}

/* Where several events are, each sample tells its id, at the same place in all of them. */
static const struct perf_event *find_event(const struct perf_file *file, const struct perf_record *record)
{
	uint64_t type = file->events[0].attr.sample_type;
	size_t at = 0;

	if (file->event_count == 1)
		return &file->events[0];
	if (!(type & PERF_SAMPLE_IDENTIFIER)) {
		if (!(type & PERF_SAMPLE_ID))
			return &file->events[0];
		at += type & PERF_SAMPLE_IP ? 8 : 0;
		at += type & PERF_SAMPLE_TID ? 8 : 0;
		at += type & PERF_SAMPLE_TIME ? 8 : 0;
		at += type & PERF_SAMPLE_ADDR ? 8 : 0;
	}
	return at + 8 <= record->size ? event_of(file, store_load64(record->body + at)) : NULL;
}

static uint64_t take(struct store_input *input)
{
	const uint8_t *at = store_input_take(input, 8);

	return at ? store_load64(at) : 0;
}

/* Values of counters, which no sample of a profile needs. */
static void skip_counters(struct store_input *input, uint64_t format)
{
	uint64_t times =
		!!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & (1u << 4)); /* lost */
	uint64_t count = format & PERF_FORMAT_GROUP ? take(input) : 1;

	if (count > 4096)
		input->bad = true;
	else
		store_input_take(input, (times + count * each) * 8);
}

/* What a kernel with its last branches tells. */
static void skip_branches(struct store_input *input, uint64_t kinds)
{
	uint64_t count = take(input);

	if (kinds & PERF_SAMPLE_BRANCH_HW_INDEX)
		take(input);
	if (count > 65536)
		input->bad = true;
	else
		store_input_take(input, count * 24);
}

/* The size of the stack's copy, the copy, and how much of it the kernel could fill. */
static void take_stack(struct store_input *input, struct perf_sample *sample)
{
	uint64_t size = take(input), filled;

	if (!size)
		return;
	sample->stack = size <= 65536 ? store_input_take(input, size) : NULL;
	filled = take(input);
	sample->stack_size = filled < size ? filled : size;
	input->bad |= !sample->stack;
}

/* What stands behind the call chain, as far as the stack. */
static void take_state(
	struct store_input *input, const struct perf_event_attr *attr, struct perf_sample *sample)
{
	const uint8_t *size;

	if (attr->sample_type & PERF_SAMPLE_RAW) {
		size = store_input_take(input, 4);
		store_input_take(input, size ? store_load32(size) : 0);
	}
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(input, attr->branch_sample_type);
	if (attr->sample_type & PERF_SAMPLE_REGS_USER) {
		sample->registers_abi = take(input);
		if (sample->registers_abi)
			sample->registers = store_input_take(
				input, 8 * (size_t)__builtin_popcountll(attr->sample_regs_user));
	}
	if (attr->sample_type & PERF_SAMPLE_STACK_USER)
		take_stack(input, sample);
}

bool perf_sample_read(
	const struct perf_file *file, const struct perf_record *record, struct perf_sample *sample)
{
	struct store_input input = {record->body, record->body + record->size, false};
	uint64_t type, pid_tid;

	*sample = (struct perf_sample){.event = find_event(file, record)};
	if (!sample->event)
		return false;
	type = sample->event->attr.sample_type;
	if (type & PERF_SAMPLE_IDENTIFIER)
		take(&input);
	sample->ip = type & PERF_SAMPLE_IP ? take(&input) : 0;
	pid_tid = type & PERF_SAMPLE_TID ? take(&input) : 0;
	sample->pid = (uint32_t)pid_tid;
	sample->tid = (uint32_t)(pid_tid >> 32);
	sample->time_ns = type & PERF_SAMPLE_TIME ? take(&input) : 0;
	if (type & PERF_SAMPLE_ADDR)
		take(&input);
	if (type & PERF_SAMPLE_ID)
		take(&input);
	if (type & PERF_SAMPLE_STREAM_ID)
		take(&input);
	if (type & PERF_SAMPLE_CPU)
		take(&input);
	sample->period = type & PERF_SAMPLE_PERIOD  ? take(&input)
			 : sample->event->attr.freq ? 1
						    : sample->event->attr.sample_period;
	if (type & PERF_SAMPLE_READ)
		skip_counters(&input, sample->event->attr.read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		sample->chain_count = take(&input);
		if (sample->chain_count > record->size / 8)
			return false;
		sample->chain = store_input_take(&input, sample->chain_count * 8);
	}
	sample->has_stack = type & PERF_SAMPLE_STACK_USER;
	if (sample->has_stack)
		take_state(&input, &sample->event->attr, sample);
	return !input.bad && type & PERF_SAMPLE_TIME && type & PERF_SAMPLE_TID;
}
