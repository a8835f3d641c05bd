/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - hpct-record: finds the program, makes the run, starts the collector or connects to it, runs the
 * program with the agent preloaded, and ends with the program's status. If hpct cannot measure, it prints an
 * error and runs the program all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/vdso.h"
#include "record/base/attribute_write.h"
#include "record/base/clock.h"
#include "record/base/install_paths.h"
#include "record/base/process_title.h"
#include "record/base/stdout_check.h"
#include "record/collect/collect.h"
#include "record/inject/inject.h"
#include "record/launch/control.h"
#include "record/launch/launch.h"
#include "record/launch/launch_name.h"
#include "record/launch/nested.h"
#include "record/launch/options.h"
#include "record/launch/rundir.h"
#include "record/launch/signals.h"
#include "record/outside/outside.h"
#include "record/outside/outside_find.h"
#include "store/store.h"

#define DONE_WAIT_NS UINT64_C(30000000000)
#define NAMES_MAX 10000
#define READY_WAIT_MS 5000
#define ENDS_WAIT_MS 2000
#define REMOVE_TRIES 50
#define REMOVE_MS 20
#define QUIET_NS UINT64_C(1000000000) /* longer waits show progress on a terminal */

struct record {
	struct options options;
	struct target_check target;
	struct launch_name name;
	char run[PATH_MAX + 64]; /* absolute path */
	char cgroup[PATH_MAX];	 /* --cgroup: its directory */
	struct install_paths paths;
	struct rendezvous rendezvous;
	/* The program takes no agent, and is measured from outside by a thread of ours. */
	struct {
		bool is_wanted;
		struct outside *measurement;
		int stop; /* eventfd */
		pthread_t thread;
	} outside;
	bool is_measured;
	bool made_run;
};

/* If stdin, stdout or stderr is closed, none of our descriptors may get its number; the program still
 * finds it closed. */
static void standard_reserve(void)
{
	int null;

	do
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (null >= 0 && null <= STDERR_FILENO);
	close(null);
}

static void say(const char *text)
{
	fprintf(stderr, "hpct-record: %s\n", text);
}

/* ---- the run ---- */

/* If the default run name exists, appends a number. */
static void name_make_free(struct record *record)
{
	size_t length = strlen(record->run) - strlen(STORE_RUN_SUFFIX);

	for (int i = 2; i < NAMES_MAX && !access(record->run, F_OK); i++)
		snprintf(record->run + length, sizeof(record->run) - length, "-%d%s", i, STORE_RUN_SUFFIX);
}

static int run_name(struct record *record, struct error *error)
{
	const char *temporary = getenv("TMPDIR");
	char path[PATH_MAX], here[PATH_MAX] = "";
	int why, result = run_path_make(path, sizeof(path), record->options.run, record->options.program[0],
			 &record->name, error);

	if (result)
		return result;
	why = path[0] == '/' || getcwd(here, sizeof(here)) ? 0 : errno;
	if (why)
		snprintf(here, sizeof(here), "%s", temporary && temporary[0] == '/' ? temporary : "/tmp");
	if (path[0] == '/')
		snprintf(record->run, sizeof(record->run), "%s", path);
	else if (strlen(here) + strlen(path) + 2 > sizeof(record->run))
		return error_set(
			error, ERROR_IO, "cannot tell where %s would lie: the path is too long", path);
	else
		snprintf(record->run, sizeof(record->run), "%.*s/%s", (int)strlen(here), here, path);
	if (why || (!record->options.run && !record->name.is_shared))
		name_make_free(record);
	if (why)
		fprintf(stderr, "hpct-record: this directory cannot be found (%s); the run will be %s\n",
			strerror(why), record->run);
	return 0;
}

/* ---- the collector ---- */

static char *command_text(char **program)
{
	struct store_bytes words = {0}, text = {0};

	for (; *program; program++)
		store_bytes_put(&words, *program, strlen(*program) + 1);
	store_bytes_put(&words, "", 1);
	if (!words.failed)
		command_quote(&text, (const char *)words.data, words.size);
	store_bytes_fini(&words);
	return text.failed ? NULL : (char *)text.data;
}

