/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.c - ncurses behind screen.h. Nothing but this file knows it, so that views draw the same on a
 * terminal and into a file.
 */
#define NCURSES_WIDECHAR 1
#include "tui/screen/screen.h"

#include <langinfo.h>
#include <ncurses.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "tui/screen/direct.h"
#include "tui/screen/palette.h"
#include "tui/screen/signals.h"
#include "tui/screen/text.h"

#define MOUSE_DOUBLE_MS 400
#define SCREEN_OTHER (-2) /* no number of colours */

static struct {
	SCREEN *terminal;
	bool is_open;
	struct palette palette;
	struct grid_cell *shown; /* the last grid given to ncurses */
	int rows, columns;
	int wanted, most; /* colours: of screen_open, of screen_set_colours */
	int now;	  /* that init_colours() was asked for last */
	int theme;
	int background;	   /* enum palette_theme: what the terminal said, AUTO: nothing */
	uint64_t asked_ms; /* when it was asked for it; 0: never, or it has answered */
	bool has_mouse, is_direct;
	struct mouse_event mouse;
	uint64_t click_ms;
} screen;

/* A terminal's string without its padding ("$<5>"), which only tputs() knows to wait for. */
static void add_string(char *out, size_t size_bytes, const char *string)
{
	size_t used = strlen(out);

	if (!string || string == (const char *)-1)
		return;
	while (*string && used + 1 < size_bytes) {
		if (string[0] == '$' && string[1] == '<' && strchr(string, '>'))
			string = strchr(string, '>') + 1;
		else
			out[used++] = *string++;
	}
	out[used] = '\0';
}

/* The bytes that endwin() sends, for handlers, which cannot call it. */
static void put_leave(char *out, size_t size_bytes)
{
	const char *mouse = tigetstr("XM");
	static const char *const names[] = {"op", "sgr0", "cnorm", "rmkx", "rmcup"};

	out[0] = '\0';
	if (tigetstr("kmous") && tigetstr("kmous") != (char *)-1)
		add_string(out, size_bytes,
			mouse && mouse != (char *)-1 ? tparm(mouse, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L)
						     : "\033[?1000l");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_string(out, size_bytes, tigetstr(names[i]));
	add_string(out, size_bytes, "\r\n");
}

/* A terminal of 24-bit colours has no others: where the user wants fewer it shows xterm's. */
static short colour_of(int colour)
{
	bool is_other =
		screen.is_direct && screen.palette.colours != PALETTE_DIRECT && colour != PALETTE_DEFAULT;

	return (short)(is_other ? palette_direct(palette_rgb(colour)) : colour);
}

static void init_look(int style)
{
	const struct palette_look *look = &screen.palette.looks[style];

	init_pair((short)palette_pair(&screen.palette, style), colour_of(look->ink), colour_of(look->ground));
}

static void init_colours(int wanted)
{
	screen.now = wanted;
	palette_set_theme(
		(enum palette_theme)(screen.theme == PALETTE_AUTO ? screen.background : screen.theme));
	/* start_color alone would paint white on black; COLORS is set by it */
	int colours = wanted != 0 && has_colors() && start_color() == OK ? COLORS : 0;

	if (screen.is_direct && colours)
		colours = PALETTE_DIRECT; /* COLORS is one less, the most that an entry can say */
	else if (colours > 256)
		colours = 256;
	if (wanted >= 0 && wanted < colours)
		colours = wanted;
	if (colours &&
		(use_default_colors() != OK || COLOR_PAIRS <= (colours >= 256 ? GRID_STYLE_COUNT : 48)))
		colours = 0;
	palette_init(&screen.palette, colours);
	if (!screen.palette.colours)
		return;
	for (int style = 0; style < GRID_STYLE_COUNT; style++)
		init_look(style);
}

