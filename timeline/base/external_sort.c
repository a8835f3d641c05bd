/* SPDX-License-Identifier: Apache-2.0 */
/* external_sort.c - see external_sort.h. A merge compares the head of every run: there are few. */
#include "timeline/base/external_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/base/array.h"

#define LEAST_BYTES ((size_t)64 << 10)

/* A sorted stretch of the file, or (the last one) of memory; its head is `at`. */
struct sorted_run {
	uint64_t from, to, next; /* entries in the file; next: not read yet */
	uint8_t *buffer;	 /* of the file's window; in memory: the entries themselves */
	size_t at, count;	 /* in the buffer */
};

struct external_sort {
	size_t entry_bytes;
	int (*compare)(const void *a, const void *b);
	uint8_t *entries;
	size_t count, capacity, most;
	int fd; /* -1: nothing is on disk */
	uint64_t spilled;
	struct sorted_run *stretches;
	unsigned stretch_count;
	uint8_t *window; /* what is read of the file, cut evenly */
	size_t share;	 /* entries that each stretch of the file has of it */
	bool is_sorted;
	_Alignas(16) uint8_t given[EXTERNAL_SORT_ENTRY_MAX];
};

int external_sort_new(struct external_sort **spill, size_t entry_bytes,
	int (*compare)(const void *a, const void *b), uint64_t mem_bytes, struct error *error)
{
	struct external_sort *made = calloc(1, sizeof *made);

	*spill = made;
	if (!made)
		return error_memory(error);
	*made = (struct external_sort){
		.entry_bytes = entry_bytes, .compare = compare, .most = SIZE_MAX, .fd = -1};
	/* A half for entries, the other one for sorting them. */
	if (mem_bytes)
		made->most = (mem_bytes / 2 < LEAST_BYTES ? LEAST_BYTES : mem_bytes / 2) / entry_bytes;
	return 0;
}

void external_sort_free(struct external_sort *spill)
{
	if (!spill)
		return;
	if (spill->fd >= 0)
		close(spill->fd);
	free(spill->entries);
	free(spill->stretches);
	free(spill->window);
	free(spill);
}

static int file_failed(const char *doing, struct error *error)
{
	return error_set(error, ERROR_IO,
		"cannot %s a file beside memory (--mem): %s; set TMPDIR to a directory with room", doing,
		strerror(errno));
}

static int file_open(struct external_sort *spill, struct error *error)
{
	const char *directory = getenv("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/hpct-XXXXXX", directory && *directory ? directory : "/var/tmp") < 0)
		return error_memory(error);
	spill->fd = mkostemp(path, O_CLOEXEC);
	if (spill->fd >= 0)
		unlink(path);
	free(path);
	return spill->fd >= 0 ? 0 : file_failed("make", error);
}

static int file_write(struct external_sort *spill, struct error *error)
{
	const size_t size = spill->count * spill->entry_bytes;
	off_t at = (off_t)(spill->spilled * spill->entry_bytes);

	for (size_t done = 0; done < size;) {
		ssize_t put = pwrite(spill->fd, spill->entries + done, size - done, at + (off_t)done);

		if (put < 0 && errno != EINTR)
			return file_failed("write", error);
		done += put > 0 ? (size_t)put : 0;
	}
	return 0;
}

static bool add_stretch(struct external_sort *spill, struct sorted_run stretch)
{
	if (!array_resize(&spill->stretches, spill->stretch_count + 1u, sizeof *spill->stretches))
		return false;
	spill->stretches[spill->stretch_count++] = stretch;
	return true;
}

/* Many come in order already: a look costs a tenth of sorting. */
static void sort_entries(struct external_sort *spill)
{
	const uint8_t *entry = spill->entries;

	for (size_t i = 1; i < spill->count; i++, entry += spill->entry_bytes)
		if (spill->compare(entry, entry + spill->entry_bytes) > 0) {
			qsort(spill->entries, spill->count, spill->entry_bytes, spill->compare);
			return;
		}
}