static int collector_start(struct record *record, struct error *error)
{
	struct collect_plan plan = {.run = record->run,
		.launch = record->name.id,
		.events = record->options.events,
		.names = record->paths.names,
		.keep_ns = record->options.keep_ns,
		.unmonitored = record->outside.is_wanted ? NULL : record->target.unmeasurable,
		.gauges = record->options.gauges,
		.with_sources = record->options.with_sources};
	char *command;
	int result = rundir_make(record->run, record->name.is_shared ? record->name.id : NULL,
		record->options.overwrite, &record->made_run, error);

	if (result)
		return result;
	command = command_text(record->options.program);
	plan.command = command ? command : "";
	result = collect_start(&plan, &record->rendezvous, error);
	free(command);
	return result;
}

/* ERROR_USAGE: do not run the program; ERROR_IO: run it unmeasured. */
static int measuring_prepare(struct record *record, struct error *error)
{
	int result = install_paths_find(&record->paths, error);
	bool has_memleak = strstr(record->options.events, EVENT_WORD_MEMLEAK) != NULL;

	if (!result && has_memleak && access(record->paths.memleak, R_OK))
		result = error_set(
			error, ERROR_IO, "%s is missing; install hpct again", record->paths.memleak);
	if (!result)
		result = rendezvous_open(&record->rendezvous, record->name.id, record->run,
			has_memleak ? record->paths.memleak : record->paths.agent, error);
	if (!result && record->rendezvous.listener >= 0)
		result = collector_start(record, error);
	if (!result)
		result = rendezvous_connect(&record->rendezvous, error);
	if (result) {
		rendezvous_give_up(&record->rendezvous);
		if (record->made_run)
			rundir_unmake(record->run);
	}
	record->is_measured = !result;
	return result;
}

static uint64_t timeval_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

static void progress_show(uint64_t left, bool *shown)
{
	fprintf(stderr, "\rhpct-record: symbolizing, %lu frames left ", (unsigned long)left);
	*shown = true;
}

/* The collector's next message. 1: in *word, 0: timeout, -1: the collector has gone. */
static int word_await(const struct record *record, struct rendezvous_message *word, int timeout_ms)
{
	struct pollfd ready = {record->rendezvous.connection, POLLIN, 0};

	if (poll(&ready, 1, timeout_ms) <= 0)
		return 0;
	if (recv(record->rendezvous.connection, word, sizeof(*word), 0) != sizeof(*word))
		return -1;
	word->text[sizeof(word->text) - 1] = '\0';
	return 1;
}

/* With --strict waits for the store; otherwise the program starts meanwhile. */
static int ready_wait(struct record *record, struct error *error)
{
	struct rendezvous_message word = {0};

	if (word_await(record, &word, READY_WAIT_MS) == 1 && word.type == RENDEZVOUS_READY)
		return 0;
	record->is_measured = false;
	rendezvous_leave(&record->rendezvous);
	rundir_unmake(record->run);
	return error_set(error, ERROR_IO, "%s",
		word.type == RENDEZVOUS_FAILED ? word.text : "the collector did not start");
}

/* The collector's last message: all is committed, or why nothing was. Negative: it ended without one, 1:
 * it still works, or was stopped. */
static int done_wait(struct record *record, struct rendezvous_message *word)
{
	uint64_t begin_ns = clock_now_ns();
	bool shown = false;
	int result = 1;

	while (clock_now_ns() - begin_ns < DONE_WAIT_NS && !signals_ask_for_end()) {
		int came = word_await(record, word, 1000);

		if (came < 0) {
			result = came;
			break;
		}
		if (came && (word->type == RENDEZVOUS_DONE || word->type == RENDEZVOUS_FAILED)) {
			result = 0;
			break;
		}
		if (came && word->type == RENDEZVOUS_PROGRESS && clock_now_ns() - begin_ns > QUIET_NS &&
			isatty(STDERR_FILENO))
			progress_show(word->number, &shown);
	}
	if (shown)
		fprintf(stderr, "\r\033[K");
	return result;
}

