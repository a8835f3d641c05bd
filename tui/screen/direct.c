/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.c - see direct.h. The compiled form is that of term(5), "legacy storage format": a header of six
 * numbers, names, booleans, numbers, offsets of strings, the strings; then one extended string, XM, which
 * says how the mouse is asked for. All numbers have 16 bits, the low byte first.
 */
#include "tui/screen/direct.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include "store/base/bytes.h"

#define MAGIC 0432
#define ABSENT 0xffff
#define NUMBER_MOST 0x7fff
/* p1 has five bits each of red, green and blue: eight of them with the lowest zero. */
#define SET(base) "\033[" base ";2;%p1%{1024}%/%{8}%*%d;%p1%{32}%/%{31}%&%{8}%*%d;%p1%{31}%&%{8}%*%dm"

bool direct_is_said(const char *colorterm, const char *term, const char *tmux)
{
	if (!colorterm || !term || (strcmp(colorterm, "truecolor") && strcmp(colorterm, "24bit")))
		return false;
	return strncmp(term, "screen", 6) != 0 || (tmux && *tmux);
}

static void put_number(struct store_bytes *to, int value)
{
	unsigned number = value < 0 ? ABSENT : value > NUMBER_MOST ? NUMBER_MOST : (unsigned)value;
	uint8_t bytes[2] = {(uint8_t)number, (uint8_t)(number >> 8)};

	store_bytes_put(to, bytes, sizeof(bytes));
}

static void align(struct store_bytes *to)
{
	if (to->size % 2)
		store_bytes_put(to, "", 1);
}

static const char *string_of(const char *name)
{
	const char *value = tigetstr((char *)name);

	if (strcmp(name, "setaf") == 0)
		return SET("38");
	if (strcmp(name, "setab") == 0)
		return SET("48");
	/* Other ways to set one, and to change what an index looks like. */
	if (strcmp(name, "setf") == 0 || strcmp(name, "setb") == 0 || strcmp(name, "initc") == 0)
		return NULL;
	return value == (const char *)-1 ? NULL : value;
}

static int number_of(const char *name)
{
	return strcmp(name, "colors") == 0 ? NUMBER_MOST : tigetnum((char *)name);
}

static size_t count_of(NCURSES_CONST char *const *names)
{
	size_t count = 0;

	while (names[count])
		count++;
	return count;
}

/* Offsets go to `to`, the strings to `table`. */
static void put_strings(struct store_bytes *to, struct store_bytes *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = string_of(strnames[i]);

		put_number(to, value ? (int)table->size : -1);
		if (value)
			store_bytes_put(table, value, strlen(value) + 1);
	}
}

/* No booleans, no numbers, XM; its table has the value, then the name. */
static void put_extended(struct store_bytes *to)
{
	const char *mouse = tigetstr("XM");
	size_t bytes;

	if (!mouse || mouse == (const char *)-1)
		return;
	bytes = strlen(mouse) + 1;
	align(to);
	put_number(to, 0);
	put_number(to, 0);
	put_number(to, 1);
	put_number(to, 2);
	put_number(to, (int)(bytes + sizeof("XM")));
	put_number(to, 0);
	put_number(to, 0); /* of the name, from where names begin */
	store_bytes_put(to, mouse, bytes);
	store_bytes_put(to, "XM", sizeof("XM"));
}

static void put_entry(struct store_bytes *to, const char *term)
{
	struct store_bytes offsets = {0}, table = {0};
	size_t flags = count_of(boolnames), numbers = count_of(numnames), strings = count_of(strnames);

	put_strings(&offsets, &table, strings);
	put_number(to, MAGIC);
	put_number(to, (int)strlen(term) + 1);
	put_number(to, (int)flags);
	put_number(to, (int)numbers);
	put_number(to, (int)strings);
	put_number(to, (int)table.size);
	store_bytes_put(to, term, strlen(term) + 1);
	for (size_t i = 0; i < flags; i++) {
		uint8_t has = strcmp(boolnames[i], "ccc") != 0 && tigetflag((char *)boolnames[i]) > 0;

		store_bytes_put(to, &has, 1);
	}
	align(to);
	for (size_t i = 0; i < numbers; i++)
		put_number(to, number_of(numnames[i]));
	store_bytes_put(to, offsets.data, offsets.size);
	store_bytes_put(to, table.data, table.size);
	put_extended(to);
	to->failed |= offsets.failed || table.failed;
	store_bytes_fini(&offsets);
	store_bytes_fini(&table);
}

char *direct_terminfo(const char *term)
{
	struct store_bytes entry = {0};
	char *text = NULL;
	int found;

	if (setupterm(term, STDOUT_FILENO, &found) != OK)
		return NULL;
	if (tigetnum("colors") >= 256)
		put_entry(&entry, term);
	del_curterm(cur_term);
	if (entry.size && !entry.failed)
		text = malloc(2 * entry.size + sizeof("hex:"));
	if (text) {
		strcpy(text, "hex:");
		for (size_t i = 0; i < entry.size; i++)
			sprintf(text + 4 + 2 * i, "%02X", entry.data[i]);
	}
	store_bytes_fini(&entry);
	return text;
}
