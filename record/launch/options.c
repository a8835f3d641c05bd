/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - see options.h. Parses the command line and, for what it leaves open, HPCToolkit's environment
 * variables into one struct; settings for the agent become words of HPCT_EVENTS.
 */
#include "record/launch/options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "record/agent/process/process_filter.h"
#include "record/agent/unwind/unwind_plugin.h"
#include "record/base/install_paths.h"
#include "record/launch/launch_name.h"
#include "record/launch/options_hpcrun.h"
#include "store/ring/handshake.h"

const char options_help[] =
	"usage: hpct-record [options] [--] PROGRAM [ARGUMENTS]\n"
	"       hpct-record [options] -p PID[,PID...] [--for 30s]\n"
	"\n"
	"Records what every thread of PROGRAM and its children did, as call-path traces.\n"
	"  -o, --output RUN       name of the run (%j job, %s step, %h host, %p pid); by\n"
	"                         default PROGRAM-PID.hpct;  --overwrite  replaces it\n"
	"  -p, --pid PID,...      what runs already, from outside; --inject: by an agent\n"
	"                         until Ctrl-C, its end, --for TIME; --comm, --cgroup, -a\n"
	"  -e, --event EVENT[@N]  CPUTIME@5000 (default): a sample every 5000 us of a\n"
	"                         thread's CPU time; CPUTIME@f200: 200 samples a second.\n"
	"                         Repeat -e to add counters: page-faults@1, IO, MEMLEAK\n"
	"  -c, --count N|fN       period or rate without @;  -L, --list  list all events\n"
	"  -e gpu=auto|off|NAME   GPUs: nvidia, nvidia,pc, nvidia,util, opencl, level0\n"
	"      --gauges LIST      figures over time: off, 10Hz, resident,cpu_* (see -L)\n"
	"      --keep DURATION    drop records older than 30s, 10m, 2h; their sums stay\n"
	"      --summary FILE     write the summary to FILE, too (the run has it)\n"
	"  -ds, --delay-sampling  measure nothing until the program calls hpct_start()\n"
	"      --dormant, --start RUN, --stop RUN, --status: nothing until --start RUN\n"
	"  -r, --retain-recursion keep all levels of recursive calls (default: two)\n"
	"      --no-switches, --no-children, --ranks 0-3, --process-fraction 1/10: less\n"
	"      --strict           exit 125, not unmeasured;  -h, --help;  -V, --version\n"
	"\n"
	"Exits with PROGRAM's code or signal. Else: 125 hpct-record failed, 126 PROGRAM\n"
	"cannot be executed, 127 is not found. Next: hpct-view RUN, hpct-profile RUN.\n";

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"overwrite", no_argument, NULL, 'O'},
	{"pid", required_argument, NULL, 'p'},
	{"comm", required_argument, NULL, 'M'},
	{"newest", no_argument, NULL, 'n'},
	{"inject", no_argument, NULL, 'i'},
	{"all-cpus", no_argument, NULL, 'a'},
	{"cgroup", required_argument, NULL, 'T'},
	{"dormant", no_argument, NULL, 'H'},
	{"start", required_argument, NULL, 'A'},
	{"stop", required_argument, NULL, 'E'},
	{"status", no_argument, NULL, 'J'},
	{"for", required_argument, NULL, 'd'},
	{"stack-bytes", required_argument, NULL, 'B'},
	{"event", required_argument, NULL, 'e'},
	{"count", required_argument, NULL, 'c'},
	{"sampler", required_argument, NULL, 'Y'},
	{"force", no_argument, NULL, 'F'},
	{"memleak-prob", required_argument, NULL, 'P'},
	{"trace", no_argument, NULL, 't'},
	{"cuda", required_argument, NULL, 'C'},
	{"cuda-graphs", required_argument, NULL, 'G'},
	{"summary", required_argument, NULL, 'S'},
	{"keep", required_argument, NULL, 'K'},
	{"gauges", required_argument, NULL, 'Q'},
	{"no-switches", no_argument, NULL, 'W'},
	{"delay-sampling", no_argument, NULL, 'D'},
	{"retain-recursion", no_argument, NULL, 'r'},
	{"keep-recursion", no_argument, NULL, 'r'},
	{"with-sources", no_argument, NULL, 'Z'},
	{"node", no_argument, NULL, 'j'},
	{"java", no_argument, NULL, 'I'},
	{"disable-gprof", no_argument, NULL, 'g'},
	{"no-children", no_argument, NULL, 'N'},
	{"ranks", required_argument, NULL, 'R'},
	{"process-fraction", required_argument, NULL, 'f'},
	{"unwinder", required_argument, NULL, 'U'},
	{"strict", no_argument, NULL, 'X'},
	{"list", no_argument, NULL, 'L'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{"memsize", required_argument, NULL, OPTIONS_HPCRUN + OPTIONS_HPCRUN_MEMSIZE},
	{"low-memsize", required_argument, NULL, OPTIONS_HPCRUN + OPTIONS_HPCRUN_LOW_MEMSIZE},
	{"control-knob", required_argument, NULL, OPTIONS_HPCRUN + OPTIONS_HPCRUN_CONTROL_KNOB},
	{"dynamic-debug", required_argument, NULL, OPTIONS_HPCRUN + OPTIONS_HPCRUN_DYNAMIC_DEBUG},
	{"debug", no_argument, NULL, OPTIONS_HPCRUN + OPTIONS_HPCRUN_DEBUG},
	{"disable-auditor", no_argument, NULL, OPTIONS_HPCRUN + OPTIONS_HPCRUN_DISABLE_AUDITOR},
	{"enable-auditor", no_argument, NULL, OPTIONS_HPCRUN + OPTIONS_HPCRUN_ENABLE_AUDITOR},
	{"disable-auditor-got-rewriting", no_argument, NULL,
		OPTIONS_HPCRUN + OPTIONS_HPCRUN_DISABLE_AUDITOR_GOT_REWRITING},
	{"namespace-single", no_argument, NULL, OPTIONS_HPCRUN + OPTIONS_HPCRUN_NAMESPACE_SINGLE},
	{"namespace-multiple", no_argument, NULL, OPTIONS_HPCRUN + OPTIONS_HPCRUN_NAMESPACE_MULTIPLE},
	{NULL, 0, NULL, 0},
};

