/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - see report.h. Collects all with names, and takes them out at the end: nothing passes by
 * redact.h. */
#include "record/doctor/report.h"

#include <glob.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "record/base/install_paths.h"
#include "record/doctor/doctor.h"
#include "record/doctor/doctor_child.h"
#include "record/doctor/redact.h"

#define WAIT_MS 120000u
#define SAID_MAX (256u << 10)
#define LOSSES_MAX 40u /* rows of what was lost or not monitored */

extern char **environ;

__attribute__((format(printf, 2, 3))) static void put(struct store_bytes *text, const char *format, ...)
{
	char line[4096];
	va_list list;

	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	store_bytes_put(text, line, strlen(line));
}

/* Lines of a file that begin with one of the words, or all; a word that ends the list is NULL. */
static void file_put(struct store_bytes *text, const char *path, const char *const *words)
{
	char line[1024];
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file)) {
		const char *const *word = words;

		while (word && *word && strncmp(line, *word, strlen(*word)))
			word++;
		if (!word || *word)
			put(text, "%s%s", line, strchr(line, '\n') ? "" : "\n");
	}
	if (file)
		fclose(file);
}

/* PATH: its first line; a file that is not there has no line. */
static void setting_put(struct store_bytes *text, const char *path)
{
	char line[256];

	if (doctor_line(path, line, sizeof(line)))
		put(text, "%s: %s\n", path, line);
}

static void program_put(struct store_bytes *text, const char *directory, const char *const *words)
{
	char path[PATH_MAX + 64], *said = malloc(SAID_MAX);
	const char *argv[12] = {path};
	int code;

	if (!said) {
		text->failed = true;
		return;
	}
	snprintf(path, sizeof(path), "%s/%s", directory, words[0]);
	for (unsigned i = 1; i < 11 && words[i]; i++)
		argv[i] = words[i];
	code = doctor_child(argv, NULL, WAIT_MS, said, SAID_MAX);
	store_bytes_put(text, said, strlen(said));
	if (code)
		put(text, "(%s ended with %d)\n", words[0], code);
	free(said);
}

