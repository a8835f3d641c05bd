/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_run.c - the tables of an import and its first sort; import_nest.c does the rest.
 */
#include "formats/base/import_run_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/stream_text.h"
#include "store/base/array.h"
#include "store/base/escape.h"
#include "store/base/hash.h"

#define SORT_BYTES ((uint64_t)256 << 20)
#define TEXT_BYTES_MAX ((uint64_t)1 << 30)

struct stream_key {
	uint64_t key;
	uint32_t process, kind, device, context, queue, zero;
};

/* What import_record_compare() compares first. */
static void record_key(const void *entry, uint64_t key[2])
{
	const struct sorted_record *record = entry;

	key[0] = record->r.stream;
	key[1] = record->r.begin_ns;
}

/* ---- begin and end ---- */

int import_run_begin(struct import_run **made, const char *path, const char *from, struct error *error)
{
	struct import_run *run = calloc(1, sizeof *run);
	int rc;

	*made = NULL;
	if (!run)
		return error_memory(error);
	run->owner = IMPORT_NONE;
	run->rank = -1;
	run->first_ns = UINT64_MAX;
	key_ids_init(&run->process_keys, sizeof(struct store_hash));
	key_ids_init(&run->stream_keys, sizeof(struct stream_key));
	key_ids_init(&run->paths, sizeof(struct store_hash));
	rc = run_create_begin(&run->create, path, error);
	if (rc < 0) {
		free(run);
		return rc;
	}
	run->is_begun = true;
	rc = run_create_store(&run->create, "import", &run->writer, error);
	if (rc == 0)
		rc = external_sort_new(&run->records, sizeof(struct sorted_record), import_record_compare,
			SORT_BYTES, error);
	if (rc < 0) {
		import_run_abort(run);
		return rc;
	}
	external_sort_by(run->records, record_key);
	run->text_module = store_writer_text_module(run->writer);
	run->path_text = (struct path_text){run->writer, run->text_module, {0}};
	store_writer_meta(run->writer, "recorder", "hpct-import " HPCT_VERSION);
	store_writer_meta(run->writer, "imported_from", from);
	*made = run;
	return 0;
}

static void run_free(struct import_run *run)
{
	external_sort_free(run->records);
	external_sort_free(run->joined);
	key_ids_fini(&run->process_keys);
	key_ids_fini(&run->stream_keys);
	key_ids_fini(&run->paths);
	store_bytes_fini(&run->path_text.name);
	free(run->contexts);
	free(run->processes);
	free(run->streams);
	free(run->places);
	free(run->open);
	free(run);
}

void import_run_abort(struct import_run *run)
{
	if (!run)
		return;
	if (run->writer)
		store_writer_abort(run->writer);
	if (run->is_begun)
		run_create_abort(&run->create);
	run_free(run);
}

int import_run_end(struct import_run *run, struct store_bytes *left_out, struct error *error)
{
	struct store_writer *writer;
	int rc = import_nest(run, error);

	if (rc < 0) {
		import_run_abort(run);
		return rc;
	}
	format_left_out(left_out, run->ends_alone, "ends of calls whose begin is missing");
	format_left_out(left_out, run->attributes_left, "events' attributes, more than fit");
	writer = run->writer;
	run->writer = NULL;
	rc = store_writer_close(writer, error);
	if (rc == 0) {
		run->is_begun = false;
		rc = run_create_commit(&run->create, error);
	}
	import_run_abort(run);
	return rc;
}

struct store_writer *import_run_writer(struct import_run *run)
{
	return run->writer;
}

/* ---- texts ---- */

uint32_t import_name(struct import_run *run, const char *bytes, size_t size)
{
	static const char full[] = "<more names than fit>";

	if (run->text_bytes > TEXT_BYTES_MAX)
		return store_writer_text(run->writer, full, sizeof full - 1);
	return import_text(run, bytes, size);
}

uint32_t import_text(struct import_run *run, const char *bytes, size_t size)
{
	uint32_t text = store_writer_text(run->writer, bytes, size);

	if (text >= run->text_next) { /* ids count up: it is new */
		run->text_next = text + 1;
		run->text_bytes += size + 32;
	}
	return text;
}

