/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_code.c - the parts of source beside instructions that no recording shows one by one: rows of several
 * functions, which part of a long list is on the screen, arrows that leave it, bars of stalls, sums of lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/unit/seed.h"
#include "tui/code/code_arrows.h"
#include "tui/code/code_move.h"
#include "tui/code/code_sides.h"
#include "tui/models/advice_page.h"

#define COUNT 40u

struct world {
	struct code_page page;
	struct listing_function functions[3];
	struct listing_instruction instructions[COUNT];
	struct listing_source sources[8];
	struct listing_file files[1];
	struct grid grid;
};

/* Functions of 10, 1 and 29 instructions, each on line 7, 8, 9, 7 ... of one file; no samples. */
static void begin(struct world *world, uint32_t functions)
{
	static const uint32_t firsts[] = {0, 10, 11, COUNT};

	memset(world, 0, sizeof(*world));
	for (uint32_t f = 0; f < 3; f++)
		world->functions[f] = (struct listing_function){
			.name = "f", .first = firsts[f], .count = firsts[f + 1] - firsts[f], .is_kernel = !f};
	if (functions == 1)
		world->functions[0].count = COUNT;
	for (uint32_t i = 0; i < COUNT; i++)
		world->instructions[i] = (struct listing_instruction){.text = "ADD",
			.address = i * 16,
			.line = 7 + i % 3,
			.function = functions == 1 ? 0 : (i >= 10) + (i >= 11)};
	world->files[0].path = "/nowhere/a.cu";
	world->page.listing = (struct kernel_listing){.functions = world->functions,
		.instructions = world->instructions,
		.sources = world->sources,
		.files = world->files,
		.function_count = functions,
		.count = COUNT,
		.file_count = 1};
	assert_int_equal(grid_init(&world->grid, 12, 60, true), 0);
}

static void end(struct world *world)
{
	code_lines_fini(&world->page.lines);
	grid_fini(&world->grid);
}

/* Of a hundred files, most of them headers that are not on this machine, the only one that is there. */
static void a_source_among_many_is_found(void **unused)
{
	static struct source source;
	static char paths[100][64];
	struct listing_file files[100] = {{NULL}};
	struct code_page page = {.listing = {.files = files, .file_count = 100}};

	(void)unused;
	for (size_t i = 0; i < 100; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/nowhere/%zu.h", i);
		files[i].path = paths[i];
	}
	assert_false(code_page_find_source(&page, &source));
	files[99].path = __FILE__;
	if (!source_open(&source, __FILE__))
		skip(); /* built elsewhere */
	assert_true(code_page_find_source(&page, &source));
	assert_string_equal(source.file.asked, __FILE__);
	source_fini(&source);
}

/* The text of advice escapes names; its kernel is asked for as the run has it. */
static void the_kernel_of_advice_is_named_as_in_the_run(void **unused)
{
	const char *lines[] = {
		"k\\x1b[31m\\n  x\\\\  36.13 us, 1.2 % of kernel time", "   1. Warp Balance: "};
	struct advice_page page = {.lines = lines, .count = 2, .top = 1};
	char name[32];

	(void)unused;
	assert_true(advice_page_top_kernel(&page, name, sizeof(name)));
	assert_string_equal(name, "k\x1b[31m\n  x\\");
	assert_false(advice_page_top_kernel(&page, name, 8));
}

static void put_samples(struct world *world, uint32_t at, enum stall stall, double samples)
{
	world->instructions[at].by[stall] += samples;
	world->instructions[at].all += samples;
	world->page.listing.by[stall] += samples;
	world->page.listing.all += samples;
}

static void put_source(struct world *world, uint32_t of, uint32_t at, double share)
{
	struct listing_instruction *to = &world->instructions[of];

	if (!to->source_count)
		to->first_source = world->page.listing.source_count;
	to->source_count++;
	world->sources[world->page.listing.source_count++] = (struct listing_source){at, share, false};
}

/* A row of the grid without trailing blanks. */
static const char *row_text(const struct world *world, int row)
{
	static char text[64];
	int last = 0;

	for (int column = 0; column < world->grid.columns; column++) {
		text[column] = (char)world->grid.cells[row * world->grid.columns + column].rune;
		if (text[column] != ' ')
			last = column + 1;
	}
	text[last] = '\0';
	return text;
}

/* ---- rows ---- */

