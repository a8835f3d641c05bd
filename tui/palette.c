/* SPDX-License-Identifier: Apache-2.0 */
/*
 * palette.c - the tables of screens.md B. The 256-colour indices were searched for distance under normal and
 * colour-blind sight and for contrast with their text on black and on white; do not change one alone.
 */
#include "tui/palette.h"

/* ground of the block, ink of the text on it */
static const int16_t contexts_256[GRID_CONTEXTS][2] = {{25, 231}, {67, 16}, {69, 16}, {75, 16}, {93, 231},
	{98, 16}, {117, 16}, {126, 231}, {173, 16}, {176, 16}, {180, 16}, {186, 16}, {218, 16}, {220, 16}};
static const int16_t contexts_16[] = {4, 6, 5, 12, 14, 13, 2, 10};
static const int16_t contexts_8[] = {4, 6, 5, 7};

unsigned palette_slot(uint64_t hash)
{
	return (unsigned)(hash % GRID_CONTEXTS);
}

static void set(struct palette *palette, enum grid_style style, int ink, int ground)
{
	palette->looks[style] = (struct palette_look){.ink = (int16_t)ink, .ground = (int16_t)ground};
}

static void set_256(struct palette *palette)
{
	set(palette, GRID_GREY, 244, PALETTE_DEFAULT);
	set(palette, GRID_HEADING, 32, PALETTE_DEFAULT);
	set(palette, GRID_WARNING, 136, PALETTE_DEFAULT);
	set(palette, GRID_ERROR, 160, PALETTE_DEFAULT);
	set(palette, GRID_MIXED, 16, 247);
	set(palette, GRID_COPY_IN, 16, 214);
	set(palette, GRID_COPY_OUT, 16, 166);
	for (int i = 0; i < GRID_CONTEXTS; i++) {
		set(palette, GRID_BLOCK + i, contexts_256[i][1], contexts_256[i][0]);
		set(palette, GRID_INK + i, contexts_256[i][0], PALETTE_DEFAULT);
	}
}

static void set_few(struct palette *palette, const int16_t *contexts, int count)
{
	for (int i = 0; i < GRID_CONTEXTS; i++) {
		int colour = contexts[i % count];
		set(palette, GRID_BLOCK + i, colour == 4 || colour == 5 ? 7 : 0, colour);
		set(palette, GRID_INK + i, colour, PALETTE_DEFAULT);
	}
}

static void set_16(struct palette *palette)
{
	set(palette, GRID_GREY, 8, PALETTE_DEFAULT);
	set(palette, GRID_HEADING, 12, PALETTE_DEFAULT);
	set(palette, GRID_WARNING, 3, PALETTE_DEFAULT);
	set(palette, GRID_ERROR, 9, PALETTE_DEFAULT);
	set(palette, GRID_MIXED, 0, 8);
	set(palette, GRID_COPY_IN, 0, 11);
	set(palette, GRID_COPY_OUT, 0, 3);
	set_few(palette, contexts_16, 8);
}

static void set_8(struct palette *palette)
{
	set(palette, GRID_HEADING, 6, PALETTE_DEFAULT);
	set(palette, GRID_WARNING, 3, PALETTE_DEFAULT);
	set(palette, GRID_ERROR, 1, PALETTE_DEFAULT);
	set(palette, GRID_COPY_IN, 0, 3);
	set(palette, GRID_COPY_OUT, 0, 3);
	set_few(palette, contexts_8, 4);
}

static void set_mono(struct palette *palette)
{
	for (int i = 0; i < GRID_CONTEXTS; i++)
		palette->looks[GRID_BLOCK + i].attributes = GRID_REVERSE;
	for (int i = 0; i < GRID_USERS; i++)
		palette->looks[GRID_USER + i].attributes = GRID_REVERSE;
	palette->looks[GRID_COPY_IN].attributes = GRID_REVERSE;
	palette->looks[GRID_COPY_OUT].attributes = GRID_REVERSE;
}

/* Lightness of a colour of the 256, roughly: text on it is black or white. */
static bool is_light(int index)
{
	if (index < 16)
		return index == 7 || index >= 9;
	if (index >= 232)
		return index >= 244;
	index -= 16;
	return 2 * (index / 36) + 5 * (index / 6 % 6) + index % 6 >= 18;
}

void palette_set_user(struct palette *palette, int user, int index)
{
	if (user < 0 || user >= GRID_USERS || index >= palette->colours)
		return;
	set(palette, (enum grid_style)(GRID_USER + user),
		palette->colours == 256 ? is_light(index) ? 16 : 231
		: is_light(index)	? 0
					: 7,
		index);
	set(palette, (enum grid_style)(GRID_USER_INK + user), index, PALETTE_DEFAULT);
}

int palette_tier(int colours)
{
	return colours >= 256 ? 256 : colours >= 16 ? 16 : colours >= 8 ? 8 : 0;
}

void palette_init(struct palette *palette, int colours)
{
	*palette = (struct palette){.colours = palette_tier(colours)};
	for (int style = 0; style < GRID_STYLE_COUNT; style++)
		set(palette, (enum grid_style)style, PALETTE_DEFAULT, PALETTE_DEFAULT);
	switch (palette->colours) {
	case 256:
		set_256(palette);
		break;
	case 16:
		set_16(palette);
		break;
	case 8:
		set_8(palette);
		break;
	default:
		set_mono(palette);
	}
}
