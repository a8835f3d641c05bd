/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.c - the table of keys. A new key is a line here and a case where its action is done.
 */
#include "tui/screen/keys.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tui/screen/text.h"

#define CTRL(letter) ((letter)&31)

static const struct keys_line lines[] = {
	{KEYS_MOVE, "arrows hjkl", "cursor by one cell",
		{{KEYS_LEFT, KEYS_DO_LEFT}, {KEYS_RIGHT, KEYS_DO_RIGHT}, {KEYS_UP, KEYS_DO_UP},
			{KEYS_DOWN, KEYS_DO_DOWN}, {'h', KEYS_DO_LEFT}, {'j', KEYS_DO_DOWN},
			{'k', KEYS_DO_UP}, {'l', KEYS_DO_RIGHT}}},
	{KEYS_MOVE, "H J K L", "by ten cells / group",
		{{'H', KEYS_DO_LEFT_TEN}, {'J', KEYS_DO_GROUP_DOWN}, {'K', KEYS_DO_GROUP_UP},
			{'L', KEYS_DO_RIGHT_TEN}}},
	{KEYS_MOVE, "PgUp PgDn", "rows by a screen",
		{{KEYS_PAGE_UP, KEYS_DO_SCROLL_UP}, {KEYS_PAGE_DOWN, KEYS_DO_SCROLL_DOWN}}},
	{KEYS_MOVE, "a d  A D", "pan 1/4 / whole screen",
		{{'a', KEYS_DO_PAN_LEFT}, {'d', KEYS_DO_PAN_RIGHT}, {'A', KEYS_DO_PAGE_LEFT},
			{'D', KEYS_DO_PAGE_RIGHT}}},
	{KEYS_MOVE, "w s  I O", "zoom time; a little",
		{{'w', KEYS_DO_ZOOM_IN}, {'s', KEYS_DO_ZOOM_OUT}, {'I', KEYS_DO_ZOOM_IN_BIT},
			{'O', KEYS_DO_ZOOM_OUT_BIT}}},
	{KEYS_MOVE, "Home End", "begin / end of window",
		{{KEYS_HOME, KEYS_DO_WINDOW_BEGIN}, {KEYS_END, KEYS_DO_WINDOW_END}}},
	{KEYS_MOVE, "g  0", "go to a time; whole run", {{'g', KEYS_DO_GOTO}, {'0', KEYS_DO_WHOLE_RUN}}},
	{KEYS_MOVE, "f  v  z", "fit span; range, zoom it",
		{{'f', KEYS_DO_FIT}, {'v', KEYS_DO_RANGE}, {'z', KEYS_DO_ZOOM_RANGE}}},
	{KEYS_GO, ", .", "previous / next span", {{',', KEYS_DO_SPAN_BACK}, {'.', KEYS_DO_SPAN_NEXT}}},
	{KEYS_GO, "[ ] { }  !", "gap: next, by size, list",
		{{'[', KEYS_DO_GAP_BACK}, {']', KEYS_DO_GAP_NEXT}, {'{', KEYS_DO_GAP_LARGER},
			{'}', KEYS_DO_GAP_SMALLER}, {'!', KEYS_DO_JUMPS}}},
	{KEYS_GO, "( )", "lost or unmonitored", {{'(', KEYS_DO_BLIND_BACK}, {')', KEYS_DO_BLIND_NEXT}}},
	{KEYS_GO, "/ n N", "find function, stream",
		{{'/', KEYS_DO_FIND}, {'n', KEYS_DO_FIND_NEXT}, {'N', KEYS_DO_FIND_BACK}}},
	{KEYS_GO, "m '", "mark / go to mark", {{'m', KEYS_DO_MARK}, {'\'', KEYS_DO_GO_MARK}}},
	{KEYS_GO, "Enter  BS", "cause, launch; back",
		{{KEYS_ENTER, KEYS_DO_ENTER}, {KEYS_BACKSPACE, KEYS_DO_BACK}}},
	{KEYS_LOOK, "1 2 3 4 5", "stats blame sums depth gaps",
		{{'1', KEYS_DO_STATISTICS}, {'2', KEYS_DO_BLAME}, {'3', KEYS_DO_SUMMARY},
			{'4', KEYS_DO_DEPTH}, {'5', KEYS_DO_GAPS}}},
	{KEYS_LOOK, "6 7 8 9", "profile source info diff",
		{{'6', KEYS_DO_PROFILE}, {'7', KEYS_DO_SOURCE}, {'8', KEYS_DO_INFO}, {'9', KEYS_DO_COMPARE}}},
	{KEYS_LOOK, "o t p Tab", "full timeline stack next",
		{{'o', KEYS_DO_FULL}, {'t', KEYS_DO_TIMELINE}, {'p', KEYS_DO_STACK},
			{KEYS_TAB, KEYS_DO_NEXT_PANE}}},
	{KEYS_LOOK, "e E  =  + -", "depth; auto; lines of row",
		{{'e', KEYS_DO_DEEPER}, {'E', KEYS_DO_HIGHER}, {'=', KEYS_DO_AUTO}, {'+', KEYS_DO_MORE_LINES},
			{'-', KEYS_DO_FEWER_LINES}}},
	{KEYS_LOOK, "c C  W S", "fold / all; more / fewer",
		{{'c', KEYS_DO_FOLD}, {'C', KEYS_DO_FOLD_ALL}, {'W', KEYS_DO_MORE_STREAMS},
			{'S', KEYS_DO_FEWER_STREAMS}}},
	{KEYS_LOOK, "x X Space", "hide / show all; pin",
		{{'x', KEYS_DO_HIDE}, {'X', KEYS_DO_SHOW_ALL}, {' ', KEYS_DO_PIN}}},
	{KEYS_LOOK, "*  &  V", "light up; filter; advice",
		{{'*', KEYS_DO_LIGHT}, {'&', KEYS_DO_FILTER}, {'V', KEYS_DO_ADVICE}}},
	{KEYS_LOOK, "b  < >  r", "stats by; sort by; order",
		{{'b', KEYS_DO_GROUP_BY}, {'r', KEYS_DO_ORDER}, {'<', KEYS_DO_SORT_LEFT},
			{'>', KEYS_DO_SORT_RIGHT}}},
	{KEYS_LOOK, "P | G T  i", "hot cols flame zero idle",
		{{'P', KEYS_DO_HOT_PATH}, {'i', KEYS_DO_IDLE_OF}, {'|', KEYS_DO_COLUMNS}, {'G', KEYS_DO_PLOT},
			{'T', KEYS_DO_ZERO}}},
	{KEYS_KEEP, "u Ctrl-R", "undo / redo the view", {{'u', KEYS_DO_UNDO}, {CTRL('R'), KEYS_DO_REDO}}},
	{KEYS_KEEP, ":  Y  y", "command; show it; copy",
		{{':', KEYS_DO_COMMAND}, {'Y', KEYS_DO_COMMAND_LINE}, {'y', KEYS_DO_COPY}}},
	{KEYS_KEEP, "F  R", "follow the end; runs", {{'F', KEYS_DO_FOLLOW}, {'R', KEYS_DO_RUNS}}},
	{KEYS_KEEP, "?  Ctrl-L", "help; draw again", {{'?', KEYS_DO_HELP}, {CTRL('L'), KEYS_DO_REDRAW}}},
	{KEYS_KEEP, "q  Esc", "back, then quit; cancel", {{'q', KEYS_DO_QUIT}, {KEYS_ESC, KEYS_DO_CANCEL}}},
};

