/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_doctor.c - hpct-doctor: what can be measured on this machine; for everything else, why not and what to
 * do.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "record/base/stdout_check.h"
#include "record/doctor/doctor.h"
#include "store/base/escape.h"
#include "store/base/json.h"

#define EXIT_DEGRADED 1
#define EXIT_USAGE 2
#define EXIT_NOTHING 3
#define EXIT_OUTPUT 5

static const char help[] =
	"usage: hpct-doctor [--format table|tsv|json] [--all]\n"
	"\n"
	"Reports what hpct can measure on this machine, for this user, in this directory;\n"
	"for everything else, why not and what to do. Changes nothing.\n"
	"\n"
	"      --all              table: also list what this machine does not have\n"
	"      --format FORMAT    table (default), tsv or json\n"
	"  -h, --help   -V, --version\n"
	"\n"
	"States: yes, partly, no, none (not on this machine). Exit codes: 0 everything\n"
	"works, 1 something works partly or not, 2 wrong usage, 3 no program can be\n"
	"recorded, 5 the output cannot be written.\n";

static const struct option long_options[] = {
	{"format", required_argument, NULL, 'f'},
	{"all", no_argument, NULL, 'a'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static const char *const states[] = {"yes", "partly", "no", "none"};

enum format { TABLE, TSV, JSON, FORMATS };

static const char *const formats[FORMATS] = {"table", "tsv", "json"};

/* Prints what an escaper has appended to `text`, and frees it. */
static void bytes_print(struct store_bytes *text)
{
	fwrite(text->data, 1, text->size, stdout);
	store_bytes_fini(text);
}

static void json_put(const char *key, const char *value)
{
	struct store_bytes text = {0};

	json_put_string(&text, value, strlen(value));
	printf("\"%s\":", key);
	bytes_print(&text);
}

static void tsv_put(const char *value, char end)
{
	struct store_bytes text = {0};

	escape_field(&text, value, strlen(value));
	bytes_print(&text);
	putchar(end);
}

static void row_put(const struct doctor_row *row, enum format format, bool all)
{
	if (format == JSON) {
		putchar('{');
		json_put("capability", row->capability);
		putchar(',');
		json_put("state", states[row->state]);
		putchar(',');
		json_put("reason", row->reason);
		putchar(',');
		json_put("remedy", row->remedy);
		puts("}");
	} else if (format == TSV) {
		tsv_put(row->capability, '\t');
		tsv_put(states[row->state], '\t');
		tsv_put(row->reason, '\t');
		tsv_put(row->remedy, '\n');
	} else if (all || row->state != DOCTOR_NONE) {
		printf("%-21s %-7s ", row->capability, states[row->state]);
		tsv_put(row->reason, '\n');
		if (*row->remedy) {
			printf("%-29s -> ", "");
			tsv_put(row->remedy, '\n');
		}
	}
}

/* Runs all checks. Returns the exit code. */
static int examine(enum format format, bool all)
{
	static const struct doctor_check *const tables[] = {
		doctor_process, doctor_kernel, doctor_devices, doctor_place};
	int code = 0;

	if (format == JSON)
		puts("{\"schema\":\"hpct-doctor\",\"version\":1}");
	else if (format == TSV)
		puts("capability\tstate\treason\tremedy");
	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct doctor_check *check = tables[i]; check->capability; check++) {
			struct doctor_row row = {
				.capability = check->capability, .is_vital = check->is_vital};

			fflush(stdout); /* checks fork */
			check->look(&row);
			row_put(&row, format, all);
			if (row.state == DOCTOR_NO && row.is_vital)
				code = EXIT_NOTHING;
			else if ((row.state == DOCTOR_NO || row.state == DOCTOR_PARTLY) && !code)
				code = EXIT_DEGRADED;
		}
	return stdout_check("hpct-doctor", code, EXIT_OUTPUT);
}

static int refuse(const char *what, const char *word)
{
	fprintf(stderr, "hpct-doctor: %s %s; try hpct-doctor --help\n", what, word);
	return EXIT_USAGE;
}

/* FORMATS: unknown name. */
static enum format format_find(const char *name)
{
	enum format format = TABLE;

	while (format < FORMATS && strcmp(formats[format], name))
		format++;
	return format;
}

int main(int argc, char **argv)
{
	enum format format = TABLE;
	bool all = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "+:hV", long_options, NULL)) != -1)
		switch (letter) {
		case 'f':
			format = format_find(optarg);
			if (format == FORMATS)
				return refuse("unknown format", optarg);
			break;
		case 'a':
			all = true;
			break;
		case 'h':
			fputs(help, stdout);
			return stdout_check("hpct-doctor", 0, EXIT_OUTPUT);
		case 'V':
			puts("hpct-doctor " HPCT_VERSION);
			return stdout_check("hpct-doctor", 0, EXIT_OUTPUT);
		default:
			return refuse(letter == ':' ? "a value is missing after" : "unknown option",
				argv[optind - 1]);
		}
	if (argv[optind])
		return refuse("it takes no argument", argv[optind]);
	return examine(format, all);
}
