/* SPDX-License-Identifier: Apache-2.0 */
/* wait_causes_read.c - the spans of threads from which causes are found. Attributes are parsed once for each
 * text of a process, since most repeat. */
#include <string.h>

#include "blame/wait/wait_causes_internal.h"
#include "store/base/array.h"
#include "store/base/attribute.h"
#include "timeline/scan/scan.h"

#define THING_BYTES 48

/* Addresses mean something in one process. */
struct thing_key {
	uint32_t process; /* plus 1; 0: of the host */
	uint32_t host;
	char text[THING_BYTES];
};

struct text_key {
	uint32_t process, text;
};

struct cause_text {
	uint32_t number;
	uint32_t from, wakes; /* things */
	enum wait_cause_kind kind;
	bool consumes, is_unix, is_for_all;
};

static uint32_t thing_of(struct cause_search *search, uint32_t process, const char *text)
{
	struct thing_key key;

	memset(&key, 0, sizeof key);
	key.process = strncmp(text, "0x", 2) ? 0 : process + 1;
	/* Hosts number their pipes alike. */
	key.host = run_stream(search->run, search->processes[process].streams[0])->store;
	strncpy(key.text, text, sizeof key.text - 1);
	return key_ids_put(&search->things, &key, NULL);
}

static enum wait_cause_kind kind_of(const char *name)
{
	for (int kind = 0; kind < CAUSE_COUNT; kind++)
		if (!strcmp(wait_cause_names[kind], name))
			return (enum wait_cause_kind)kind;
	return CAUSE_UNKNOWN;
}

static bool is_poll(const char *call)
{
	return strstr(call, "poll") || strstr(call, "select");
}