/* A sentence for the user, kept once. */
static void note_add(struct options *options, const char *sentence)
{
	for (unsigned i = 0; i < options->note_count; i++)
		if (options->notes[i] == sentence)
			return;
	if (options->note_count < OPTIONS_NOTES_MAX)
		options->notes[options->note_count++] = sentence;
}

/* -e EVENT, or a word of HPCRUN_EVENT_LIST. */
static int event_take(struct options *options, const char *word, struct error *error)
{
	if (!strcasecmp(word, "NONE")) {
		options->is_unsampled = true;
		return 0;
	}
	if (options_hpcrun_is_controlled(word)) {
		options->is_delayed = true;
		note_add(options, options_hpcrun_controlled);
		return 0;
	}
	if (options->asked.count == EVENTS_ASKED_MAX)
		return error_set(error, ERROR_USAGE, "-e %s: more than %u events", word, EVENTS_ASKED_MAX);
	options->asked.event[options->asked.count++] = word;
	return 0;
}

/* Of at least least_ns; false: it is none. */
static bool duration_read(uint64_t *ns, const char *text, double least_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ms", 1e6}, {"s", 1e9}, {"m", 6e10}, {"min", 6e10}, {"h", 3.6e12}};
	char *unit;
	double number = strtod(text, &unit);

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name) && number * units[i].ns >= least_ns &&
			number * units[i].ns <= 1e18) {
			*ns = (uint64_t)(number * units[i].ns);
			return true;
		}
	return false;
}

static int for_take(struct options *options, struct error *error)
{
	if (duration_read(&options->for_ns, optarg, 1e6))
		return 0;
	return error_set(
		error, ERROR_USAGE, "--for %s: give a duration such as 500ms, 30s, 10m or 2h", optarg);
}

#define STACK_BYTES_MOST 61440ul

static int stack_take(struct options *options, struct error *error)
{
	char *end;
	unsigned long bytes = *optarg >= '0' && *optarg <= '9' ? strtoul(optarg, &end, 10) : 0;

	if (bytes < 1024 || bytes > STACK_BYTES_MOST || *end)
		return error_set(error, ERROR_USAGE, "--stack-bytes %s: give a number from 1024 to %lu",
			optarg, STACK_BYTES_MOST);
	options->stack_bytes = (uint32_t)(bytes & ~7ul);
	return 0;
}

