/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_simulate.c - hpct-simulate: writes a deterministic run for tests, benchmarks and screenshots.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate.h"

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	{"streams", required_argument, NULL, 's'},
	{"records", required_argument, NULL, 'r'},
	{"seed", required_argument, NULL, 'e'},
	{"shape", required_argument, NULL, 'p'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{0},
};

static int printed(void)
{
	struct error error;

	if (!fflush(stdout))
		return 0;
	error_unwritten(&error);
	return error_report(&error, "hpct-simulate");
}

static void help(void)
{
	puts("usage: hpct-simulate -o RUN.hpct [--shape NAME] [--streams N] [--records N]\n"
	     "                      [--seed S]\n"
	     "\n"
	     "Writes a run of made-up records; the same options give the same records on each\n"
	     "machine.\n"
	     "\n"
	     "  -o, --output RUN   the run to create\n"
	     "      --shape NAME   cpu    threads sampled at 1 kHz, in phases over 5000 call\n"
	     "                            paths (default)\n"
	     "                     gpu    queues with kernels and copies, and the threads that\n"
	     "                            feed them\n"
	     "                     mixed  ranks with both, waiting, losses and marks\n"
	     "                     odd    every odd name, time and value that is allowed\n"
	     "                     waits  threads that wait for each other, with the causes\n"
	     "      --streams N    default 4\n"
	     "      --records N    in all, about; default 10000\n"
	     "      --seed S       default 1\n"
	     "  -h, --help   -V, --version");
}

/* A whole number in decimal. */
static int parse_number(
	const char *name, uint64_t least, uint64_t most, uint64_t *number, struct error *error)
{
	char *end = optarg;

	errno = 0;
	if (*optarg >= '0' && *optarg <= '9')
		*number = strtoull(optarg, &end, 10);
	if (end != optarg && *end == '\0' && !errno && *number >= least && *number <= most)
		return 0;
	return error_set(error, ERROR_USAGE, "--%s %s: say a whole number from %llu to %llu", name, optarg,
		(unsigned long long)least, (unsigned long long)most);
}

static int parse(int argc, char **argv, struct simulate_options *chosen, struct error *error)
{
	uint64_t number = 0;
	int option, code = 0;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "o:hV", options, NULL)) != -1) {
		switch (option) {
		case 'o':
			chosen->run = optarg;
			break;
		case 'p':
			chosen->shape = optarg;
			break;
		case 's':
			code = parse_number("streams", 1, 1u << 24, &number, error);
			chosen->streams = (uint32_t)number;
			break;
		case 'r':
			code = parse_number("records", 1, UINT64_MAX / 4, &chosen->records, error);
			break;
		case 'e':
			code = parse_number("seed", 0, UINT64_MAX, &chosen->seed, error);
			break;
		case 'h':
			help();
			exit(printed());
		case 'V':
			puts("hpct-simulate " HPCT_VERSION);
			exit(printed());
		default:
			return error_set(error, ERROR_USAGE,
				"%s is no option, or has no value; hpct-simulate --help lists them",
				argv[optind - 1]);
		}
		if (code)
			return code;
	}
	if (optind < argc)
		return error_set(error, ERROR_USAGE,
			"%s is one argument too many; name the run with -o, --help shows how", argv[optind]);
	if (!chosen->run)
		return error_set(error, ERROR_USAGE, "say where with -o RUN.hpct; --help shows how");
	return 0;
}

int main(int argc, char **argv)
{
	struct simulate_options chosen = {.shape = "cpu", .streams = 4, .records = 10000, .seed = 1};
	struct error error = {0};

	signal(SIGXFSZ, SIG_IGN); /* what may not grow (ulimit -f) is an error with a sentence */
	if (parse(argc, argv, &chosen, &error) || simulate_run(&chosen, &error))
		return error_report(&error, "hpct-simulate");
	return 0;
}
