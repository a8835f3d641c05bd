/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.c - see choice.h.
 */
#include "formats/choice.h"

static int take_format(struct choice *choice, enum format_way way, const char *option, const char *value,
	struct error *error)
{
	char names[FORMAT_TEXT_MAX];

	choice->format = format_find(value, way);
	if (choice->format)
		return 0;
	format_names(names, way);
	return error_set(error, ERROR_USAGE, "--%s %s: say %s", option, value, names);
}

int choice_take_to(void *own, const char *value, struct error *error)
{
	return take_format(own, FORMAT_PUTS, "to", value, error);
}

int choice_take_from(void *own, const char *value, struct error *error)
{
	return take_format(own, FORMAT_TAKES, "from", value, error);
}

int choice_take_binary(void *own, const char *value, struct error *error)
{
	struct choice *choice = own;

	if (choice->binary_count == CHOICE_BINARIES_MAX)
		return error_set(error, ERROR_USAGE, "--binary: %u files are the most", CHOICE_BINARIES_MAX);
	choice->binaries[choice->binary_count++] = value;
	return 0;
}