static int keep_take(struct options *options, struct error *error)
{
	if (duration_read(&options->keep_ns, optarg, 1e9))
		return 0;
	return error_set(error, ERROR_USAGE,
		"--keep %s: give a duration of at least a second, such as 30s, 10m or 2h", optarg);
}

/* Sets true if the value is the second of two words; an error if it is neither. */
static int choice(
	const char *option, const char *first, const char *second, bool *is_second, struct error *error)
{
	*is_second = !strcmp(optarg, second);
	if (*is_second || !strcmp(optarg, first))
		return 0;
	return error_set(error, ERROR_USAGE, "%s takes %s or %s, not %s", option, first, second, optarg);
}

static int ranks_take(struct options *options, struct error *error)
{
	bool is_wrong;

	process_filter_has_rank(optarg, 0, &is_wrong);
	if (is_wrong || strchr(optarg, ' '))
		return error_set(error, ERROR_USAGE,
			"--ranks %s: give ranks such as 0-3,8:2 (0 to 3, and every second one from 8)",
			optarg);
	options->ranks = optarg;
	return 0;
}

/* "0.1" or "1/10"; false: neither. */
static bool fraction_read(double *fraction, const char *text)
{
	char *end;
	double number = strtod(text, &end), whole = 1;

	if (end != text && *end == '/') {
		text = end + 1;
		whole = strtod(text, &end);
	}
	if (end == text || *end || !(number >= 0) || !(whole > 0) || !(number <= whole))
		return false;
	*fraction = number / whole;
	return true;
}

static int fraction_take(struct options *options, struct error *error)
{
	if (fraction_read(&options->fraction, optarg))
		return 0;
	return error_set(error, ERROR_USAGE,
		"--process-fraction %s: give a number from 0 to 1, such as 0.1 or 1/10", optarg);
}

/* Checks libunwind before the program starts, so that the user sees the error. */
static int unwinder_take(struct options *options, struct error *error)
{
	struct install_paths paths;
	char path[sizeof(paths.agent) + sizeof(UNWIND_PLUGIN_FILE)];

	if (choice("--unwinder", "own", "libunwind", &options->has_libunwind, error))
		return -error->code;
	if (!options->has_libunwind || install_paths_find(&paths, error))
		return 0;
	snprintf(path, sizeof(path), "%.*s/" UNWIND_PLUGIN_FILE,
		(int)(strrchr(paths.agent, '/') - paths.agent), paths.agent);
	return access(path, R_OK) ? error_set(error, ERROR_USAGE,
					    "--unwinder libunwind: this build is without it (libunwind-dev)")
				  : 0;
}

/* An option that only stores its argument. */
struct plain {
	int letter;
	size_t place;
};

static const struct plain flags[] = {{'O', offsetof(struct options, overwrite)},
	{'F', offsetof(struct options, asked.is_forced)}, {'D', offsetof(struct options, is_delayed)},
	{'r', offsetof(struct options, keeps_recursion)}, {'g', offsetof(struct options, no_gprof)},
	{'W', offsetof(struct options, no_switches)}, {'Z', offsetof(struct options, with_sources)},
	{'N', offsetof(struct options, no_children)}, {'X', offsetof(struct options, strict)},
	{'n', offsetof(struct options, is_newest)}, {'i', offsetof(struct options, is_inject)},
	{'a', offsetof(struct options, is_all)}, {'H', offsetof(struct options, is_dormant)},
	{'J', offsetof(struct options, is_status)}, {'j', offsetof(struct options, names_node)},
	{'I', offsetof(struct options, names_java)}, {'L', offsetof(struct options, is_list)},
	{'h', offsetof(struct options, is_help)}, {'V', offsetof(struct options, is_version)}};

static const struct plain given[] = {{'o', offsetof(struct options, run)},
	{'c', offsetof(struct options, asked.rate)}, {'Y', offsetof(struct options, asked.sampler)},
	{'T', offsetof(struct options, cgroup)}, {'A', offsetof(struct options, start)},
	{'E', offsetof(struct options, stop)}, {'p', offsetof(struct options, pids)},
	{'M', offsetof(struct options, comm)}, {'P', offsetof(struct options, asked.probability)},
	{'S', offsetof(struct options, summary)}};

