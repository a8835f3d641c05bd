/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bookmark.c - collects the marks of a run for `--time @MARK` and for the views, and writes them: a new file
 * beside the old one, then in its place, so that a reader sees one or the other.
 */
#include "timeline/select/bookmark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/array.h"
#include "store/base/attribute.h"
#include "store/base/escape.h"
#include "store/base/hash.h"
#include "store/base/user_cache.h"
#include "timeline/scan/scan.h"

#define NAME_BYTES 1024

struct collector {
	struct run *run;
	struct arena *arena;
	struct mark *marks; /* malloc'ed while it grows */
	size_t count, capacity;
	const char *path; /* of the bookmarks that are being read */
};

static int add(struct collector *c, const struct mark *mark, size_t name_bytes, struct error *error)
{
	if (!array_widen(&c->marks, &c->capacity, c->count, sizeof *c->marks))
		return error_memory(error);
	c->marks[c->count] = *mark;
	c->marks[c->count].name = arena_copy(c->arena, mark->name, name_bytes);
	return c->marks[c->count++].name ? 0 : error_memory(error);
}

/* ---- spans ---- */

static int add_row(struct collector *c, const struct batch *batch, size_t row, struct error *error)
{
	char name[NAME_BYTES] = "";
	size_t size = 0;
	const char *attributes = batch_attributes(c->run, batch, row, &size);
	struct mark mark = {.name = name,
		.begin_ns = batch->begin_ns[row],
		.end_ns = batch->end_ns[row],
		.stream = batch->stream};

	attribute_get(attributes, size, "name", name, sizeof name);
	if (mark.end_ns == STORE_OPEN_NS)
		mark.end_ns = run_end_ns(c->run) > mark.begin_ns ? run_end_ns(c->run) : mark.begin_ns;
	return add(c, &mark, strlen(name), error);
}

static bool is_mark(uint32_t op)
{
	return op == STORE_OP_MARK || op == STORE_OP_RANGE;
}

static int add_batch(struct collector *c, const struct batch *batch, struct error *error)
{
	int code = 0;

	for (size_t row = 0; row < batch->count && !code; row++)
		if (is_mark(batch->what[row]))
			code = add_row(c, batch, row, error);
	return code;
}

static int note_batch(bool *has_marks, const struct batch *batch)
{
	for (size_t row = 0; row < batch->count; row++)
		*has_marks |= is_mark(batch->what[row]);
	return 0;
}

/* With `c` NULL only finds out whether there are any: most streams have none, and names are dear. */
static int look(struct run *run, uint32_t stream, struct collector *c, bool *has_marks, struct error *error)
{
	unsigned columns = c ? STORE_END | STORE_WHAT | STORE_ATTRIBUTES : STORE_WHAT;
	const struct batch *batch;
	struct scan *scan;
	long count;
	int code = scan_open(&scan, run, stream, STORE_SPANS, 0, STORE_OPEN_NS, columns, 0, error);

	if (code)
		return code;
	while (!code && (count = scan_next(scan, &batch, error)) != 0) {
		if (count < 0)
			code = (int)count;
		else
			code = c ? add_batch(c, batch, error) : note_batch(has_marks, batch);
		if (!c && *has_marks)
			break;
	}
	scan_close(scan);
	return code;
}

static int add_spans(struct collector *c, struct error *error)
{
	int code = 0;

	for (uint32_t stream = 0; stream < run_stream_count(c->run) && !code; stream++) {
		bool has_marks = false;

		code = look(c->run, stream, NULL, &has_marks, error);
		if (!code && has_marks)
			code = look(c->run, stream, c, &has_marks, error);
	}
	return code;
}

/* ---- bookmarks ---- */

enum column { NAME, BEGIN, END, COLUMNS };

static const char *const column_names[COLUMNS] = {"name", "begin_ns", "end_ns"};

static int bad_file(const struct collector *c, size_t line, const char *why, struct error *error)
{
	return error_set(error, ERROR_RUN, "%s line %zu %s: mend or delete the line", c->path, line, why);
}

/* Finds the fields of a line; those that are not there stay NULL. */
static void split(char *line, const int places[COLUMNS], char *fields[COLUMNS])
{
	int place = 0;

	for (int i = 0; i < COLUMNS; i++)
		fields[i] = NULL;
	for (char *field; (field = strsep(&line, "\t")); place++)
		for (int i = 0; i < COLUMNS; i++)
			if (places[i] == place)
				fields[i] = field;
}

static void find_places(char *header, int places[COLUMNS])
{
	int place = 0;

	for (int i = 0; i < COLUMNS; i++)
		places[i] = -1;
	for (char *field; (field = strsep(&header, "\t")); place++)
		for (int i = 0; i < COLUMNS; i++)
			if (places[i] < 0 && !strcmp(field, column_names[i]))
				places[i] = place;
}

static bool parse_time(const char *field, uint64_t *time_ns)
{
	char *end;

	if (!field || *field < '0' || *field > '9')
		return false;
	errno = 0;
	*time_ns = strtoull(field, &end, 10);
	return !*end && !errno;
}

