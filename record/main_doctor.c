/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_doctor.c - hpct-doctor: what can be measured on this machine; for everything else, why not and what to
 * do.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/base/stdout_check.h"
#include "record/doctor/doctor.h"
#include "record/outside/outside_doctor.h"
#include "store/base/escape.h"
#include "store/base/json.h"

#define EXIT_DEGRADED 1
#define EXIT_USAGE 2
#define EXIT_NOTHING 3
#define EXIT_OUTPUT 5

static const char help[] =
	"usage: hpct-doctor [--format table|tsv|json] [--all]\n"
	"       hpct-doctor -p PID [--format table|tsv|json]\n"
	"\n"
	"Reports what hpct can measure on this machine, for this user, in this directory;\n"
	"for everything else, why not and what to do. Changes nothing.\n"
	"\n"
	"  -p, --pid PID          whether this process can be measured from outside\n"
	"      --all              table: also list what this machine does not have\n"
	"      --format FORMAT    table (default), tsv or json\n"
	"  -h, --help   -V, --version\n"
	"\n"
	"States: yes, partly, no, none (not on this machine). Exit codes: 0 everything\n"
	"works, 1 something works partly or not, 2 wrong usage, 3 no program can be\n"
	"recorded, 5 the output cannot be written.\n";

static const struct option long_options[] = {
	{"format", required_argument, NULL, 'f'},
	{"pid", required_argument, NULL, 'p'},
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

static const struct doctor_check *const machine[] = {
	doctor_process, doctor_kernel, doctor_devices, doctor_place, NULL};
static const struct doctor_check *const one_process[] = {outside_doctor, NULL};

/* Runs all checks of the tables. Returns the exit code. */
static int examine(const struct doctor_check *const *tables, enum format format, bool all)
{
	int code = 0;

	if (format == JSON)
		puts("{\"schema\":\"hpct-doctor\",\"version\":1}");
	else if (format == TSV)
		puts("capability\tstate\treason\tremedy");
	for (; *tables; tables++)
		for (const struct doctor_check *check = *tables; check->capability; check++) {
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

/* False: it is no number. */
static bool pid_take(const char *text)
{
	char *end;
	unsigned long pid = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

	if (!pid || pid > INT32_MAX || *end)
		return false;
	outside_doctor_choose((uint32_t)pid);
	return true;
}

int main(int argc, char **argv)
{
	const struct doctor_check *const *tables = machine;
	enum format format = TABLE;
	bool all = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "+:hVp:", long_options, NULL)) != -1)
		switch (letter) {
		case 'f':
			format = format_find(optarg);
			if (format == FORMATS)
				return refuse("unknown format", optarg);
			break;
		case 'a':
			all = true;
			break;
		case 'p':
			if (!pid_take(optarg))
				return refuse("-p takes the number of a process, not", optarg);
			tables = one_process;
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
	return examine(tables, format, all);
}