static void system_put(struct store_bytes *text)
{
	static const char *const names[] = {"PRETTY_NAME=", NULL}, *const model[] = {"model name", NULL};
	static const char *const own[] = {"CapEff:", "NoNewPrivs:", "Seccomp:", "Cpus_allowed_list:", NULL};
	static const char *const memory[] = {"MemTotal:", "MemAvailable:", NULL};
	struct store_bytes models = {0};
	struct utsname name;

	uname(&name);
	put(text, "\n[system]\nkernel: %s %s %s %s\nC library: glibc %s\n", name.sysname, name.release,
		name.version, name.machine, gnu_get_libc_version());
	file_put(text, "/etc/os-release", names);
	file_put(&models, "/proc/cpuinfo", model);
	if (models.size) { /* one stands for all */
		const uint8_t *end = memchr(models.data, '\n', models.size);

		store_bytes_put(text, models.data, (size_t)(end - models.data) + 1);
	}
	store_bytes_fini(&models);
	put(text, "processors: %ld of %ld\npage: %ld bytes\n", sysconf(_SC_NPROCESSORS_ONLN),
		sysconf(_SC_NPROCESSORS_CONF), sysconf(_SC_PAGESIZE));
	file_put(text, "/proc/meminfo", memory);
	put(text, "user: %s\ncontainer: %s\n", geteuid() ? "not root" : "root",
		!access("/.dockerenv", F_OK)	      ? "docker"
		: !access("/run/.containerenv", F_OK) ? "podman"
		: getenv("container")		      ? getenv("container")
						      : "none seen");
	file_put(text, "/proc/self/status", own);
	setting_put(text, "/proc/self/attr/current");
	setting_put(text, "/sys/fs/selinux/enforce");
	setting_put(text, "/sys/fs/cgroup/cpu.max");
	setting_put(text, "/sys/fs/cgroup/memory.max");
	setting_put(text, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

static void settings_put(struct store_bytes *text)
{
	static const char *const files[] = {"perf_event_paranoid", "perf_event_mlock_kb",
		"perf_event_max_sample_rate", "perf_event_max_stack", "perf_cpu_time_max_percent",
		"kptr_restrict", "yama/ptrace_scope", "unprivileged_userns_clone", "randomize_va_space",
		"threads-max", "pid_max", NULL};
	char path[128];

	put(text, "\n[limits]\n");
	file_put(text, "/proc/self/limits", NULL);
	put(text, "\n[settings]\n");
	for (const char *const *file = files; *file; file++) {
		snprintf(path, sizeof(path), "/proc/sys/kernel/%s", *file);
		setting_put(text, path);
	}
	setting_put(text, "/proc/sys/user/max_user_namespaces");
	setting_put(text, "/proc/sys/vm/overcommit_memory");
}

static void gpus_put(struct store_bytes *text)
{
	static const char *const model[] = {"Model:", NULL}, *const restricted[] = {
								     "RmProfilingAdminOnly", NULL};
	static const char *const drivers[] = {"nvidia", "amdgpu", "i915", "xe", NULL};
	char path[64];
	glob_t found = {0};

	put(text, "\n[GPUs]\n");
	file_put(text, "/proc/driver/nvidia/version", NULL);
	file_put(text, "/proc/driver/nvidia/params", restricted);
	glob("/proc/driver/nvidia/gpus/*/information", 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		file_put(text, found.gl_pathv[i], model);
	globfree(&found);
	for (const char *const *driver = drivers; *driver; driver++) {
		snprintf(path, sizeof(path), "/sys/module/%s", *driver);
		if (!access(path, F_OK))
			put(text, "driver: %s\n", *driver);
		snprintf(path, sizeof(path), "/sys/module/%s/version", *driver);
		setting_put(text, path);
	}
	glob("/dev/dri/renderD*", 0, NULL, &found);
	glob("/dev/nvidia*", GLOB_APPEND, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		put(text, "%s: %s\n", found.gl_pathv[i],
			access(found.gl_pathv[i], R_OK | W_OK) ? "cannot be opened" : "can be opened");
	globfree(&found);
}

/* Variables that change what is measured; of others not even the name. */
static void environment_put(struct store_bytes *text)
{
	static const char *const wanted[] = {"HPCT_", "HPCRUN_", "LD_", "LC_",
		"LANG=", "TERM=", "TMPDIR=", "OMP_", "CUDA_", "NVIDIA_", "ROCR_", "ZE_", "OCL_", "MALLOC_",
		"PYTHONPERFSUPPORT=", "PYTHONMALLOC=", "OMPI_MCA_", NULL};
	/* their values say where, and nothing else */
	static const char *const present[] = {
		"SLURM_JOB_ID=", "PMI_RANK=", "PMIX_RANK=", "OMPI_COMM_WORLD_SIZE=", "FLUX_JOB_ID=", NULL};

	put(text, "\n[environment]\n");
	for (char **at = environ; *at; at++) {
		for (const char *const *name = wanted; *name; name++)
			if (!strncmp(*at, *name, strlen(*name)))
				put(text, "%.2000s\n", *at);
		for (const char *const *name = present; *name; name++)
			if (!strncmp(*at, *name, strlen(*name)))
				put(text, "%sset\n", *name);
	}
}

static void recording_put(struct store_bytes *text)
{
	struct doctor_recording *try = calloc(1, sizeof(*try));

	if (!try) {
		text->failed = true;
		return;
	}
	doctor_recording_try(try);
	put(text, "\n[a recording of hpct-record --version]\n");
	store_bytes_put(text, try->said, strlen(try->said));
	put(text, "(hpct-record ended with %d, hpct-info with %d)\n", try->code, try->info_code);
	free(try);
}

/* The n-th field of a line of TSV, which ends at `end`; its size in *size. */
static const char *field(const char *line, const char *end, unsigned n, size_t *size)
{
	const char *stop;

	for (; n && line < end; n--) {
		stop = memchr(line, '\t', (size_t)(end - line));
		line = stop ? stop + 1 : end;
	}
	stop = memchr(line, '\t', (size_t)(end - line));
	*size = (size_t)((stop ? stop : end) - line);
	return line;
}

/* Facts of a run that name what it is about; the rest are numbers and reasons. Of the command its program
 * stays. */
static void fact_put(
	struct store_bytes *text, const char *line, const char *end, bool is_full, struct redact *redact)
{
	static const char *const private[] = {"run", "launch", "collector_pid", "copied_from", NULL};
	size_t key_size, size;
	const char *key = field(line, end, 0, &key_size), *value = field(line, end, 1, &size);
	const char *const *name = private;

	if (key_size == 4 && !memcmp(key, "host", 4) && size && !is_full) {
		redact_add(redact, value, size, "HOST"); /* of that run, which may be another machine's */
		return;
	}
	while (*name && (key_size != strlen(*name) || memcmp(key, *name, key_size)))
		name++;
	if (*name && !is_full)
		return;
	if (key_size == 7 && !memcmp(key, "command", 7) && !is_full && memchr(value, ' ', size))
		put(text, "command\t%.*s ...\n", (int)((const char *)memchr(value, ' ', size) - value),
			value);
	else
		put(text, "%.*s\n", (int)(end - line), line);
}

/* What a program says, to be freed; NULL without memory. */
static char *said_by(const char *const *argv, int *code)
{
	char *said = malloc(SAID_MAX);

	if (said)
		*code = doctor_child(argv, NULL, WAIT_MS, said, SAID_MAX);
	return said;
}

static void facts_put(struct store_bytes *text, const char *directory, const struct report_options *options,
	struct redact *redact)
{
	char info[PATH_MAX + 64], *said;
	const char *argv[] = {info, "--format", "tsv", options->run, NULL};
	int code = 0;

	snprintf(info, sizeof(info), "%s/hpct-info", directory);
	put(text, "\n[the last run]\n");
	said = said_by(argv, &code);
	text->failed |= !said;
	for (const char *line = said, *end; line && (end = strchr(line, '\n')); line = end + 1)
		fact_put(text, line, end, options->is_full, redact);
	if (code)
		put(text, "(hpct-info ended with %d)\n", code);
	free(said);
}

/* What the agent could not measure and why is in the run: spans of lost records and of time that was not
 * monitored. Without their streams and call paths, which name the program's parts. */
static void losses_put(struct store_bytes *text, const char *directory, const struct report_options *options)
{
	static const char *const columns[] = {"begin_ns", "end_ns", "op", "attributes"};
	char slice[PATH_MAX + 64], *said;
	const char *argv[] = {slice, "--format", "tsv", "--op", "lost,unmonitored", options->run, NULL};
	unsigned at[4] = {0}, rows = 0;
	int code = 0;
	size_t size;

	snprintf(slice, sizeof(slice), "%s/hpct-slice", directory);
	put(text, "\n[what its agents reported: lost and unmonitored]\n");
	said = said_by(argv, &code);
	text->failed |= !said;
	for (const char *line = said, *end, *word; line && (end = strchr(line, '\n')); line = end + 1) {
		bool is_header = !strncmp(line, "stream\t", 7);

		for (unsigned column = 0; is_header && column < 4; column++)
			for (unsigned i = 0; i < 32; i++)
				if (word = field(line, end, i, &size),
					size == strlen(columns[column]) &&
						!memcmp(word, columns[column], size))
					at[column] = i;
		if (!memchr(line, '\t', (size_t)(end - line)) || rows++ > LOSSES_MAX)
			continue;
		for (unsigned column = 0; column < 4; column++) {
			word = field(line, end, at[column], &size);
			put(text, "%.*s%c", (int)size, word, column < 3 ? '\t' : '\n');
		}
	}
	if (rows > LOSSES_MAX + 1)
		put(text, "... and %u more\n", rows - LOSSES_MAX - 1);
	free(said);
}

/* Longer names first: a home directory in the current one, a host's first name in its whole. */
static void redact_fill(struct redact *redact)
{
	const struct passwd *user = getpwuid(getuid());
	const char *home = getenv("HOME"), *name = user ? user->pw_name : getenv("USER"), *dot;
	char directory[PATH_MAX];
	struct utsname host;

	if (getcwd(directory, sizeof(directory)))
		redact_add(redact, directory, strlen(directory), ".");
	if (home)
		redact_add(redact, home, strlen(home), "~");
	if (user)
		redact_add(redact, user->pw_dir, strlen(user->pw_dir), "~");
	if (name)
		redact_add(redact, name, strlen(name), "USER");
	uname(&host);
	dot = strchr(host.nodename, '.');
	redact_add(redact, host.nodename, strlen(host.nodename), "HOST");
	if (dot) {
		redact_add(redact, host.nodename, (size_t)(dot - host.nodename), "HOST");
		redact_add(redact, dot + 1, strlen(dot + 1), "DOMAIN");
	}
}

int report_write(const struct report_options *options, struct store_bytes *text, struct error *error)
{
	char directory[PATH_MAX], now[32];
	struct install_paths paths;
	struct store_bytes all = {0};
	struct redact redact = {.count = 0};
	time_t seconds = time(NULL);
	int rc = 0;

	if (install_paths_find(&paths, error))
		return -ERROR_IO;
	snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(paths.names, '/') - paths.names),
		paths.names);
	strftime(now, sizeof(now), "%Y-%m-%dT%H:%MZ", gmtime(&seconds));
	put(&all, "hpct-doctor --report, %s\n%s\n\n[version]\n", now,
		options->is_full ? "Paths and names are as they are."
				 : "Paths, and names of hosts and users, are shortened; --full keeps them.");
	program_put(&all, directory, (const char *const[]){"hpct", "--version", "--build", NULL});
	system_put(&all);
	settings_put(&all);
	gpus_put(&all);
	environment_put(&all);
	put(&all, "\n[what can be measured]\n");
	program_put(&all, directory, (const char *const[]){"hpct-doctor", "--all", NULL});
	recording_put(&all);
	if (!options->is_full)
		redact_fill(&redact);
	facts_put(&all, directory, options, &redact);
	losses_put(&all, directory, options);
	if (options->is_full)
		store_bytes_put(text, all.data, all.size);
	else
		rc = redact_text(&redact, (const char *)all.data, all.size, text);
	rc = rc || all.failed || text->failed ? error_memory(error) : 0;
	store_bytes_fini(&all);
	redact_fini(&redact);
	return rc;
}