/* The bottom line, most wanted first; the last two stay longest. */
static const struct {
	const char *text;
	enum keys_action action; /* one of those it speaks of: a test finds each bound */
} hints[] = {{"arrows move", KEYS_DO_LEFT}, {"w/s zoom", KEYS_DO_ZOOM_IN}, {"a/d pan", KEYS_DO_PAN_LEFT},
	{"e/E depth", KEYS_DO_DEEPER}, {"[ ] gap", KEYS_DO_GAP_NEXT}, {"c fold", KEYS_DO_FOLD},
	{"1-9 pane", KEYS_DO_STATISTICS}, {"/ find", KEYS_DO_FIND}, {": command", KEYS_DO_COMMAND}};
static const char last_hints[] = "? help  q quit";

const struct keys_line *keys_lines(size_t *count)
{
	*count = sizeof(lines) / sizeof(lines[0]);
	return lines;
}

const char *keys_section_name(enum keys_section section)
{
	static const char *const names[] = {"MOVE", "GO TO", "LOOK", "CHANGE AND KEEP"};

	return names[section];
}

#define KEYS_BOUND_MAX 64

static struct keys_binding bound[KEYS_BOUND_MAX]; /* by the user */
static size_t bound_count;

static enum keys_action default_action(uint32_t key);

