/* SPDX-License-Identifier: Apache-2.0 */
/* program_role.c - see program_role.h. */
#include "timeline/report/program_role.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- words of a command line ---- */

struct word {
	const char *text;
	size_t size;
};

static struct word next_word(const char **at)
{
	struct word word;

	*at += strspn(*at, " ");
	word.text = *at;
	word.size = strcspn(*at, " ");
	*at += word.size;
	return word;
}

static struct word base_of(struct word word)
{
	for (size_t i = word.size; i > 0; i--)
		if (word.text[i - 1] == '/' && i < word.size)
			return (struct word){word.text + i, word.size - i};
	return word;
}

static bool is_word(struct word word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.text, text, word.size) == 0;
}

static bool is_any(struct word word, const char *const *texts)
{
	for (size_t i = 0; texts[i]; i++)
		if (is_word(word, texts[i]))
			return true;
	return false;
}

/* "train.py", "foo.cc": at most five letters or digits behind the last dot, the first no digit. */
static bool is_file(struct word word)
{
	size_t dot = word.size, after;

	while (dot > 0 && word.text[dot - 1] != '.' && word.text[dot - 1] != '/')
		dot--;
	if (dot < 2 || word.text[dot - 1] != '.')
		return false;
	after = word.size - dot;
	for (size_t i = dot; i < word.size; i++)
		if (!isalnum((unsigned char)word.text[i]))
			return false;
	return after >= 1 && after <= 5 && !isdigit((unsigned char)word.text[dot]);
}

static bool is_number(struct word word)
{
	for (size_t i = 0; i < word.size; i++)
		if (!isdigit((unsigned char)word.text[i]))
			return false;
	return true;
}

/* Of shells and interpreters: the program text that follows. */
static bool runs_text(struct word program)
{
	static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", NULL};

	return is_any(program, shells) || (program.size >= 6 && memcmp(program.text, "python", 6) == 0);
}

static void put(char *out, const char *before, struct word word)
{
	snprintf(out, PROGRAM_ROLE_BYTES, "%s%.*s", before, word.size < 96 ? (int)word.size : 96, word.text);
}

void program_role_of(const char *command, char *program, char *role)
{
	static const char *const with_value[] = {"-o", "-x", "-I", "-L", "-D", "-include", "-isystem",
		"-imultiarch", "-dumpbase", "-dumpbase-ext", "-dumpdir", "-auxbase", "-MF", "-MT", "-MQ",
		"-n", "-np", NULL};
	struct word first = base_of(next_word(&command)), found = {"", 0};
	bool is_value = false; /* the word before is "-k", which may want one */

	if (first.size > 1 && first.text[0] == '-') /* a login shell */
		first = (struct word){first.text + 1, first.size - 1};
	put(program, "", first);
	put(role, "", found);
	for (struct word word = next_word(&command); word.size; word = next_word(&command)) {
		if (runs_text(first) && (is_word(word, "-c") || is_word(word, "-m"))) {
			put(role, is_word(word, "-m") ? "-m " : "", base_of(next_word(&command)));
			return;
		}
		if (is_any(word, with_value))
			next_word(&command);
		if (word.text[0] == '-') {
			is_value = word.size == 2 && !is_any(word, with_value);
			continue;
		}
		if (is_file(word)) {
			found = word;
			break;
		}
		if (!found.size && !is_value && !is_number(word)) /* "--port 80" */
			found = word;
		is_value = false;
	}
	put(role, "", base_of(found));
}

/* ---- names ---- */

/* One begins with the other: the kernel cuts names, and "python3" may be "python3.11". */
static bool is_same_name(const char *name, const char *other)
{
	size_t size = strlen(name) < strlen(other) ? strlen(name) : strlen(other);

	return size && strncmp(name, other, size) == 0;
}

const char *program_role_name(const char *command, const char *title, const char *name, struct arena *arena)
{
	char program[PROGRAM_ROLE_BYTES], role[PROGRAM_ROLE_BYTES];

	if (title[0])
		return arena_printf(arena, "%s", base_of((struct word){title, strcspn(title, " ")}).text);
	if (!command[0])
		return arena_printf(arena, "%s", name[0] ? name : "process");
	program_role_of(command, program, role);
	if (name[0] && !is_same_name(name, program) && !is_same_name(name, role))
		return arena_printf(arena, "%s: %s", program, name);
	return role[0] ? arena_printf(arena, "%s %s", program, role) : arena_printf(arena, "%s", program);
}
