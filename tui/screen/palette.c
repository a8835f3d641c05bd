/* SPDX-License-Identifier: Apache-2.0 */
/*
 * palette.c - the tables behind tui/SCREEN.md, "Colours". The 256-colour indices were searched: those of
 * `safe` for distance under normal and colour-blind sight, the others for distance in CIELAB, all for
 * contrast with their text and on black and on white; do not change one alone. Those of 24 bits were searched
 * near them, so that a function has about the same colour there.
 */
#include "tui/screen/palette.h"

#include <string.h>

/* Ground of the block, ink of the text on it; then the colour as text: on black and on white alike, and on
 * white alone. On black alone it is the ground itself. */
static const int16_t contexts_256[GRID_CONTEXTS][4] = {{196, 16, 196, 160}, {44, 16, 30, 23},
	{93, 231, 93, 93}, {148, 16, 136, 130}, {33, 16, 33, 26}, {216, 16, 130, 52}, {28, 231, 28, 28},
	{219, 16, 133, 53}, {58, 231, 100, 58}, {153, 16, 67, 60}, {161, 231, 161, 161}, {113, 16, 64, 22},
	{63, 231, 63, 63}, {186, 16, 101, 94}, {127, 231, 127, 127}, {29, 16, 29, 29}, {203, 16, 167, 88},
	{31, 16, 31, 24}, {201, 16, 165, 128}, {46, 16, 65, 59}, {97, 231, 97, 97}, {211, 16, 168, 125},
	{131, 16, 131, 131}, {199, 16, 199, 163}};
/* Fewer, which eyes that see no red or no green tell apart, too. */
#define SAFE_CONTEXTS 14
static const int16_t contexts_safe[SAFE_CONTEXTS][3] = {{25, 231, 25}, {67, 16, 67}, {69, 16, 69},
	{75, 16, 33}, {93, 231, 93}, {98, 16, 98}, {117, 16, 31}, {126, 231, 126}, {173, 16, 167},
	{176, 16, 133}, {180, 16, 137}, {186, 16, 101}, {218, 16, 168}, {220, 16, 100}};
/* Ground, text on it; as text on black and white, on white, on black. */
static const uint32_t contexts_direct[GRID_CONTEXTS][5] = {{0xf80038, 0x000000, 0xf80038, 0xe80030, 0xf80038},
	{0x20e0c0, 0x000000, 0x009878, 0x008060, 0x20e0c0},
	{0x2800f8, 0xf8f8f0, 0x8818f8, 0x2800f8, 0xc030f8},
	{0xe8f010, 0x000000, 0x889000, 0x588000, 0xe8f010},
	{0x0090f8, 0x000000, 0x0088f0, 0x0070d0, 0x0090f8},
	{0xf8d090, 0x000000, 0xa88048, 0x887030, 0xf8d090},
	{0x008000, 0xf8f8f0, 0x008000, 0x008000, 0x209018},
	{0xf880f8, 0x000000, 0xd058d0, 0xb840b8, 0xf880f8},
	{0x888000, 0x000000, 0x888000, 0x787800, 0x888000},
	{0x00c8f0, 0x000000, 0x0090b0, 0x007898, 0x00c8f0},
	{0x980838, 0xf8f8f0, 0xb83050, 0x980838, 0xd85068},
	{0x18f888, 0x000000, 0x00a038, 0x008018, 0x18f888},
	{0x0058f8, 0xf8f8f0, 0x0058f8, 0x0058f8, 0x7068f8},
	{0xb8e878, 0x000000, 0x609830, 0x508010, 0xb8e878},
	{0x8000a0, 0xf8f8f0, 0xa030c0, 0x8000a0, 0xc048d8},
	{0x085838, 0xf8f8f0, 0x287050, 0x085838, 0x489070},
	{0xf88880, 0x000000, 0xd06860, 0xc05050, 0xf88880},
	{0x085078, 0xf8f8f0, 0x306890, 0x085078, 0x5080b0},
	{0xf800f8, 0x000000, 0xf000f8, 0xc800d8, 0xf800f8},
	{0x30f800, 0x000000, 0x00a000, 0x008000, 0x30f800},
	{0x884880, 0xf8f8f0, 0x905088, 0x884880, 0xa868a0},
	{0xf8b0e0, 0x000000, 0xb870a0, 0xa05888, 0xf8b0e0},
	{0x784820, 0xf8f8f0, 0x905830, 0x784820, 0xa87048},
	{0xf80090, 0x000000, 0xf80090, 0xe00080, 0xf80090}};