static int add_line(struct collector *c, char *fields[COLUMNS], size_t line, struct error *error)
{
	uint64_t origin = run_origin_ns(c->run), begin, end;
	struct store_bytes name = {0};
	struct mark mark = {.stream = UINT32_MAX};
	int code;

	if (!fields[NAME] || !parse_time(fields[BEGIN], &begin))
		return bad_file(c, line, "has no name or no begin_ns", error);
	end = begin;
	if (fields[END] && *fields[END] && !parse_time(fields[END], &end))
		return bad_file(c, line, "has an end_ns that is no number", error);
	if (end < begin || end >= STORE_OPEN_NS - origin)
		return bad_file(c, line, "has times out of order or range", error);
	mark.begin_ns = origin + begin;
	mark.end_ns = origin + end;
	if (!escape_undo(&name, fields[NAME], strlen(fields[NAME]))) {
		store_bytes_fini(&name);
		return bad_file(c, line, "has an escape that is none", error);
	}
	mark.name = name.size ? (const char *)name.data : "";
	code = name.failed ? error_memory(error) : add(c, &mark, name.size, error);
	store_bytes_fini(&name);
	return code;
}

/* A pipe would be waited for, a device has no end. */
FILE *bookmark_file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat facts;
	FILE *file = fd >= 0 && !fstat(fd, &facts) && S_ISREG(facts.st_mode) ? fdopen(fd, "r") : NULL;

	if (!file && fd >= 0)
		close(fd);
	return file;
}

static int add_file(struct collector *c, const char *path, struct error *error)
{
	char *line = NULL, *fields[COLUMNS];
	int places[COLUMNS], code = 0;
	size_t capacity = 0, number = 0;
	ssize_t size;
	FILE *file = bookmark_file_open(path);

	if (!file)
		return 0;
	c->path = path;
	while (!code && (size = getline(&line, &capacity, file)) >= 0) {
		if (size && line[size - 1] == '\n')
			line[size - 1] = '\0';
		if (!number++) {
			find_places(line, places);
			continue;
		}
		if (!*line)
			continue;
		split(line, places, fields);
		code = add_line(c, fields, number, error);
	}
	free(line);
	fclose(file);
	return code;
}

static int add_bookmarks(struct collector *c, struct error *error)
{
	char *path, *own = bookmark_user_path(c->run);
	int code;

	if (asprintf(&path, "%s/" BOOKMARK_FILE, run_path(c->run)) < 0) {
		free(own);
		return error_memory(error);
	}
	code = add_file(c, path, error);
	if (!code && own)
		code = add_file(c, own, error);
	free(path);
	free(own);
	return code;
}

/* ---- both ---- */

