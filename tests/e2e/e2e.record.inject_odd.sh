#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-record -p PID --inject, again and again, on programs that are not ordinary and check themselves (injected_odd.c): threads
# that glibc asks for an answer, that take any signal, that libc did not make, whose stacks go; forks that need the loader; waits
# that no signal of the program's has ended, and one that its own signals must end; a recorder killed while it loads the agent.
. "$(dirname -- "$0")/expect.sh"
need gcc
[ "$(uname -m)" = x86_64 ] || skip "--inject is for x86-64"
gcc -O1 -g -o injected_odd "$HPCT_SOURCE/tests/e2e/injected_odd.c" -pthread -ldl || skip "injected_odd.c is not built"

start() { # KIND : runs it, $pid
	./injected_odd "$1" >"$1.out" 2>&1 &
	pid=$!
	await is_started
}
is_started() { (("0x$(sed -n 's/^SigCgt:\t//p' "/proc/$pid/status")" >> 9 & 1)); } # SIGUSR1
has_none() { ! grep -qx hpct-agent "/proc/$pid"/task/*/comm 2>/dev/null; }
inject() { # KIND : the program goes on
	rm -rf run.hpct
	hpct-record -p "$pid" --inject -e CPUTIME@f1000 --for 200ms -o run.hpct 2>err
	! grep -q 'may not be traced' err || skip "$(cat err)"
	if grep -q 'stood still for' err; then
		case $1 in
		setuid | ends | forks | waits) check "$1: it has no samples" sampled run ;;
		esac
	else
		grep -q 'no thread of process' err || fail "$1: no agent begins: $(cat err)"
	fi
	await has_none || fail "$1: the agent's thread stays"
	kill -0 "$pid" || fail "$1: the program has ended"
}
ends() { # KIND : it answers, and nothing was wrong in it
	local code=0
	kill -USR1 "$pid"
	has_ended() { ! kill -0 "$pid" 2>/dev/null; }
	await has_ended || {
		fail "$1: the program does not end"
		kill -KILL "$pid"
	}
	wait "$pid" || code=$?
	same "$1: exit code" 7 "$code"
	same "$1: what it checked" 'odd: ok' "$(cat "$1.out")"
}
for kind in setuid asleep sigwait raw ends forks waits signals; do
	start "$kind"
	for _ in 1 2; do
		inject "$kind"
	done
	ends "$kind"
done

# Where all work is done on another stack, no agent comes, and it says so.
start stack
rm -rf run.hpct
code "a stack that libc does not know" 125 hpct-record -p "$pid" --inject --for 200ms -o run.hpct
ends stack

# Killed at any moment, the recorder leaves a program that goes on, with its signal mask.
start waits
for ((i = 0; i < 25; i++)); do
	rm -rf run.hpct
	hpct-record -p "$pid" --inject -o run.hpct 2>/dev/null &
	recorder=$!
	sleep "0.$(printf %03d "$((i * 4))")"
	kill -KILL "$recorder" 2>/dev/null
	wait "$recorder" 2>/dev/null
done
await has_none || fail "killed recorders: an agent's thread stays"
mask() { sed -n 's/^SigBlk:\t//p' "/proc/$pid/status"; }
same "killed recorders: the program's signal mask" 0000000000000000 "$(mask)"
ends waits

# A child that shares its parent's memory.
cat >shares.c <<'END'
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int works(void *unused) { (void)unused; for (;;) usleep(1000); }
int main(void)
{
	char *stack = malloc(1 << 20);
	int child = clone(works, stack + (1 << 20), CLONE_VM | SIGCHLD, NULL);
	char text[32];
	write(1, text, snprintf(text, sizeof(text), "%d\n", child));
	return waitpid(child, NULL, 0) < 0;
}
END
gcc -D_GNU_SOURCE -O1 -w -include stdio.h -include signal.h -o shares shares.c
./shares >shares.out &
parent=$!
is_told() { [ -s shares.out ]; }
await is_told
pid=$(cat shares.out)
code "a child that shares its memory" 125 hpct-record -p "$pid" --inject --for 200ms -o shares.hpct
check "the sentence says so: $(cat err)" grep -q 'shares its memory with its parent' err
kill -KILL "$pid"
wait "$parent" 2>/dev/null

# A child of fork has the handler of its parent's agent, and takes one of its own.
cat >parent.c <<'END'
#include <stdio.h>
#include <unistd.h>
#include <signal.h>
static volatile sig_atomic_t forks;
static void handle(int number) { (void)number; forks = 1; }
int main(void)
{
	signal(SIGUSR2, handle);
	for (;;) {
		for (volatile long i = 0; i < 1000000; i++) ;
		if (forks) { forks = 0; pid_t child = fork(); if (child) { printf("%d\n", child); fflush(stdout); } }
	}
}
END
gcc -O1 -o parent parent.c
./parent >parent.out &
pid=$!
has_handler() { # its own: until its exec it is the shell, which has one
	[ "$(tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null)" = ./parent ] &&
		(("0x$(sed -n 's/^SigCgt:\t//p' "/proc/$pid/status")" >> 11 & 1))
}
await has_handler
hpct-record -p "$pid" --inject -o parent.hpct 2>parent.err &
recorder=$!
has_begun() { grep -q 'stood still for' parent.err || ! kill -0 "$recorder" 2>/dev/null; }
await has_begun
kill -USR2 "$pid"
has_forked() { [ -s parent.out ]; }
await has_forked
child=$(head -n 1 parent.out)
kill -INT "$recorder"
wait "$recorder"
code "a child of fork" 0 hpct-record -p "$child" --inject --for 300ms -o child.hpct
check "it has samples: $(cat err)" calc "$(sample_count child) > 0"
kill -KILL "$pid" "$child"
wait "$pid" 2>/dev/null || true
