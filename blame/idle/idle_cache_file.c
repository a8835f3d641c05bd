/* SPDX-License-Identifier: Apache-2.0 */
/* idle_cache_file.c - see idle_cache_file.h. */
#include "blame/idle/idle_cache_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/hash.h"

#define MAGIC UINT64_C(0x32656c6469706836) /* a new layout or definition: another number */
#define LEVELS_MAX 64u
#define SHARE_BYTES 20u

struct head {
	uint64_t magic;
	struct store_hash of;
	uint64_t first, last, shift;
	uint64_t nodes; /* in all */
	uint64_t nodes_bytes;
	uint64_t places_hash;
};

struct idle_cache_file {
	struct idle_cache_grid grid;
	int descriptor;
	uint64_t *places; /* nodes + 1 */
	uint64_t nodes, nodes_at;
	uint32_t contexts; /* of the run */
	struct store_bytes node;
};

/* ---- sums ---- */

static uint64_t *number_of(struct idle *idle, unsigned i)
{
	uint64_t *const numbers[IDLE_CACHE_NUMBERS] = {&idle->kernel_ns, &idle->comm_ns, &idle->copy_ns,
		&idle->busy_ns, &idle->lost_ns, &idle->unknown_ns, &idle->idle_ns, &idle->blamed_ns,
		&idle->all_idle_ns, &idle->unexplained_ns, &idle->no_core_ns};

	return numbers[i];
}

void idle_cache_sums_add_idle(struct idle *to, const struct idle *from)
{
	struct idle copy = *from;

	for (unsigned i = 0; i < IDLE_CACHE_NUMBERS; i++)
		*number_of(to, i) += *number_of(&copy, i);
}

void idle_cache_sums_clear(struct idle_cache_sums *sums)
{
	sums->idle = (struct idle){0};
	exact_share_sums_clear(&sums->blamed);
	exact_share_sums_clear(&sums->waited);
}

void idle_cache_sums_fini(struct idle_cache_sums *sums)
{
	exact_share_sums_fini(&sums->blamed);
	exact_share_sums_fini(&sums->waited);
}

/* ---- nodes to bytes and back ---- */

static void put_shares(struct store_bytes *out, const struct exact_share_sums *shares)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < shares->count; i++)
		count += shares->amount[i] != 0;
	store_bytes_put(out, &count, sizeof count);
	for (uint32_t i = 0; i < shares->count; i++) {
		if (!shares->amount[i])
			continue;
		store_bytes_put(out, &i, sizeof i);
		store_bytes_put(out, &shares->amount[i], sizeof shares->amount[i]);
	}
}

static void put_place(struct idle_cache_writer *writer)
{
	uint64_t place = writer->nodes.size;

	store_bytes_put(&writer->places, &place, sizeof place);
	writer->is_too_large |= place > IDLE_CACHE_BYTES_MAX;
}

void idle_cache_writer_add(struct idle_cache_writer *writer, const struct idle_cache_sums *sums)
{
	struct idle idle = sums->idle;
	size_t at = writer->nodes.size;
	uint64_t hash = 0;

	if (writer->is_too_large)
		return;
	put_place(writer);
	store_bytes_put(&writer->nodes, &hash, sizeof hash);
	for (unsigned i = 0; i < IDLE_CACHE_NUMBERS; i++)
		store_bytes_put(&writer->nodes, number_of(&idle, i), sizeof(uint64_t));
	put_shares(&writer->nodes, &sums->blamed);
	put_shares(&writer->nodes, &sums->waited);
	if (writer->nodes.failed)
		return;
	hash = store_hash64(
		writer->nodes.data + at + sizeof hash, writer->nodes.size - at - sizeof hash, MAGIC);
	memcpy(writer->nodes.data + at, &hash, sizeof hash);
}

/* Only contexts below that number: the bytes are untrusted. */
static bool get_shares(struct store_input *input, uint32_t contexts, struct exact_share_sums *shares)
{
	const uint8_t *at = store_input_take(input, sizeof(uint32_t));
	uint32_t count = at ? store_load32(at) : 0;

	for (uint32_t i = 0; i < count; i++) {
		exact_share_fixed amount;

		at = store_input_take(input, SHARE_BYTES);
		if (!at || store_load32(at) >= contexts)
			return false;
		memcpy(&amount, at + sizeof(uint32_t), sizeof amount);
		if (!exact_share_sums_add(shares, store_load32(at), amount))
			return false;
	}
	return !input->bad;
}