/* What to do with it, for whoever is there to read that. */
static void next_tell(const struct record *record)
{
	struct store_bytes words = {0}, quoted = {0};
	char here[PATH_MAX];
	const char *run = record->run;
	size_t length = getcwd(here, sizeof(here)) ? strlen(here) : 0;

	if (length && !strncmp(run, here, length) && run[length] == '/' && run[length + 1])
		run += length + 1;
	store_bytes_put(&words, run, strlen(run) + 1);
	store_bytes_put(&words, "", 1);
	if (!words.failed)
		command_quote(&quoted, (const char *)words.data, words.size);
	if (!quoted.failed && quoted.data)
		fprintf(stderr, "next: hpct-view %s, or hpct-profile %s\n", (const char *)quoted.data,
			(const char *)quoted.data);
	store_bytes_fini(&words);
	store_bytes_fini(&quoted);
}

static void summary_write(const struct record *record, const char *text)
{
	const char *path = record->options.summary;
	bool is_stderr = path && strcmp(path, "-") == 0; /* stdout is the program's */
	FILE *file;

	if (is_stderr || isatty(STDERR_FILENO))
		fprintf(stderr, "hpct-record: %s\n%s", record->run, text);
	if (isatty(STDERR_FILENO))
		next_tell(record);
	if (!path || is_stderr)
		return;
	file = fopen(path, "we");
	if (!file || fprintf(file, "run %s\n%s", record->run, text) < 0 || fclose(file))
		fprintf(stderr,
			"hpct-record: cannot write the summary %s: %s; the run has it, too: hpct-info %s\n",
			path, strerror(errno), record->run);
}

static void measuring_finish(struct record *record, int status, const struct rusage *usage)
{
	struct rendezvous_message ended = {.type = RENDEZVOUS_ENDED,
		.status = status,
		.user_ns = timeval_ns(&usage->ru_utime),
		.system_ns = timeval_ns(&usage->ru_stime)};
	struct rendezvous_message word;
	int result;

	rendezvous_send(record->rendezvous.connection, &ended);
	result = done_wait(record, &word);
	if (!result) {
		if (word.type == RENDEZVOUS_FAILED) {
			fprintf(stderr, "hpct-record: %s ran unmeasured: %s\n", record->target.path,
				word.text);
			rundir_unmake(record->run);
		} else {
			word.problem[sizeof(word.problem) - 1] = '\0';
			if (word.status)
				fprintf(stderr, "hpct-record: %s ran unmeasured: %s\n", record->target.path,
					launch_unmeasured_why(status));
			if (word.problem[0])
				fprintf(stderr, "hpct-record: the recording stopped early: %s\n",
					word.problem);
			summary_write(record, word.text);
		}
	} else if (!signals_ask_for_end()) {
		fprintf(stderr, "hpct-record: the collector %s; %s holds what was committed\n",
			result < 0 ? "ended unexpectedly" : "does not answer, and may go on later",
			record->run);
	}
	if (result < 0)
		rendezvous_clear(&record->rendezvous);
	rendezvous_leave(&record->rendezvous);
}

/* ---- from outside ---- */

/* "CPUTIME@5000": from outside nothing else is measured. 0: that is not asked for. */
static uint64_t outside_period_ns(const char *events)
{
	static const char source[] = "CPUTIME@";
	unsigned long long number;
	char *unit;

	if (strncmp(events, source, strlen(source)) != 0)
		return 0;
	number = strtoull(events + strlen(source), &unit, 10);
	return *unit == 'n' ? number : number * 1000;
}

/* Counters, and what needs an agent from the start. */
static bool later_misses_events(const char *events)
{
	return strstr(events, EVENT_WORD_MEMLEAK) || strstr(events, EVENT_WORD_PAPI) || strchr(events, ':');
}

