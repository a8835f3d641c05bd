/* SPDX-License-Identifier: Apache-2.0 */
/* series_import.c - see series_import.h. */
#include "formats/series/series_import.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/external_sort.h"
#include "timeline/base/key_ids.h"
#include "timeline/base/run_create.h"

#define SORT_BYTES ((uint64_t)256 << 20)
#define COMMIT_BYTES (64u << 20)
#define BATCH 1024u
#define NAME_BYTES_MAX 1024u
#define METRICS_MAX 100000u /* more names than that are no figures */
#define EPOCH_LEAST_NS UINT64_C(1000000000000000000)

struct entry {
	uint64_t time_ns, bits; /* of the double */
	uint32_t stream, metric;
};

struct stream_key {
	struct store_hash host, uuid;
	uint32_t device, pid, rank, zero;
};

struct series_import {
	struct format_input *input;
	struct run_create create;
	bool is_begun;
	struct store_writer *writer;
	struct external_sort *entries;
	struct key_ids stream_keys, metric_names;
	struct store_stream *streams;
	size_t stream_room;
	uint32_t devices;
	uint64_t first_ns, count, outside;
};

static int compare_entries(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	return (a->bits > b->bits) - (a->bits < b->bits);
}

int series_import_begin(struct series_import **made, struct format_input *input, const char *path,
	const char *from, struct error *error)
{
	struct series_import *import = calloc(1, sizeof *import);
	int rc;

	*made = NULL;
	if (!import)
		return error_memory(error);
	import->input = input;
	import->first_ns = UINT64_MAX;
	key_ids_init(&import->stream_keys, sizeof(struct stream_key));
	key_ids_init(&import->metric_names, sizeof(struct store_hash));
	rc = run_create_begin(&import->create, path, error);
	import->is_begun = rc == 0;
	rc = rc ? rc : run_create_store(&import->create, "import", &import->writer, error);
	rc = rc ? rc
		: external_sort_new(
			  &import->entries, sizeof(struct entry), compare_entries, SORT_BYTES, error);
	if (rc < 0) {
		series_import_abort(import);
		return rc;
	}
	store_writer_meta(import->writer, "recorder", "hpct-import " HPCT_VERSION);
	store_writer_meta(import->writer, "imported_from", from);
	*made = import;
	return 0;
}

void series_import_abort(struct series_import *import)
{
	if (!import)
		return;
	if (import->writer)
		store_writer_abort(import->writer);
	if (import->is_begun)
		run_create_abort(&import->create);
	external_sort_free(import->entries);
	key_ids_fini(&import->stream_keys);
	key_ids_fini(&import->metric_names);
	free(import->streams);
	free(import);
}

/* ---- metrics and streams ---- */

static const struct {
	const char *name, *unit;
	double factor;
} units[] = {{"%", "%", 1}, {"percent", "%", 1}, {"W", "W", 1}, {"watts", "W", 1}, {"C", "C", 1},
	{"celsius", "C", 1}, {"B", "B", 1}, {"bytes", "B", 1}, {"KiB", "B", 0x1p10}, {"MiB", "B", 0x1p20},
	{"GiB", "B", 0x1p30}, {"TiB", "B", 0x1p40}, {"kB", "B", 1e3}, {"MB", "B", 1e6}, {"GB", "B", 1e9},
	{"TB", "B", 1e12}, {"Hz", "Hz", 1}, {"hertz", "Hz", 1}, {"kHz", "Hz", 1e3}, {"MHz", "Hz", 1e6},
	{"GHz", "Hz", 1e9}, {"s", "s", 1}, {"seconds", "s", 1}, {"ms", "s", 1e-3}, {"us", "s", 1e-6},
	{"J", "J", 1}, {"joules", "J", 1}, {"B/s", "B/s", 1}, {"KiB/s", "B/s", 0x1p10},
	{"MiB/s", "B/s", 0x1p20}, {"GiB/s", "B/s", 0x1p30}, {"KB/s", "B/s", 1e3}, {"MB/s", "B/s", 1e6},
	{"GB/s", "B/s", 1e9}};

uint32_t series_import_metric(struct series_import *import, struct text_part name, struct text_part unit,
	enum store_metric_kind kind, double *factor)
{
	char known[NAME_BYTES_MAX + 1], unit_name[32] = "";
	struct store_hash hash;

	*factor = 1;
	if (unit.size < sizeof unit_name)
		memcpy(unit_name, unit.bytes, unit.size);
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (series_text_is(unit, units[i].name)) {
			*factor = units[i].factor;
			memcpy(unit_name, units[i].unit, strlen(units[i].unit) + 1);
			break;
		}
	name.size = name.size < NAME_BYTES_MAX ? name.size : NAME_BYTES_MAX;
	memcpy(known, name.bytes, name.size);
	known[name.size] = '\0';
	hash = store_hash128(known, name.size);
	if (import->metric_names.count > METRICS_MAX ||
		key_ids_put(&import->metric_names, &hash, NULL) == KEY_IDS_NONE)
		return SERIES_NONE;
	return store_writer_figure(import->writer, known, unit_name, true, kind);
}

static uint32_t text_of(const struct series_import *import, struct text_part text)
{
	return text.size ? store_writer_text(import->writer, text.bytes, text.size) : 0;
}