/* Of a process or thread, of the system; 0: none. */
static uint32_t number_of(const char *text, size_t size)
{
	uint64_t number = attribute_number(text, size, "pid", 0);

	number = attribute_number(text, size, "tid", number);
	number = attribute_number(text, size, "peer", number);
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static bool parse(
	struct cause_search *search, uint32_t process, struct cause_text *to, const char *text, size_t size)
{
	char value[THING_BYTES];

	*to = (struct cause_text){.from = KEY_IDS_NONE, .wakes = KEY_IDS_NONE};
	if (attribute_get(text, size, "cause", value, sizeof value))
		to->kind = kind_of(value);
	to->number = number_of(text, size);
	if (attribute_get(text, size, "call", value, sizeof value)) {
		to->consumes = !is_poll(value);
		to->is_for_all = strstr(value, "broadcast") != NULL;
	}
	if (attribute_get(text, size, "from", value, sizeof value)) {
		to->is_unix = !strcmp(value, "unix");
		to->from = thing_of(search, process, value);
		return to->from != KEY_IDS_NONE;
	}
	if (attribute_get(text, size, "wakes", value, sizeof value)) {
		to->wakes = thing_of(search, process, value);
		return to->wakes != KEY_IDS_NONE;
	}
	return true;
}

/* Valid until the next call; NULL: no memory. */
static const struct cause_text *text_of(
	struct cause_search *search, uint32_t process, const struct batch *batch, size_t row)
{
	struct text_key key = {process, batch->attributes[row]};
	struct cause_recent *recent = &search->recent[key.text % CAUSE_RECENT];
	bool is_new;
	uint32_t id;
	const char *text;
	size_t size;

	if (recent->id && recent->process == process && recent->text == key.text)
		return &search->parsed[recent->id - 1];
	id = key_ids_put(&search->texts, &key, &is_new);
	if (id == KEY_IDS_NONE ||
		!array_widen(&search->parsed, &search->parsed_capacity, id, sizeof(*search->parsed)))
		return NULL;
	if (is_new) {
		text = batch_attributes(search->run, batch, row, &size);
		if (!parse(search, process, &search->parsed[id], text, size))
			return NULL;
	}
	*recent = (struct cause_recent){process, key.text, id + 1};
	return &search->parsed[id];
}

static bool take_text(struct cause_search *search, uint32_t process, const struct batch *batch, size_t row)
{
	const struct cause_text *text = text_of(search, process, batch, row);

	if (!text)
		return false;
	if (text->wakes != KEY_IDS_NONE) {
		if (!array_widen(&search->wakes, &search->wake_capacity, search->wake_count,
			    sizeof(*search->wakes)))
			return false;
		search->wakes[search->wake_count++] = (struct cause_wake){.begin_ns = batch->begin_ns[row],
			.end_ns = batch->end_ns[row],
			.number = text->number,
			.thing = text->wakes,
			.stream = batch->stream,
			.is_for_all = text->is_for_all};
	}
	if (text->kind == CAUSE_UNKNOWN)
		return true;
	if (!array_widen(&search->waits, &search->wait_capacity, search->wait_count, sizeof(*search->waits)))
		return false;
	search->waits[search->wait_count++] = (struct cause_wait){.begin_ns = batch->begin_ns[row],
		.end_ns = batch->end_ns[row],
		.number = text->number,
		.thing = text->from,
		.stream = batch->stream,
		.context = batch->context[row],
		.process = process,
		.kind = (uint8_t)text->kind,
		.consumes = text->consumes,
		.is_unix = text->is_unix};
	return true;
}

static bool take_switch(struct cause_search *search, const struct batch *batch, size_t row)
{
	if (!array_widen(&search->switches, &search->switch_capacity, search->switch_count,
		    sizeof(*search->switches)))
		return false;
	search->switches[search->switch_count++] = (struct cause_switch){.out_ns = batch->begin_ns[row],
		.in_ns = batch->end_ns[row],
		.stream = batch->stream,
		.is_runnable = batch->what[row] == STORE_OP_RUNNABLE};
	return true;
}

static bool take_sync(struct cause_search *search, uint32_t process, const struct batch *batch, size_t row)
{
	if (!array_widen(&search->syncs, &search->sync_capacity, search->sync_count, sizeof(*search->syncs)))
		return false;
	search->syncs[search->sync_count++] = (struct cause_wait){.begin_ns = batch->begin_ns[row],
		.end_ns = batch->end_ns[row],
		.stream = batch->stream,
		.context = batch->context[row],
		.process = process,
		.kind = CAUSE_GPU};
	return true;
}

static bool take_launch(struct cause_search *search, uint32_t process, const struct batch *batch, size_t row)
{
	if (!array_widen(&search->launches, &search->launch_capacity, search->launch_count,
		    sizeof(*search->launches)))
		return false;
	search->launches[search->launch_count++] =
		(struct cause_launch){batch->link[row], batch->begin_ns[row], batch->stream, process};
	return true;
}

static bool take(struct cause_search *search, uint32_t process, const struct batch *batch, size_t row)
{
	uint32_t what = batch->what[row];

	if (search->is_behind && (what != search->op_wake || batch->begin_ns[row] < search->begin_ns))
		return true;
	search->has_locks |= what == search->op_lock || what == search->op_gil;
	search->has_calls |= what == search->op_barrier || what == STORE_OP_MPI;
	if (what == search->op_wait && batch->end_ns[row] > search->reach_ns)
		search->reach_ns = batch->end_ns[row];
	if (search->processes[process].gpu_count && batch->link[row] &&
		!take_launch(search, process, batch, row))
		return false;

	if (what == STORE_OP_BLOCKED || what == STORE_OP_RUNNABLE)
		return take_switch(search, batch, row);
	if (what == STORE_OP_SYNC && search->processes[process].gpu_count)
		return take_sync(search, process, batch, row);
	if (what == search->op_wait || what == search->op_wake)
		return take_text(search, process, batch, row);
	return true;
}

static int stream_read(struct cause_search *search, uint32_t process, uint32_t stream, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count = 0;
	int result = scan_open(&scan, search->run, stream, STORE_SPANS, search->begin_ns, search->end_ns,
		STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_ATTRIBUTES | STORE_LINK, 0, error);

	if (result)
		return result;
	while (!result && (count = scan_next(scan, &batch, error)) > 0)
		for (size_t row = 0; row < batch->count && !result; row++)
			if (!take(search, process, batch, row))
				result = error_memory(error);
	scan_close(scan);
	return result ? result : (int)count;
}

static int threads_read(struct cause_search *search, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	int result = 0;

	search->begin_ns = begin_ns;
	search->end_ns = end_ns;
	for (uint32_t p = 0; p < search->process_count; p++)
		for (uint32_t i = 0; i < search->processes[p].stream_count && !result; i++)
			if (run_stream(search->run, search->processes[p].streams[i])->s.kind ==
				STORE_STREAM_CPU)
				result = stream_read(search, p, search->processes[p].streams[i], error);
	return result;
}

/* What ends a wait that the window cuts lies behind it. */
int wait_causes_read(struct cause_search *search, struct error *error)
{
	const struct idle_question *question = search->question;
	uint64_t end_ns = run_end_ns(search->run);
	int result;

	key_ids_init(&search->things, sizeof(struct thing_key));
	key_ids_init(&search->texts, sizeof(struct text_key));
	search->op_wait = run_op_named(search->run, "wait", 4);
	search->op_wake = run_op_named(search->run, "wake", 4);
	search->op_lock = run_op_named(search->run, "lock", 4);
	search->op_gil = run_op_named(search->run, "gil", 3);
	search->op_barrier = run_op_named(search->run, "barrier", 7);
	result = threads_read(search, question->begin_ns, question->end_ns, error);
	end_ns = search->reach_ns < end_ns ? search->reach_ns : end_ns;
	search->is_behind = true;
	if (!result && end_ns > question->end_ns)
		result = threads_read(search, question->end_ns, end_ns, error);
	return result;
}
