/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bookmark_save.c - writes bookmarks to a new file and renames it over the old one, so that a reader sees
 * one or the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/base/hash.h"
#include "store/base/user_cache.h"
#include "timeline/base/escape.h"
#include "timeline/select/bookmark.h"

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
