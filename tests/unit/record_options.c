/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_options.c - the command line of hpct-record, the names of launches and runs, and the run's
 * directory: what is joined, replaced and refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/launch/launch_name.h"
#include "record/launch/options.h"
#include "record/launch/rundir.h"

static char directory[64];

static int set_up(void **state)
{
	static const char *const launchers[] = {"PMIX_NAMESPACE", "PMI_JOBID", "OMPI_MCA_ess_base_jobid",
		"HYDRA_LAUNCHER_ID", "SLURM_JOB_ID", "SLURM_STEP_ID", "COBALT_JOBID", "LSB_JOBID",
		"PBS_JOBID", "HPCRUN_EVENT_LIST"};

	(void)state;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		unsetenv(launchers[i]);
	strcpy(directory, "/tmp/hpct-options.XXXXXX");
	return mkdtemp(directory) && !chdir(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return chdir("/") || system(command);
}

/* NULL: refused. */
static const char *event(const char *text)
{
	static char events[EVENT_EVENTS_MAX];
	struct events_asked asked = {.event = {text}, .count = 1};
	struct error error = {0};

	if (!events_write(events, &asked, &error))
		return events;
	assert_string_not_equal(error.text, "");
	return NULL;
}

static void test_events(void **state)
{
	(void)state;
	assert_string_equal(event("CPUTIME"), "CPUTIME@5000");
	assert_string_equal(event("CPUTIME@1000"), "CPUTIME@1000");
	assert_string_equal(event("cputime@1000"), "CPUTIME@1000");
	assert_string_equal(event("CPUTIME@f1000"), "CPUTIME@1000");
	assert_string_equal(event("CPUTIME@f200"), "CPUTIME@5000");
	assert_null(event("CPUTIME@"));
	assert_null(event("CPUTIME@0"));
	assert_null(event("CPUTIME@f0"));
	assert_null(event("CPUTIME@9"));
	assert_string_equal(event("CPUTIME@10"), "CPUTIME@10");
	assert_null(event("CPUTIME@f100001"));
	assert_string_equal(event("CPUTIME@f100000"), "CPUTIME@10");
	assert_null(event("task-clock@9999"));
	assert_string_equal(event("task-clock@10000"), "task-clock@10000n BY=perf");
	assert_null(event("CPUTIME@12x"));
	assert_null(event("CPUTIME@99999999999999999999"));
	assert_null(event("CPUTIMES"));
	assert_string_equal(event("REALTIME"), "CPUTIME@5000");
	assert_string_equal(event("REALTIME@1000"), "CPUTIME@1000");
	assert_string_equal(event("BLOCKTIME"), "CPUTIME@5000 WAITS");
	assert_null(event("REALTIME@0"));
	assert_null(event(""));
}

/* Several, with -c, --sampler, --force. */
static const char *events(struct events_asked asked)
{
	static char text[EVENT_EVENTS_MAX];
	struct error error = {0};

	while (asked.event[asked.count])
		asked.count++;
	if (!events_write(text, &asked, &error))
		return text;
	assert_string_not_equal(error.text, "");
	return NULL;
}

#define EVENTS(...) events((struct events_asked){__VA_ARGS__})

static void test_mpi(void **state)
{
	(void)state;
	assert_string_equal(EVENTS({"MPI"}), "CPUTIME@5000");
	assert_string_equal(EVENTS({"MPI@10us"}), "CPUTIME@5000 MPI=10000");
	assert_string_equal(EVENTS({"mpi@250ns", "CPUTIME@100"}), "CPUTIME@100 MPI=250");
	assert_string_equal(EVENTS({"MPI@7", "IO"}), "CPUTIME@5000 IO=on MPI=7000");
	assert_string_equal(EVENTS({"MPI@0"}), "CPUTIME@5000 MPI=0");
	assert_string_equal(EVENTS({"MPI@1s"}), "CPUTIME@5000 MPI=1000000000");
	assert_string_equal(EVENTS({"MPI=off"}), "CPUTIME@5000 MPI=off");
	assert_null(EVENTS({"MPI@"}));
	assert_null(EVENTS({"MPI@2s"}));
	assert_null(EVENTS({"MPI@10m"}));
	assert_null(EVENTS({"MPI@f100"}));
	assert_null(EVENTS({"MPI=on"}));
	assert_null(EVENTS({"MPI@99999999999999999999"}));
}

static void test_counters(void **state)
{
	(void)state;
	assert_string_equal(EVENTS({"page-faults@1"}), "CPUTIME@5000 page-faults=1:2:0:0:1:");
	assert_string_equal(EVENTS({"CPUTIME@100", "faults@f16:"}) ? "taken" : "refused", "refused");
	assert_string_equal(EVENTS({"REALTIME", "CPUTIME@100"}), "CPUTIME@100");
	assert_string_equal(
		EVENTS({"REALTIME", "CPUTIME", "BLOCKTIME"}, .rate = "f1000"), "CPUTIME@1000 WAITS");
	assert_string_equal(EVENTS({"task-clock@1000000", "REALTIME@7"}), "task-clock@1000000n BY=perf");
	assert_string_equal(EVENTS({"CPUTIME@100", "Faults@f16"}), "CPUTIME@100 Faults=1:2:0:0:10:f");
	assert_string_equal(EVENTS({"cycles:u:ppp@4000001", "cs@3"}),
		"CPUTIME@5000 cycles:u:ppp=0:0:0:0:3d0901:uppp cs=1:3:0:0:3:");
	assert_string_equal(EVENTS({"cycles:P@1"}), "CPUTIME@5000 cycles:P=0:0:0:0:1:pppp");
	assert_string_equal(
		EVENTS({"instructions"}, .rate = "f200"), "CPUTIME@5000 instructions=0:1:0:0:c8:f");
	assert_string_equal(
		EVENTS({"CPUTIME", "faults"}, .rate = "1000"), "CPUTIME@1000 faults=1:2:0:0:3e8:");
	assert_string_equal(EVENTS({NULL}, .rate = "f1000"), "CPUTIME@1000");
	assert_string_equal(EVENTS({"faults"}, .rate = "1000"), "CPUTIME@5000 faults=1:2:0:0:3e8:");
	assert_string_equal(EVENTS({"task-clock@15000"}), "task-clock@15000n BY=perf");
	assert_string_equal(EVENTS({"cpu-clock@f1000"}, .sampler = "auto"), "cpu-clock@1000000n");
	assert_string_equal(EVENTS({"CPUTIME"}, .sampler = "overflow", .has_switches = true),
		"CPUTIME@5000 SWITCHES BY=overflow");
	assert_null(EVENTS({"CPUTIME", "task-clock"}));
	assert_null(EVENTS({"CPUTIME", "CPUTIME"}, .is_forced = true));
	assert_string_equal(
		EVENTS({"CPUTIME", "task-clock@7"}, .is_forced = true), "CPUTIME@5000 task-clock=1:1:0:0:7:");
	assert_null(EVENTS({"cycles:x"}));
	assert_null(EVENTS({"task-clock:u"}));
	assert_null(EVENTS({"cycles@0"}));
	assert_null(EVENTS({"cy cles@1"}));
	assert_null(EVENTS({"cycles"}, .rate = "often"));
	assert_null(EVENTS({"cycles@1"}, .rate = "often"));
	assert_null(EVENTS({NULL}, .rate = "0"));
	assert_null(EVENTS({"cycles"}, .sampler = "nobody"));
	assert_null(EVENTS({"cs@1", "cs@2", "cs@3", "cs@4", "cs@5", "cs@6", "cs@7", "cs@8", "cs@9"}));
}

/* libpfm4 encodes for a processor that need not be there, see main. */
static void test_names_of_the_processor(void **state)
{
	const char *got;

	(void)state;
	got = event("INST_RETIRED:ANY_P:u@1000");
	if (!got)
		skip(); /* built without libpfm4 */
	assert_string_equal(got, "CPUTIME@5000 INST_RETIRED:ANY_P:u=4:c0:0:0:3e8:u");
	assert_string_equal(
		event("mem_load_retired:l3_miss@7"), "CPUTIME@5000 mem_load_retired:l3_miss=4:20d1:0:0:7:");
	assert_string_equal(event("skl::INST_RETIRED:ANY_P:pp@1"),
		"CPUTIME@5000 skl::INST_RETIRED:ANY_P:pp=4:c0:0:0:1:pp");
	assert_null(event("skl::NO_SUCH_EVENT"));
}

static void test_what_is_refused_is_left_out(void **state)
{
	char text[EVENT_EVENTS_MAX] =
		"CPUTIME@5000 page-faults=1:2:0:0:1: nothing=ffffff:0:0:0:1: SWITCHES BY=trap",
	     why[256];

	(void)state;
	events_try(text, why, sizeof(why));
	assert_non_null(strstr(why, "nothing is not counted: "));
	assert_null(strstr(text, "nothing"));
	assert_non_null(strstr(text, " SWITCHES BY=trap"));
	assert_int_equal(strncmp(text, "CPUTIME@5000 ", 13), 0);
}

/* ---- a processor of our own ---- */

static struct {
	bool is_on, is_held;
	unsigned level; /* of exact addresses, at most */
} processor;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* What the kernel says of its processor's counters, where the test has one; a file stands for the event. */
long __wrap_syscall(long number, ...)
{
	va_list list;
	long word[6];

	va_start(list, number);
	for (unsigned i = 0; i < 6; i++)
		word[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open && processor.is_on) {
		const struct perf_event_attr *attr = (const void *)word[0];
		static uint64_t said[30000][3];
		int file;

		if (attr->precise_ip > processor.level) {
			errno = EOPNOTSUPP;
			return -1;
		}
		for (unsigned i = 0; i < 30000; i++) { /* each reading takes the next */
			said[i][0] = processor.is_held ? 0 : 9;
			said[i][1] = 2000000;
			said[i][2] = processor.is_held ? 0 : 2000000;
		}
		file = memfd_create("event", MFD_CLOEXEC);
		assert_int_equal(pwrite(file, said, sizeof(said), 0), sizeof(said));
		return file;
	}
	return __real_syscall(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

static const char *tried(const char *events)
{
	static char text[EVENT_EVENTS_MAX], why[512];

	snprintf(text, sizeof(text), "%s", events);
	events_try(text, why, sizeof(why));
	return why;
}

static void test_precise_levels_and_held_counters(void **state)
{
	char said[256];

	(void)state;
	processor.is_on = true;
	processor.level = 2;
	assert_string_equal(tried("CPUTIME@5000 cycles:pp=0:0:0:0:1:fpp"), "");
	assert_string_equal(tried("CPUTIME@5000 cycles:ppp=0:0:0:0:1:fppp"),
		"cycles:ppp is not counted: the processor has exact addresses of level 2 at most for it "
		"(:pp)");
	assert_string_equal(tried("CPUTIME@5000 cycles:P=0:0:0:0:1:fpppp"), "");
	events_precision_say("CPUTIME@5000 cycles:P=0:0:0:0:1:fpppp cs=1:3:0:0:1:", said, sizeof(said));
	assert_string_equal(said, "cycles:P: the processor grants exact addresses of level 2 of 3");
	events_precision_say("CPUTIME@5000 cycles:pp=0:0:0:0:1:fpp", said, sizeof(said));
	assert_string_equal(said, "");
	processor.level = 0;
	assert_string_equal(tried("CPUTIME@5000 cycles:p=0:0:0:0:1:fp"),
		"cycles:p is not counted: the processor has exact addresses of level 0 at most for it");
	processor.is_held = true;
	assert_string_equal(tried("CPUTIME@5000 cycles=0:0:0:0:1:f"),
		"cycles is not counted: another program holds the "
		"processor's counters (perf, a monitoring daemon)");
	assert_string_equal(tried("CPUTIME@5000 value=0/cycles=0:0:0:0:"),
		"cycles is not counted: another program holds the processor's counters (perf, a monitoring "
		"daemon)");
	assert_string_equal(tried("CPUTIME@5000 page-faults=1:2:0:0:1:"), ""); /* the kernel's own */
	processor.is_on = processor.is_held = false;
}

/* `words` are separated by spaces. */
static int parse(struct options *options, const char *words)
{
	static char text[256];
	static char *argv[32];
	struct error error = {0};
	int argc = 0, rc;

	snprintf(text, sizeof(text), "hpct-record %s", words);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	rc = options_parse(options, argc, argv, &error);
	assert_true(!rc || error.text[0]);
	return rc;
}

static void test_gpus(void **state)
{
	struct error error = {0};
	struct events_gpu found = {.vendor = NULL};

	(void)state;
	assert_int_equal(events_gpu_find(&found, "level0", &error), 0);
	assert_string_equal(found.vendor, "level0");
	assert_int_equal(events_gpu_find(&found, "amd", &error), -ERROR_USAGE);
	assert_string_equal(error.text, "event gpu=amd is not available; after gpu= comes auto, nvidia, "
					"nvidia,pc, nvidia,util, opencl, level0 or off");
	assert_int_equal(events_gpu_find(&found, "nvidia", &error), 0);
	assert_int_equal(found.pc_period, 0);
	assert_int_equal(events_gpu_find(&found, "nvidia,pc", &error), 0);
	assert_string_equal(found.vendor, "nvidia");
	assert_int_equal(found.pc_period, 16);
	assert_int_equal(events_gpu_find(&found, "nvidia,pc@16384", &error), 0);
	assert_int_equal(found.pc_period, 14);
	assert_int_equal(events_gpu_find(&found, "nvidia,pc@1000", &error), -ERROR_USAGE);
	assert_int_equal(events_gpu_find(&found, "nvidia,pc@16", &error), -ERROR_USAGE);
	assert_int_equal(events_gpu_find(&found, "nvidia,pcx", &error), -ERROR_USAGE);
}

static void test_gpu_counters(void **state)
{
	static const char *const bad[] = {"nvidia,util@", "nvidia,util@1", "nvidia,util@1Hz",
		"nvidia,util@20us", "nvidia,util@2s", "nvidia,util@-1ms", "nvidia,util@nan", "nvidia,utilx",
		"nvidia,pc,util", "nvidia,util@1ms,pc"};
	struct events_gpu found = {.vendor = NULL};
	struct error error = {0};

	(void)state;
	assert_int_equal(events_gpu_find(&found, "nvidia,util", &error), 0);
	assert_string_equal(found.vendor, "nvidia");
	assert_int_equal(found.util_ns, 10000000);
	assert_int_equal(events_gpu_find(&found, "nvidia,util@1ms", &error), 0);
	assert_int_equal(found.util_ns, 1000000);
	assert_int_equal(events_gpu_find(&found, "nvidia,util@100us", &error), 0);
	assert_int_equal(events_gpu_find(&found, "nvidia,util@0.5s", &error), 0);
	assert_int_equal(found.util_ns, 500000000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct events_gpu none = {.vendor = NULL};

		error.text[0] = '\0';
		assert_int_equal(events_gpu_find(&none, bad[i], &error), -ERROR_USAGE);
		assert_true(error.text[0]);
	}
	/* The GPU samples either instructions or counters: a word does not silently replace the other. */
	assert_int_equal(events_gpu_find(&found, "nvidia,pc", &error), -ERROR_USAGE);
	assert_non_null(strstr(error.text, "exclude each other"));
	found = (struct events_gpu){.vendor = NULL};
	assert_int_equal(events_gpu_find(&found, "nvidia,pc", &error), 0);
	assert_int_equal(events_gpu_find(&found, "nvidia,util", &error), -ERROR_USAGE);
	/* Unless it is taken back. */
	found = (struct events_gpu){.vendor = NULL};
	assert_int_equal(events_gpu_find(&found, "nvidia,pc", &error), 0);
	assert_int_equal(events_gpu_find(&found, "off", &error), 0);
	assert_int_equal(events_gpu_find(&found, "nvidia,util", &error), 0);
	assert_int_equal(found.pc_period, 0);
}

static void test_processes_that_run_already(void **state)
{
	static const char *const bad[] = {"-p 1 prog", "-p 1 --comm a", "--for 1s prog", "--newest prog",
		"-a -p 1", "-a --comm x", "-a prog", "-p 1 --newest", "-p 1 --for 5", "-p 1 --for 0ms",
		"-p 1 --stack-bytes 1000", "-p 1 --stack-bytes 70000", "-p 1 -ds", "-p 1 -e NONE",
		"-p 1 --ranks 0", "-p"};
	struct options options;

	(void)state;
	assert_int_equal(parse(&options, "-p 12,13 --for 1.5s --stack-bytes 4099 -c f1000"), 0);
	assert_string_equal(options.pids, "12,13");
	assert_int_equal(options.for_ns, 1500000000);
	assert_int_equal(options.stack_bytes, 4096);
	assert_string_equal(options.events, "CPUTIME@1000 SWITCHES gpu=auto");
	assert_int_equal(parse(&options, "-a --for 1m"), 0);
	assert_true(options.is_all);
	assert_int_equal(parse(&options, "--comm a*b --newest --for 20ms"), 0);
	assert_string_equal(options.comm, "a*b");
	assert_true(options.is_newest);
	assert_int_equal(options.for_ns, 20000000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(&options, bad[i]), -ERROR_USAGE);
}

static void test_the_command_line(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(
		parse(&options, "-t -o run -e CPUTIME@100 --overwrite --strict prog -o other -- x"), 0);
	assert_string_equal(options.run, "run");
	assert_string_equal(options.events, "CPUTIME@100 SWITCHES gpu=auto");
	assert_true(options.overwrite && options.strict);
	assert_string_equal(options.program[0], "prog");
	assert_string_equal(options.program[1], "-o");
	assert_string_equal(options.program[3], "--");
	assert_int_equal(parse(&options, "-- -prog"), 0);
	assert_string_equal(options.program[0], "-prog");
	assert_string_equal(options.events, "CPUTIME@5000 SWITCHES gpu=auto");
	assert_int_equal(parse(&options, "--no-switches prog"), 0);
	assert_string_equal(options.events, "CPUTIME@5000 gpu=auto");
	assert_int_equal(parse(&options, "-e gpu=opencl -e CPUTIME@90 prog"), 0);
	assert_string_equal(options.events, "CPUTIME@90 SWITCHES gpu=opencl");
	assert_int_not_equal(parse(&options, "-e gpu=amd prog"), 0);
	assert_int_equal(parse(&options, "--cuda hold --cuda-graphs graph prog"), 0);
	assert_string_equal(options.events, "CPUTIME@5000 SWITCHES cuda=hold cuda-graphs=graph gpu=auto");
	assert_int_equal(parse(&options, "--cuda yield --cuda-graphs node prog"), 0);
	assert_string_equal(options.events, "CPUTIME@5000 SWITCHES gpu=auto");
	assert_int_not_equal(parse(&options, "--cuda share prog"), 0);
	assert_int_equal(parse(&options, "--summary file prog"), 0);
	assert_string_equal(options.summary, "file");
	assert_int_not_equal(parse(&options, ""), 0);
	assert_int_not_equal(parse(&options, "-o"), 0);
	assert_int_not_equal(parse(&options, "--nonsense prog"), 0);
	assert_int_not_equal(parse(&options, "-x prog"), 0);
	assert_int_not_equal(parse(&options, "-e NONSENSE prog"), 0);
	assert_int_equal(parse(&options, "--help"), 0);
	assert_true(options.is_help);
	setenv("HPCRUN_EVENT_LIST", "CPUTIME@777", 1);
	assert_int_equal(parse(&options, "prog"), 0);
	assert_string_equal(options.events, "CPUTIME@777 SWITCHES gpu=auto");
}

static void test_help_is_one_screen(void **state)
{
	size_t lines = 0, width = 0;

	(void)state;
	for (const char *at = options_help; *at; at++) {
		width = *at == '\n' ? 0 : width + 1;
		lines += *at == '\n';
		assert_true(width <= 80);
	}
	assert_true(lines <= 24);
}

static const char *run_path(const char *pattern, const char *program)
{
	static char path[PATH_MAX];
	struct launch_name name;
	struct error error = {0};

	launch_name_find(&name);
	if (!run_path_make(path, sizeof(path), pattern, program, &name, &error))
		return path;
	assert_string_not_equal(error.text, "");
	return NULL;
}

static void test_names_of_runs(void **state)
{
	static char name[2 * PATH_MAX];
	char expected[512], host[256] = "";

	(void)state;
	gethostname(host, sizeof(host) - 1);
	snprintf(expected, sizeof(expected), "prog-%d.hpct", (int)getpid());
	assert_string_equal(run_path(NULL, "/usr/bin/prog"), expected);
	assert_string_equal(run_path("a", "prog"), "a.hpct");
	assert_string_equal(run_path("a.hpct", "prog"), "a.hpct");
	assert_string_equal(run_path("a.hpct//", "prog"), "a.hpct");
	assert_string_equal(run_path("50%%", "prog"), "50%.hpct");
	snprintf(expected, sizeof(expected), "%s-%d.hpct", host, (int)getpid());
	assert_string_equal(run_path("%h-%p", "prog"), expected);
	assert_null(run_path("%x", "prog"));
	assert_null(run_path("", "prog"));
	memset(name, 'n', sizeof(name) - 1);
	assert_null(run_path(name, "prog"));
	setenv("SLURM_JOB_ID", "47", 1);
	assert_string_equal(run_path(NULL, "prog"), "prog-47.hpct");
	assert_string_equal(run_path(NULL, "p\033[2J\n"), "p?[2J?-47.hpct");
	setenv("SLURM_STEP_ID", "2", 1);
	assert_string_equal(run_path(NULL, "prog"), "prog-47.2.hpct");
	assert_string_equal(run_path("%j_%s", "prog"), "47_2.hpct");
	/* What comes from outside makes no path. */
	setenv("SLURM_JOB_ID", "../../a b\n", 1);
	assert_null(strchr(run_path(NULL, "prog"), '/'));
}

static void test_names_of_launches(void **state)
{
	struct launch_name alone, step, mpi;

	(void)state;
	launch_name_find(&alone);
	assert_false(alone.is_shared);
	setenv("PBS_JOBID", "7.host", 1);
	launch_name_find(&alone);
	assert_false(alone.is_shared); /* two programs of one job are two launches */
	setenv("SLURM_JOB_ID", "47", 1);
	setenv("SLURM_STEP_ID", "2", 1);
	launch_name_find(&step);
	assert_true(step.is_shared);
	setenv("PMIX_NAMESPACE", "prterun-host-1@1", 1);
	launch_name_find(&mpi);
	assert_true(mpi.is_shared);
	assert_string_not_equal(step.id, mpi.id);
}

static void file_write(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void test_a_run_is_refused_or_replaced(void **state)
{
	struct error error = {0};
	struct stat status;
	bool made;

	(void)state;
	assert_int_equal(rundir_make("r.hpct", NULL, false, &made, &error), 0);
	assert_true(made);
	assert_int_equal(stat("r.hpct", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	assert_int_equal(rundir_make("r.hpct", NULL, false, &made, &error), -ERROR_USAGE);
	assert_false(made);
	file_write("r.hpct/host-boot.mdb");
	file_write("r.hpct/host-boot.mdb-lock");
	file_write("r.hpct/marks.tsv");
	assert_int_equal(rundir_make("r.hpct", NULL, true, &made, &error), 0);
	assert_int_equal(access("r.hpct/host-boot.mdb", F_OK), -1);
	file_write("r.hpct/host-boot.mdb");
	file_write("r.hpct/thesis.tex");
	assert_int_equal(rundir_make("r.hpct", NULL, true, &made, &error), -ERROR_USAGE);
	assert_int_equal(access("r.hpct/host-boot.mdb", F_OK), 0);
	assert_int_equal(access("r.hpct/thesis.tex", F_OK), 0);
	file_write("f.hpct");
	assert_int_not_equal(rundir_make("f.hpct", NULL, true, &made, &error), 0);
	assert_int_equal(access("f.hpct", F_OK), 0);
	assert_int_equal(symlink("r.hpct", "l.hpct"), 0);
	assert_int_not_equal(rundir_make("l.hpct", NULL, true, &made, &error), 0);
	assert_int_equal(access("r.hpct/thesis.tex", F_OK), 0);
	assert_int_equal(rundir_make("no/r.hpct", NULL, false, &made, &error), -ERROR_IO);
}

static void test_the_same_launch_joins(void **state)
{
	struct error error = {0};
	char path[256];
	bool made;

	(void)state;
	assert_int_equal(rundir_make("r.hpct", "step/1", false, &made, &error), 0);
	assert_true(made);
	assert_int_equal(rundir_store_path(path, sizeof(path), "r.hpct", "host", "0123456789"), 0);
	assert_string_equal(path, "r.hpct/host-01234567.mdb");
	file_write(path);
	assert_int_equal(rundir_make("r.hpct", "step/1", true, &made, &error), 0);
	assert_false(made);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(rundir_store_path(path, sizeof(path), "r.hpct", "host", "0123456789"), 0);
	assert_string_equal(path, "r.hpct/host-01234567-2.mdb");
	assert_int_equal(rundir_make("r.hpct", "step/12", false, &made, &error), -ERROR_USAGE);
	assert_int_equal(rundir_make("r.hpct", NULL, false, &made, &error), -ERROR_USAGE);
	rundir_unmake("r.hpct");
	assert_int_equal(access("r.hpct/host-01234567.mdb", F_OK), 0); /* what holds records stays */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_events),
		TEST(test_counters),
		TEST(test_mpi),
		TEST(test_names_of_the_processor),
		TEST(test_what_is_refused_is_left_out),
		TEST(test_precise_levels_and_held_counters),
		TEST(test_gpus),
		TEST(test_gpu_counters),
		TEST(test_processes_that_run_already),
		TEST(test_the_command_line),
		TEST(test_help_is_one_screen),
		TEST(test_names_of_runs),
		TEST(test_names_of_launches),
		TEST(test_a_run_is_refused_or_replaced),
		TEST(test_the_same_launch_joins),
	};

	setenv("LIBPFM_FORCE_PMU", "skl", 1); /* read once */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