/* False: it needs more than storing. */
static bool plain_take(struct options *options, int letter)
{
	char *base = (char *)options;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].letter == letter) {
			*(bool *)(base + flags[i].place) = true;
			return true;
		}
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i].letter == letter) {
			*(const char **)(void *)(base + given[i].place) = optarg;
			return true;
		}
	return false;
}

static int option_take(struct options *options, int letter, struct error *error)
{
	if (plain_take(options, letter))
		return 0;
	if (letter >= OPTIONS_HPCRUN) {
		note_add(options, options_hpcrun_sentence((enum options_hpcrun)(letter - OPTIONS_HPCRUN)));
		return 0;
	}
	switch (letter) {
	case 'U':
		return unwinder_take(options, error);
	case 'e':
		return strncmp(optarg, "gpu=", 4) ? event_take(options, optarg, error)
						  : events_gpu_find(&options->gpu, optarg + 4, error);
	case 't':
		return 0;
	case 'C':
		return choice("--cuda", "yield", "hold", &options->cuda_hold, error);
	case 'G':
		return choice("--cuda-graphs", "node", "graph", &options->cuda_whole_graphs, error);
	case 'Q':
		return gauges_parse(&options->gauges, optarg, error);
	case 'K':
		return keep_take(options, error);
	case 'd':
		return for_take(options, error);
	case 'B':
		return stack_take(options, error);
	case 'R':
		return ranks_take(options, error);
	case 'f':
		return fraction_take(options, error);
	default:
		return -ERROR_USAGE;
	}
}

/* Options that other profilers have, and what to do here. */
static const struct foreign {
	char letter;
	const char *word, *advice;
} foreign_options[] = {
	{'g', "--call-graph", "-g: call paths are always recorded, by unwind tables; leave it out"},
	{'F', "--freq",
		"-F: a rate is given with -c, as -c f997 for 997 samples in each second of CPU time, or with "
		"its "
		"event, as -e CPUTIME@f997"}};

static const char *foreign_find(int letter, const char *word)
{
	for (size_t i = 0; i < sizeof(foreign_options) / sizeof(foreign_options[0]); i++) {
		const struct foreign *option = &foreign_options[i];
		size_t length = strlen(option->word);

		if (letter ? letter == option->letter
			   : !strncmp(word, option->word, length) && (!word[length] || word[length] == '='))
			return option->advice;
	}
	return NULL;
}

