/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_tiers.c - every view at every size in every number of colours, with and without characters beyond
 * ASCII. Colours change how a block is filled and where its name stands, and nothing else: the same texts
 * stand in the same places, a cell of work is one in all of them, a state keeps its glyph, and no style asks
 * for a colour that the terminal lacks.
 */
#include "tests/unit/tui_world.h"

#include <locale.h>

#include "tui/screen/palette.h"

static const int tiers[] = {256, PALETTE_DIRECT, 16, 8, 0}; /* the first is what the others are held to */
static const struct {
	int columns, rows;
	bool has_all; /* views; else the first alone */
} sizes[] = {{60, 12, true}, {71, 17, false}, {72, 18, true}, {80, 24, true}, {99, 33, false},
	{100, 34, true}, {120, 36, false}, {160, 50, true}, {200, 50, false}, {300, 80, false},
	{500, 200, false}};
static const char *const views[] = {"ww", "2", "3", "5", "!", "44", "6", "7", "?", "G"};

#define TIERS (sizeof(tiers) / sizeof(tiers[0]))
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))
#define VIEWS (sizeof(views) / sizeof(views[0]))

static int make(void **state)
{
	(void)state;
	return begin_world(6000, 7);
}

/* Work, much or little of it, a copy, or what cannot be told apart. */
static bool is_block(const struct grid_cell *cell)
{
	return cell->style >= GRID_BLOCK || cell->style == GRID_COPY_IN || cell->style == GRID_COPY_OUT ||
	       cell->style == GRID_MIXED;
}

static struct grid picture_of(int tier, size_t size, const char *keys, bool is_ascii)
{
	struct fixture f = {0};
	struct error error;

	open_run(&f.run, run_a);
	assert_int_equal(session_open(&f.session, f.run, NULL,
				 (struct session_looks){.colours = tier,
					 .is_ascii = is_ascii,
					 .must_ascii = is_ascii,
					 .is_single = true},
				 &error),
		0);
	assert_int_equal(grid_init(&f.grid, sizes[size].rows, sizes[size].columns, is_ascii), 0);
	draw(&f);
	press(&f, keys);
	session_close(f.session);
	run_close(f.run);
	return f.grid;
}

static void check_colours(int tier, const struct grid *grid)
{
	struct palette palette;

	palette_init(&palette, tier);
	assert_int_equal(palette.colours, tier);
	for (int i = 0; i < grid->rows * grid->columns; i++) {
		const struct palette_look *look = &palette.looks[grid->cells[i].style];

		assert_true(grid->cells[i].style < GRID_STYLE_COUNT);
		assert_true(look->ink == PALETTE_DEFAULT || (look->ink >= 0 && look->ink < tier));
		assert_true(look->ground == PALETTE_DEFAULT || (look->ground >= 0 && look->ground < tier));
		/* a block is seen: painted, or reverse where nothing can be */
		if (grid->cells[i].style >= GRID_BLOCK && grid->cells[i].style < GRID_INK)
			assert_true(tier ? look->ground != PALETTE_DEFAULT
					 : (look->attributes & GRID_REVERSE) != 0);
		assert_true(!grid->is_ascii || grid->cells[i].rune < 0x7f);
	}
}

/* Without colours short runs have names too, which may reach over cells of the run that only wait. */
static bool is_alike(const struct grid_cell *a, const struct grid_cell *b, int tier)
{
	if (is_block(a) || is_block(b))
		return is_block(a) == is_block(b);
	return a->rune == b->rune || (!tier && a->style == b->style && a->style == GRID_GREY);
}

static void check_alike(const struct grid *grid, const struct grid *other, int tier, const char *keys)
{
	for (int i = 0; i < grid->rows * grid->columns; i++) {
		const struct grid_cell *a = &grid->cells[i], *b = &other->cells[i];

		if (!is_alike(a, b, tier))
			fail_msg("%dx%d, keys '%s', %d colours: %x (style %d) for %x (style %d) in line %d, "
				 "column %d",
				grid->columns, grid->rows, keys, tier, b->rune, b->style, a->rune, a->style,
				i / grid->columns, i % grid->columns);
	}
}

static void check_view(size_t size, const char *keys, bool is_ascii)
{
	struct grid first = picture_of(tiers[0], size, keys, is_ascii);

	check_colours(tiers[0], &first);
	for (size_t t = 1; t < TIERS; t++) {
		struct grid other = picture_of(tiers[t], size, keys, is_ascii);

		check_colours(tiers[t], &other);
		if (strcmp(keys, "?") != 0) /* which tells what the terminal can show */
			check_alike(&first, &other, tiers[t], keys);
		grid_fini(&other);
	}
	grid_fini(&first);
}

static void test_tiers(void **state)
{
	(void)state;
	for (size_t size = 0; size < SIZES; size++)
		for (size_t view = 0; view < (sizes[size].has_all ? VIEWS : 1); view++)
			check_view(size, views[view], (size + view) % 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_tiers)};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, make, end_world);
}
