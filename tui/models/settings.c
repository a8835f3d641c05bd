/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - the table of settings: where the session keeps each one, and its usual values. The first value
 * is the default.
 */
#include "tui/models/settings.h"

#include <stdlib.h>
#include <string.h>

#include "tui/models/blame_page.h"
#include "tui/models/profile_page.h"
#include "tui/screen/format_number.h"
#include "tui/screen/palette.h"

enum setting_kind {
	SETTING_FLAG,
	SETTING_ASCII,
	SETTING_CELLS,
	SETTING_COLOURS,
	SETTING_THEME,
	SETTING_LIVE,
	SETTING_HOT,
	SETTING_MIN
};

static const struct setting {
	const char *name;
	const char *values; /* two blanks apart */
	const char *help;
	enum setting_kind kind;
	size_t flag;	 /* of struct session_looks */
	bool is_inverse; /* the flag says that it is off */
} settings[] = {
	{"mouse", "on  off", "clicks, drags and the wheel move cursor and rows", SETTING_FLAG,
		offsetof(struct session_looks, has_mouse), false},
	{"colors", "auto  256  16  8  0", "at most so many; auto: as many as the terminal has",
		SETTING_COLOURS, 0, false},
	{"ascii", "off  on", "no character beyond ASCII", SETTING_ASCII, 0, false},
	{"fill", "off  on", "'=' and '#' in blocks in colour, too", SETTING_FLAG,
		offsetof(struct session_looks, is_fill), false},
	{"cross", "off  on", "the cursor's column is marked in all rows", SETTING_FLAG,
		offsetof(struct session_looks, has_cross), false},
	{"braille", "off  on", "lanes as dots: from least to most, two columns a cell", SETTING_FLAG,
		offsetof(struct session_looks, has_dots), false},
	{"cells", "auto  1", "auto: wider where a picture would cost too many bytes", SETTING_CELLS, 0,
		false},
	{"loops", "off  on", "call stack: the loops between frames", SETTING_FLAG,
		offsetof(struct session_looks, has_loops), false},
	{"sites", "on  off", "call stack: from where each frame is called", SETTING_FLAG,
		offsetof(struct session_looks, no_sites), true},
	{"live", "500ms  1s  2s  5s", "a run that is recorded is drawn again so often", SETTING_LIVE, 0,
		false},
	{"hot", "50%  25%  75%", "hot path: the share of its parent that a child must have", SETTING_HOT, 0,
		false},
	{"min", "10us  1us  100us  1ms", "gaps shorter than that are counted, not listed", SETTING_MIN, 0,
		false},
	{"theme", "auto  dark  light  contrast  safe",
		"colours: for black or white; safe for colour-blind eyes", SETTING_THEME, 0, false},
};

size_t settings_count(void)
{
	return sizeof(settings) / sizeof(settings[0]);
}

const char *settings_name(size_t setting)
{
	return settings[setting].name;
}

const char *settings_help(size_t setting)
{
	return settings[setting].help;
}

static bool *flag_of(struct session *session, const struct setting *setting)
{
	return (bool *)((char *)&session->looks + setting->flag);
}

/* ---- values ---- */

/* 10000 ns are "10us": as format_number_parse() and select_duration() read them. */
static void put_duration(char *out, uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	int unit = 0;

	while (unit < 3 && ns && ns % 1000 == 0)
		ns /= 1000, unit++;
	snprintf(out, SETTINGS_VALUE, "%llu%s", (unsigned long long)ns % 1000000000000u, units[unit]);
}

void settings_get(struct session *session, size_t at, char *out)
{
	const struct setting *setting = &settings[at];
	const struct session_looks *looks = &session->looks;

	switch (setting->kind) {
	case SETTING_FLAG:
		strcpy(out, *flag_of(session, setting) != setting->is_inverse ? "on" : "off");
		break;
	case SETTING_ASCII:
		strcpy(out, looks->wants_ascii ? "on" : "off");
		break;
	case SETTING_CELLS:
		strcpy(out, looks->is_single ? "1" : "auto");
		break;
	case SETTING_COLOURS:
		if (looks->most_colours)
			snprintf(
				out, SETTINGS_VALUE, "%d", looks->most_colours < 0 ? 0 : looks->most_colours);
		else
			strcpy(out, "auto");
		break;
	case SETTING_THEME:
		strcpy(out, palette_theme_name((enum palette_theme)looks->theme));
		break;
	case SETTING_LIVE:
		put_duration(out, (looks->live_ms ? looks->live_ms : SESSION_LIVE_MS) * (uint64_t)1000000);
		break;
	case SETTING_HOT:
		snprintf(out, SETTINGS_VALUE, "%.4g%%",
			100 * (session->profile ? session->profile->hot_share : PROFILE_HOT_SHARE));
		break;
	case SETTING_MIN:
		put_duration(out, session->blame ? session->blame->min_ns : BLAME_MIN_NS);
		break;
	}
}