static const int16_t contexts_16[] = {4, 6, 5, 12, 14, 13, 2, 10};
static const int16_t contexts_8[] = {4, 6, 5, 7};

unsigned palette_slot(uint64_t hash)
{
	return (unsigned)(hash % GRID_CONTEXTS);
}

static const char *const theme_names[] = {"auto", "dark", "light", "contrast", "safe"};
static enum palette_theme theme;

void palette_set_theme(enum palette_theme wanted)
{
	theme = wanted;
}

const char *palette_theme_name(enum palette_theme of)
{
	return theme_names[of];
}

int palette_theme_find(const char *name)
{
	for (int i = 0; i < PALETTE_THEMES; i++)
		if (strcmp(theme_names[i], name) == 0)
			return i;
	return -1;
}

unsigned palette_slots(int colours)
{
	switch (palette_tier(colours)) {
	case PALETTE_DIRECT:
	case 256:
		return theme == PALETTE_SAFE ? SAFE_CONTEXTS : GRID_CONTEXTS;
	case 16:
		return sizeof(contexts_16) / sizeof(*contexts_16);
	case 8:
		return sizeof(contexts_8) / sizeof(*contexts_8);
	default:
		return 1;
	}
}

/* Another slot for a function beside one of the slot `taken`, which looks different from it. */
unsigned palette_second_slot(uint64_t hash, unsigned taken, int colours)
{
	unsigned slots = palette_slots(colours),
		 slot = palette_slot(hash) + 1 + (unsigned)(hash / GRID_CONTEXTS % 5);

	slot %= GRID_CONTEXTS;
	if (slots > 1 && slot % slots == taken % slots)
		slot = (slot + 1) % GRID_CONTEXTS;
	if (slots > 1 && slot % slots == taken % slots) /* behind the last one it begins anew */
		slot = (slot + 1) % GRID_CONTEXTS;
	return slot;
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
		const int16_t *look =
			theme == PALETTE_SAFE ? contexts_safe[i % SAFE_CONTEXTS] : contexts_256[i];
		int ink = theme == PALETTE_DARK	      ? look[0]
			  : theme == PALETTE_LIGHT    ? look[3]
			  : theme == PALETTE_CONTRAST ? PALETTE_DEFAULT
						      : look[2];

		set(palette, GRID_BLOCK + i, look[1], look[0]);
		set(palette, GRID_INK + i, ink, PALETTE_DEFAULT);
	}
	if (theme == PALETTE_CONTRAST) { /* no text is paler than the terminal's own */
		set(palette, GRID_GREY, PALETTE_DEFAULT, PALETTE_DEFAULT);
		set(palette, GRID_HEADING, PALETTE_DEFAULT, PALETTE_DEFAULT);
		palette->looks[GRID_HEADING].attributes = GRID_BOLD;
	}
}

int palette_direct(uint32_t rgb)
{
	int colour = (int)((rgb >> 19 & 31) << 10 | (rgb >> 11 & 31) << 5 | (rgb >> 3 & 31));

	return colour < PALETTE_DIRECT - 1 ? colour : PALETTE_DIRECT - 2; /* numbers of terminals end there */
}

/* What 256 colours have, but for functions. */
static void set_direct(struct palette *palette)
{
	set_256(palette);
	for (int style = 0; style < GRID_STYLE_COUNT; style++) {
		struct palette_look *look = &palette->looks[style];

		if (look->ink != PALETTE_DEFAULT)
			look->ink = (int16_t)palette_direct(palette_rgb(look->ink));
		if (look->ground != PALETTE_DEFAULT)
			look->ground = (int16_t)palette_direct(palette_rgb(look->ground));
	}
	for (int i = 0; i < GRID_CONTEXTS && theme != PALETTE_SAFE; i++) {
		const uint32_t *look = contexts_direct[i];

		set(palette, GRID_BLOCK + i, palette_direct(look[1]), palette_direct(look[0]));
		if (theme != PALETTE_CONTRAST)
			set(palette, GRID_INK + i,
				palette_direct(look[theme == PALETTE_DARK    ? 4
						    : theme == PALETTE_LIGHT ? 3
									     : 2]),
				PALETTE_DEFAULT);
	}
}

/* Few of 8 or 16 colours are readable on black and on white; other text keeps the terminal's own colour. */
static bool is_ink(int colour)
{
	return colour == 1 || colour == 5 || colour == 8 || colour == 9 || colour == 12 || colour == 13;
}