uint32_t import_attributes(struct import_run *run, const struct store_bytes *attributes)
{
	if (attributes->failed || attributes->size == 0)
		return 0;
	if (run->text_bytes > TEXT_BYTES_MAX) {
		run->attributes_left++;
		return 0;
	}
	return import_text(run, (const char *)attributes->data, attributes->size);
}

void import_attribute_put(
	struct store_bytes *attributes, const char *key, size_t key_size, const char *value, size_t size)
{
	if (attributes->size)
		store_bytes_put(attributes, ",", 1);
	escape_attribute(attributes, key, key_size);
	store_bytes_put(attributes, "=", 1);
	escape_attribute(attributes, value, size);
}

/* For each of millions of records: no format is read. */
size_t import_decimal(char text[IMPORT_DECIMAL_MAX], uint64_t value)
{
	char digits[IMPORT_DECIMAL_MAX];
	size_t size = 0;

	do {
		digits[size++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	for (size_t i = 0; i < size; i++)
		text[i] = digits[size - 1 - i];
	return size;
}

void import_attribute_number(struct store_bytes *attributes, const char *key, uint64_t value)
{
	char text[IMPORT_DECIMAL_MAX];

	import_attribute_put(attributes, key, strlen(key), text, import_decimal(text, value));
}

uint32_t import_frame(struct import_run *run, uint32_t parent, uint32_t name)
{
	size_t size;
	const char *text = store_writer_text_at(run->writer, name, &size);

	if (text && size > 2 && text[0] == '<' && text[size - 1] == '>')
		return path_text_frame(&run->path_text, parent, text, size);
	return store_writer_context(
		run->writer, parent ? parent : STORE_CONTEXT_PROGRAM_ROOT, run->text_module, name);
}

uint32_t import_path(struct import_run *run, const char *text, size_t size)
{
	struct store_hash hash = store_hash128(text, size);
	bool is_new, is_partial = false;
	uint32_t number;

	if (!size)
		return 0;
	number = key_ids_put(&run->paths, &hash, &is_new);
	if (number == KEY_IDS_NONE ||
		!array_widen(&run->contexts, &run->context_room, number, sizeof *run->contexts))
		return 0;
	if (is_new && path_text_context(&run->path_text, text, size, &run->contexts[number], &is_partial))
		run->contexts[number] = 0;
	return run->contexts[number];
}

/* ---- processes and streams ---- */

static bool is_number(const char *text, size_t size, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9' || i > 18)
			return false;
		*number = *number * 10 + (uint64_t)(text[i] - '0');
	}
	return size > 0;
}

uint32_t import_process(struct import_run *run, const char *key, size_t size)
{
	struct store_hash hash = store_hash128(key, size);
	struct import_process new = {.pid = IMPORT_NONE, .rank = -1};
	bool is_new;
	uint32_t process = key_ids_put(&run->process_keys, &hash, &is_new);
	uint64_t pid;

	if (process == KEY_IDS_NONE || !is_new)
		return process;
	if (!array_widen(&run->processes, &run->process_room, process, sizeof *run->processes))
		return IMPORT_NONE;
	if (is_number(key, size, &pid) && pid < UINT32_MAX)
		new.pid = (uint32_t)pid;
	run->processes[process] = new;
	return process;
}

static uint32_t find_stream(
	struct import_run *run, const struct stream_key *key, const struct import_stream *stream)
{
	bool is_new;
	uint32_t number = key_ids_put(&run->stream_keys, key, &is_new);

	if (number == KEY_IDS_NONE || !is_new)
		return number;
	if (!array_widen(&run->streams, &run->stream_room, number, sizeof *run->streams))
		return IMPORT_NONE;
	run->streams[number] = *stream;
	return number;
}

uint32_t import_thread(struct import_run *run, uint32_t process, const char *key, size_t size)
{
	struct import_stream new = {.s.kind = STORE_STREAM_CPU, .process = process};
	struct stream_key name = {.process = process, .kind = STORE_STREAM_CPU};

	if (is_number(key, size, &new.key))
		new.s.tid = new.key < UINT32_MAX ? (uint32_t) new.key : 0;
	else
		new.key = store_hash64(key, size, 1) | (uint64_t)1 << 63;
	name.key = new.key;
	return find_stream(run, &name, &new);
}

uint32_t import_queue(
	struct import_run *run, uint32_t process, uint32_t device, uint32_t context, uint32_t queue)
{
	const struct import_stream new = {.process = process,
		.s = {.kind = STORE_STREAM_GPU, .device = device, .context = context, .queue = queue}};
	const struct stream_key name = {.process = process,
		.kind = STORE_STREAM_GPU,
		.device = device,
		.context = context,
		.queue = queue};

	return find_stream(run, &name, &new);
}

static uint32_t named_process(
	struct import_run *run, const struct store_stream *s, const char *host, size_t host_size)
{
	struct store_bytes key = {0};
	char number[64];
	uint32_t process = IMPORT_NONE;

	snprintf(number, sizeof number, "%d/%u.%u", (int)s->rank, s->pid, s->generation);
	store_bytes_put(&key, host, host_size);
	store_bytes_put(&key, "/", 1);
	store_bytes_put(&key, number, strlen(number));
	if (!key.failed)
		process = import_process(run, (const char *)key.data, key.size);
	store_bytes_fini(&key);
	if (process == IMPORT_NONE)
		return process;
	run->processes[process] = (struct import_process){.is_named = true,
		.pid = s->pid,
		.generation = s->generation,
		.rank = s->rank,
		.name = run->processes[process].name,
		.host = host_size ? import_name(run, host, host_size) : 0};
	return process;
}

uint32_t import_stream_named(struct import_run *run, const char *text, size_t size, bool *is_text)
{
	struct store_stream s;
	const char *host;
	size_t host_size;
	struct import_stream new = {.is_numbered = true};
	struct stream_key key;

	*is_text = stream_text_parse(text, size, &s, &host, &host_size);
	if (!*is_text)
		return IMPORT_NONE;
	new.process = named_process(run, &s, host, host_size);
	new.s = (struct store_stream){.kind = s.kind,
		.thread = s.thread,
		.device = s.device,
		.context = s.context,
		.queue = s.queue};
	key = (struct stream_key){.key = s.thread | (uint64_t)1 << 62,
		.process = new.process,
		.kind = s.kind,
		.device = s.device,
		.context = s.context,
		.queue = s.queue};
	new.key = key.key;
	return new.process == IMPORT_NONE ? IMPORT_NONE : find_stream(run, &key, &new);
}

uint32_t import_stream_count(const struct import_run *run)
{
	return run->stream_keys.count;
}

struct import_process *import_process_at(struct import_run *run, uint32_t process)
{
	return &run->processes[process];
}

struct import_stream *import_stream_at(struct import_run *run, uint32_t stream)
{
	return &run->streams[stream];
}

void import_run_owner(struct import_run *run, uint32_t process)
{
	if (run->owner == IMPORT_NONE)
		run->owner = process;
}

void import_run_rank(struct import_run *run, int32_t rank)
{
	run->rank = rank;
}

void import_run_wall(struct import_run *run, uint64_t wall_ns)
{
	run->wall_ns = wall_ns;
}

/* ---- records ---- */

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Pairs go by their order in the input, ahead of whole calls, of which the longer one holds the other. */
int import_record_compare(const void *left, const void *right)
{
	const struct sorted_record *a = left, *b = right;
	bool is_pair_a = a->r.shape <= IMPORT_END, is_pair_b = b->r.shape <= IMPORT_END;
	int order = compare(a->r.stream, b->r.stream);

	order = order ? order : compare(a->r.begin_ns, b->r.begin_ns);
	order = order ? order : (int)is_pair_b - (int)is_pair_a;
	if (order == 0 && !is_pair_a)
		order = compare(b->r.end_ns, a->r.end_ns);
	return order ? order : compare(a->serial, b->serial);
}

int import_record(struct import_run *run, const struct import_record *record, struct error *error)
{
	struct sorted_record sorted = {.r = *record, .serial = run->records_count++};
	uint64_t end_ns;

	if (record->shape < IMPORT_CALL || record->shape > IMPORT_PLACED)
		sorted.r.end_ns = record->begin_ns;
	else if (record->end_ns < record->begin_ns)
		sorted.r.end_ns = record->begin_ns;
	end_ns = sorted.r.end_ns;
	run->first_ns = record->begin_ns < run->first_ns ? record->begin_ns : run->first_ns;
	run->last_ns = end_ns > run->last_ns ? end_ns : run->last_ns;
	return external_sort_put(run->records, &sorted, error);
}
