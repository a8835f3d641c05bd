/* SPDX-License-Identifier: Apache-2.0 */
/* code_lines.c - see code_lines.h. */
#include "tui/code/code_lines.h"

#include <stdlib.h>

void code_lines_fini(struct code_lines *lines)
{
	free(lines->list);
	*lines = (struct code_lines){.file = LISTING_NO_FILE};
}

static int line_compare(const void *left, const void *right)
{
	const struct code_line *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->hottest < b->hottest ? -1 : a->hottest > b->hottest;
}

static void add(const struct kernel_listing *listing, struct code_line *to, const struct code_line *one)
{
	if (listing->instructions[one->hottest].all > listing->instructions[to->hottest].all)
		to->hottest = one->hottest;
	to->count += one->count;
	to->all += one->all;
	for (unsigned stall = 0; stall < STALL_COUNT; stall++)
		to->by[stall] += one->by[stall];
}

/* One entry for each instruction, sorted, become one for each line. */
static void join(struct code_lines *lines, const struct kernel_listing *listing, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct code_line *last = lines->count ? &lines->list[lines->count - 1] : NULL;

		if (last && last->line == lines->list[i].line)
			add(listing, last, &lines->list[i]);
		else
			lines->list[lines->count++] = lines->list[i];
	}
	for (uint32_t i = 0; i < lines->count; i++)
		if (lines->list[i].all > lines->most)
			lines->most = lines->list[i].all;
}

bool code_lines_take(struct code_lines *lines, const struct kernel_listing *listing, uint32_t file)
{
	uint32_t count = 0;

	if (lines->list && lines->file == file)
		return true;
	code_lines_fini(lines);
	if (file == LISTING_NO_FILE)
		return true;
	lines->list = calloc((size_t)listing->count + 1, sizeof(*lines->list));
	if (!lines->list)
		return false;
	lines->file = file;
	for (uint32_t i = 0; i < listing->count; i++) {
		const struct listing_instruction *of = &listing->instructions[i];
		struct code_line *one = &lines->list[count];

		if (of->file != file)
			continue;
		*one = (struct code_line){.line = of->line, .count = 1, .hottest = i, .all = of->all};
		for (unsigned stall = 0; stall < STALL_COUNT; stall++)
			one->by[stall] = of->by[stall];
		count++;
	}
	qsort(lines->list, count, sizeof(*lines->list), line_compare);
	join(lines, listing, count);
	return true;
}

const struct code_line *code_lines_find(const struct code_lines *lines, uint32_t line)
{
	uint32_t low = 0, high = lines->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (lines->list[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low < lines->count && lines->list[low].line == line ? &lines->list[low] : NULL;
}
