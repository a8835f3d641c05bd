/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_page_group.c - the page of a group of runs (run_page.h): rows of all pages, numbered by what they are
 * about; each is looked at once, however many runs there are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/report/run_page.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"

/* Of one figure, over the runs that have it. */
struct spread {
	struct run_page_row row; /* the first one's */
	double time_ns, count, percent, least, most;
	uint32_t most_run, have;
	uint32_t section, number; /* where it stands */
};

struct grouping {
	struct key_ids ids; /* of 128-bit hashes */
	struct spread *spreads;
	size_t room;
	uint32_t runs;
	struct arena *arena;
};

static const char *const sections[] = {
	"run", "bound by", "threads", "gpus", "operations", "efficiency", "paths", "coverage"};
#define SECTIONS (sizeof sections / sizeof *sections)

static bool is_section(const struct run_page_row *row, const char *section)
{
	return strcmp(row->section, section) == 0;
}

/* ---- adding ---- */

/* A verdict's text differs from run to run, so it is none of it. False: no memory. */
static bool key_of(struct store_hash *key, const struct run_page_row *row)
{
	char *text;
	int size = asprintf(&text, "%s\t%s\t%s", row->section, row->key, row->path ? row->path : "");

	if (size < 0)
		return false;
	*key = store_hash128(text, (size_t)size);
	free(text);
	return true;
}

static uint32_t section_of(const struct run_page_row *row)
{
	uint32_t section = 0;

	while (section < SECTIONS && !is_section(row, sections[section]))
		section++;
	return section;
}

static void spread_add(struct spread *spread, const struct run_page_row *row, uint32_t run)
{
	double figure = run_page_figure(row);

	spread->time_ns += (double)row->time_ns;
	spread->count += (double)row->count;
	spread->percent += row->percent;
	if (!spread->have || figure < spread->least)
		spread->least = figure;
	if (!spread->have || figure > spread->most) {
		spread->most = figure;
		spread->most_run = run;
	}
	spread->have++;
}

static bool row_add(struct grouping *grouping, const struct run_page_row *row, uint32_t run)
{
	struct store_hash key;
	uint32_t id, known = grouping->ids.count;
	struct spread *spread;

	if (!key_of(&key, row))
		return false;
	id = key_ids_put(&grouping->ids, &key, NULL);
	if (id == KEY_IDS_NONE || !array_reserve_zero(&grouping->spreads, &grouping->room,
					  grouping->ids.count, sizeof *grouping->spreads))
		return false;
	spread = &grouping->spreads[id];
	if (id == known) {
		spread->row = *row;
		spread->section = section_of(row);
		spread->number = id;
	}
	spread_add(spread, row, run);
	return true;
}

/* Gates, and groups of threads, are each run's own. */
static bool page_add(struct grouping *grouping, const struct run_page *page, uint32_t run)
{
	bool is_there = true;

	for (size_t i = 0; i < page->count && is_there; i++)
		if (!is_section(&page->rows[i], "gate") && !is_section(&page->rows[i], "alike"))
			is_there = row_add(grouping, &page->rows[i], run);
	return is_there;
}

/* ---- the rows ---- */

/* The mean of the runs; of efficiencies, verdicts and coverage, of those that have it. Losses are added. */
static void finish(const struct grouping *grouping, struct spread *spread)
{
	struct run_page_row *row = &spread->row;
	bool is_known =
		is_section(row, "efficiency") || is_section(row, "bound by") || is_section(row, "coverage");
	double of = is_known ? spread->have : grouping->runs;

	if (of > spread->have && spread->least > 0)
		spread->least = 0;
	row->time_ns = (uint64_t)(spread->time_ns / of + 0.5);
	row->count = (uint64_t)(is_section(row, "coverage") ? spread->count : spread->count / of + 0.5);
	row->percent = spread->percent / of;
	row->runs = spread->have;
	row->least = spread->least;
	row->most = spread->most;
	row->most_run = spread->most_run;
	row->is_minor = false;
	if (is_section(row, "coverage"))
		row->text = NULL;
	else if (is_section(row, "bound by"))
		row->text = arena_printf(grouping->arena, "%u of %u runs", row->runs, grouping->runs);
}

/* Sections in their order; in them classes, if they are of such, then paths by their size, else as they came.
 */
static int compare(const void *left, const void *right)
{
	const struct spread *a = left, *b = right;

	if (a->section != b->section)
		return a->section > b->section ? 1 : -1;
	if (a->row.has_class && b->row.has_class && a->row.class != b->row.class)
		return a->row.class > b->row.class ? 1 : -1;
	if (a->row.path && b->row.path && a->row.percent != b->row.percent)
		return a->row.percent < b->row.percent ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Of the paths of a class the largest ones. */
static void keep(struct run_page *group, const struct spread *spreads, size_t count)
{
	int in_class = 0;

	for (size_t i = 0; i < count; i++) {
		const struct run_page_row *row = &spreads[i].row;
		bool follows =
			i && row->path && spreads[i - 1].row.path && spreads[i - 1].row.class == row->class;

		in_class = follows ? in_class + 1 : 0;
		if (in_class < RUN_PAGE_PATHS)
			group->rows[group->count++] = *row;
	}
}

static const char *headline_of(const struct run_page *group, uint32_t count, struct arena *arena)
{
	const struct run_page_row *wall = &group->rows[0], *bound = NULL;
	char least[RUN_PAGE_TEXT], most[RUN_PAGE_TEXT];

	for (size_t i = 0; i < group->count; i++)
		if (is_section(&group->rows[i], "bound by") && (!bound || group->rows[i].runs > bound->runs))
			bound = &group->rows[i];
	run_page_figure_text(least, wall, wall->least);
	run_page_figure_text(most, wall, wall->most);
	return arena_printf(arena, "%u runs of %s to %s; bound by %s in %u", count, least, most,
		bound ? bound->key : "nothing", bound ? bound->runs : 0);
}

static bool make(struct grouping *grouping, struct run_page *group, const struct run_page *pages)
{
	size_t count;

	for (uint32_t run = 0; run < grouping->runs; run++)
		if (!page_add(grouping, &pages[run], run))
			return false;
	count = grouping->ids.count;
	for (size_t i = 0; i < count; i++)
		finish(grouping, &grouping->spreads[i]);
	qsort(grouping->spreads, count, sizeof *grouping->spreads, compare);
	group->rows = arena_calloc(grouping->arena, count + 1, sizeof *group->rows);
	if (!group->rows)
		return false;
	keep(group, grouping->spreads, count);
	group->headline = headline_of(group, grouping->runs, grouping->arena);
	return group->headline != NULL;
}

int run_page_group(struct run_page *group, const struct run_page *pages, uint32_t count, struct arena *arena,
	struct error *error)
{
	struct grouping grouping = {.runs = count, .arena = arena};
	bool is_made;

	*group = (struct run_page){.name = "*"};
	key_ids_init(&grouping.ids, sizeof(struct store_hash));
	is_made = make(&grouping, group, pages);
	key_ids_fini(&grouping.ids);
	free(grouping.spreads);
	return is_made ? 0 : error_memory(error);
}
