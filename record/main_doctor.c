/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_doctor.c - hpct-doctor: what can be measured on this machine; for everything else, why not and what to
 * do. With --report: all that, and more, as one text for whoever mends hpct.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/base/stdout_check.h"
#include "record/doctor/doctor.h"
#include "record/doctor/report.h"
#include "record/inject/inject_doctor.h"
#include "record/outside/outside_doctor.h"
#include "store/base/escape.h"
#include "store/base/json.h"

#define EXIT_DEGRADED 1
#define EXIT_USAGE 2
#define EXIT_NOTHING 3
#define EXIT_OUTPUT 5
#define REPORT_FILE "hpct-doctor.txt"

static const char help[] =
	"usage: hpct-doctor [--format table|tsv|json] [--all]\n"
	"       hpct-doctor -p PID [--format table|tsv|json]\n"
	"       hpct-doctor --report [--full] [-o FILE] [RUN]\n"
	"\n"
	"Reports what hpct can measure on this machine, for this user, in this directory;\n"
	"for everything else, why not and what to do. Starts each program of hpct, and\n"
	"records one into a directory of its own, which it removes.\n"
	"\n"
	"  -p, --pid PID          whether this process can be measured from outside\n"
	"      --all              table: also list what this machine does not have\n"
	"      --format FORMAT    table (default), tsv or json\n"
	"      --report           print what a maintainer needs for a bug, with the facts\n"
	"                         of RUN (the newest here), then ask whether to write it\n"
	"      --full             report: keep paths, and names of hosts and users, whole\n"
	"  -o, --output FILE      report: print it, then write it to FILE\n"
	"  -h, --help   -V, --version\n"
	"\n"
	"States: yes, partly, no, none (not on this machine). Exit codes: 0 everything\n"
	"works, 1 something works partly or not, 2 wrong usage, 3 no program can be\n"
	"recorded, 5 the output cannot be written. A report: 0, 2 or 5.\n";

static const struct option long_options[] = {
	{"format", required_argument, NULL, 'f'},
	{"pid", required_argument, NULL, 'p'},
	{"all", no_argument, NULL, 'a'},
	{"report", no_argument, NULL, 'r'},
	{"full", no_argument, NULL, 'F'},
	{"output", required_argument, NULL, 'o'},
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
	doctor_programs, doctor_process, doctor_kernel, doctor_devices, doctor_place, NULL};
static const struct doctor_check *const one_process[] = {outside_doctor, inject_doctor, NULL};

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

/* On a terminal, whoever looked at it says whether it is to be kept. */
static bool is_wanted(const char *file)
{
	char line[16];

	fprintf(stderr, "hpct-doctor: write this to %s? [y/N] ", file);
	return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

/* Never over a file that is there. */
static int report_keep(const struct store_bytes *text, const char *path)
{
	FILE *file = fopen(path, "wxe");
	bool is_cut;

	if (!file) {
		fprintf(stderr, "hpct-doctor: cannot write %s: %s; choose another name with -o\n", path,
			strerror(errno));
		return errno == EEXIST ? EXIT_USAGE : EXIT_OUTPUT;
	}
	is_cut = fwrite(text->data, 1, text->size, file) != text->size;
	if (fclose(file) || is_cut) {
		fprintf(stderr, "hpct-doctor: cannot write all of %s: %s\n", path, strerror(errno));
		unlink(path);
		return EXIT_OUTPUT;
	}
	fprintf(stderr, "hpct-doctor: %s holds it\n", path);
	return 0;
}

static int report(const struct report_options *options, const char *path)
{
	bool is_asked = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	struct store_bytes text = {0};
	struct error error;
	int code;

	if (report_write(options, &text, &error))
		return error_report(&error, "hpct-doctor");
	fwrite(text.data, 1, text.size, stdout);
	fflush(stdout);
	code = stdout_check("hpct-doctor", 0, EXIT_OUTPUT);
	if (!code && (is_asked ? is_wanted(path ? path : REPORT_FILE) : path != NULL))
		code = report_keep(&text, path ? path : REPORT_FILE);
	store_bytes_fini(&text);
	return code;
}

/* False: it is no number. */
static bool pid_take(const char *text)
{
	char *end;
	unsigned long pid = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

	if (!pid || pid > INT32_MAX || *end)
		return false;
	outside_doctor_choose((uint32_t)pid);
	inject_doctor_choose((uint32_t)pid);
	return true;
}

struct asked {
	enum format format;
	bool all, is_report, is_process;
	const char *output;
	struct report_options report;
};

/* Returns 0, an exit code, or -1 if all is answered. */
static int parse(int argc, char **argv, struct asked *asked)
{
	int letter;

	while ((letter = getopt_long(argc, argv, "+:hVo:p:", long_options, NULL)) != -1)
		switch (letter) {
		case 'f':
			asked->format = format_find(optarg);
			if (asked->format == FORMATS)
				return refuse("unknown format", optarg);
			break;
		case 'a':
			asked->all = true;
			break;
		case 'r':
			asked->is_report = true;
			break;
		case 'F':
			asked->report.is_full = true;
			break;
		case 'o':
			asked->output = optarg;
			break;
		case 'p':
			if (!pid_take(optarg))
				return refuse("-p takes the number of a process, not", optarg);
			asked->is_process = true;
			break;
		case 'h':
			fputs(help, stdout);
			return -1;
		case 'V':
			puts("hpct-doctor " HPCT_VERSION);
			return -1;
		default:
			return refuse(letter == ':' ? "a value is missing after" : "unknown option",
				argv[optind - 1]);
		}
	return 0;
}

int main(int argc, char **argv)
{
	struct asked asked = {.format = TABLE};
	int code = parse(argc, argv, &asked);

	if (code)
		return code > 0 ? code : stdout_check("hpct-doctor", 0, EXIT_OUTPUT);
	if (!asked.is_report && (asked.report.is_full || asked.output))
		return refuse("only --report takes", asked.output ? "-o" : "--full");
	if (argv[optind] && (!asked.is_report || argv[optind + 1]))
		return refuse("it takes no argument", argv[optind + asked.is_report]);
	if (asked.is_report && asked.is_process)
		return refuse("--report says nothing of one process:", "-p");
	asked.report.run = argv[optind];
	return asked.is_report ? report(&asked.report, asked.output)
			       : examine(asked.is_process ? one_process : machine, asked.format, asked.all);
}
