#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Arguments and an environment as large as the kernel takes them: what starts bare starts, without our words, and is counted.
. "$(dirname -- "$0")/expect.sh"
need gcc
cat >edge.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define PIECE 65536
#define PIECES 64
static char pad[PIECE + 1];
static char *words[PIECES + 40], *names[] = {"A=B", NULL};
/* The words given and `bytes` more. */
static char **arguments(char **given, unsigned bytes)
{
	unsigned n = 0;
	memset(pad, 'x', PIECE);
	while (*given)
		words[n++] = *given++;
	for (; bytes >= PIECE; bytes -= PIECE)
		words[n++] = pad;
	words[n++] = pad + PIECE - bytes;
	words[n] = NULL;
	return words;
}
static int starts(const char *how, unsigned bytes)
{
	char *given[] = {"/bin/true", NULL}, **argv = arguments(given, bytes);
	int status, error = 0;
	pid_t child;
	if (!strcmp(how, "spawn"))
		error = posix_spawn(&child, *argv, NULL, NULL, argv, names);
	else if (!(child = strcmp(how, "vfork") ? fork() : vfork())) {
		if (!strcmp(how, "fexecve"))
			fexecve(open(*argv, O_PATH | O_CLOEXEC), argv, names);
		else if (!strcmp(how, "execvpe"))
			execvpe("true", argv, names);
		else
			execve(*argv, argv, names);
		_exit(errno == E2BIG ? 9 : 8);
	}
	if (error)
		return error == E2BIG ? 0 : -1;
	waitpid(child, &status, 0);
	return status == 9 << 8 ? 0 : status ? -1 : 1;
}
int main(int argc, char **argv)
{
	unsigned low = 0, high = PIECE * PIECES;
	size_t sum = 0;
	if (argc > 2 && !strcmp(argv[1], "fill")) { /* becomes argv[2]... with all that there is room for */
		for (high = 4 * PIECE; high; high -= 8)
			execve(argv[2], arguments(argv + 2, high), environ);
		return 1;
	}
	if (argc > 2) {
		for (int i = 0; i < argc; i++)
			sum += strlen(argv[i]);
		printf("%s %d\n", argv[1], sum > 100000);
		return 5;
	}
	while (high - low > 1) {
		unsigned middle = low + (high - low) / 2;
		int it = starts(argv[1], middle);
		if (it < 0)
			return 2;
		*(it ? &low : &high) = middle;
	}
	printf("%s %u\n", argv[1], low);
	return 0;
}
END
gcc -O1 -w -o edge edge.c || fail "edge.c"
ulimit -Ss 1024 # the room is a quarter of it
for how in execve execvpe fexecve vfork spawn; do
	both "$how" ./edge "$how"
	check "$how: no child is said to be unmeasured" [ "$(info "$how" children_unmonitored)" -ge 1 ]
	same "$how: the run" complete "$(info "$how" state)"
done
code "at the edge itself" 5 ./edge fill "$HPCT_BIN/hpct-record" -o fill.hpct -- ./edge told
same "at the edge itself: stdout" "told 1" "$(cat out)"
sentence "at the edge itself"
check "at the edge itself: it does not say why: $(cut -c1-300 err)" grep -q 'leave no space' err
code "at the edge, and --strict" 126 ./edge fill "$HPCT_BIN/hpct-record" --strict -o strict.hpct -- ./edge told
same "at the edge, and --strict: it does not run" "" "$(cat out)"
