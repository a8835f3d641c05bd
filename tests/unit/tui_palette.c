/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_palette.c - what can be read: the contrast (WCAG 2) of every style in every tier of colours, on black
 * and on white, as xterm shows the colours; names on blocks of whatever colour the user chose; and block
 * colours that people who see no red or no green can tell apart.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tui/screen/palette.h"

static double linear(uint32_t part)
{
	double c = part / 255.0;

	return c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(uint32_t rgb)
{
	return 0.2126 * linear(rgb >> 16 & 255) + 0.7152 * linear(rgb >> 8 & 255) +
	       0.0722 * linear(rgb & 255);
}

static double contrast(uint32_t a, uint32_t b)
{
	double x = luminance(a) + 0.05, y = luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

static bool is_user(int style)
{
	return style >= GRID_USER;
}

static void test_contrast(void **state)
{
	static const int tiers[] = {PALETTE_DIRECT, 256, 16, 8, 0};

	(void)state;
	for (size_t t = 0; t < sizeof(tiers) / sizeof(tiers[0]); t++) {
		struct palette palette;
		double on_block = tiers[t] >= 256 ? 4.5 : 4.0; /* of 16 there are no better */

		palette_init(&palette, tiers[t]);
		for (int style = 0; style < GRID_STYLE_COUNT; style++) {
			const struct palette_look *look = &palette.looks[style];
			double least;

			if (is_user(style) || look->ink == PALETTE_DEFAULT) {
				assert_int_equal(look->ground, PALETTE_DEFAULT); /* both or none */
				continue;
			}
			assert_true(look->ink < tiers[t]);
			if (look->ground != PALETTE_DEFAULT) {
				least = contrast(palette_colour_rgb(tiers[t], look->ink),
					palette_colour_rgb(tiers[t], look->ground));
				if (least < on_block)
					fail_msg("%d colours, style %d: text %d on block %d has %.2f",
						tiers[t], style, look->ink, look->ground, least);
				continue;
			}
			least = fmin(contrast(palette_colour_rgb(tiers[t], look->ink), 0),
				contrast(palette_colour_rgb(tiers[t], look->ink), 0xffffff));
			if (least < 3.0)
				fail_msg("%d colours, style %d: text in %d has %.2f on black or white",
					tiers[t], style, look->ink, least);
		}
	}
}

/* Names on the blocks that a user chose. */
static void test_user(void **state)
{
	struct palette palette;

	(void)state;
	palette_init(&palette, 256);
	for (int index = 0; index < 256; index++) {
		const struct palette_look *look = &palette.looks[GRID_USER];

		palette_set_user(&palette, 0, index);
		assert_int_equal(look->ground, index);
		if (contrast(palette_rgb(look->ink), palette_rgb(index)) < 4.0)
			fail_msg("text %d on %d: %.2f", look->ink, index,
				contrast(palette_rgb(look->ink), palette_rgb(index)));
	}
}

static void to_oklab(const double *rgb, double *lab)
{
	double l = cbrt(0.4122214708 * rgb[0] + 0.5363325363 * rgb[1] + 0.0514459929 * rgb[2]);
	double m = cbrt(0.2119034982 * rgb[0] + 0.6806995451 * rgb[1] + 0.1073969566 * rgb[2]);
	double s = cbrt(0.0883024619 * rgb[0] + 0.2817188376 * rgb[1] + 0.6299787005 * rgb[2]);

	lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
	lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
	lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

/* Machado, Oliveira, Fernandes 2009, full severity, on linear light. */
static const double sights[3][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};

static double distance(uint32_t a, uint32_t b, const double sight[3][3])
{
	uint32_t of[2] = {a, b};
	double lab[2][3], sum = 0;

	for (int i = 0; i < 2; i++) {
		double rgb[3] = {linear(of[i] >> 16 & 255), linear(of[i] >> 8 & 255), linear(of[i] & 255)},
		       seen[3];

		for (int c = 0; c < 3; c++) {
			seen[c] = sight[c][0] * rgb[0] + sight[c][1] * rgb[1] + sight[c][2] * rgb[2];
			seen[c] = fmin(fmax(seen[c], 0), 1);
		}
		to_oklab(seen, lab[i]);
	}
	for (int c = 0; c < 3; c++)
		sum += (lab[0][c] - lab[1][c]) * (lab[0][c] - lab[1][c]);
	return sqrt(sum);
}

static void test_apart(void **state)
{
	int grounds[GRID_CONTEXTS + 2], slots;
	struct palette palette;

	(void)state;
	palette_set_theme(PALETTE_SAFE);
	palette_init(&palette, 256);
	slots = (int)palette_slots(256);
	palette_set_theme(PALETTE_AUTO);
	assert_true(slots >= 14);
	for (int i = 0; i < slots; i++)
		grounds[i] = palette.looks[GRID_BLOCK + i].ground;
	grounds[slots] = palette.looks[GRID_COPY_IN].ground;
	grounds[slots + 1] = palette.looks[GRID_COPY_OUT].ground;
	for (int sight = 0; sight < 3; sight++)
		for (int i = 0; i < slots + 2; i++)
			for (int k = 0; k < i; k++) {
				double apart = distance(
					palette_rgb(grounds[i]), palette_rgb(grounds[k]), sights[sight]);
				if (apart < 0.065)
					fail_msg("sight %d: %d and %d are %.3f apart", sight, grounds[i],
						grounds[k], apart);
			}
}

static double bend(double t)
{
	return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* CIE 1976, white D65. */
static void to_cielab(uint32_t of, double *lab)
{
	double r = linear(of >> 16 & 255), g = linear(of >> 8 & 255), b = linear(of & 255);
	double x = bend((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
	double y = bend(0.2126 * r + 0.7152 * g + 0.0722 * b);
	double z = bend((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);

	lab[0] = 116 * y - 16;
	lab[1] = 500 * (x - y);
	lab[2] = 200 * (y - z);
}

/* 24 hues, and the colours of copies and mixed cells, are so far apart in CIELAB. */
static void assert_hues(int colours, double least)
{
	int grounds[GRID_CONTEXTS + 3];
	struct palette palette;

	palette_init(&palette, colours);
	assert_true(palette_slots(colours) >= 24);
	for (int i = 0; i < GRID_CONTEXTS; i++)
		grounds[i] = palette.looks[GRID_BLOCK + i].ground;
	grounds[GRID_CONTEXTS] = palette.looks[GRID_COPY_IN].ground;
	grounds[GRID_CONTEXTS + 1] = palette.looks[GRID_COPY_OUT].ground;
	grounds[GRID_CONTEXTS + 2] = palette.looks[GRID_MIXED].ground;
	for (int i = 0; i < GRID_CONTEXTS + 3; i++)
		for (int k = 0; k < i; k++) {
			double a[3], b[3], apart = 0;

			to_cielab(palette_colour_rgb(colours, grounds[i]), a);
			to_cielab(palette_colour_rgb(colours, grounds[k]), b);
			for (int c = 0; c < 3; c++)
				apart += (a[c] - b[c]) * (a[c] - b[c]);
			if (sqrt(apart) < least && k < GRID_CONTEXTS)
				fail_msg("%d and %d are %.1f apart", grounds[i], grounds[k], sqrt(apart));
		}
}

/* They are told apart at first sight. */
static void test_hues(void **state)
{
	(void)state;
	assert_hues(256, 30);
	assert_hues(PALETTE_DIRECT, 38);
}

/* With 24 bits a function has about the colour that it has among 256; text is readable in each theme. */
static void test_direct(void **state)
{
	struct palette few, many;

	(void)state;
	palette_init(&few, 256);
	palette_init(&many, PALETTE_DIRECT);
	for (int i = GRID_BLOCK; i < GRID_BLOCK + GRID_CONTEXTS; i++) {
		double a[3], b[3], apart = 0;

		to_cielab(palette_rgb(few.looks[i].ground), a);
		to_cielab(palette_colour_rgb(PALETTE_DIRECT, many.looks[i].ground), b);
		for (int c = 0; c < 3; c++)
			apart += (a[c] - b[c]) * (a[c] - b[c]);
		assert_true(sqrt(apart) < 31);
	}
	for (int theme = PALETTE_DARK; theme <= PALETTE_LIGHT; theme++) {
		palette_set_theme((enum palette_theme)theme);
		palette_init(&many, PALETTE_DIRECT);
		for (int i = GRID_INK; i < GRID_INK + GRID_CONTEXTS; i++)
			assert_true(contrast(palette_colour_rgb(PALETTE_DIRECT, many.looks[i].ink),
					    theme == PALETTE_DARK ? 0 : 0xffffff) >= 4.5);
	}
	palette_set_theme(PALETTE_AUTO);
	palette_set_user(&many, 0, 196);
	assert_int_equal(palette_colour_rgb(PALETTE_DIRECT, many.looks[GRID_USER].ground), 0xf80000);
}

/* A function beside one of the same colour takes another one, in every tier. */
static void test_neighbours(void **state)
{
	static const int tiers[] = {PALETTE_DIRECT, 256, 16, 8};

	(void)state;
	for (int t = 0; t < 4; t++)
		for (int theme = 0; theme < PALETTE_THEMES; theme++) {
			struct palette palette;

			palette_set_theme((enum palette_theme)theme);
			palette_init(&palette, tiers[t]);
			for (uint64_t hash = 0; hash < 2000; hash++) {
				unsigned taken = palette_slot(hash);
				unsigned other = palette_second_slot(hash, taken, tiers[t]);

				assert_true(other < GRID_CONTEXTS);
				assert_int_not_equal(palette.looks[GRID_BLOCK + other].ground,
					palette.looks[GRID_BLOCK + taken].ground);
			}
			for (int style = 0; style < GRID_STYLE_COUNT; style++)
				assert_true(palette_pair(&palette, style) < (tiers[t] >= 256 ? 256 : 64));
		}
	palette_set_theme(PALETTE_AUTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_contrast), cmocka_unit_test(test_user),
		cmocka_unit_test(test_apart), cmocka_unit_test(test_hues), cmocka_unit_test(test_direct),
		cmocka_unit_test(test_neighbours)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