static void rows_have_headings_of_functions(void **state)
{
	struct world world;
	uint32_t function;

	(void)state;
	begin(&world, 3);
	assert_int_equal(code_page_row_count(&world.page), COUNT + 3);
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t row = code_page_row_of(&world.page, i);
		assert_int_equal(code_page_row_at(&world.page, row, &function), i);
		assert_int_equal(function, world.instructions[i].function);
	}
	for (uint32_t f = 0; f < 3; f++) {
		uint32_t row = world.functions[f].first + f;
		assert_int_equal(code_page_row_at(&world.page, row, &function), UINT32_MAX);
		assert_int_equal(function, f);
	}
	end(&world);
	begin(&world, 1);
	assert_int_equal(code_page_row_count(&world.page), COUNT);
	assert_int_equal(code_page_row_at(&world.page, 17, &function), 17);
	end(&world);
}

/* Whatever the cursor does, it is on the screen, and no row of it is lost beyond the end. */
static void the_cursor_is_on_the_screen(void **state)
{
	unsigned seed = (unsigned)seed_take("code", 1);
	uint32_t top = 0;
	int rows = 1;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct code_window window = {.count = 1 + (uint32_t)rand_r(&seed) % 200};
		uint32_t room;

		window.cursor = (uint32_t)rand_r(&seed) % window.count;
		window.other = (uint32_t)rand_r(&seed) % window.count;
		window.rows = rand_r(&seed) % 3 ? rows : 1 + rand_r(&seed) % 50;
		room = (uint32_t)window.rows;
		top = code_top(&window, top, rows);
		assert_true(window.cursor >= top && window.cursor < top + room);
		assert_true(top == 0 || top + room <= window.count);
		if (rows != window.rows && window.count > room && /* the page was turned */
			(window.cursor > window.other ? window.cursor - window.other
						      : window.other - window.cursor) < room)
			assert_true(window.other >= top && window.other < top + room);
		rows = window.rows;
	}
}

/* ---- arrows ---- */

static void draw_arrows(struct world *world)
{
	grid_clear(&world->grid);
	code_arrows_draw(&world->page, &world->grid, (struct grid_area){0, 0, 12, CODE_ARROWS_CELLS});
}

static void arrows_lead_to_causes(void **state)
{
	struct world world;

	(void)state;
	begin(&world, 1);
	put_source(&world, 5, 2, 0.625);
	put_source(&world, 5, 8, 0.25);
	put_source(&world, 5, 3, 0.01); /* next to nothing */
	world.page.at = 5;
	draw_arrows(&world);
	assert_string_equal(row_text(&world, 1), "");
	assert_string_equal(row_text(&world, 2), " 62%+>");
	assert_string_equal(row_text(&world, 3), "    |");
	assert_string_equal(row_text(&world, 5), "    +-");
	assert_string_equal(row_text(&world, 7), "    |");
	assert_string_equal(row_text(&world, 8), " 25%+>");
	assert_string_equal(row_text(&world, 9), "");
	world.page.at = 6;
	draw_arrows(&world);
	for (int row = 0; row < 12; row++)
		assert_string_equal(row_text(&world, row), "");
	end(&world);
}

static void causes_beyond_the_edges_are_summed(void **state)
{
	struct world world;

	(void)state;
	begin(&world, 1);
	put_source(&world, 20, 2, 0.25);
	put_source(&world, 20, 3, 0.25);
	put_source(&world, 20, 39, 0.125);
	put_source(&world, 20, 20, 0.375); /* itself */
	world.page.at = 20;
	world.page.top = 15;
	draw_arrows(&world);
	assert_string_equal(row_text(&world, 0), " 50%|^");
	assert_string_equal(row_text(&world, 4), "    |");
	assert_string_equal(row_text(&world, 5), " 38%+o");
	assert_string_equal(row_text(&world, 11), " 12%|v");
	world.page.top = 25; /* the instruction itself is above: its line passes */
	draw_arrows(&world);
	assert_string_equal(row_text(&world, 0), " 50%|^");
	assert_string_equal(row_text(&world, 11), " 12%|v");
	end(&world);
}

/* ---- bars ---- */