static bool outside_misses_events(const char *events)
{
	return strstr(events, EVENT_WORD_IO) || later_misses_events(events);
}

static struct outside_plan outside_plan_of(const struct record *record)
{
	const struct options *options = &record->options;

	return (struct outside_plan){.socket = record->rendezvous.socket,
		.period_ns = outside_period_ns(options->events),
		.stack_bytes = options->stack_bytes,
		.has_switches = !options->no_switches,
		.keeps_recursion = strstr(options->events, EVENT_WORD_RECURSION) != NULL,
		.is_alone = options->no_children};
}

/* For a program that takes no agent: how it is measured, with a sentence about that. */
static void outside_choose(struct record *record, char *reason, size_t room)
{
	struct outside_plan plan = outside_plan_of(record);
	struct outside_totals totals;
	struct error error;

	plan.parent = (pid_t)syscall(SYS_gettid);
	record->outside.is_wanted = record->target.is_seen_outside && plan.period_ns &&
				    !record->options.is_delayed && !record->options.is_dormant &&
				    !record->options.is_unsampled && !outside_try(&plan, &totals, &error);
	snprintf(reason, room, "%.100s %s: %s%s", record->target.binary,
		record->outside.is_wanted ? "is measured from outside" : "runs unmeasured",
		record->target.unmeasurable,
		record->outside.is_wanted && outside_misses_events(record->options.events)
			? "; events beside CPUTIME are not counted"
			: "");
}

static void *outside_thread(void *what)
{
	struct record *record = what;

	outside_run(record->outside.measurement, record->outside.stop, 0);
	return NULL;
}

/* The events are this thread's: what it starts inherits them, and its exec enables them. Nothing else may be
 * started from here on. */
