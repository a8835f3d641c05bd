/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_programs.c - checks hpct itself by using it: starts every program of the set, opens every library
 * beside the agent, records a program and reads the run. What is missing in a slim image shows here, with the
 * loader's own words.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/base/install_paths.h"
#include "record/doctor/doctor.h"
#include "record/doctor/doctor_child.h"

#define START_WAIT_MS 10000u
#define RECORD_WAIT_MS 60000u

/* What ./build.sh builds, except hpct-sql, which needs SQLite. */
static const char *const programs[] = {"hpct", "hpct-record", "hpct-link", "hpct-names", "hpct-info",
	"hpct-profile", "hpct-stats", "hpct-slice", "hpct-stacks", "hpct-diff", "hpct-blame", "hpct-advise",
	"hpct-report", "hpct-view", "hpct-plot", "hpct-import", "hpct-export", "hpct-doctor", NULL};

/* Appends ", WORD" to a list, if there is room for it. */
static void list_add(char *list, size_t room, const char *word)
{
	size_t used = strlen(list);

	if (used + strlen(word) + 3 > room)
		return;
	if (used)
		memcpy(list + used, ", ", 3);
	memcpy(list + strlen(list), word, strlen(word) + 1);
}

/* The line of `said` that says most: its last, without the name of the program that says it. */
static const char *sentence_of(char *said)
{
	char *line, *words;

	for (size_t size = strlen(said); size && said[size - 1] == '\n'; size--)
		said[size - 1] = '\0';
	line = strrchr(said, '\n');
	line = line ? line + 1 : said;
	words = strstr(line, "shared libraries: "); /* the loader's */
	return words ? words + strlen("shared libraries: ") : line;
}

/* Starts DIRECTORY/NAME --version. False: `why` says what became of it. */
static bool program_starts(const char *directory, const char *name, char *why, size_t room)
{
	char path[PATH_MAX + 64], said[1024], want[96];
	const char *argv[] = {path, "--version", NULL};
	int code;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(want, sizeof(want), "%s " HPCT_VERSION "\n", name);
	code = doctor_child(argv, NULL, START_WAIT_MS, said, sizeof(said));
	if (!code && !strcmp(said, want))
		return true;
	snprintf(why, room, "%s: %s", name, code || !*said ? sentence_of(said) : "it is of another version");
	if (code && !*sentence_of(said))
		snprintf(why, room, "%s: it ends with %d", name, code);
	return false;
}

/* The directory of hpct's programs, from that of hpct-names. */
static bool own_directory(char *directory, size_t room, struct install_paths *paths)
{
	struct error error;

	if (install_paths_find(paths, &error))
		return false;
	snprintf(directory, room, "%.*s", (int)(strrchr(paths->names, '/') - paths->names), paths->names);
	return true;
}

static void programs_look(struct doctor_row *row)
{
	char directory[PATH_MAX], path[PATH_MAX + 64], why[DOCTOR_TEXT] = "", missing[DOCTOR_TEXT / 2] = "";
	struct install_paths paths;
	unsigned started = 0, failed = 0;

	if (!own_directory(directory, sizeof(directory), &paths)) {
		doctor_say(row, DOCTOR_NO, "install hpct again", "they are not found");
		return;
	}
	for (const char *const *name = programs; *name; name++) {
		snprintf(path, sizeof(path), "%s/%s", directory, *name);
		if (access(path, F_OK))
			list_add(missing, sizeof(missing), *name);
		else if (program_starts(directory, *name, why, sizeof(why)))
			started++;
		else
			failed++;
	}
	snprintf(path, sizeof(path), "%s/hpct-sql", directory);
	if (!access(path, F_OK)) {
		started += program_starts(directory, "hpct-sql", why, sizeof(why));
		failed += *why && strstr(why, "hpct-sql");
	}
	if (failed)
		doctor_say(row, DOCTOR_NO,
			"install what it names, or the archive that needs no other library",
			"%u of %u cannot be started; %.180s", failed, failed + started, why);
	else if (*missing)
		doctor_say(row, DOCTOR_PARTLY, "install all of hpct", "not installed: %.200s", missing);
	else
		doctor_say(row, DOCTOR_YES, NULL, "all %u start", started);
}

/* Linked so that it opens nothing (store/portable/static_dl.c), not even itself; nor is anything put into it.
 */
static bool is_static(void)
{
	return !dlopen(NULL, RTLD_LAZY);
}

/* The agent in a process of its own, as a recording puts it there: the loader's complaint is on stderr. */
static void agent_look(struct doctor_row *row)
{
	struct install_paths paths;
	struct error error;
	char said[1024], directory[PATH_MAX], own[PATH_MAX + 64];
	const char *argv[] = {own, "--version", NULL};
	int code;

	if (install_paths_find(&paths, &error)) {
		doctor_say(row, DOCTOR_NO, "install hpct again", "%.200s", error.text);
		return;
	}
	if (is_static()) {
		doctor_say(row, DOCTOR_PARTLY,
			"where programs use glibc, take the archive without -static in its name",
			"this hpct is for systems of musl, whose programs take no agent and are measured "
			"from outside");
		return;
	}
	own_directory(directory, sizeof(directory), &paths);
	snprintf(own, sizeof(own), "%s/hpct-record", directory);
	code = doctor_child(argv, paths.agent, START_WAIT_MS, said, sizeof(said));
	if (code || strcmp(said, "hpct-record " HPCT_VERSION "\n"))
		doctor_say(row, DOCTOR_NO, "install hpct for this system", "%.100s: %.140s", paths.agent,
			sentence_of(said));
	else
		doctor_say(row, DOCTOR_YES, NULL, "%.200s, loaded into a program", paths.agent);
}

