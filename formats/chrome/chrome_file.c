/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_file.c - {"traceEvents":[...]}, one event a line. Times are microseconds; their three decimals
 * hold every nanosecond.
 */
#include "formats/chrome/chrome_file.h"

#include <inttypes.h>

#include "store/base/json.h"

static void put(struct chrome_file *file, const char *text)
{
	store_bytes_put(&file->line, text, strlen(text));
}

static void put_microseconds(struct chrome_file *file, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
	put(file, text);
}

static void put_key(struct chrome_file *file, const char *key)
{
	char last = file->line.size > 0 ? (char)file->line.data[file->line.size - 1] : '{';

	if (last != '{')
		put(file, ",");
	json_put_string(&file->line, key, strlen(key));
	put(file, ":");
}

void chrome_event_raw(struct chrome_file *file, const char *key, const char *json)
{
	put_key(file, key);
	put(file, json);
}

void chrome_event_text(struct chrome_file *file, const char *key, const char *text, size_t size)
{
	put_key(file, key);
	json_put_string(&file->line, text, size);
}

void chrome_event_duration(struct chrome_file *file, uint64_t ns)
{
	put_key(file, "dur");
	put_microseconds(file, ns);
}

void chrome_event_begin(struct chrome_file *file, char phase, const struct chrome_place *place,
	const char *name, size_t name_size)
{
	char text[96];

	file->line.size = 0;
	snprintf(text, sizeof text, "{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", phase, place->pid, place->tid);
	put(file, text);
	if (phase != 'M') {
		file->has_record = true;
		put_key(file, "ts");
		put_microseconds(
			file, place->time_ns > file->origin_ns ? place->time_ns - file->origin_ns : 0);
	}
	put_key(file, "name");
	json_put_string(&file->line, name, name_size);
}

void chrome_event_args(struct chrome_file *file)
{
	put_key(file, "args");
	put(file, "{");
	file->has_args = true;
}

static void write_line(struct chrome_file *file)
{
	file->failed |= file->line.failed ||
			fwrite(file->line.data, 1, file->line.size, file->out) != file->line.size;
}

void chrome_event_end(struct chrome_file *file)
{
	fputs(file->has_event ? ",\n" : "\n", file->out);
	put(file, file->has_args ? "}}" : "}");
	write_line(file);
	file->has_event = true;
	file->has_args = false;
}

void chrome_file_begin(struct chrome_file *file, FILE *out, uint64_t origin_ns)
{
	*file = (struct chrome_file){.out = out, .origin_ns = origin_ns};
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
}

int chrome_file_end(struct chrome_file *file, struct error *error)
{
	bool failed = file->failed || fputs("\n]}\n", file->out) < 0 || ferror(file->out);

	store_bytes_fini(&file->line);
	return failed ? error_unwritten(error) : 0;
}

static void put_name(struct chrome_file *file, const char *what, const struct chrome_place *place,
	const char *name, uint32_t order)
{
	char text[64], number[16];

	snprintf(text, sizeof text, "%s_name", what);
	chrome_event_begin(file, 'M', place, text, strlen(text));
	chrome_event_args(file);
	chrome_event_text(file, "name", name, strlen(name));
	chrome_event_end(file);
	snprintf(text, sizeof text, "%s_sort_index", what);
	snprintf(number, sizeof number, "%u", order);
	chrome_event_begin(file, 'M', place, text, strlen(text));
	chrome_event_args(file);
	chrome_event_raw(file, "sort_index", number);
	chrome_event_end(file);
}

void chrome_file_process(struct chrome_file *file, uint32_t pid, const char *name)
{
	put_name(file, "process", &(struct chrome_place){.pid = pid}, name, pid);
}

void chrome_file_thread(struct chrome_file *file, uint32_t pid, uint32_t tid, const char *name)
{
	put_name(file, "thread", &(struct chrome_place){.pid = pid, .tid = tid}, name, tid);
}