static void set_few(struct palette *palette, const int16_t *contexts, int count)
{
	for (int i = 0; i < GRID_CONTEXTS; i++) {
		int colour = contexts[i % count];
		set(palette, GRID_BLOCK + i, colour == 4 ? 7 : 0, colour);
		set(palette, GRID_INK + i, is_ink(colour) ? colour : PALETTE_DEFAULT, PALETTE_DEFAULT);
	}
}

static void set_16(struct palette *palette)
{
	set(palette, GRID_GREY, 8, PALETTE_DEFAULT);
	set(palette, GRID_HEADING, 12, PALETTE_DEFAULT);
	set(palette, GRID_WARNING, 5, PALETTE_DEFAULT);
	set(palette, GRID_ERROR, 9, PALETTE_DEFAULT);
	set(palette, GRID_MIXED, 0, 8);
	set(palette, GRID_COPY_IN, 0, 11);
	set(palette, GRID_COPY_OUT, 0, 3);
	set_few(palette, contexts_16, 8);
}

static void set_8(struct palette *palette)
{
	palette->looks[GRID_HEADING].attributes = GRID_BOLD;
	set(palette, GRID_WARNING, 5, PALETTE_DEFAULT);
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

uint32_t palette_rgb(int index)
{
	static const uint32_t first[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
		0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff,
		0xffffff};
	static const uint8_t steps[6] = {0, 95, 135, 175, 215, 255};
	uint32_t grey = (uint32_t)(8 + 10 * (index - 232));

	if (index < 16)
		return first[index & 15];
	if (index >= 232)
		return grey << 16 | grey << 8 | grey;
	index -= 16;
	return (uint32_t)steps[index / 36] << 16 | (uint32_t)steps[index / 6 % 6] << 8 | steps[index % 6];
}

uint32_t palette_colour_rgb(int colours, int colour)
{
	uint32_t of = (uint32_t)colour;

	return colours == PALETTE_DIRECT ? (of >> 10 & 31) << 19 | (of >> 5 & 31) << 11 | (of & 31) << 3
					 : palette_rgb(colour);
}

/* Black reads better on it than white: its luminance, with a square for the power of 2.4, is above that at
 * which both do equally. */
static bool is_light(int index)
{
	uint32_t rgb = palette_rgb(index);
	double red = rgb >> 16 & 255, green = rgb >> 8 & 255, blue = rgb & 255;

	return (0.2126 * red * red + 0.7152 * green * green + 0.0722 * blue * blue) / (255 * 255) > 0.21;
}

void palette_set_user(struct palette *palette, int user, int index)
{
	bool is_direct = palette->colours == PALETTE_DIRECT;

	if (user < 0 || user >= GRID_USERS || index >= palette->colours || index > 255)
		return;
	if (is_direct) {
		set(palette, (enum grid_style)(GRID_USER + user),
			palette_direct(is_light(index) ? 0 : 0xffffff), palette_direct(palette_rgb(index)));
		set(palette, (enum grid_style)(GRID_USER_INK + user), palette_direct(palette_rgb(index)),
			PALETTE_DEFAULT);
		return;
	}
	set(palette, (enum grid_style)(GRID_USER + user),
		palette->colours == 256 ? is_light(index) ? 16 : 231
		: is_light(index)	? 0
					: 7,
		index);
	set(palette, (enum grid_style)(GRID_USER_INK + user), index, PALETTE_DEFAULT);
}

int palette_tier(int colours)
{
	return colours >= PALETTE_DIRECT ? PALETTE_DIRECT
	       : colours >= 256		 ? 256
	       : colours >= 16		 ? 16
	       : colours >= 8		 ? 8
					 : 0;
}

void palette_init(struct palette *palette, int colours)
{
	*palette = (struct palette){.colours = palette_tier(colours)};
	for (int style = 0; style < GRID_STYLE_COUNT; style++)
		set(palette, (enum grid_style)style, PALETTE_DEFAULT, PALETTE_DEFAULT);
	switch (palette->colours) {
	case PALETTE_DIRECT:
		set_direct(palette);
		break;
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

int palette_pair(const struct palette *palette, int style)
{
	int slots = (int)palette_slots(palette->colours);

	if (palette->colours >= 256 || style < GRID_BLOCK)
		return style + 1;
	if (style < GRID_INK)
		return 1 + GRID_BLOCK + (style - GRID_BLOCK) % slots;
	if (style < GRID_USER)
		return 1 + GRID_BLOCK + slots + (style - GRID_INK) % slots;
	return 1 + GRID_BLOCK + 2 * slots + style - GRID_USER;
}