static void outside_begin(struct record *record)
{
	struct outside_plan plan = outside_plan_of(record);
	sigset_t all, before;
	struct error error;

	plan.parent = (pid_t)syscall(SYS_gettid);
	plan.agent = record->target.breaks_preload ? NULL : record->rendezvous.agent;
	record->outside.stop = eventfd(0, EFD_CLOEXEC);
	if (outside_open(&record->outside.measurement, &plan, &error)) {
		say(error.text);
		record->outside.is_wanted = false;
		return;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&record->outside.thread, NULL, outside_thread, record)) {
		struct outside_totals totals;

		outside_close(record->outside.measurement, &totals);
		record->outside.is_wanted = false;
		say("the program runs unmeasured: no thread can be started for that");
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The program has ended; what it left behind is not measured further. */
static void outside_end(struct record *record)
{
	struct outside_totals totals;

	if (eventfd_write(record->outside.stop, 1))
		return;
	pthread_join(record->outside.thread, NULL);
	outside_close(record->outside.measurement, &totals);
}

/* Checks everything before the program starts; 0 to go on. */
static int prepare(struct record *record, struct error *error)
{
	char reason[1024];

	events_try(record->options.events, reason, sizeof(reason));
	if (reason[0] && record->options.strict)
		return error_set(error, ERROR_USAGE, "%s (--strict)", reason);
	if (reason[0])
		say(reason);
	events_precision_say(record->options.events, reason, sizeof(reason));
	if (reason[0])
		say(reason);
	if (record->target.unmeasurable) {
		outside_choose(record, reason, sizeof(reason));
		if (!record->outside.is_wanted && record->options.strict)
			return error_set(error, ERROR_USAGE, "%s (--strict)", reason);
		say(reason);
	}
	if (record->target.note.flags == ELF_NOTE_AGENT &&
		strstr(record->options.events, EVENT_WORD_MEMLEAK)) {
		snprintf(reason, sizeof(reason),
			"%.100s: its allocations are not recorded: it was linked without "
			"`hpct-link --memleak`",
			record->target.binary);
		if (record->options.strict)
			return error_set(error, ERROR_USAGE, "%s (--strict)", reason);
		say(reason);
	}
	if (!measuring_prepare(record, error))
		return record->options.strict ? ready_wait(record, error) : 0;
	if (error->code == ERROR_USAGE || record->options.strict)
		return -error->code;
	fprintf(stderr, "hpct-record: %s runs unmeasured: %s\n", record->target.path, error->text);
	return 0;
}

/* Memory or processes that do not suffice for hpct may suffice for the program alone. */
static int program_run_here(struct record *record, const struct launch *launch, const struct error *error)
{
	struct rendezvous_message ended = {.type = RENDEZVOUS_ENDED, .status = LAUNCH_FAILED << 8}, word;

	if (record->is_measured) {
		rendezvous_send(record->rendezvous.connection, &ended);
		done_wait(record, &word);
		while (word_await(record, &word, ENDS_WAIT_MS) > 0)
			;
		rendezvous_leave(&record->rendezvous);
		fprintf(stderr, "hpct-record: %s runs unmeasured: %s\n", record->target.path, error->text);
	} /* otherwise launch_here has printed an error */
	launch_here(launch);
	fprintf(stderr, "hpct-record: %s cannot be started: %s\n", record->target.path, strerror(errno));
	return LAUNCH_FAILED;
}

static int program_run(struct record *record)
{
	struct launch launch = {&record->target, record->options.program,
		record->is_measured ? &record->rendezvous : NULL, record->options.events,
		record->options.strict, record->options.names_node};
	struct rusage usage = {0};
	struct error error;
	int status = 0, result;

	if (record->is_measured && record->outside.is_wanted)
		outside_begin(record);
	result = launch_run(&launch, &status, &usage, &error);
	if (record->is_measured && record->outside.is_wanted)
		outside_end(record);
	if (result) {
		if (status == LAUNCH_FAILED && !record->options.strict)
			return program_run_here(record, &launch, &error);
		say(error.text);
		if (record->is_measured)
			measuring_finish(record, status << 8, &usage);
		return status;
	}
	if (record->is_measured) {
		measuring_finish(record, status, &usage);
		launch_explain(status);
	}
	launch_exit(status);
}

static void list_all(void)
{
	events_list();
	printf("\nFigures over time (--gauges):\n");
	gauges_print(stdout);
}

/* ---- processes that run already ---- */

/* The words of its command line stand for the program's. */
static int attach_program(struct record *record, struct outside_found *found)
{
	size_t count = 0, at = 0;
	char **words;

	while (found->words[at]) {
		at += strlen(found->words + at) + 1;
		count++;
	}
	words = calloc(count + 1, sizeof(*words));
	if (!words)
		return -1;
	for (at = 0, count = 0; found->words[at]; at += strlen(found->words + at) + 1)
		words[count++] = found->words + at;
	record->options.program = words;
	snprintf(record->target.path, sizeof(record->target.path), "%s", found->name);
	if (!record->name.is_shared && !record->name.job[0] && found->count)
		snprintf(record->name.label, sizeof(record->name.label), "%u", found->pids[0]);
	return 0;
}

/* Nothing was recorded: the collector goes, and takes the run along. */
static void attach_give_up(struct record *record)
{
	struct rendezvous_message ended = {.type = RENDEZVOUS_ENDED, .status = RENDEZVOUS_NO_STATUS}, word;

	rendezvous_send(record->rendezvous.connection, &ended);
	done_wait(record, &word);
	rendezvous_leave(&record->rendezvous);
	/* The collector closes the store last. */
	for (int i = 0; record->made_run && i < REMOVE_TRIES && !access(record->run, F_OK); i++) {
		rundir_remove(record->run);
		poll(NULL, 0, REMOVE_MS);
	}
}

static int stop_signals_open(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return signalfd(-1, &signals, SFD_CLOEXEC);
}

/* Another one ends us at once; the collector completes the run. */
static void stop_signals_close(int signals)
{
	sigset_t none;

	close(signals);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void attach_tell(const struct outside_found *found, const char *group, uint64_t for_ns)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (found->count)
		fprintf(stderr, "hpct-record: measures process %u (%s)", found->pids[0], found->name);
	else
		fprintf(stderr, "hpct-record: measures all of %s", group ? group : "this machine");
	if (found->count > 1)
		fprintf(stderr, " and %u others", found->count - 1);
	if (for_ns)
		fprintf(stderr, " for %.3g s", (double)for_ns / 1e9);
	fprintf(stderr, "; Ctrl-C ends that, and nothing else\n");
}

static void looks_tell(const struct outside_totals *totals)
{
	if (totals->looks)
		fprintf(stderr,
			"hpct-record: perf events are refused here (%s): threads were looked at 50 times a "
			"second "
			"%s, without what they started; a lower kernel.perf_event_paranoid, or a seccomp "
			"filter that "
			"lets perf_event_open through, gives all samples\n",
			strerror(totals->looks),
			totals->is_blind ? "in /proc alone, as ptrace is refused, too: no call paths"
					 : "by ptrace");
}

static int attach_measure(
	struct record *record, const struct outside_found *found, int stop, struct error *error)
{
	struct outside_plan plan = outside_plan_of(record);
	uint64_t for_ns = record->options.for_ns;
	struct outside_totals totals;
	struct outside *outside;
	int result;

	plan.pids = found->pids;
	plan.pid_count = found->count;
	plan.is_all = !found->count;
	plan.cgroup = record->options.cgroup ? record->cgroup : NULL;
	result = outside_open(&outside, &plan, error);
	if (result)
		return result;
	attach_tell(found, plan.cgroup, for_ns);
	outside_run(outside, stop, for_ns ? clock_now_ns() + for_ns : 0);
	outside_close(outside, &totals);
	looks_tell(&totals);
	if (totals.threads_refused)
		fprintf(stderr,
			"hpct-record: %u threads were not measured: no descriptors were left for them; raise "
			"ulimit -Hn\n",
			totals.threads_refused);
	if (totals.processes_refused)
		fprintf(stderr,
			"hpct-record: %u processes were not measured: they came by the hundred, and at most "
			"%u are followed at once; --no-children leaves them all out\n",
			totals.processes_refused, OUTSIDE_PROCESSES_MAX);
	return 0;
}

static void inject_tell(
	const struct record *record, const struct outside_found *found, const struct inject *inject)
{
	for (unsigned i = 0; i < found->count; i++) {
		const struct inject_began *began = inject_began(inject, i);

		fprintf(stderr,
			"hpct-record: process %u: %u threads are measured; thread %u stood still for %.1f "
			"ms, no "
			"other\n",
			began->pid, began->threads, began->tid, (double)began->stood_ns / 1e6);
		if (!began->slots && strstr(record->options.events, EVENT_WORD_IO))
			fprintf(stderr,
				"hpct-record: process %u: none of its calls of IO can be seen yet: they are "
				"bound "
				"as they come, or lead elsewhere\n",
				began->pid);
	}
}

static int inject_measure(
	struct record *record, const struct outside_found *found, int stop, struct error *error)
{
	struct inject_plan plan = {.pids = found->pids,
		.pid_count = found->count,
		.place = record->rendezvous.place,
		.socket = record->rendezvous.socket,
		.agent = record->paths.inject,
		.events = record->options.events};
	uint64_t for_ns = record->options.for_ns;
	struct inject *inject;
	unsigned left;
	int result = inject_open(&inject, &plan, error);

	if (result)
		return result;
	inject_tell(record, found, inject);
	attach_tell(found, NULL, for_ns);
	inject_run(inject, stop, for_ns ? clock_now_ns() + for_ns : 0);
	left = inject_close(inject);
	if (left)
		fprintf(stderr,
			"hpct-record: in %u processes the agent waits for a thread that stands still in it; "
			"its "
			"thread ends when that one goes on\n",
			left);
	return 0;
}

static int inject_check_all(
	const struct record *record, const struct outside_found *found, struct error *error)
{
	struct install_paths paths;

	if (!record->options.is_inject)
		return 0;
	if (install_paths_find(&paths, error))
		return -error->code;
	for (unsigned i = 0; i < found->count; i++)
		if (inject_check(found->pids[i], paths.inject, error))
			return -error->code;
	return 0;
}

static int attach(struct record *record, struct error *error)
{
	static struct outside_found found;
	struct outside_asked asked = {record->options.pids, record->options.comm, record->options.is_newest,
		record->options.cgroup ? record->cgroup : NULL};
	struct rusage usage = {0};
	int stop, result;

	if (!outside_period_ns(record->options.events) ||
		(record->options.is_inject ? later_misses_events(record->options.events)
					   : outside_misses_events(record->options.events)))
		return error_set(error, ERROR_USAGE,
			"of processes that run already only CPUTIME is measured, and with --inject IO; leave "
			"other "
			"events out, or start the program with hpct-record");
	if (record->options.cgroup &&
		outside_find_cgroup(record->cgroup, sizeof(record->cgroup), record->options.cgroup, error))
		return -error->code;
	if (record->options.is_all ||
		(record->options.cgroup && !record->options.is_inject && outside_may_all()))
		outside_find_all(&found, asked.cgroup);
	else if (outside_find(&found, &asked, error))
		return -error->code;
	if (inject_check_all(record, &found, error))
		return -error->code;
	if (attach_program(record, &found))
		return error_memory(error);
	stop = stop_signals_open();
	if (run_name(record, error) || measuring_prepare(record, error) || ready_wait(record, error))
		return -error->code;
	result = record->options.is_inject ? inject_measure(record, &found, stop, error)
					   : attach_measure(record, &found, stop, error);
	stop_signals_close(stop);
	if (result)
		attach_give_up(record);
	else
		measuring_finish(record, RENDEZVOUS_NO_STATUS, &usage);
	return result;
}

/* ---- words to another hpct-record ---- */

static int speak(const struct options *options)
{
	const char *run = options->start ? options->start : options->stop;
	struct error error = {0};
	uint64_t late = 0;

	if (options->is_status ? control_list(options->program[0], &error)
			       : control_order(run, options->start ? EVENT_CONTROL_START : EVENT_CONTROL_STOP,
					 &late, &error)) {
		fflush(stdout);
		say(error.text);
		return LAUNCH_FAILED;
	}
	if (late)
		fprintf(stderr,
			"hpct-record: %lu processes of %s wait in calls that hpct does not interrupt; they "
			"follow "
			"as soon as those end\n",
			(unsigned long)late, run);
	return stdout_check("hpct-record", 0, LAUNCH_FAILED);
}

int main(int argc, char **argv)
{
	static struct record record;
	struct error error = {0};
	int code;

	nested_leave(argv);
	vdso_init();
	process_title_init(argv);
	standard_reserve();
	if (options_parse(&record.options, argc, argv, &error)) {
		say(error.text);
		return LAUNCH_FAILED;
	}
	if (record.options.is_help)
		fputs(options_help, stdout);
	else if (record.options.is_version)
		puts("hpct-record " HPCT_VERSION);
	else if (record.options.is_list)
		list_all();
	if (record.options.is_help || record.options.is_version || record.options.is_list)
		return stdout_check("hpct-record", 0, LAUNCH_FAILED);
	if (record.options.start || record.options.stop || record.options.is_status)
		return speak(&record.options);
	for (unsigned i = 0; i < record.options.note_count; i++)
		say(record.options.notes[i]);
	launch_name_find(&record.name);
	if (options_attach(&record.options)) {
		if (!attach(&record, &error))
			return 0;
		say(error.text);
		return LAUNCH_FAILED;
	}
	code = target_check(&record.target, record.options.program[0], &error);
	if (code) {
		say(error.text);
		return code;
	}
	if (run_name(&record, &error) || prepare(&record, &error)) {
		say(error.text);
		return LAUNCH_FAILED;
	}
	return program_run(&record);
}
