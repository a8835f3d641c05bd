#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Threads that get no timer, or lose theirs: another source takes over, or their time is unmonitored and the summary says so.
. "$(dirname -- "$0")/expect.sh"
need gcc
cat >many.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static unsigned spin(double seconds)
{
	struct timespec now, begin;
	unsigned x = 1;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (int i = 0; i < 1000; i++)
			x = x * 1103515245 + 12345;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
	return x;
}
static int deletes, blocks;
static void *run(void *argument)
{
	spin(0.05);
	for (int i = 0; deletes && i < 64; i++)
		syscall(SYS_timer_delete, i);
	if (blocks) {
		sigset_t all;
		sigfillset(&all);
		syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, 8); /* past libc */
		spin(0.4);
	}
	spin(0.1);
	return argument;
}
int main(int argc, char **argv)
{
	pthread_t thread[64];
	int count = atoi(argv[1]), queued = 0;
	sigset_t set;
	blocks = argc > 2 && !strcmp(argv[2], "blocks");
	deletes = argc > 2 && !strcmp(argv[2], "deletes");
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 3);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, run, NULL))
			return 1;
	while (argc > 2 && queued < atoi(argv[2]) && !sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = queued}))
		queued++;
	for (int i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", queued);
	return 0;
}
C
gcc -O1 -g -o many many.c -pthread || fail "cannot build many"
# threads of RUN whose clock has more than their samples, one in ten at least, and no unmonitored span
untold() {
	hpct-slice "$1.hpct" --format tsv | tsv '$c["op"] == "unmonitored" { print $c["stream"] }' | sort -u >"$1.unmonitored"
	clocks "$1" | awk -F '\t' 'NR == FNR { told[$1] = 1; next }
		!told[$1] && $3 != "-" && $2 < 0.8 * $3 - 4 * $4 { n++ } END { print n + 0 }' "$1.unmonitored" -
}
signals() { ulimit -i "$(($(awk '/^SigQ/ { split($2, n, "/"); print n[1] }' /proc/self/status) + 20))"; }

(signals && both few ./many 40)
same "few signals may wait: threads whose samples are missing" 0 "$(untold few)"
(signals && hpct-record --sampler timer --summary - -o timer.hpct -- ./many 40 >/dev/null 2>err)
same "by timer alone: threads whose time is missing and is not unmonitored" 0 "$(untold timer)"
check "some are unmonitored" [ "$(wc -l <timer.unmonitored)" -ge 20 ]
same "and counted" "$(wc -l <timer.unmonitored)" "$(info timer threads_unmonitored)"
check "coverage is not 100 %" calc "$(info timer coverage_percent) < 90"
same "the summary says it in a sentence" 1 "$(grep -c 'of 41 threads were not sampled' err)"
check "the span tells why" grep -q 'reason=no timer was to be had' <(hpct-slice timer.hpct --format tsv)
(signals && both queue ./many 8 8)
same "signals that the program queues itself all have their places" 8 "$(tail -n 1 measured.out)"
both deleted ./many 4 deletes
hpct-slice deleted.hpct --format tsv >deleted.tsv
check "timers that the program deleted: what followed is unmonitored" \
	[ "$(grep -c 'reason=the program deleted its sampling timer' deleted.tsv)" -ge 4 ]
same "threads whose samples are missing" 0 "$(untold deleted)"
record plain -- ./many 4 >/dev/null
same "an ordinary run has all its threads" 0 "$(info plain threads_unmonitored)"
same "and no span of the kind" 0 "$(hpct-slice plain.hpct --format tsv | grep -c unmonitored)"
for sampler in timer trap; do
	hpct-record --sampler "$sampler" --summary - -o "blocked-$sampler.hpct" -- ./many 3 blocks >/dev/null 2>err ||
		fail "cannot record with $sampler"
	same "by $sampler, signals blocked past libc: threads whose samples are missing" 0 "$(untold "blocked-$sampler")"
	same "they are counted" 3 "$(info "blocked-$sampler" threads_unmonitored)"
	check "and the summary says why" grep -q 'the sampling signals did not come' err
done