/* Terminals that are known to answer, or to pass over the question: others may print it. */
static bool answers(const char *name)
{
	static const char *const names[] = {"xterm", "tmux", "screen", "rxvt", "alacritty", "foot", "kitty",
		"konsole", "vte", "gnome", "wezterm", "iterm", "st-", "contour", "ghostty"};

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Asks for the colour of the background (OSC 11). Nobody waits for the answer: it comes as keys do. */
static void ask_background(void)
{
	static const char question[] = "\033]11;?\007";

	screen.background = PALETTE_AUTO;
	screen.asked_ms = 0;
	if (screen.palette.colours < 256 || !answers(getenv("TERM")))
		return;
	fflush(stdout);
	if (write(STDOUT_FILENO, question, sizeof(question) - 1) == (ssize_t)sizeof(question) - 1)
		screen.asked_ms = now_ms();
}

static bool has_string(const char *name)
{
	const char *string = tigetstr(name);

	return string && string != (const char *)-1;
}

/* An image may know no terminal at all: the entries that came with the program, share/terminfo beside bin/.
 */
static SCREEN *terminal_open(void)
{
	SCREEN *terminal = newterm(NULL, stdout, stdin);
	char own[4096];
	ssize_t length =
		terminal ? -1 : readlink("/proc/self/exe", own, sizeof(own) - sizeof("/share/terminfo"));

	if (length < 0)
		return terminal;
	own[length] = '\0';
	for (int above = 0; above < 2 && strrchr(own, '/'); above++)
		*strrchr(own, '/') = '\0';
	strcat(own, "/share/terminfo");
	return access(own, R_OK) || setenv("TERMINFO", own, 1) ? NULL : newterm(NULL, stdout, stdin);
}

/* As terminal_open(), with 24-bit colours where the environment says that the terminal takes them. NULL: it
 * does not, or this ncurses reads no entry from TERMINFO. */
static SCREEN *terminal_open_direct(int colours)
{
	const char *term = getenv("TERM"), *own = getenv("TERMINFO");
	char *before = own ? strdup(own) : NULL, *entry;
	SCREEN *terminal = NULL;

	if ((colours < 0 || colours >= PALETTE_DIRECT) &&
		direct_is_said(getenv("COLORTERM"), term, getenv("TMUX"))) {
		entry = direct_terminfo(term);
		if (entry && !setenv("TERMINFO", entry, 1))
			terminal = newterm(NULL, stdout, stdin);
		free(entry);
		if (before)
			setenv("TERMINFO", before, 1);
		else
			unsetenv("TERMINFO");
	}
	free(before);
	return terminal;
}

int screen_open(int colours, struct error *error)
{
	const char *name = getenv("TERM");
	char leave[256];
	int result;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(error, ERROR_USAGE,
			"standard input and output must be a terminal; --print COLSxROWS draws one screen as "
			"text");
	result = signals_open(error);
	if (result)
		return result;
	screen.terminal = terminal_open_direct(colours);
	if (!screen.terminal)
		screen.terminal = terminal_open();
	if (!screen.terminal) {
		signals_close();
		return error_set(error, ERROR_USAGE,
			"the terminal type '%s' is not known here; set TERM, or use --print COLSxROWS",
			name ? name : "");
	}
	screen.is_open = true;
	set_term(screen.terminal);
	screen.is_direct = tigetnum("colors") == PALETTE_DIRECT - 1;
	if (!has_string("cup")) {
		screen_close();
		return error_set(error, ERROR_USAGE,
			"a terminal of type '%s' cannot move its cursor; set TERM, or use --print COLSxROWS",
			name ? name : "");
	}
	put_leave(leave, sizeof(leave));
	signals_catch(leave);
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	leaveok(stdscr, TRUE);
	screen.wanted = colours;
	screen.most = 0;
	init_colours(colours);
	ask_background();
	getmaxyx(stdscr, screen.rows, screen.columns);
	return 0;
}

void screen_close(void)
{
	if (!screen.is_open)
		return;
	screen.is_open = false;
	if (!has_string("rmcup")) { /* the picture stays: its last line is the shell's */
		move(LINES - 1, 0);
		clrtoeol();
		refresh();
	}
	endwin();
	delscreen(screen.terminal);
	free(screen.shown);
	screen.shown = NULL;
	signals_close();
}

void screen_die(void)
{
	signals_die();
}

int screen_colours(void)
{
	return screen.palette.colours;
}

void screen_size(int *rows, int *columns)
{
	getmaxyx(stdscr, *rows, *columns);
}

static attr_t attributes_of(const struct grid_cell *cell)
{
	unsigned bits = cell->attributes ^ screen.palette.looks[cell->style].attributes;
	attr_t attributes = A_NORMAL;

	if (bits & GRID_REVERSE)
		attributes |= A_REVERSE;
	if (bits & GRID_BOLD)
		attributes |= A_BOLD;
	if (bits & GRID_UNDERLINE)
		attributes |= A_UNDERLINE;
	return attributes;
}

static void show_cell(int row, int column, const struct grid_cell *cell)
{
	short pair = screen.palette.colours ? (short)palette_pair(&screen.palette, cell->style) : 0;
	wchar_t text[2] = {(wchar_t)cell->rune, L'\0'};
	cchar_t wide;

	if (cell->style == GRID_TEXT)
		pair = 0;
	if (setcchar(&wide, text, attributes_of(cell), pair, NULL) == OK)
		mvadd_wch(row, column, &wide);
}

void screen_show(const struct grid *grid, bool is_anew)
{
	size_t count = (size_t)grid->rows * (size_t)grid->columns;
	bool is_same_size = screen.shown && screen.rows == grid->rows && screen.columns == grid->columns;

	if (!is_same_size) {
		free(screen.shown);
		screen.shown = calloc(count + 1, sizeof(*screen.shown));
		screen.rows = grid->rows;
		screen.columns = grid->columns;
		erase();
	}
	for (size_t i = 0; i < count; i++) {
		const struct grid_cell *cell = &grid->cells[i];
		if (cell->rune == 0 || (is_same_size && memcmp(cell, &screen.shown[i], sizeof(*cell)) == 0))
			continue;
		show_cell((int)i / grid->columns, (int)i % grid->columns, cell);
	}
	if (screen.shown)
		memcpy(screen.shown, grid->cells, count * sizeof(*screen.shown));
	if (is_anew)
		clearok(curscr, TRUE);
	refresh();
}

void screen_show_area(const struct grid *grid, struct grid_area area)
{
	if (!screen.shown || screen.rows != grid->rows || screen.columns != grid->columns)
		return;
	for (int row = area.row; row < area.row + area.rows; row++) {
		for (int column = area.column; column < area.column + area.columns; column++) {
			size_t at = (size_t)row * (size_t)grid->columns + (size_t)column;
			if (memcmp(&grid->cells[at], &screen.shown[at], sizeof(*screen.shown)) == 0)
				continue;
			show_cell(row, column, &grid->cells[at]);
			screen.shown[at] = grid->cells[at];
		}
	}
	refresh();
}

void screen_status(const char *text)
{
	int row = screen.rows - 2;

	if (!screen.shown || row < 0)
		return;
	for (int column = 0; column < screen.columns; column++) {
		struct grid_cell *shown = &screen.shown[row * screen.columns + column];
		struct grid_cell cell = {.rune = *text ? (uint32_t)*text++ : ' ', .style = GRID_TEXT};
		if (memcmp(&cell, shown, sizeof(cell)) == 0)
			continue;
		show_cell(row, column, &cell);
		*shown = cell;
	}
	refresh();
}

void screen_set_theme(int theme)
{
	if (theme == screen.theme)
		return;
	screen.theme = theme;
	palette_set_theme((enum palette_theme)theme);
	screen.most = SCREEN_OTHER; /* the palette is made again */
}

int screen_set_colours(int most)
{
	int wanted = most < 0 ? 0 : most == 0 ? -1 : most;

	if (most == screen.most)
		return screen.palette.colours;
	screen.most = most;
	if (screen.wanted >= 0 && (wanted < 0 || wanted > screen.wanted))
		wanted = screen.wanted;
	init_colours(wanted);
	screen.rows = screen.columns = 0; /* what is shown has the colours of before */
	return screen.palette.colours;
}

void screen_set_users(const int *indices, int count)
{
	for (int i = 0; i < count && screen.palette.colours; i++) {
		palette_set_user(&screen.palette, i, indices[i]);
		for (int style = GRID_USER + i; style < GRID_STYLE_COUNT; style += GRID_USERS)
			init_look(style);
	}
}

void screen_set_mouse(bool is_on)
{
	if (is_on == screen.has_mouse)
		return;
	screen.has_mouse = is_on;
	mouseinterval(0); /* a click must not wait for a second one */
	mousemask(is_on ? BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON1_CLICKED | BUTTON4_PRESSED |
				  BUTTON5_PRESSED
			: 0,
		NULL);
}

struct mouse_event screen_mouse(void)
{
	return screen.mouse;
}

/* False while a button is down: what it is will be known when it comes up. */
static bool take_mouse(void)
{
	struct mouse_event *event = &screen.mouse;
	uint64_t at_ms = now_ms();
	bool is_same;
	MEVENT raw;

	if (getmouse(&raw) != OK)
		return false;
	if (raw.bstate & BUTTON1_PRESSED) {
		event->from_row = raw.y;
		event->from_column = raw.x;
		return false;
	}
	if (raw.bstate & BUTTON1_CLICKED) { /* down and up came with the same bytes */
		event->from_row = raw.y;
		event->from_column = raw.x;
	}
	is_same = raw.y == event->row && raw.x == event->column &&
		  at_ms - screen.click_ms < MOUSE_DOUBLE_MS && event->kind == MOUSE_CLICK;
	event->row = raw.y;
	event->column = raw.x;
	if (raw.bstate & BUTTON4_PRESSED)
		event->kind = MOUSE_WHEEL_UP;
	else if (raw.bstate & BUTTON5_PRESSED)
		event->kind = MOUSE_WHEEL_DOWN;
	else if (raw.y != event->from_row || raw.x != event->from_column)
		event->kind = MOUSE_DRAG;
	else
		event->kind = is_same ? MOUSE_DOUBLE : MOUSE_CLICK;
	screen.click_ms = at_ms;
	return true;
}

static uint32_t translate(wint_t key)
{
	switch (key) {
	case KEY_LEFT:
		return KEYS_LEFT;
	case KEY_RIGHT:
		return KEYS_RIGHT;
	case KEY_UP:
		return KEYS_UP;
	case KEY_DOWN:
		return KEYS_DOWN;
	case KEY_HOME:
		return KEYS_HOME;
	case KEY_END:
		return KEYS_END;
	case KEY_PPAGE:
		return KEYS_PAGE_UP;
	case KEY_NPAGE:
		return KEYS_PAGE_DOWN;
	case KEY_DC:
		return KEYS_DELETE;
	case KEY_BACKSPACE:
		return KEYS_BACKSPACE;
	case KEY_ENTER:
		return KEYS_ENTER;
	case KEY_MOUSE:
		return take_mouse() ? KEYS_MOUSE : KEYS_NONE;
	case KEY_RESIZE:
		return KEYS_RESIZE;
	}
	return KEYS_NONE;
}

#define ANSWER_MS 5000	   /* later an ESC is only a key */
#define ANSWER_PIECE_MS 50 /* between the bytes of one answer */
#define ANSWER_BYTES 64

/* The next byte of an answer; false: there is none. */
static bool answer_byte(wint_t *key)
{
	struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};

	return get_wch(key) == OK || (poll(&wait, 1, ANSWER_PIECE_MS) > 0 && get_wch(key) == OK);
}