bool keys_rebind(uint32_t key, uint32_t as)
{
	enum keys_action action = default_action(as);
	size_t at = 0;

	while (at < bound_count && bound[at].key != key)
		at++;
	if (at == KEYS_BOUND_MAX || action == KEYS_DO_NOTHING)
		return false;
	bound[at] = (struct keys_binding){key, action};
	bound_count += at == bound_count;
	return true;
}

enum keys_action keys_action_of(uint32_t key)
{
	for (size_t i = 0; i < bound_count; i++)
		if (bound[i].key == key)
			return bound[i].action;
	return default_action(key);
}

static enum keys_action default_action(uint32_t key)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		for (const struct keys_binding *b = lines[i].bindings; b->key; b++)
			if (b->key == key)
				return b->action;
	return KEYS_DO_NOTHING;
}

void keys_hint(char *out, size_t size_bytes, int cells)
{
	size_t used = 0;
	int room = cells - (int)sizeof(last_hints) + 1;

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		int need = (int)strlen(hints[i].text) + 2;
		if (need > room || used + (size_t)need >= size_bytes)
			break;
		used += (size_t)snprintf(out + used, size_bytes - used, "%s  ", hints[i].text);
		room -= need;
	}
	snprintf(out + used, size_bytes - used, "%s", last_hints);
}

static const struct {
	const char *name;
	uint32_t key;
} names[] = {{"Enter", KEYS_ENTER}, {"Tab", KEYS_TAB}, {"Esc", KEYS_ESC}, {"Space", ' '},
	{"BS", KEYS_BACKSPACE}, {"Del", KEYS_DELETE}, {"Left", KEYS_LEFT}, {"Right", KEYS_RIGHT},
	{"Up", KEYS_UP}, {"Down", KEYS_DOWN}, {"Home", KEYS_HOME}, {"End", KEYS_END},
	{"PageUp", KEYS_PAGE_UP}, {"PageDown", KEYS_PAGE_DOWN}, {"lt", '<'}};

void keys_name(uint32_t key, char *out)
{
	size_t size = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !size; i++)
		if (names[i].key == key)
			size = (size_t)snprintf(out, KEYS_NAME_BYTES, "<%s>", names[i].name);
	if (!size && key < ' ')
		size = (size_t)snprintf(out, KEYS_NAME_BYTES, "<C-%c>", (char)(key | 0x60));
	if (!size)
		out[text_encode(out, key)] = '\0';
}

const struct keys_binding *keys_bound(size_t *count)
{
	*count = bound_count;
	return bound;
}

const char *keys_help(enum keys_action action)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		for (const struct keys_binding *b = lines[i].bindings; b->key; b++)
			if (b->action == action)
				return lines[i].help;
	return "";
}

size_t keys_parse(const char *text, uint32_t *key)
{
	const char *end = strchr(text, '>');
	size_t size;

	if (!*text)
		return 0;
	if (*text != '<' || !end)
		return text_rune(text, key);
	size = (size_t)(end - text) - 1;
	if (size == 3 && (text[1] == 'C' || text[1] == 'c') && text[2] == '-') {
		*key = (uint32_t)CTRL(text[3]);
		return 5;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i].name) == size && strncasecmp(names[i].name, text + 1, size) == 0) {
			*key = names[i].key;
			return size + 2;
		}
	}
	return text_rune(text, key);
}