static void bars_have_a_cell_for_each_share(void **state)
{
	double by[STALL_COUNT] = {0};
	struct stall_order order;
	struct world world;

	(void)state;
	begin(&world, 1);
	by[STALL_GMEM] = 50;
	by[STALL_NONE] = 20;
	by[STALL_IDEP] = 30;
	stall_order_take(&order, by);
	stall_bar_draw(&world.grid, 0, 0, 10, by, &order, 100);
	assert_string_equal(row_text(&world, 0), "GGGGGDDD##");
	stall_bar_draw(&world.grid, 1, 0, 10, by, &order, 1000);
	assert_string_equal(row_text(&world, 1), "G");
	assert_int_equal(world.grid.cells[60].style, GRID_BLOCK + 0);
	stall_bar_draw(&world.grid, 2, 0, 10, by, &order, 100000); /* less than half a cell is there, too */
	assert_string_equal(row_text(&world, 2), "G");
	assert_int_equal(world.grid.cells[120].style, GRID_INK + 0);
	memset(by, 0, sizeof(by));
	stall_bar_draw(&world.grid, 3, 0, 10, by, &order, 100);
	assert_string_equal(row_text(&world, 3), "");
	by[STALL_PIPE] = 3;
	stall_bar_draw(&world.grid, 4, 0, 10, by, &order, 3);
	assert_string_equal(row_text(&world, 4), "PPPPPPPPPP");
	end(&world);
}

/* Every reason has a letter of its own: without colours it is all that there is. */
static void letters_differ(void **state)
{
	bool seen[128] = {false};
	struct world world;

	(void)state;
	begin(&world, 1);
	for (unsigned stall = 0; stall < STALL_COUNT; stall++) {
		double by[STALL_COUNT] = {0};
		struct stall_order order;
		uint32_t letter;

		by[stall] = 1;
		stall_order_take(&order, by);
		grid_clear(&world.grid);
		stall_bar_draw(&world.grid, 0, 0, 1, by, &order, 1);
		letter = world.grid.cells[0].rune;
		assert_true(letter > ' ' && letter < 127 && !seen[letter]);
		seen[letter] = true;
		stall_bar_legend(&world.grid, 1, 0, 60, by, &order);
		assert_int_equal(world.grid.cells[60].rune, letter);
		assert_non_null(strstr(row_text(&world, 1), stall_bar_name((enum stall)stall)));
	}
	end(&world);
}

/* ---- lines and moves ---- */

static void lines_are_sums_of_instructions(void **state)
{
	struct world world;
	const struct code_lines *lines;

	(void)state;
	begin(&world, 1);
	for (uint32_t i = 0; i < COUNT; i++)
		put_samples(&world, i, i % 2 ? STALL_GMEM : STALL_NONE, i + 1);
	world.instructions[5].file = LISTING_NO_FILE;
	lines = code_page_lines(&world.page);
	assert_int_equal(lines->count, 3);
	for (uint32_t line = 7; line <= 9; line++) {
		const struct code_line *of = code_lines_find(lines, line);
		double all = 0, gmem = 0;
		uint32_t count = 0;

		for (uint32_t i = line - 7; i < COUNT; i += 3) {
			if (i == 5)
				continue;
			count++;
			all += i + 1;
			gmem += i % 2 ? i + 1 : 0;
			assert_true(world.instructions[of->hottest].all >= i + 1);
		}
		assert_non_null(of);
		assert_int_equal(of->count, count);
		assert_true(of->all == all && of->by[STALL_GMEM] == gmem && lines->most >= all);
	}
	assert_null(code_lines_find(lines, 6));
	assert_null(code_lines_find(lines, 10));
	end(&world);
}

/* } visits every instruction that has samples, the hottest first, and { all of them back. */
static void heat_goes_through_all(void **state)
{
	unsigned seed = (unsigned)seed_take("code", 1), visits = 1, sampled = 0;
	struct world world;

	(void)state;
	begin(&world, 1);
	for (uint32_t i = 0; i < COUNT; i++)
		if (rand_r(&seed) % 4)
			put_samples(&world, i, STALL_IDEP, 1 + rand_r(&seed) % 5); /* many are equal */
	for (uint32_t i = 0; i < COUNT; i++) {
		sampled += world.instructions[i].all > 0;
		if (world.instructions[i].all > world.instructions[world.page.at].all)
			world.page.at = i;
	}
	while (code_move_by_heat(&world.page, false))
		visits++;
	assert_int_equal(visits, sampled);
	while (code_move_by_heat(&world.page, true))
		visits--;
	assert_int_equal(visits, 1);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_source_among_many_is_found),
		cmocka_unit_test(the_kernel_of_advice_is_named_as_in_the_run),
		cmocka_unit_test(rows_have_headings_of_functions),
		cmocka_unit_test(the_cursor_is_on_the_screen),
		cmocka_unit_test(arrows_lead_to_causes),
		cmocka_unit_test(causes_beyond_the_edges_are_summed),
		cmocka_unit_test(bars_have_a_cell_for_each_share),
		cmocka_unit_test(letters_differ),
		cmocka_unit_test(lines_are_sums_of_instructions),
		cmocka_unit_test(heat_goes_through_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