/* "11;rgb:RRRR/GGGG/BBBB", two to four digits each: whether black reads better on it than white. */
static void take_background(const char *text)
{
	unsigned part[3], most = 0;
	const char *blue = strrchr(text, '/');

	if (sscanf(text, "11;rgb:%x/%x/%x", &part[0], &part[1], &part[2]) != 3 || !blue)
		return;
	for (size_t i = strspn(blue + 1, "0123456789abcdefABCDEF"); i > 0; i--)
		most = most << 4 | 15;
	if (most == 0 || most > 0xffff)
		return;
	/* as bright as the middle of grey counts as light */
	screen.background = (part[0] * 299 + part[1] * 587 + part[2] * 114) / 1000 > most / 2 ? PALETTE_LIGHT
											      : PALETTE_DARK;
	init_colours(screen.now); /* pairs that change show at once */
	refresh();
}

/* Behind an ESC: the terminal's answer, which is no key. False: it is another one. */
static bool take_answer(void)
{
	char text[ANSWER_BYTES];
	size_t size = 0;
	wint_t key;

	if (!screen.asked_ms || now_ms() - screen.asked_ms > ANSWER_MS || !answer_byte(&key))
		return false;
	if (key != ']') {
		unget_wch((wchar_t)key);
		return false;
	}
	while (answer_byte(&key) && key != 7 && key != 27 && size + 1 < sizeof(text))
		text[size++] = key < 0x7f ? (char)key : '?';
	if (key == 27)
		answer_byte(&key); /* the backslash of ESC \\ */
	text[size] = '\0';
	screen.asked_ms = 0;
	take_background(text);
	return true;
}

