/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_reader.c - yajl's calls, one event at a time. Texts of the event gather in one buffer, by offset,
 * until it ends.
 *
 *   {"traceEvents": [ {"ph": "X", ..., "args": {"grid": [8, 1, 1]}}, ...
 *   depth 1         2 3                        4         5
 */
#include "formats/chrome/chrome_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <yajl/yajl_parse.h>

#include "store/base/array.h"

#define BLOCK_BYTES ((size_t)1 << 20)
#define WORD_BYTES_MAX 16u
#define TOKEN_BYTES_MAX ((uint64_t)64 << 20) /* without a single token: yajl keeps what it waits for */
#define TEXT_MAX ((size_t)4096)
#define ARG_BYTES_MAX ((size_t)512)
#define ARG_COUNT_MAX 64
#define EVENT_BYTES_MAX ((size_t)1 << 20) /* of keys that one event has again and again */
#define DEPTH_MAX 4096u			  /* yajl keeps a byte of each level */

enum field {
	FIELD_NONE,
	FIELD_PHASE,
	FIELD_NAME,
	FIELD_CATEGORY,
	FIELD_PID,
	FIELD_TID,
	FIELD_TIME,
	FIELD_DURATION,
	FIELD_ID,
	FIELD_SCOPE,
	FIELD_ARGS,
	FIELD_BASE, /* of the file */
	FIELD_RANK,
	FIELD_DISTRIBUTED,
	FIELD_EVENTS
};

struct span {
	size_t at, size;
};

struct arg {
	struct span key, value;
	bool is_number, is_cut;
};

struct reader {
	const struct chrome_reader_ops *ops;
	struct error *error;
	int code;		      /* of ops */
	unsigned depth, events_depth; /* events_depth 0: not among events */
	bool has_seen_events, is_array_form;
	enum field field; /* that the next value is of */
	bool is_distributed, needs_colon;
	bool is_in_string, is_escaped; /* the next byte that is looked at for words */
	uint64_t tokens, events;
	int64_t base_ns;
	/* the event */
	struct store_bytes text;
	struct span texts[FIELD_ARGS];
	struct arg args[ARG_COUNT_MAX];
	size_t arg_count;
	struct chrome_event event;
	bool is_in_args;
	int64_t ts_ns;
};

/* ---- values ---- */

/* Microseconds with a fraction, as they stand: a double would lose the nanoseconds of today's clock. */
static bool parse_microseconds(const char *text, size_t size, int64_t *ns)
{
	bool is_negative = size > 0 && text[0] == '-';
	size_t at = is_negative, digits = 0;
	uint64_t value = 0;
	int decimals = -1;

	for (; at < size && decimals < 3; at++) {
		if (text[at] == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (text[at] < '0' || text[at] > '9' || ++digits > 18)
			break;
		value = value * 10 + (uint64_t)(text[at] - '0');
		decimals += decimals >= 0;
	}
	if (memchr(text, 'e', size) || memchr(text, 'E', size)) {
		char copy[64] = {0};
		double real;

		memcpy(copy, text, size < sizeof copy ? size : sizeof copy - 1);
		real = strtod(copy, NULL) * 1000;
		*ns = real > -9e18 && real < 9e18 ? (int64_t)real : 0;
		return real > -9e18 && real < 9e18;
	}
	for (int i = decimals < 0 ? 0 : decimals; i < 3; i++)
		if (__builtin_mul_overflow(value, 10, &value))
			return false;
	*ns = is_negative ? -(int64_t)value : (int64_t)value;
	return digits > 0 && digits <= 18 && value <= INT64_MAX / 2;
}

static struct span keep(struct reader *reader, const char *text, size_t size, size_t most)
{
	struct span span = {reader->text.size, size < most ? size : most};

	if (span.at > EVENT_BYTES_MAX)
		span.size = 0;
	reader->event.cut_count += span.size < size;
	store_bytes_put(&reader->text, text, span.size);
	return span;
}

static void take_time(struct reader *reader, const char *text, size_t size)
{
	int64_t ns;

	if (!parse_microseconds(text, size, &ns) || (reader->field == FIELD_DURATION && ns < 0)) {
		reader->event.has_flaw = true;
	} else if (reader->field == FIELD_DURATION) {
		reader->event.dur_ns = (uint64_t)ns;
	} else {
		reader->ts_ns = ns;
		reader->event.has_time = true;
	}
}

static void take_fact(struct reader *reader, const char *text, size_t size)
{
	char copy[32] = {0};

	memcpy(copy, text, size < sizeof copy ? size : sizeof copy - 1);
	if (reader->field == FIELD_BASE)
		reader->base_ns = strtoll(copy, NULL, 10);
	else if (reader->field == FIELD_RANK && reader->ops->rank)
		reader->ops->rank(reader->ops->own, (int32_t)strtol(copy, NULL, 10));
}

/* An item of an argument's value: what stands before it tells whether a colon parts them. */
static void take_arg_part(struct reader *reader, const char *text, size_t size, bool is_number)
{
	struct arg *arg = &reader->args[reader->arg_count - 1];
	size_t left = arg->value.size < ARG_BYTES_MAX ? ARG_BYTES_MAX - arg->value.size : 0;

	if (reader->needs_colon && left) {
		store_bytes_put(&reader->text, ":", 1);
		left--;
	}
	store_bytes_put(&reader->text, text, size < left ? size : left);
	reader->event.cut_count += size > left && !arg->is_cut;
	arg->is_cut |= size > left;
	arg->value.size = reader->text.size - arg->value.at;
	arg->is_number = is_number && arg->value.size == size;
	reader->needs_colon = true;
}

static bool is_in_event(const struct reader *reader)
{
	return reader->events_depth && reader->depth > reader->events_depth;
}

static int take_scalar(struct reader *reader, const char *text, size_t size, bool is_number)
{
	enum field field = reader->field;

	reader->tokens++;
	if (!is_in_event(reader)) {
		if (field == FIELD_BASE || field == FIELD_RANK)
			take_fact(reader, text, size);
		reader->field = FIELD_NONE;
		return 1;
	}
	if (reader->is_in_args) {
		if (reader->arg_count)
			take_arg_part(reader, text, size, is_number);
		return 1;
	}
	if (field == FIELD_TIME || field == FIELD_DURATION)
		take_time(reader, text, size);
	else if (field == FIELD_PHASE)
		reader->event.phase = size ? text[0] : '\0';
	else if (field != FIELD_NONE && field < FIELD_ARGS)
		reader->texts[field] = keep(reader, text, size, TEXT_MAX);
	if (reader->depth == reader->events_depth + 1)
		reader->field = FIELD_NONE;
	return 1;
}

static int on_null(void *own)
{
	return take_scalar(own, "", 0, false);
}

static int on_boolean(void *own, int is_true)
{
	return is_true ? take_scalar(own, "true", 4, false) : take_scalar(own, "false", 5, false);
}

static int on_number(void *own, const char *text, size_t size)
{
	return take_scalar(own, text, size, true);
}

static int on_string(void *own, const unsigned char *text, size_t size)
{
	return take_scalar(own, (const char *)text, size, false);
}

/* ---- keys ---- */

struct word {
	const char *key;
	size_t size;
	enum field field;
};
#define WORD(key, field)                    \
	{                                   \
		key, sizeof(key) - 1, field \
	}

static enum field find_word(const struct word *words, const unsigned char *key, size_t size)
{
	for (; words->key; words++)
		if (words->size == size && memcmp(words->key, key, size) == 0)
			return words->field;
	return FIELD_NONE;
}

static const struct word event_words[] = {WORD("ph", FIELD_PHASE), WORD("name", FIELD_NAME),
	WORD("cat", FIELD_CATEGORY), WORD("pid", FIELD_PID), WORD("tid", FIELD_TID), WORD("ts", FIELD_TIME),
	WORD("dur", FIELD_DURATION), WORD("id", FIELD_ID), WORD("id2", FIELD_ID), WORD("scope", FIELD_SCOPE),
	WORD("args", FIELD_ARGS), {0}};
static const struct word file_words[] = {WORD("traceEvents", FIELD_EVENTS),
	WORD("baseTimeNanoseconds", FIELD_BASE), WORD("distributedInfo", FIELD_DISTRIBUTED), {0}};
static const struct word distributed_words[] = {WORD("rank", FIELD_RANK), {0}};

static void begin_arg(struct reader *reader, const unsigned char *key, size_t size)
{
	struct arg *arg;

	if (reader->arg_count == ARG_COUNT_MAX) {
		reader->arg_count--; /* the last one is overwritten */
		reader->event.cut_count++;
		reader->text.size = reader->args[reader->arg_count].key.at;
	}
	arg = &reader->args[reader->arg_count++];
	arg->key = keep(reader, (const char *)key, size, ARG_BYTES_MAX);
	arg->value = (struct span){reader->text.size, 0};
	arg->is_cut = false;
	reader->needs_colon = false;
}

static int on_key(void *own, const unsigned char *key, size_t size)
{
	struct reader *reader = own;
	unsigned inside = reader->depth - reader->events_depth;

	reader->tokens++;
	if (!reader->events_depth) {
		reader->field = reader->depth == 1 && !reader->is_array_form
					? find_word(file_words, key, size)
				: reader->depth == 2 && reader->is_distributed
					? find_word(distributed_words, key, size)
					: FIELD_NONE;
		return 1;
	}
	if (inside == 1) {
		reader->field = find_word(event_words, key, size);
	} else if (reader->is_in_args && inside == 2) {
		begin_arg(reader, key, size);
	} else if (reader->is_in_args && reader->arg_count) {
		take_arg_part(reader, (const char *)key, size, false);
	}
	return 1;
}

/* ---- what opens and closes ---- */

static void begin_event(struct reader *reader)
{
	reader->text.size = 0;
	reader->arg_count = 0;
	reader->is_in_args = false;
	memset(reader->texts, 0, sizeof reader->texts);
	reader->event = (struct chrome_event){0};
	reader->ts_ns = 0;
	reader->field = FIELD_NONE;
}

static int on_open(struct reader *reader, bool is_map)
{
	reader->tokens++;
	reader->depth++;
	if (reader->depth > DEPTH_MAX)
		return 0;
	if (reader->depth == 1 && !is_map) {
		reader->is_array_form = true;
		reader->has_seen_events = true;
		reader->events_depth = 1;
	} else if (reader->depth == 2 && !is_map && reader->field == FIELD_EVENTS) {
		reader->events_depth = 2;
		reader->has_seen_events = true;
	} else if (reader->depth == 2 && reader->field == FIELD_DISTRIBUTED) {
		reader->is_distributed = is_map;
	} else if (reader->events_depth && reader->depth == reader->events_depth + 1) {
		begin_event(reader);
	} else if (reader->events_depth && reader->depth == reader->events_depth + 2) {
		reader->is_in_args = is_map && reader->field == FIELD_ARGS;
	} else if (reader->is_in_args && reader->arg_count && reader->depth > reader->events_depth + 3) {
		take_arg_part(reader, is_map ? "{" : "[", 1, false);
		reader->needs_colon = false;
	}
	return 1;
}

static int on_map_begin(void *own)
{
	return on_open(own, true);
}

static int on_array_begin(void *own)
{
	return on_open(own, false);
}

static struct chrome_text text_of(const struct reader *reader, struct span span)
{
	return (struct chrome_text){span.size ? (const char *)reader->text.data + span.at : "", span.size};
}

static int end_event(struct reader *reader)
{
	struct chrome_arg args[ARG_COUNT_MAX];
	struct chrome_event *event = &reader->event;
	int64_t ns;

	if (reader->text.failed) {
		reader->code = error_memory(reader->error);
		return 0;
	}
	for (size_t i = 0; i < reader->arg_count; i++)
		args[i] = (struct chrome_arg){text_of(reader, reader->args[i].key),
			text_of(reader, reader->args[i].value), reader->args[i].is_number};
	event->args = args;
	event->arg_count = reader->arg_count;
	event->name = text_of(reader, reader->texts[FIELD_NAME]);
	event->category = text_of(reader, reader->texts[FIELD_CATEGORY]);
	event->pid = text_of(reader, reader->texts[FIELD_PID]);
	event->tid = text_of(reader, reader->texts[FIELD_TID]);
	event->id = text_of(reader, reader->texts[FIELD_ID]);
	event->scope = text_of(reader, reader->texts[FIELD_SCOPE]);
	if (__builtin_add_overflow(reader->ts_ns, reader->base_ns, &ns) || ns < 0 || ns > INT64_MAX / 2)
		event->has_time = false;
	event->ts_ns = event->has_time ? (uint64_t)ns : 0;
	reader->events++;
	reader->code = reader->ops->event(reader->ops->own, event, reader->error);
	event->args = NULL;
	return reader->code == 0;
}

static int on_close(void *own, bool is_map)
{
	struct reader *reader = own;
	unsigned inside = reader->depth - reader->events_depth;
	int goes_on = 1;

	reader->tokens++;
	if (reader->events_depth && inside == 1 && is_map)
		goes_on = end_event(reader);
	else if (reader->events_depth && inside == 2)
		reader->is_in_args = false;
	else if (reader->is_in_args && reader->arg_count && inside > 3) {
		reader->needs_colon = false;
		take_arg_part(reader, is_map ? "}" : "]", 1, false);
	}
	if (reader->depth == reader->events_depth)
		reader->events_depth = 0;
	if (reader->depth == 2)
		reader->is_distributed = false;
	reader->depth--;
	return goes_on;
}

static int on_map_end(void *own)
{
	return on_close(own, true);
}

static int on_array_end(void *own)
{
	return on_close(own, false);
}

static const yajl_callbacks callbacks = {.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_map_begin,
	.yajl_map_key = on_key,
	.yajl_end_map = on_map_end,
	.yajl_start_array = on_array_begin,
	.yajl_end_array = on_array_end};

/* ---- the file ---- */

/* Behind the end of the string, or `end` where it goes on in the next block. */
static char *skip_string(struct reader *reader, char *at, char *end)
{
	for (;;) {
		char *quote = memchr(at, '"', (size_t)(end - at)), *stop = quote ? quote : end, *back = stop;

		while (back > at && back[-1] == '\\')
			back--;
		reader->is_escaped = ((stop - back) & 1) != (back == at && reader->is_escaped);
		if (!quote)
			return end;
		reader->is_in_string = reader->is_escaped;
		reader->is_escaped = false;
		if (!reader->is_in_string)
			return quote + 1;
		at = quote + 1;
	}
}

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Behind the word. One of those that stand for a number becomes an empty text. */
static char *mend_word(const char *block, char *at, char *end)
{
	static const char *const words[] = {"NaN", "nan", "Infinity", "inf"};
	char *behind = at;

	while (behind < end && is_letter(*behind))
		behind++;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t size = strlen(words[i]);

		if ((size_t)(behind - at) != size || memcmp(at, words[i], size) != 0)
			continue;
		at -= at > block && at[-1] == '-';
		memset(at, ' ', (size_t)(behind - at));
		at[0] = at[1] = '"';
	}
	return behind;
}

/* Python and C++ write numbers that JSON has no word for; an empty text takes their place. Gives how many of
 * the bytes are to be parsed: words go on in the next block. */
static size_t mend_numbers(struct reader *reader, char *block, size_t size, bool is_last)
{
	char *at = block, *end = block + size;
	size_t kept = 0;

	while (at < end) {
		if (reader->is_in_string)
			at = skip_string(reader, at, end);
		else if (is_letter(*at))
			at = mend_word(block, at, end);
		else
			reader->is_in_string = *at++ == '"';
	}
	if (is_last || reader->is_in_string)
		return size;
	while (kept < WORD_BYTES_MAX && kept < size && (is_letter(end[-1]) || end[-1] == '-')) {
		kept++;
		end--;
	}
	return size - kept;
}

static void say_damage(struct chrome_reader_end *end, const char *why, uint64_t bytes)
{
	end->is_damaged = true;
	end->bytes = bytes;
	snprintf(end->why, sizeof end->why, "%s", why);
	end->why[strcspn(end->why, "\n")] = '\0';
}

/* A list may end in a comma, "},]", as some writers leave it. */
static bool is_rest_closing(const char *rest, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!strchr("]} \t\r\n", rest[i]))
			return false;
	return true;
}

/* 1: go on; 0: the text is damaged; negative: error. */
static int feed(yajl_handle parser, struct reader *reader, const char *block, size_t size, uint64_t before,
	struct chrome_reader_end *end)
{
	yajl_status status = yajl_parse(parser, (const unsigned char *)block, size);
	size_t used = yajl_get_bytes_consumed(parser);
	unsigned char *why;

	if (status == yajl_status_ok)
		return 1;
	if (reader->code)
		return reader->code;
	used = used ? used - 1 : 0;
	if (reader->has_seen_events && used < size && is_rest_closing(block + used, size - used) &&
		reader->depth <= (reader->is_array_form ? 1u : 2u))
		return 0;
	if (status == yajl_status_client_canceled) {
		say_damage(end, "it nests too deep", before + used);
		return 0;
	}
	why = yajl_get_error(parser, 0, NULL, 0);
	say_damage(end, why ? (const char *)why : "not JSON", before + used);
	if (why)
		yajl_free_error(parser, why);
	return 0;
}

static void end_file(
	yajl_handle parser, const struct reader *reader, uint64_t bytes, struct chrome_reader_end *end)
{
	bool is_whole = yajl_complete_parse(parser) == yajl_status_ok;

	/* The format says that an array's last bracket may be missing. */
	if (!is_whole && !(reader->is_array_form && reader->depth == 1))
		say_damage(end, "the file ends too early", bytes);
}

static int read_blocks(FILE *in, const char *name, yajl_handle parser, struct reader *reader, char *block,
	struct chrome_reader_end *end)
{
	uint64_t bytes = 0, tokens = 0, since = 0;
	size_t kept = 0; /* of the block before */
	int code = 1;

	for (;;) {
		size_t size = kept + fread(block + kept, 1, BLOCK_BYTES - kept, in), skip = 0, used;
		bool is_last = size < BLOCK_BYTES;

		if (ferror(in)) {
			if (errno != EIO || bytes + size == 0)
				return error_set(
					reader->error, ERROR_IO, "cannot read %s: %s", name, strerror(errno));
		}
		if (bytes == 0 && size >= 3 && memcmp(block, "\xef\xbb\xbf", 3) == 0)
			skip = 3;
		used = mend_numbers(reader, block, size, is_last);
		code = feed(parser, reader, block + skip, used - skip, bytes + skip, end);
		bytes += used;
		kept = size - used;
		memmove(block, block + used, kept);
		since = reader->tokens == tokens ? since + used : 0;
		tokens = reader->tokens;
		if (since > TOKEN_BYTES_MAX) {
			say_damage(end, "a text that does not end", bytes);
			return 0;
		}
		if (reader->ops->progress)
			reader->ops->progress(reader->ops->own);
		if (code <= 0)
			return code;
		if (is_last) {
			end_file(parser, reader, bytes, end);
			return 0;
		}
	}
}

int chrome_read(FILE *in, const char *name, const struct chrome_reader_ops *ops,
	struct chrome_reader_end *end, struct error *error)
{
	struct reader *reader = calloc(1, sizeof *reader);
	char *block = malloc(BLOCK_BYTES);
	yajl_handle parser = reader && block ? yajl_alloc(&callbacks, NULL, reader) : NULL;
	int code = parser ? 0 : error_memory(error);

	*end = (struct chrome_reader_end){0};
	if (parser) {
		reader->ops = ops;
		reader->error = error;
		yajl_config(parser, yajl_dont_validate_strings, 1);
		yajl_config(parser, yajl_allow_trailing_garbage, 1);
		code = read_blocks(in, name, parser, reader, block, end);
		end->events = reader->events;
		if (code == 0 && !reader->has_seen_events)
			code = error_set(error, ERROR_RUN,
				"%s has no list \"traceEvents\": it is no Chrome trace, or cut short before "
				"that%s%s",
				name, end->why[0] ? "; " : "", end->why);
		yajl_free(parser);
		store_bytes_fini(&reader->text);
	}
	free(reader);
	free(block);
	return code;
}