static int spill_out(struct external_sort *spill, struct error *error)
{
	struct sorted_run stretch = {.from = spill->spilled, .to = spill->spilled + spill->count};
	int code = spill->fd < 0 ? file_open(spill, error) : 0;

	if (code)
		return code;
	sort_entries(spill);
	code = file_write(spill, error);
	if (code)
		return code;
	if (!add_stretch(spill, stretch))
		return error_memory(error);
	spill->spilled = stretch.to;
	spill->count = 0;
	return 0;
}

int external_sort_put(struct external_sort *spill, const void *entry, struct error *error)
{
	int code = spill->count == spill->most ? spill_out(spill, error) : 0;

	if (code)
		return code;
	if (spill->count == spill->capacity) {
		size_t capacity = spill->capacity ? 2 * spill->capacity : 256;

		capacity = capacity < spill->most ? capacity : spill->most;
		if (!array_resize(&spill->entries, capacity, spill->entry_bytes))
			return error_memory(error);
		spill->capacity = capacity;
	}
	memcpy(spill->entries + spill->count++ * spill->entry_bytes, entry, spill->entry_bytes);
	return 0;
}

/* ---- merging ---- */

static int fill(struct external_sort *spill, struct sorted_run *stretch, struct error *error)
{
	uint64_t left = stretch->to - stretch->next;
	size_t count = left < spill->share ? (size_t)left : spill->share, size = count * spill->entry_bytes;

	for (size_t done = 0; done < size;) {
		ssize_t got = pread(spill->fd, stretch->buffer + done, size - done,
			(off_t)(stretch->next * spill->entry_bytes + done));

		if (got == 0 || (got < 0 && errno != EINTR))
			return file_failed("read", error);
		done += got > 0 ? (size_t)got : 0;
	}
	stretch->next += count;
	stretch->at = 0;
	stretch->count = count;
	return 0;
}

/* The last stretch is that of memory: in no file. */
static int begin_merge(struct external_sort *spill, struct error *error)
{
	if (spill->is_sorted)
		return 0;
	if (spill->count)
		sort_entries(spill);
	if (spill->stretch_count) {
		spill->share = spill->most / 2 / spill->stretch_count;
		spill->share += !spill->share;
		spill->window = reallocarray(NULL, spill->share * spill->entry_bytes, spill->stretch_count);
		if (!spill->window)
			return error_memory(error);
	}
	if (!add_stretch(spill, (struct sorted_run){0}))
		return error_memory(error);
	spill->is_sorted = true;
	return 0;
}

int external_sort_rewind(struct external_sort *spill, struct error *error)
{
	int code = begin_merge(spill, error);
	unsigned files = code ? 0 : spill->stretch_count - 1;

	for (unsigned i = 0; i < files && !code; i++) {
		struct sorted_run *stretch = &spill->stretches[i];

		stretch->buffer = spill->window + i * spill->share * spill->entry_bytes;
		stretch->next = stretch->from;
		code = fill(spill, stretch, error);
	}
	if (!code)
		spill->stretches[files] =
			(struct sorted_run){.buffer = spill->entries, .count = spill->count};
	return code;
}

const void *external_sort_next(struct external_sort *spill, int *code, struct error *error)
{
	struct sorted_run *least = NULL;
	const uint8_t *head = NULL;

	*code = 0;
	for (unsigned i = 0; i < spill->stretch_count; i++) {
		struct sorted_run *stretch = &spill->stretches[i];
		const uint8_t *entry;

		if (stretch->at == stretch->count) /* it may have no buffer */
			continue;
		entry = stretch->buffer + stretch->at * spill->entry_bytes;
		if (least && spill->compare(head, entry) <= 0)
			continue;
		least = stretch;
		head = entry;
	}
	if (!least)
		return NULL;
	memcpy(spill->given, head, spill->entry_bytes);
	if (++least->at == least->count && least->next < least->to)
		*code = fill(spill, least, error);
	return *code ? NULL : spill->given;
}