/* Why a library cannot be opened; "": it can. In a child, because libraries run code when opened. */
static void library_why(const char *path, char *why, size_t room)
{
	int ends[2], null;
	ssize_t got = 0;
	pid_t child;

	why[0] = '\0';
	if (pipe(ends))
		return;
	child = fork();
	if (!child) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		if (!dlopen(path, RTLD_LAZY | RTLD_LOCAL))
			dprintf(ends[1], "%s", dlerror());
		_exit(0);
	}
	close(ends[1]);
	if (child > 0) {
		got = read(ends[0], why, room - 1);
		waitpid(child, NULL, 0);
	}
	why[got > 0 ? got : 0] = '\0';
	close(ends[0]);
}

/* Every shared object beside the agent: its variants and plug-ins. */
static void libraries_look(struct doctor_row *row)
{
	char pattern[PATH_MAX + 96], why[DOCTOR_TEXT], last[DOCTOR_TEXT] = "", names[DOCTOR_TEXT] = "";
	struct install_paths paths;
	struct error error;
	glob_t found = {0};

	if (install_paths_find(&paths, &error)) {
		doctor_say(row, DOCTOR_NO, "install hpct again", "%.200s", error.text);
		return;
	}
	if (is_static()) {
		doctor_say(row, DOCTOR_NONE, NULL, "this hpct is linked statically and opens none");
		return;
	}
	snprintf(pattern, sizeof(pattern), "%.*s/*.so*", (int)(strrchr(paths.agent, '/') - paths.agent),
		paths.agent);
	glob(pattern, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		library_why(found.gl_pathv[i], why, sizeof(why));
		if (*why)
			snprintf(last, sizeof(last), "%s", why);
		else
			list_add(names, sizeof(names), strrchr(found.gl_pathv[i], '/') + 1);
	}
	globfree(&found);
	if (*last)
		doctor_say(row, DOCTOR_PARTLY, "install the library, or do without that part",
			"what is beside the agent cannot all be opened: %.190s", last);
	else
		doctor_say(row, DOCTOR_YES, NULL, "opened: %.200s", names);
}

static int file_remove(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status, (void)kind, (void)where;
	return remove(path);
}

/* The number behind `key` in what hpct-info --format tsv says; -1: none. */
static long fact(const char *text, const char *key)
{
	size_t size = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
		if (!strncmp(line, key, size) && line[size] == '\t')
			return strtol(line + size + 1, NULL, 10);
	return -1;
}

void doctor_recording_try(struct doctor_recording *try)
{
	char directory[PATH_MAX], place[PATH_MAX], record[PATH_MAX + 64], info[PATH_MAX + 64],
		run[PATH_MAX + 64];
	const char *argv[] = {record, "--strict", "--overwrite", "--summary", "-", "-o", run, "--", record,
		"--version", NULL};
	const char *reader[] = {info, run, "--format", "tsv", NULL};
	const char *temporary = getenv("TMPDIR");
	struct install_paths paths;

	*try = (struct doctor_recording){.code = DOCTOR_CHILD_LOST, .info_code = DOCTOR_CHILD_LOST};
	temporary = temporary && *temporary == '/' ? temporary : "/tmp";
	snprintf(place, sizeof(place), "%s/hpct-doctor.XXXXXX", temporary);
	if (!own_directory(directory, sizeof(directory), &paths)) {
		snprintf(try->said, sizeof(try->said), "hpct-record is not found");
		return;
	}
	try->has_no_place = !mkdtemp(place);
	if (try->has_no_place) {
		snprintf(try->said, sizeof(try->said), "nothing can be written in %.200s", temporary);
		return;
	}
	snprintf(record, sizeof(record), "%s/hpct-record", directory);
	snprintf(info, sizeof(info), "%s/hpct-info", directory);
	snprintf(run, sizeof(run), "%s/try.hpct", place);
	try->code = doctor_child(argv, NULL, RECORD_WAIT_MS, try->said, sizeof(try->said));
	if (!try->code)
		try->info_code =
			doctor_child(reader, NULL, RECORD_WAIT_MS, try->info_said, sizeof(try->info_said));
	nftw(place, file_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static void recording_look(struct doctor_row *row)
{
	static struct doctor_recording try;

	doctor_recording_try(&try);
	if (try.has_no_place)
		doctor_say(row, DOCTOR_PARTLY, "set TMPDIR to a directory that can be written",
			"not tried: %.200s", try.said);
	else if (try.code)
		doctor_say(row, DOCTOR_NO, "hpct-doctor --report has more to look at",
			"hpct-record ended with %d: %.190s", try.code, sentence_of(try.said));
	else if (try.info_code || fact(try.info_said, "processes") < 1 || fact(try.info_said, "threads") < 1)
		doctor_say(row, DOCTOR_NO, "hpct-doctor --report has more to look at",
			"hpct-info ended with %d on what was recorded: %.170s", try.info_code,
			sentence_of(try.info_said));
	else
		doctor_say(row, DOCTOR_YES, NULL, "a program was recorded, and its run read");
}

const struct doctor_check doctor_programs[] = {
	{"programs", programs_look, false},
	{"agent", agent_look, true},
	{"libraries", libraries_look, false},
	{"a recording", recording_look, true},
	{NULL, NULL, false},
};
