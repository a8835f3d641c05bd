/* SPDX-License-Identifier: Apache-2.0 */
/* symbol_process.c - see symbol_process.h. */
#include "record/names/symbol_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STARTS_MAX 3 /* starts in total, if it dies */
#define READ_BYTES 65536
#define END_MS 2000 /* for saving its cache; the program has ended, so nothing waits for us */

int symbol_process_init(struct symbol_process *child, const char *program)
{
	*child = (struct symbol_process){.program = strdup(program), .to = -1, .from = -1};
	return child->program ? 0 : -1;
}

void symbol_process_fini(struct symbol_process *child)
{
	symbol_process_stop(child);
	free(child->program);
	store_bytes_fini(&child->out);
	store_bytes_fini(&child->in);
}

/* The environment without what the user has the loader put into the program that is recorded (a sanitizer, an
 * allocator): hpct-names has no use for it, and dies of some. Points into environ; NULL: memory is out. */
static char **environment_plain(void)
{
	static const char *const not_ours[] = {"LD_PRELOAD=", "LD_AUDIT=", "LD_PROFILE="};
	size_t count = 0, kept = 0;
	char **plain;

	while (environ[count])
		count++;
	plain = calloc(count + 1, sizeof(*plain));
	for (size_t i = 0; plain && i < count; i++) {
		bool is_ours = true;

		for (size_t j = 0; j < sizeof(not_ours) / sizeof(*not_ours); j++)
			is_ours = is_ours && strncmp(environ[i], not_ours[j], strlen(not_ours[j]));
		if (is_ours)
			plain[kept++] = environ[i];
	}
	return plain;
}

static void run(const char *program, char **environment, int from, int to)
{
	if (dup2(from, STDIN_FILENO) < 0 || dup2(to, STDOUT_FILENO) < 0)
		_exit(126);
	execle(program, "hpct-names", "--pipe", (char *)NULL, environment);
	_exit(127);
}

/* A copy of us would have us copy all pages that we write from then on. */
static pid_t spawn(const char *program, char **environment, int from, int to)
{
	pid_t pid = vfork();

	if (!pid)
		run(program, environment, from, to); /* NOLINT(clang-analyzer-unix.Vfork) */
	return pid;
}

bool symbol_process_start(struct symbol_process *child)
{
	int requests[2], answers[2];
	char **environment;

	if (child->starts == STARTS_MAX || pipe2(requests, O_CLOEXEC))
		return false;
	environment = environment_plain();
	if (!environment || pipe2(answers, O_CLOEXEC)) {
		free(environment);
		close(requests[0]);
		close(requests[1]);
		return false;
	}
	child->pid = spawn(child->program, environment, requests[0], answers[1]);
	free(environment);
	close(requests[0]);
	close(answers[1]);
	child->to = requests[1];
	child->from = answers[0];
	fcntl(child->to, F_SETFL, O_NONBLOCK);
	fcntl(child->from, F_SETFL, O_NONBLOCK);
	child->out.size = child->out_sent = child->in.size = 0;
	if (child->pid < 0) {
		child->pid = 0;
		symbol_process_stop(child);
		return false;
	}
	child->starts++;
	return true;
}

void symbol_process_stop(struct symbol_process *child)
{
	if (child->to >= 0)
		close(child->to);
	if (child->from >= 0)
		close(child->from);
	child->to = child->from = -1;
	if (child->pid) {
		kill(child->pid, SIGKILL);
		waitpid(child->pid, NULL, 0);
	}
	child->pid = 0;
}

bool symbol_process_is_over(const struct symbol_process *child)
{
	return child->starts >= STARTS_MAX;
}

void symbol_process_end(struct symbol_process *child)
{
	struct pollfd answers = {child->from, POLLIN, 0};

	close(child->to);
	child->to = -1;
	poll(&answers, 1, END_MS); /* the pipe closes when it ends */
}

bool symbol_process_write(struct symbol_process *child)
{
	while (child->out_sent < child->out.size) {
		ssize_t put = write(
			child->to, child->out.data + child->out_sent, child->out.size - child->out_sent);

		if (put < 0)
			return errno == EAGAIN || errno == EINTR;
		child->out_sent += (size_t)put;
	}
	child->out.size = child->out_sent = 0;
	return true;
}

int symbol_process_read(struct symbol_process *child)
{
	uint8_t *room = store_bytes_reserve(&child->in, READ_BYTES);
	ssize_t got = room ? read(child->from, room, READ_BYTES) : -1;

	if (got > 0) {
		child->in.size += (size_t)got;
		return 1;
	}
	return got < 0 && room && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}