/* The sentence that getopt would have printed in its own words. */
static int option_refuse(int letter, char **argv, struct error *error)
{
	const char *word = optind > 0 && argv[optind - 1] ? argv[optind - 1] : "";
	const char *advice = letter == ':' ? NULL : foreign_find(optopt, word);

	if (advice)
		return error_set(error, ERROR_USAGE, "%s", advice);
	if (letter == ':')
		return error_set(error, ERROR_USAGE, "option %s needs a value; try hpct-record --help", word);
	if (optopt && optopt < 128)
		return error_set(error, ERROR_USAGE, "unknown option -%c; try hpct-record --help", optopt);
	return error_set(error, ERROR_USAGE, "unknown option %s; try hpct-record --help", word);
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* Reads HPCToolkit's variables where the command line leaves a setting open. */
static int environment_take(struct options *options, struct error *error)
{
	const char *list = getenv("HPCRUN_EVENT_LIST"), *sentence;
	bool has_events = options->asked.count || options->is_unsampled || options->is_delayed;
	unsigned variable = 0;
	char *place;
	int result = 0;

	while ((sentence = options_hpcrun_variable(&variable)))
		note_add(options, sentence);
	if (!options->run && is_set("HPCRUN_OUT_PATH"))
		options->run = getenv("HPCRUN_OUT_PATH");
	if (is_set("HPCRUN_PERF_COUNT"))
		options->asked.counter_rate = getenv("HPCRUN_PERF_COUNT");
	if (has_events || !list || strlen(list) >= sizeof(options->list))
		return 0;
	strcpy(options->list, list);
	for (char *word = strtok_r(options->list, " ;", &place); word && !result;
		word = strtok_r(NULL, " ;", &place))
		result = event_take(options, word, error);
	return result;
}

/* HPCToolkit's variable, with HPCToolkit's replacement for invalid values. */
static void fraction_of_environment(struct options *options)
{
	const char *value = getenv("HPCRUN_PROCESS_FRACTION");

	if (options->fraction >= 0)
		return;
	options->fraction = 1;
	if (value && *value && !fraction_read(&options->fraction, value))
		options->fraction = 0.1;
}

/* Equal for all processes of a launch, so that each rank is drawn once. */
static unsigned launch_seed(void)
{
	struct launch_name name;
	uint32_t seed = 2166136261u;

	launch_name_find(&name);
	for (const char *at = name.id; *at; at++)
		seed = (seed ^ (unsigned char)*at) * 16777619u;
	return seed;
}

/* Adds the selection of processes, record/agent/process/process_filter.h. False: too long. */
static bool selection_add(struct options *options, size_t used)
{
	size_t room = sizeof(options->events) - used;
	char *words = options->events + used;
	int more = 0;

	if (options->fraction < 1)
		more = snprintf(words, room, EVENT_WORD_FRACTION "%.0f,%u", options->fraction * 4294967296.0,
			launch_seed());
	if (options->ranks && (size_t)more < room) {
		more += snprintf(words + more, room - (size_t)more, EVENT_WORD_RANKS "%s", options->ranks);
		for (char *at = strstr(words, EVENT_WORD_RANKS); (at = strchr(at, ':'));)
			*at = '/'; /* a ':' after a '=' would mean a counter */
	}
	if (options->no_children && (size_t)more < room)
		more += snprintf(words + more, room - (size_t)more, EVENT_WORD_NO_CHILDREN);
	/* hpct-record appends its child's pid after the last word. */
	return (size_t)more + 16 < room;
}

/* Adds the agent's other settings after the events. */
static int words_add(struct options *options, struct error *error)
{
	size_t used = strlen(options->events), room = sizeof(options->events) - used;
	bool is_delayed = options->is_delayed || options->is_unsampled || is_set("HPCRUN_DELAY_SAMPLING");
	bool keeps_recursion = options->keeps_recursion || is_set("HPCRUN_RETAIN_RECURSION");
	char samples[48] = "";
	int more;

	if (options->gpu.pc_period)
		snprintf(samples, sizeof(samples), " cuda-pc=%u", options->gpu.pc_period);
	if (options->gpu.util_ns)
		snprintf(samples, sizeof(samples), " cuda-util=%llu",
			(unsigned long long)options->gpu.util_ns);
	more = snprintf(options->events + used, room, "%s%s%s gpu=%s%s%s%s%s%s%s%s", samples,
		options->cuda_hold ? " cuda=hold" : "",
		options->cuda_whole_graphs ? " cuda-graphs=graph" : "", options->gpu.vendor,
		is_delayed ? EVENT_WORD_DELAY : "", options->is_unsampled ? EVENT_WORD_UNSAMPLED : "",
		options->is_dormant ? EVENT_WORD_DORMANT : "", keeps_recursion ? EVENT_WORD_RECURSION : "",
		options->has_libunwind ? EVENT_WORD_UNWINDER "libunwind" : "",
		options->no_gprof ? EVENT_WORD_NO_GPROF : "", options->names_java ? EVENT_WORD_JAVA : "");

	used += (size_t)more;
	return (size_t)more < room && selection_add(options, used)
		       ? 0
		       : error_set(error, ERROR_USAGE, "too many events; leave some out");
}

bool options_attach(const struct options *options)
{
	return options->pids || options->comm || options->cgroup || options->is_all;
}

/* --start and the like are words to another hpct-record. */
static int control_check(const struct options *options, struct error *error)
{
	int count = !!options->start + !!options->stop + options->is_status;

	if (!count)
		return 0;
	if (count > 1)
		return error_set(error, ERROR_USAGE, "give one of --start, --stop and --status");
	if (options->program[0] && (!options->is_status || options->program[1]))
		return error_set(error, ERROR_USAGE,
			"%s: --start RUN, --stop RUN and --status [RUN] start no program; they speak to the "
			"hpct-record that records into RUN",
			options->program[options->is_status]);
	return 0;
}

/* What has to be open before the program begins, or would cost it something. */
static int dormant_check(const struct options *options, struct error *error)
{
	const char *events = options->events;

	if (!options->is_dormant)
		return 0;
	if (options_attach(options))
		return error_set(
			error, ERROR_USAGE, "--dormant starts a program; attach with -p when it is time");
	if (options->is_delayed || options->is_unsampled)
		return error_set(error, ERROR_USAGE,
			"--dormant waits for hpct-record --start, -ds for the program's "
			"hpct_start(), -e NONE for nothing: give one of them");
	if (strchr(events, ':') || strstr(events, EVENT_WORD_PAPI) || strstr(events, EVENT_WORD_MEMLEAK) ||
		strstr(events, EVENT_WORD_WAITS) || options->gpu.pc_period || options->gpu.util_ns)
		return error_set(error, ERROR_USAGE,
			"--dormant has CPUTIME and IO alone: other events must be counted from the program's "
			"begin on");
	return 0;
}

/* What says nothing about processes that run already. */
static int attach_check(const struct options *options, struct error *error)
{
	bool is_attach = options_attach(options);

	if (!!options->pids + !!options->comm + !!options->cgroup + options->is_all > 1)
		return error_set(error, ERROR_USAGE,
			"-p, --comm, --cgroup and -a all say what is measured; give one of them");
	if (!is_attach && (options->for_ns || options->is_newest || options->is_inject))
		return error_set(error, ERROR_USAGE, "%s goes with -p, --comm, --cgroup or -a",
			options->for_ns	     ? "--for"
			: options->is_newest ? "--newest"
					     : "--inject");
	if (options->is_inject && options->is_all)
		return error_set(error, ERROR_USAGE,
			"--inject loads an agent into processes that are named; -a measures all from "
			"outside");
	if (options->is_inject && options->stack_bytes)
		return error_set(error, ERROR_USAGE,
			"--stack-bytes is for measuring from outside: an agent copies no stacks; leave one "
			"out");
	if (options->is_newest && !options->comm)
		return error_set(error, ERROR_USAGE, "--newest goes with --comm");
	if (is_attach && *options->program)
		return error_set(error, ERROR_USAGE,
			"%s: either start a program or name processes that run already by -p, --comm, "
			"--cgroup or "
			"-a",
			*options->program);
	if (is_attach &&
		(options->is_delayed || options->is_unsampled || options->ranks || options->fraction < 1 ||
			options->has_libunwind || options->names_java || options->names_node))
		return error_set(error, ERROR_USAGE,
			"-ds, -e NONE, --ranks, -f, --unwinder, --java and --node are for a program that is "
			"started; leave them out");
	return 0;
}

int options_parse(struct options *options, int argc, char **argv, struct error *error)
{
	int letter, result;

	memset(options, 0, sizeof(*options));
	options->gauges = gauges_default();
	options->fraction = -1;
	optind = 1;
	for (;;) {
		if (optind < argc)
			argv[optind] = options_hpcrun_long(argv[optind]);
		letter = getopt_long(argc, argv, "+:o:e:c:f:p:atrhVL", long_options, NULL);
		if (letter == -1)
			break;
		if (letter == '?' || letter == ':')
			return option_refuse(letter, argv, error);
		result = option_take(options, letter, error);
		if (result)
			return result;
	}
	if (!options->gpu.vendor) /* its tools cost something from the begin on */
		options->gpu.vendor = options->is_dormant ? "off" : "auto";
	options->asked.is_lenient = !options->asked.probability && is_set("HPCRUN_MEMLEAK_PROB");
	if (options->asked.is_lenient)
		options->asked.probability = getenv("HPCRUN_MEMLEAK_PROB");
	fraction_of_environment(options);
	options->asked.has_switches = !options->no_switches;
	result = environment_take(options, error);
	if (!result)
		result = events_write(options->events, &options->asked, error);
	if (!result)
		result = words_add(options, error);
	if (result)
		return result;
	options->program = argv + optind;
	result = control_check(options, error);
	if (!result)
		result = dormant_check(options, error);
	if (!result)
		result = attach_check(options, error);
	if (result)
		return result;
	if (options->start || options->stop || options->is_status)
		return 0;
	if (!options->is_help && !options->is_version && !options->is_list && !*options->program &&
		!options_attach(options))
		return error_set(error, ERROR_USAGE, "no program to record; try hpct-record --help");
	return 0;
}