static bool get_node(struct store_input input, uint32_t contexts, struct idle_cache_sums *sums)
{
	const uint8_t *hash = store_input_take(&input, sizeof(uint64_t));

	if (!hash || !store_sum_fits(store_load64(hash),
			     store_hash64(input.at, (size_t)(input.end - input.at), MAGIC)))
		return false;
	for (unsigned i = 0; i < IDLE_CACHE_NUMBERS; i++) {
		const uint8_t *at = store_input_take(&input, sizeof(uint64_t));

		if (at)
			*number_of(&sums->idle, i) += store_load64(at);
	}
	return get_shares(&input, contexts, &sums->blamed) && get_shares(&input, contexts, &sums->waited) &&
	       input.at == input.end;
}

/* ---- levels ---- */

static uint64_t level_first(const struct idle_cache_grid *grid, unsigned level)
{
	return (grid->first + ((uint64_t)1 << level) - 1) >> level;
}

static uint64_t level_count(const struct idle_cache_grid *grid, unsigned level)
{
	uint64_t first = level_first(grid, level), last = grid->last >> level;

	return last > first ? last - first : 0;
}

/* Nodes of the levels below. */
static uint64_t level_begin(const struct idle_cache_grid *grid, unsigned level)
{
	uint64_t nodes = 0;

	for (unsigned below = 0; below < level; below++)
		nodes += level_count(grid, below);
	return nodes;
}

/* ---- making ---- */

static uint64_t made_at(const struct idle_cache_writer *writer, uint64_t node)
{
	return node * sizeof(uint64_t) < writer->places.size
		       ? store_load64(writer->places.data + node * sizeof(uint64_t))
		       : writer->nodes.size;
}

/* A node of the level below, from what was put already. */
static bool add_made(const struct idle_cache_writer *writer, uint64_t node, struct idle_cache_sums *sums)
{
	uint64_t from = made_at(writer, node), to = made_at(writer, node + 1);

	return get_node((struct store_input){.at = writer->nodes.data + from, .end = writer->nodes.data + to},
		UINT32_MAX, sums);
}

static bool make_levels(struct idle_cache_writer *writer)
{
	struct idle_cache_sums sums = {0};
	bool is_made = true;

	for (unsigned level = 1; level < LEVELS_MAX && level_count(&writer->grid, level) && is_made;
		level++) {
		uint64_t first = level_first(&writer->grid, level);
		uint64_t below = level_begin(&writer->grid, level - 1),
			 first_below = level_first(&writer->grid, level - 1);

		for (uint64_t i = 0; i < level_count(&writer->grid, level) && is_made; i++) {
			uint64_t left = below + 2 * (first + i) - first_below;

			idle_cache_sums_clear(&sums);
			is_made = add_made(writer, left, &sums) && add_made(writer, left + 1, &sums);
			idle_cache_writer_add(writer, &sums);
			is_made = is_made && !writer->is_too_large && !writer->nodes.failed;
		}
	}
	idle_cache_sums_fini(&sums);
	return is_made;
}

static bool write_all(FILE *file, const struct head *head, const struct idle_cache_writer *writer)
{
	return fwrite(head, sizeof *head, 1, file) == 1 &&
	       fwrite(writer->places.data, writer->places.size, 1, file) == 1 &&
	       fwrite(writer->nodes.data, writer->nodes.size, 1, file) == 1;
}

static void write_file(const struct idle_cache_writer *writer, const struct head *head, const char *path)
{
	char *hidden = NULL;
	FILE *file;
	bool is_written;

	if (asprintf(&hidden, "%s.%d", path, (int)getpid()) < 0)
		return;
	file = fopen(hidden, "wxe");
	if (file) {
		is_written = write_all(file, head, writer);
		is_written = !fclose(file) && is_written;
		if (!is_written || rename(hidden, path))
			unlink(hidden);
	}
	free(hidden);
}

