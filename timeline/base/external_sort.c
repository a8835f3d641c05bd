/* SPDX-License-Identifier: Apache-2.0 */
/*
 * external_sort.c - see external_sort.h. A merge compares the head of every run: there are few. Entries with
 * keys stay where they are; their keys are sorted by radix, byte by byte, and tell the order.
 */
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
#define KEY_BYTES 16u
#define GROUP_MAX 8u /* entries of one key that are sorted in place */
#define WRITE_BYTES ((size_t)64 << 10)
#define AHEAD 8u /* entries that are asked for before they are needed */

/* A sorted stretch of the file, or (the last one) of memory; its head is `at`. */
struct sorted_run {
	uint64_t from, to, next; /* entries in the file; next: not read yet */
	uint8_t *buffer;	 /* of the file's window; in memory: the entries themselves */
	size_t at, count;	 /* in the buffer */
	const uint32_t *order;	 /* of the entries; NULL: as they lie */
};

struct keyed {
	uint64_t key[2];
	uint32_t entry;
};

struct external_sort {
	size_t entry_bytes;
	int (*compare)(const void *a, const void *b);
	void (*key)(const void *entry, uint64_t key[2]); /* NULL: none */
	uint32_t *order; /* of the entries in memory, once they are sorted by keys; NULL: as they lie */
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

void external_sort_by(struct external_sort *spill, void (*key)(const void *entry, uint64_t key[2]))
{
	spill->key = key;
	if (spill->most > UINT32_MAX / 2)
		spill->most = UINT32_MAX / 2;
}

void external_sort_free(struct external_sort *spill)
{
	if (!spill)
		return;
	free(spill->order);
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

static int write_all(
	struct external_sort *spill, const uint8_t *bytes, size_t size, off_t at, struct error *error)
{
	for (size_t done = 0; done < size;) {
		ssize_t put = pwrite(spill->fd, bytes + done, size - done, at + (off_t)done);

		if (put < 0 && errno != EINTR)
			return file_failed("write", error);
		done += put > 0 ? (size_t)put : 0;
	}
	return 0;
}

/* The entries in their order, piece by piece. */
static int write_ordered(struct external_sort *spill, off_t at, struct error *error)
{
	uint8_t piece[WRITE_BYTES];
	size_t size = 0;
	int code = 0;

	for (size_t i = 0; i < spill->count && !code; i++) {
		memcpy(piece + size, spill->entries + spill->order[i] * spill->entry_bytes,
			spill->entry_bytes);
		size += spill->entry_bytes;
		if (size + spill->entry_bytes > sizeof piece || i + 1 == spill->count) {
			code = write_all(spill, piece, size, at, error);
			at += (off_t)size;
			size = 0;
		}
	}
	return code;
}

static int file_write(struct external_sort *spill, struct error *error)
{
	off_t at = (off_t)(spill->spilled * spill->entry_bytes);

	return spill->order ? write_ordered(spill, at, error)
			    : write_all(spill, spill->entries, spill->count * spill->entry_bytes, at, error);
}

static bool add_stretch(struct external_sort *spill, struct sorted_run stretch)
{
	if (!array_resize(&spill->stretches, spill->stretch_count + 1u, sizeof *spill->stretches))
		return false;
	spill->stretches[spill->stretch_count++] = stretch;
	return true;
}

/* Many come in order already: a look costs a tenth of sorting. */
static bool is_in_order(const struct external_sort *spill)
{
	const uint8_t *entry = spill->entries;

	for (size_t i = 1; i < spill->count; i++, entry += spill->entry_bytes)
		if (spill->compare(entry, entry + spill->entry_bytes) > 0)
			return false;
	return true;
}

static unsigned key_byte(const struct keyed *item, unsigned byte)
{
	return (unsigned)(item->key[byte < 8] >> 8 * (byte % 8)) & 255; /* key[1] is the lower half */
}

/* Which bits are not the same in all. */
static struct keyed find_differing(const struct keyed *items, size_t count)
{
	struct keyed differing = {{0, 0}, 0};

	for (size_t i = 1; i < count; i++) {
		differing.key[0] |= items[i].key[0] ^ items[0].key[0];
		differing.key[1] |= items[i].key[1] ^ items[0].key[1];
	}
	return differing;
}

static void sort_by_byte(const struct keyed *from, struct keyed *to, size_t count, unsigned byte)
{
	size_t places[256] = {0}, at = 0;

	for (size_t i = 0; i < count; i++)
		places[key_byte(&from[i], byte)]++;
	for (unsigned value = 0; value < 256; value++) {
		size_t here = places[value];

		places[value] = at;
		at += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[key_byte(&from[i], byte)]++] = from[i];
}

/* By radix, from the lowest byte up; bytes that are the same in all are passed over. Returns which of both
 * lists has the result. */
static struct keyed *sort_keys(struct keyed *items, struct keyed *other, size_t count)
{
	const struct keyed differing = find_differing(items, count);

	for (unsigned byte = 0; byte < KEY_BYTES; byte++) {
		struct keyed *from = items;

		if (!key_byte(&differing, byte))
			continue;
		sort_by_byte(from, other, count, byte);
		items = other;
		other = from;
	}
	return items;
}

static int compare_keyed(const void *left, const void *right, void *own)
{
	const struct external_sort *spill = own;
	const struct keyed *a = left, *b = right;

	return spill->compare(spill->entries + a->entry * spill->entry_bytes,
		spill->entries + b->entry * spill->entry_bytes);
}

static bool has_key(const struct keyed *item, const struct keyed *as)
{
	return item->key[0] == as->key[0] && item->key[1] == as->key[1];
}

/* Those of one key are few, but for a file that counts no time. */
static void sort_group(struct external_sort *spill, struct keyed *items, size_t count)
{
	if (count > GROUP_MAX) {
		qsort_r(items, count, sizeof *items, compare_keyed, spill);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct keyed item = items[i];
		size_t at = i;

		for (; at > 0 && compare_keyed(&items[at - 1], &item, spill) > 0; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

static void sort_equals(struct external_sort *spill, struct keyed *items)
{
	for (size_t first = 0, end; first < spill->count; first = end) {
		for (end = first + 1; end < spill->count && has_key(&items[end], &items[first]);)
			end++;
		sort_group(spill, &items[first], end - first);
	}
}

/* False: no memory for it. */
static bool sort_by_key(struct external_sort *spill)
{
	struct keyed *items = reallocarray(NULL, spill->count, 2 * sizeof *items), *sorted;

	free(spill->order);
	spill->order = items ? reallocarray(NULL, spill->count, sizeof *spill->order) : NULL;
	if (!spill->order) {
		free(items);
		return false;
	}
	for (size_t i = 0; i < spill->count; i++) {
		spill->key(spill->entries + i * spill->entry_bytes, items[i].key);
		items[i].entry = (uint32_t)i;
	}
	sorted = sort_keys(items, items + spill->count, spill->count);
	sort_equals(spill, sorted);
	for (size_t i = 0; i < spill->count; i++)
		spill->order[i] = sorted[i].entry;
	free(items);
	return true;
}

static void sort_entries(struct external_sort *spill)
{
	free(spill->order);
	spill->order = NULL;
	if (is_in_order(spill) || (spill->key && sort_by_key(spill)))
		return;
	qsort(spill->entries, spill->count, spill->entry_bytes, spill->compare);
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
		spill->stretches[files] = (struct sorted_run){
			.buffer = spill->entries, .count = spill->count, .order = spill->order};
	return code;
}

static const uint8_t *head_of(const struct external_sort *spill, const struct sorted_run *stretch)
{
	if (!stretch->order)
		return stretch->buffer + stretch->at * spill->entry_bytes;
	if (stretch->at + AHEAD < stretch->count)
		__builtin_prefetch(
			stretch->buffer + stretch->order[stretch->at + AHEAD] * spill->entry_bytes);
	return stretch->buffer + stretch->order[stretch->at] * spill->entry_bytes;
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
		entry = head_of(spill, stretch);
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