/* A key that ncurses has already, or KEYS_NONE. What is none here, such as a button that goes down, is passed
 * over: behind it may be more that came with the same bytes, and nothing will tell of it. */
static uint32_t pending_key(void)
{
	uint32_t known = KEYS_NONE;
	wint_t key = 0;
	int result;

	while (known == KEYS_NONE && (result = get_wch(&key)) != ERR)
		known = result == KEY_CODE_YES	     ? translate(key)
			: key == 27 && take_answer() ? KEYS_NONE
			: key == '\n'		     ? KEYS_ENTER
			: key == '\b'		     ? KEYS_BACKSPACE
						     : (uint32_t)key;
	return known;
}

bool screen_has_key(void)
{
	struct pollfd wait[2] = {
		{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = signals_fd(), .events = POLLIN}};

	return poll(wait, 2, 0) != 0;
}

uint32_t screen_key(int timeout_ms)
{
	struct pollfd wait[2] = {
		{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = signals_fd(), .events = POLLIN}};
	uint32_t key = pending_key();

	if (signals_is_over())
		return SCREEN_SIGNAL;
	if (key != KEYS_NONE || timeout_ms == 0)
		return key;
	if (poll(wait, 2, timeout_ms) > 0 && (wait[0].revents & (POLLHUP | POLLERR))) {
		signals_hang_up();
		return SCREEN_SIGNAL;
	}
	if (signals_is_over())
		return SCREEN_SIGNAL;
	return pending_key(); /* a resize interrupts the wait and is there now */
}