void idle_cache_writer_finish(struct idle_cache_writer *writer, const struct store_hash *of, const char *path)
{
	struct head head = {.magic = MAGIC,
		.of = *of,
		.first = writer->grid.first,
		.last = writer->grid.last,
		.shift = writer->grid.shift};

	if (writer->is_too_large || writer->nodes.failed || writer->places.failed || !make_levels(writer))
		return;
	head.nodes = writer->places.size / sizeof(uint64_t);
	head.nodes_bytes = writer->nodes.size;
	put_place(writer);
	if (writer->is_too_large || writer->places.failed)
		return;
	head.places_hash = store_hash64(writer->places.data, writer->places.size, MAGIC);
	write_file(writer, &head, path);
}

void idle_cache_writer_fini(struct idle_cache_writer *writer)
{
	store_bytes_fini(&writer->nodes);
	store_bytes_fini(&writer->places);
}

/* ---- reading ---- */

static bool is_of(const struct head *head, const struct idle_cache_grid *grid, const struct store_hash *of)
{
	unsigned levels = 0;

	while (levels < LEVELS_MAX && level_count(grid, levels))
		levels++;
	return head->magic == MAGIC && !memcmp(&head->of, of, sizeof *of) && head->first == grid->first &&
	       head->last == grid->last && head->shift == grid->shift &&
	       head->nodes == level_begin(grid, levels) && head->nodes_bytes <= 2 * IDLE_CACHE_BYTES_MAX;
}

struct idle_cache_file *idle_cache_file_open(
	const char *path, const struct idle_cache_grid *grid, const struct store_hash *of, uint32_t contexts)
{
	struct idle_cache_file *file = calloc(1, sizeof *file);
	struct head head;
	size_t bytes;

	if (!file)
		return NULL;
	file->grid = *grid;
	file->contexts = contexts;
	file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->descriptor >= 0 && pread(file->descriptor, &head, sizeof head, 0) == (ssize_t)sizeof head &&
		is_of(&head, grid, of)) {
		file->nodes = head.nodes;
		bytes = (file->nodes + 1) * sizeof(uint64_t);
		file->nodes_at = sizeof head + bytes;
		file->places = malloc(bytes);
		if (file->places &&
			pread(file->descriptor, file->places, bytes, sizeof head) == (ssize_t)bytes &&
			store_sum_fits(head.places_hash, store_hash64(file->places, bytes, MAGIC)))
			return file;
	}
	idle_cache_file_close(file);
	return NULL;
}

void idle_cache_file_close(struct idle_cache_file *file)
{
	if (!file)
		return;
	if (file->descriptor >= 0)
		close(file->descriptor);
	store_bytes_fini(&file->node);
	free(file->places);
	free(file);
}

static bool add_node(struct idle_cache_file *file, uint64_t node, struct idle_cache_sums *sums)
{
	uint64_t from = file->places[node], to = file->places[node + 1];
	uint8_t *bytes;

	file->node.size = 0;
	bytes = to > from && to - from <= IDLE_CACHE_BYTES_MAX ? store_bytes_reserve(&file->node, to - from)
							       : NULL;
	return bytes &&
	       pread(file->descriptor, bytes, to - from, (off_t)(file->nodes_at + from)) ==
		       (ssize_t)(to - from) &&
	       get_node((struct store_input){.at = bytes, .end = bytes + (to - from)}, file->contexts, sums);
}

bool idle_cache_file_add(
	struct idle_cache_file *file, uint64_t from, uint64_t to, struct idle_cache_sums *sums)
{
	while (from < to) {
		unsigned level = 0;

		/* The largest that begins here and does not reach beyond the end. */
		while (level + 1 < LEVELS_MAX && !(from & (((uint64_t)2 << level) - 1)) &&
			from + ((uint64_t)2 << level) <= to && level_count(&file->grid, level + 1))
			level++;
		if (!add_node(file,
			    level_begin(&file->grid, level) + (from >> level) -
				    level_first(&file->grid, level),
			    sums))
			return false;
		from += (uint64_t)1 << level;
	}
	return true;
}