static bool set_flag(struct session *session, const struct setting *setting, const char *value)
{
	bool is_on = strcmp(value, "off") != 0;

	if (is_on && strcmp(value, "on") != 0)
		return false;
	*flag_of(session, setting) = is_on != setting->is_inverse;
	return true;
}

static bool set_ascii(struct session_looks *looks, const char *value)
{
	bool is_on = strcmp(value, "on") == 0;

	if (!is_on && strcmp(value, "off") != 0)
		return false;
	looks->wants_ascii = is_on;
	looks->is_ascii = looks->must_ascii || is_on;
	return true;
}

static bool set_cells(struct session_looks *looks, const char *value)
{
	bool is_single = strcmp(value, "1") == 0;

	if (!is_single && strcmp(value, "auto") != 0)
		return false;
	looks->is_single = is_single;
	return true;
}

static bool set_colours(struct session *session, const char *value)
{
	char *end;
	long colours = strtol(value, &end, 10);

	if (strcmp(value, "auto") == 0)
		session->looks.most_colours = 0;
	else if (end != value && !*end && (colours == 0 || colours == 8 || colours == 16 || colours == 256))
		session->looks.most_colours = colours ? (int)colours : -1;
	else
		return false;
	return true;
}

static bool set_live(struct session *session, const char *value)
{
	double ns;

	if (format_number_parse(value, &ns) || !(ns >= SESSION_LIVE_MS * 1e6 && ns <= 3600e9))
		return false;
	session->looks.live_ms = (unsigned)(ns / 1e6);
	return true;
}

static bool set_value(struct session *session, const struct setting *setting, const char *value)
{
	struct session_looks *looks = &session->looks;

	switch (setting->kind) {
	case SETTING_FLAG:
		return set_flag(session, setting, value);
	case SETTING_ASCII:
		return set_ascii(looks, value);
	case SETTING_CELLS:
		return set_cells(looks, value);
	case SETTING_COLOURS:
		return set_colours(session, value);
	case SETTING_THEME:
		if (palette_theme_find(value) < 0)
			return false;
		looks->theme = palette_theme_find(value);
		return true;
	case SETTING_LIVE:
		return set_live(session, value);
	case SETTING_HOT:
		profile_set_hot(session, value); /* says itself what is wrong */
		return true;
	default:
		blame_page_set_min(session, value);
		return true;
	}
}

/* ---- by name ---- */

static void say_names(struct session *session, const char *name)
{
	char text[SESSION_TEXT] = "";

	for (size_t i = 0; i < settings_count(); i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? ", " : "",
			settings[i].name);
	session_say(session, "'%.40s' is no setting; there are %s", name, text);
}

bool settings_set(struct session *session, const char *line)
{
	size_t size = strcspn(line, " ="), at = 0;
	const char *value = line + size + strspn(line + size, " =");

	while (at < settings_count() &&
		(strlen(settings[at].name) != size || strncmp(settings[at].name, line, size) != 0))
		at++;
	if (at == settings_count()) {
		say_names(session, line);
		return false;
	}
	if (set_value(session, &settings[at], *value ? value : "on"))
		return true;
	session_say(session, ":set %s is one of %s", settings[at].name, settings[at].values);
	return false;
}

static size_t list_values(const struct setting *setting, char values[8][SETTINGS_VALUE])
{
	const char *at = setting->values;
	size_t count = 0;

	for (; *at && count < 8; at += strspn(at, " ")) {
		size_t size = strcspn(at, " ");
		snprintf(values[count++], SETTINGS_VALUE, "%.*s", (int)size, at);
		at += size;
	}
	return count;
}

void settings_step(struct session *session, size_t setting, bool is_back)
{
	char values[8][SETTINGS_VALUE], now[SETTINGS_VALUE];
	size_t count = list_values(&settings[setting], values), at = 0;

	settings_get(session, setting, now);
	while (at < count && strcmp(values[at], now) != 0)
		at++;
	at = at == count ? 0 : (at + (is_back ? count - 1 : 1)) % count; /* one that was typed: the first */
	set_value(session, &settings[setting], values[at]);
}

bool settings_is_usual(struct session *session, size_t setting)
{
	char values[8][SETTINGS_VALUE], now[SETTINGS_VALUE];

	list_values(&settings[setting], values);
	settings_get(session, setting, now);
	return strcmp(values[0], now) == 0;
}

void settings_reset(struct session *session, size_t setting)
{
	char values[8][SETTINGS_VALUE];

	list_values(&settings[setting], values);
	set_value(session, &settings[setting], values[0]);
}
