/* SPDX-License-Identifier: Apache-2.0 */
/* Children that write titles over their command line, as setproctitle does:
 *
 *   titled: reader   and ends, at once
 *   titled: writer   and is killed, once a file `go` is there
 *   (none)           writes over its second word only
 *
 * Run as `titled a-word-that-makes-room`; ends when its children have. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *room;
static size_t room_bytes;

static void title(const char *text)
{
	memset(room, 0, room_bytes);
	strncpy(room, text, room_bytes - 1);
}

static void await_go(void)
{
	alarm(300); /* nobody writes it once the test has ended */
	while (access("go", F_OK))
		usleep(10000);
}

int main(int argc, char **argv)
{
	pid_t reader, writer, plain;

	if (argc != 2)
		return 2;
	room = argv[0];
	room_bytes = (size_t)(argv[1] + strlen(argv[1]) - argv[0]);
	reader = fork();
	if (!reader) {
		title("titled: reader");
		return 0;
	}
	writer = fork();
	if (!writer) {
		title("titled: writer");
		await_go();
		kill(getpid(), SIGKILL);
	}
	plain = fork();
	if (!plain) {
		memset(argv[1], 'x', strlen(argv[1]));
		return 0;
	}
	printf("%d %d %d\n", (int)reader, (int)writer, (int)plain);
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return reader < 0 || writer < 0 || plain < 0;
}