uint32_t series_import_stream(struct series_import *import, const struct series_place *place)
{
	const bool has_device = place->device != SERIES_NONE || place->uuid.size;
	struct stream_key key = {store_hash128(place->host.bytes, place->host.size),
		store_hash128(place->uuid.bytes, place->uuid.size), place->device, place->pid,
		(uint32_t)place->rank, 0};
	struct store_stream stream = {.kind = STORE_STREAM_GAUGES,
		.rank = place->rank,
		.pid = place->pid,
		.generation = place->pid == SERIES_NONE ? SERIES_NONE : 0,
		.device = place->device};
	bool is_new;
	uint32_t number = key_ids_put(&import->stream_keys, &key, &is_new);

	if (number == KEY_IDS_NONE || !is_new)
		return number == KEY_IDS_NONE ? SERIES_NONE : number;
	if (!array_widen(&import->streams, &import->stream_room, number, sizeof *import->streams))
		return SERIES_NONE;
	if (has_device && place->device == SERIES_NONE)
		stream.device = import->devices;
	import->devices += has_device;
	stream.host = text_of(import, place->host);
	stream.name = text_of(import, place->uuid);
	stream.device_name = text_of(import, place->device_name);
	import->streams[number] = stream;
	return number;
}

int series_import_value(struct series_import *import, uint32_t stream, uint32_t metric, uint64_t time_ns,
	double value, struct error *error)
{
	struct entry entry = {.time_ns = time_ns, .stream = stream, .metric = metric};

	if (stream == SERIES_NONE || metric == SERIES_NONE)
		return error_memory(error);
	if (import->input->end_ns && time_ns < EPOCH_LEAST_NS)
		entry.time_ns = time_ns += import->input->begin_ns;
	if (import->input->end_ns &&
		(time_ns < import->input->begin_ns || time_ns >= import->input->end_ns)) {
		import->outside++;
		return 0;
	}
	memcpy(&entry.bits, &value, sizeof entry.bits);
	import->first_ns = time_ns < import->first_ns ? time_ns : import->first_ns;
	import->count++;
	return external_sort_put(import->entries, &entry, error);
}

/* ---- the end ---- */

struct filling {
	struct series_import *import;
	struct store_record records[BATCH];
	uint32_t count, stream, id; /* id: in the store */
	uint64_t begin_ns, last_ns;
};

static int flush(struct filling *filling, struct error *error)
{
	if (filling->count)
		store_writer_append(
			filling->import->writer, filling->id, STORE_VALUES, filling->records, filling->count);
	filling->count = 0;
	return store_writer_pending_bytes(filling->import->writer) < COMMIT_BYTES
		       ? 0
		       : store_writer_commit(filling->import->writer, error);
}

static int stream_end(struct filling *filling, struct error *error)
{
	int rc = flush(filling, error);
	struct store_stream *stream =
		rc || filling->id == SERIES_NONE
			? NULL
			: store_writer_stream_edit(filling->import->writer, filling->id);

	if (stream) {
		stream->end_ns = filling->last_ns + 1;
		for (int track = 0; track < STORE_TRACK_COUNT; track++)
			stream->complete_ns[track] = STORE_OPEN_NS;
	}
	return rc;
}

static int entry_take(struct filling *filling, const struct entry *entry, struct error *error)
{
	struct series_import *import = filling->import;
	int rc = 0;

	if (filling->id == SERIES_NONE || filling->stream != entry->stream) {
		rc = stream_end(filling, error);
		import->streams[entry->stream].begin_ns = entry->time_ns;
		import->streams[entry->stream].end_ns = entry->time_ns + 1;
		filling->stream = entry->stream;
		filling->id = store_writer_stream(import->writer, &import->streams[entry->stream]);
		if (filling->id == SERIES_NONE)
			return error_memory(error);
	}
	if (rc == 0 && filling->count == BATCH)
		rc = flush(filling, error);
	filling->records[filling->count++] = (struct store_record){.begin_ns = entry->time_ns,
		.end_ns = entry->time_ns,
		.amount = entry->bits,
		.what = entry->metric};
	filling->last_ns = entry->time_ns;
	return rc;
}

/* Stores of one run that have the same facts and streams count as copies of each other; these are not. */
static void launch_put(struct store_writer *writer)
{
	struct timespec now;
	char text[64];

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(
		text, sizeof text, "series %lld.%09ld %d", (long long)now.tv_sec, now.tv_nsec, (int)getpid());
	store_writer_meta(writer, "launch", text);
}

static int fill(struct series_import *import, struct error *error)
{
	static struct filling filling;
	const struct entry *entry;
	int rc;

	filling = (struct filling){.import = import, .id = SERIES_NONE};
	if (import->input->end_ns) { /* a run's times count from its first store's origin */
		import->first_ns = import->input->begin_ns;
		launch_put(import->writer);
	}
	store_writer_meta_number(import->writer, "origin_ns", import->first_ns);
	if (import->first_ns > EPOCH_LEAST_NS)
		store_writer_meta_number(import->writer, "wall_ns", import->first_ns);
	rc = external_sort_rewind(import->entries, error);
	while (rc == 0 && (entry = external_sort_next(import->entries, &rc, error)))
		rc = entry_take(&filling, entry, error);
	return rc ? rc : stream_end(&filling, error);
}

int series_import_end(struct series_import *import, struct error *error)
{
	struct store_writer *writer;
	int rc = import->count ? fill(import, error)
			       : error_set(error, ERROR_RUN, "%s has no value with a time%s",
					 import->input->name, import->outside ? " within the run" : "");

	format_left_out(&import->input->left_out, import->outside, "values ahead of the run or behind it");
	if (rc == 0) {
		writer = import->writer;
		import->writer = NULL;
		rc = store_writer_close(writer, error);
	}
	if (rc == 0) {
		import->is_begun = false;
		rc = run_create_commit(&import->create, error);
	}
	series_import_abort(import);
	return rc;
}
