#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-stacks -p: the threads of a program that runs, each where it is, without a recording; hpct-doctor -p: what can be
# measured of it.
. "$(dirname -- "$0")/expect.sh"
need gcc
cat >hangs.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static volatile long sink;
static volatile sig_atomic_t is_over;
__attribute__((noinline)) void waits_for_lock(void) { pthread_mutex_lock(&mutex); sink++; }
__attribute__((noinline)) void waits_for_pipe(void) { char byte; sink += read(ends[0], &byte, 1); }
__attribute__((noinline)) void works(void) { while (!is_over) sink++; }
static void *one(void *unused) { waits_for_lock(); sink++; return unused; }
static void *two(void *unused) { waits_for_pipe(); sink++; return unused; }
static void *three(void *unused) { works(); sink++; return unused; }
static void handle(int number) { is_over = number; }
int main(void)
{
	pthread_t thread[3];
	if (pipe(ends)) return 1;
	pthread_mutex_lock(&mutex);
	signal(SIGUSR1, handle);
	pthread_create(&thread[0], NULL, one, NULL);
	pthread_create(&thread[1], NULL, two, NULL);
	pthread_create(&thread[2], NULL, three, NULL);
	while (!is_over) pause();
	pthread_mutex_unlock(&mutex);
	for (int i = write(ends[1], "x", 1) - 1; i < 3; i++) pthread_join(thread[i], NULL);
	puts("all ended");
	return 4;
}
END
gcc -O2 -g -fomit-frame-pointer -o hangs hangs.c -pthread || fail "hangs.c is not built"
./hangs >program.out &
pid=$!
has_all() { [ "$(ls "/proc/$pid/task" 2>/dev/null | wc -l)" -eq 4 ]; }
await has_all || fail "the program does not start"
mkdir tmp
export TMPDIR=$work/tmp
# On a machine that is busy enough half a second may be too short for all of it.
look() {
	hpct-stacks -p "$pid" --format tsv >rows 2>err || { grep -q forbidden err && skip "$(cat err)"; return 1; }
	tsv '$c["path"] ~ /waits_for_lock;.*lock/ { a = 1 } $c["path"] ~ /waits_for_pipe;.*read/ { b = 1 }
		$c["path"] ~ /main;.*pause/ { d = 1 } END { exit !(a && b && d) }' <rows
}
await look || fail "threads that wait: $(cat rows err)"
same "a row for each thread" 5 "$(wc -l <rows)"
works() { hpct-stacks -p "$pid" >table 2>err && grep -q ' works ' table; }
await works || fail "a thread at work: $(cat table)"
same "nothing is left behind" "" "$(ls tmp)"
code "hpct-stacks, no such process" 4 hpct-stacks -p 4194304
sentence "hpct-stacks, no such process"
for word in --pid=x -p0 --pid=1, -p; do
	code "hpct-stacks $word, no number" 2 hpct-stacks $word
	sentence "hpct-stacks $word, no number"
	check "hpct-stacks $word says it: $(cat err)" grep -q '^hpct-stacks: -p .*numbers of processes' err
done

code "hpct-doctor -p" "$(hpct-doctor -p "$pid" --format tsv | tsv '$c["state"] == "partly" { n = 1 } END { print n + 0 }')" \
	hpct-doctor -p "$pid" --format tsv
for row in process 'samples from outside' 'unwind tables' 'its threads' 'its code'; do
	check "a row for $row" [ -n "$(tsv '$c["capability"] == "'"$row"'" && $c["reason"] != "" { print }' <out)" ]
done
check "its threads: $(cat out)" grep -q '4 threads need' out
code "hpct-doctor, no such process" 3 hpct-doctor -p 4194304
check "it says so: $(cat out)" grep -q 'process  *no  *there is no process 4194304' out
code "hpct-doctor, no number" 2 hpct-doctor -p x
sentence "hpct-doctor, no number"

kill -USR1 "$pid"
code=0
wait "$pid" || code=$?
same "the program ends as it would alone" 4 "$code"
same "its output" "all ended" "$(cat program.out)"