static int compare_marks(const void *x, const void *y)
{
	const struct mark *a = x, *b = y;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int finish(
	struct collector *c, int code, const struct mark **marks, size_t *count, struct error *error)
{
	struct mark *kept = NULL;

	if (!code && c->count) {
		qsort(c->marks, c->count, sizeof *c->marks, compare_marks);
		kept = arena_alloc(c->arena, c->count * sizeof *kept);
		if (kept)
			memcpy(kept, c->marks, c->count * sizeof *kept);
		else
			code = error_memory(error);
	}
	free(c->marks);
	*marks = kept;
	*count = code ? 0 : c->count;
	return code;
}

int mark_list(
	struct run *run, struct arena *arena, const struct mark **marks, size_t *count, struct error *error)
{
	struct collector c = {.run = run, .arena = arena};
	int code = add_spans(&c, error);

	if (!code)
		code = add_bookmarks(&c, error);
	return finish(&c, code, marks, count, error);
}

/* Of a stream, bookmarks being one of their own: its earliest moment so far, and the one behind that time. */
struct moments {
	uint64_t first_ns, next_ns;
};

int mark_instances(struct run *run, uint64_t until_ns, struct arena *arena, const struct mark **marks,
	size_t *count, struct error *error)
{
	size_t streams = (size_t)run_stream_count(run) + 1;
	struct moments *moments;
	struct mark *own;
	int code = mark_list(run, arena, marks, count, error);

	if (code)
		return code;
	moments = arena_alloc(arena, streams * sizeof *moments);
	if (!moments)
		return error_memory(error);
	for (size_t i = 0; i < streams; i++)
		moments[i] = (struct moments){until_ns, until_ns};
	own = (struct mark *)*marks; /* of the arena, made for us */
	for (size_t i = *count; i-- > 0;) {
		struct moments *of = &moments[(size_t)(own[i].stream + 1u)];

		if (own[i].end_ns > own[i].begin_ns)
			continue;
		if (own[i].begin_ns != of->first_ns)
			*of = (struct moments){own[i].begin_ns, of->first_ns};
		if (of->next_ns > own[i].begin_ns)
			own[i].end_ns = of->next_ns;
	}
	return 0;
}

int bookmark_list(
	struct run *run, struct arena *arena, const struct mark **marks, size_t *count, struct error *error)
{
	struct collector c = {.run = run, .arena = arena};

	return finish(&c, add_bookmarks(&c, error), marks, count, error);
}

#define HEADER "name\tbegin_ns\tend_ns"

char *bookmark_user_path(const struct run *run)
{
	char *path = NULL, *real = realpath(run_path(run), NULL), *directory = store_user_cache_directory();
	unsigned long long hash = real ? store_hash64(real, strlen(real), 0) : 0;

	if (directory && asprintf(&path, "%s/marks/%016llx.tsv", directory, hash) < 0)
		path = NULL;
	free(directory);
	free(real);
	return path;
}

/* Place of a column in a header, -1: none. */
static int find_place(const char *header, const char *name)
{
	size_t size = strlen(name);

	for (int place = 0;; place++) {
		size_t field = strcspn(header, "\t\n");
		if (field == size && strncmp(header, name, size) == 0)
			return place;
		if (header[field] != '\t')
			return -1;
		header += field + 1;
	}
}

/* Field at a place, and its size. */
static const char *field_at(const char *line, int place, size_t *size)
{
	while (place-- > 0) {
		line += strcspn(line, "\t\n");
		line += *line == '\t';
	}
	*size = strcspn(line, "\t\n");
	return line;
}

/* The line of the mark in a file with that header: columns that are not ours stay empty. */
static void put_line(FILE *out, const char *header, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	int places[3] = {
		find_place(header, "name"), find_place(header, "begin_ns"), find_place(header, "end_ns")};
	int count = 1;

	for (const char *at = header; *at; at++)
		count += *at == '\t';
	for (int i = 0; i < count; i++) {
		if (i)
			fputc('\t', out);
		if (i == places[0])
			fputs(name, out);
		else if (i == places[1])
			fprintf(out, "%llu", (unsigned long long)begin_ns);
		else if (i == places[2] && end_ns != begin_ns)
			fprintf(out, "%llu", (unsigned long long)end_ns);
	}
	fputc('\n', out);
}

/* What was there without the mark of that name; false when it is no such file. */
static bool copy_others(FILE *in, FILE *out, const char *name, char **header)
{
	char *line = NULL;
	const char *field;
	size_t capacity = 0, size;
	int place = 0;

	while (getline(&line, &capacity, in) >= 0) {
		/* Of a line with a zero byte the rest is lost, its end is not. */
		line[strcspn(line, "\n")] = '\0';
		if (!*header) {
			*header = strdup(line);
			place = find_place(line, "name");
			if (!*header || place < 0 || find_place(line, "begin_ns") < 0)
				break;
			fprintf(out, "%s\n", line);
			continue;
		}
		field = field_at(line, place, &size);
		if (size == strlen(name) && strncmp(field, name, size) == 0)
			continue;
		fprintf(out, "%s\n", line);
	}
	free(line);
	return !*header || (place >= 0 && find_place(*header, "begin_ns") >= 0);
}

/* 0, or an errno. */
static int write_file(const char *path, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	char *header = NULL, *fresh;
	FILE *in, *out = NULL;
	int fd, problem = 0;

	if (asprintf(&fresh, "%s.%ld", path, (long)getpid()) < 0)
		return ENOMEM;
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!out) {
		problem = errno;
		free(fresh);
		return problem;
	}
	in = bookmark_file_open(path);
	if (in && !copy_others(in, out, name, &header))
		problem = EBADMSG;
	if (in)
		fclose(in);
	if (!header)
		fputs(HEADER "\n", out);
	if (!problem)
		put_line(out, header ? header : HEADER, name, begin_ns, end_ns);
	if (fclose(out) != 0 && !problem)
		problem = errno;
	if (!problem && rename(fresh, path) != 0)
		problem = errno;
	if (problem)
		unlink(fresh);
	free(header);
	free(fresh);
	return problem;
}

int bookmark_save(
	const struct run *run, const char *name, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	uint64_t origin_ns = run_origin_ns(run);
	struct store_bytes escaped = {0};
	char *path = NULL, *own = bookmark_user_path(run);
	int problem = ENOMEM;

	begin_ns = begin_ns > origin_ns ? begin_ns - origin_ns : 0;
	end_ns = end_ns > origin_ns ? end_ns - origin_ns : 0;
	escape_field(&escaped, name, strlen(name));
	store_bytes_put(&escaped, "", 1);
	if (!escaped.failed && asprintf(&path, "%s/" BOOKMARK_FILE, run_path(run)) >= 0)
		problem = write_file(path, (const char *)escaped.data, begin_ns, end_ns);
	if (own && (problem == EACCES || problem == EROFS || problem == EPERM)) {
		store_user_cache_make(own);
		problem = write_file(own, (const char *)escaped.data, begin_ns, end_ns);
	}
	store_bytes_fini(&escaped);
	free(own);
	if (problem)
		error_set(error, ERROR_IO, "cannot write %s: %s", path ? path : BOOKMARK_FILE,
			problem == EBADMSG ? "it has no columns name and begin_ns" : strerror(problem));
	free(path);
	return problem ? -ERROR_IO : 0;
}
