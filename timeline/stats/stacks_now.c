/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_now.c - see stacks_now.h. */
#include "timeline/stats/stacks_now.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BEGIN_NS 5000000
#define END_TRIES 1000
#define FIRST_NS 150000000 /* the collector's first commit comes a tenth of a second after its store */

#define LOOK                                                                                           \
	"500ms" /* threads at work are sampled some ten times, those that wait are found within 100 ms \
		 */

extern char **environ;

static int entry_remove(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	return remove(path);
}

void stacks_now_remove(const char *run)
{
	char folder[PATH_MAX];
	char *end;

	snprintf(folder, sizeof folder, "%s", run);
	end = strrchr(folder, '/');
	if (!end)
		return;
	*end = '\0';
	nftw(folder, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* The one beside this program. */
static int recorder_find(char *path, size_t room, struct error *error)
{
	ssize_t length = readlink("/proc/self/exe", path, room - sizeof "hpct-record");
	char *base;

	path[length > 0 ? length : 0] = '\0';
	base = strrchr(path, '/');
	if (!base)
		return error_set(error, ERROR_IO, "-p: /proc is not mounted, so hpct-record cannot be found");
	strcpy(base + 1, "hpct-record");
	return 0;
}

static int recorder_run(const char *path, const char *pids, const char *run, struct error *error)
{
	char *words[] = {(char *)path, (char *)"-p", (char *)pids, (char *)"--for", (char *)LOOK,
		(char *)"-o", (char *)run, (char *)"--summary", (char *)"/dev/null", NULL};
	int status = 0, why;
	pid_t pid;

	why = posix_spawn(&pid, path, NULL, NULL, words, environ);
	if (why)
		return error_set(error, ERROR_IO, "-p: %s cannot be started: %s", path, strerror(why));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ERROR_USAGE;
}

/* A folder for the run, whose path is put there, too. */
static int folder_make(char *run, size_t room, struct error *error)
{
	const char *temporary = getenv("TMPDIR");
	size_t used = (size_t)snprintf(
		run, room, "%s/hpct-stacks.XXXXXX", temporary && *temporary ? temporary : "/tmp");

	if (used + sizeof "/now.hpct" > room || !mkdtemp(run))
		return error_set(error, ERROR_IO, "-p: no folder can be made in %s: %s",
			temporary && *temporary ? temporary : "/tmp", strerror(errno));
	strcpy(run + used, "/now.hpct");
	return 0;
}

int stacks_now_record(const char *pids, char *run, size_t room, struct error *error)
{
	char path[PATH_MAX];
	int rc = recorder_find(path, sizeof path, error);

	if (rc == 0)
		rc = folder_make(run, room, error);
	if (rc < 0)
		return rc;
	rc = recorder_run(path, pids, run, error);
	if (rc < 0)
		stacks_now_remove(run);
	return rc;
}

/* ---- for as long as somebody looks ---- */

/* What it says goes into the folder of the run: there may be a picture on the terminal. */
_Noreturn static void recorder_exec(const char *path, const char *pids, const char *run, pid_t parent)
{
	char *words[] = {(char *)path, (char *)"-p", (char *)pids, (char *)"-o", (char *)run,
		(char *)"--summary", (char *)"/dev/null", NULL};
	char said[PATH_MAX];
	int out;

	setpgid(0, 0); /* a key that ends us on the terminal is not for it */
	prctl(PR_SET_PDEATHSIG, SIGINT);
	if (getppid() != parent)
		_exit(1);
	snprintf(said, sizeof said, "%.*s/said", (int)(strrchr(run, '/') - run), run);
	out = open(said, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execv(path, words);
	_exit(1);
}

static void said_tell(const char *run)
{
	char said[PATH_MAX], line[1024];
	FILE *file;

	snprintf(said, sizeof said, "%.*s/said", (int)(strrchr(run, '/') - run), run);
	file = fopen(said, "re");
	while (file && fgets(line, sizeof line, file))
		fputs(line, stderr);
	if (file)
		fclose(file);
}

static bool has_file(const char *run, const char *ending)
{
	DIR *folder = opendir(run);
	const struct dirent *entry;
	bool is_there = false;

	while (folder && !is_there && (entry = readdir(folder))) {
		size_t length = strlen(entry->d_name), bytes = strlen(ending);

		is_there = length > bytes && !strcmp(entry->d_name + length - bytes, ending);
	}
	if (folder)
		closedir(folder);
	return is_there;
}

int stacks_now_begin(const char *pids, char *run, size_t room, pid_t *recorder, struct error *error)
{
	const struct timespec moment = {0, BEGIN_NS};
	pid_t us = getpid();
	char path[PATH_MAX];
	int rc = recorder_find(path, sizeof path, error), status;

	if (rc == 0)
		rc = folder_make(run, room, error);
	if (rc < 0)
		return rc;
	*recorder = fork();
	if (*recorder == 0)
		recorder_exec(path, pids, run, us);
	if (*recorder < 0) {
		stacks_now_remove(run);
		return error_set(error, ERROR_IO, "-p: %s cannot be started: %s", path, strerror(errno));
	}
	while (!has_file(run, ".mdb")) {
		if (waitpid(*recorder, &status, WNOHANG) == *recorder) {
			said_tell(run);
			stacks_now_remove(run);
			return -ERROR_USAGE;
		}
		nanosleep(&moment, NULL);
	}
	nanosleep(&(struct timespec){0, FIRST_NS}, NULL);
	return 0;
}

/* The collector packs the run after its last word; its store has a lock until then. */
void stacks_now_end(pid_t recorder, const char *run)
{
	const struct timespec moment = {0, BEGIN_NS};

	kill(recorder, SIGINT);
	while (waitpid(recorder, NULL, 0) < 0 && errno == EINTR)
		;
	for (int i = 0; i < END_TRIES && has_file(run, ".mdb-lock"); i++)
		nanosleep(&moment, NULL);
}

static int file_copy(const char *from, const char *to)
{
	char block[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC),
	    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	ssize_t got = -1;

	while (in >= 0 && out >= 0 && (got = read(in, block, sizeof block)) > 0)
		if (write(out, block, (size_t)got) != got) {
			got = -1;
			break;
		}
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out))
		got = -1;
	return in >= 0 && out >= 0 && got == 0 ? 0 : -1;
}

/* To another file system. */
static int folder_copy(const char *run, const char *path)
{
	DIR *folder = opendir(run);
	const struct dirent *entry;
	int rc = folder && !mkdir(path, 0777) ? 0 : -1;

	while (!rc && (entry = readdir(folder))) {
		char from[PATH_MAX], to[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(from, sizeof from, "%s/%s", run, entry->d_name) >= sizeof from ||
			(size_t)snprintf(to, sizeof to, "%s/%s", path, entry->d_name) >= sizeof to)
			rc = -1;
		else
			rc = file_copy(from, to);
	}
	if (folder)
		closedir(folder);
	return rc;
}

int stacks_now_keep(const char *run, const char *path, struct error *error)
{
	if (!access(path, F_OK))
		errno = EEXIST;
	else if (!rename(run, path) || (errno == EXDEV && !folder_copy(run, path)))
		return 0;
	return error_set(
		error, ERROR_IO, "the run cannot be kept as %s: %s; it is in %s", path, strerror(errno), run);
}

/* ---- the option ---- */

const char *stacks_now_pids(int *argc, char **argv)
{
	for (int i = 1; i < *argc && strcmp(argv[i], "--"); i++) {
		char *word = argv[i], *pids = NULL;
		int taken = 1;

		if (!strcmp(word, "-p") || !strcmp(word, "--pid")) {
			pids = i + 1 < *argc ? argv[i + 1] : (char *)"";
			taken = i + 1 < *argc ? 2 : 1;
		} else if (!strncmp(word, "--pid=", 6)) {
			pids = word + 6;
		} else if (!strncmp(word, "-p", 2)) {
			pids = word + 2;
		}
		if (!pids)
			continue;
		memmove(argv + i, argv + i + taken, (size_t)(*argc - i - taken + 1) * sizeof *argv);
		*argc -= taken;
		return pids;
	}
	return NULL;
}

/* "17" or "17,18". */
static bool is_pids(const char *text)
{
	do {
		char *end;
		unsigned long pid = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

		if (!pid || pid > INT32_MAX || (*end && *end != ','))
			return false;
		text = *end ? end + 1 : end;
	} while (*text || text[-1] == ',');
	return true;
}

int stacks_now_pids_check(const char *pids, struct error *error)
{
	return is_pids(pids)
		       ? 0
		       : error_set(error, ERROR_USAGE,
				 "-p '%s': give the numbers of processes, such as 1234 or 1234,1240", pids);
}
