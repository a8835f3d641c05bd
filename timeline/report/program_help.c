/* SPDX-License-Identifier: Apache-2.0 */
/* program_help.c - see program_help.h. */
#include "timeline/report/program_help.h"
#include "timeline/report/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/report/report_fit.h"

#define HELP_COLUMN 20 /* as in select_help() */
#define NOTES_WIDTH 96 /* of notes; options take the room that there is */

static void print_option(FILE *out, const struct program_option *option)
{
	char left[64];

	snprintf(left, sizeof left, "  %s%.1s%s--%s%s%s", option->letter ? "-" : "",
		option->letter ? &option->letter : "", option->letter ? ", " : "", option->name,
		option->value ? " " : "", option->value ? option->value : "");
	fprintf(out, "%-*s %s\n", HELP_COLUMN - 1, left, option->help);
}

bool program_refuses(const struct program *program, const char *name, size_t name_size)
{
	for (const char *at = program->refused; at && *at;) {
		size_t size = strcspn(at, " ");

		if (size == name_size && memcmp(at, name, size) == 0)
			return true;
		at += size + (at[size] == ' ');
	}
	return false;
}

/* The selector's lines "  --NAME ..." with the lines that belong to them, but for what says nothing here. */
static void print_selector(FILE *out, const struct program *program)
{
	bool is_refused = false;

	for (const char *line = select_help(); *line;) {
		size_t size = strcspn(line, "\n");

		size += line[size] == '\n';
		if (strncmp(line, "  --", 4) == 0)
			is_refused = program_refuses(program, line + 4, strcspn(line + 4, " \n"));
		if (!is_refused)
			fwrite(line, 1, size, out);
		line += size;
	}
}

static void put_help(FILE *out, const struct program *program, const struct program_option *const *shared,
	size_t shared_count)
{
	fprintf(out, "%s - %s\nusage: %s [options] %s\n", program->name, program->about, program->name,
		program->operands);
	for (size_t i = 0; i < program->option_count; i++)
		print_option(out, &program->options[i]);
	if (program->uses & PROGRAM_SELECT)
		print_selector(out, program);
	if (program->uses & PROGRAM_ROW_FORMULAS)
		fputs("  --metric 'N = F'  adds the column N: a formula of others', such as 'rate = $bytes / "
		      "$time_ns'\n",
			out);
	for (size_t i = 0; i < shared_count; i++)
		print_option(out, shared[i]);
}

static void print_options(const char *text, size_t terminal)
{
	for (const char *line = text; *line; line += *line == '\n') {
		size_t bytes = strcspn(line, "\n"), indent = strspn(line, " ");

		if (!terminal || report_fit_width(line, bytes) <= terminal)
			printf("%.*s\n", (int)bytes, line);
		else
			report_fit_words(stdout, line, bytes, indent == 2 ? HELP_COLUMN : indent, terminal);
		line += bytes;
	}
}

static void print_notes(const char *notes, size_t terminal)
{
	size_t width = terminal && terminal < NOTES_WIDTH ? terminal : NOTES_WIDTH;

	putchar('\n');
	for (const char *at = notes; *at; at += *at == '\n') {
		size_t bytes = strcspn(at, "\n");

		report_fit_words(stdout, at, bytes, 0, width);
		at += bytes;
	}
}

int program_help(const struct program *program, const struct program_option *const *shared,
	size_t shared_count, struct error *error)
{
	size_t terminal = terminal_columns(stdout), size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return error_memory(error);
	put_help(out, program, shared, shared_count);
	if (fclose(out) != 0)
		return error_memory(error);
	print_options(text, terminal);
	free(text);
	if (program->notes)
		print_notes(program->notes, terminal);
	return 0;
}
