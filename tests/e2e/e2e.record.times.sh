#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A library that fakes times, and process numbers, in front of libc: its programs are as ever, and measured by the kernel's.
. "$(dirname -- "$0")/expect.sh"
need gcc
cat >fake.c <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* Not to be called before libc is ready. */
static void look(void)
{
	if (!getenv("PATH"))
		write(2, "called early\n", 13);
}
int clock_gettime(clockid_t clock, struct timespec *now)
{
	look();
	if (syscall(SYS_clock_gettime, clock, now))
		return -1;
	if (clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME)
		now->tv_sec -= 10 * 86400;
	return 0;
}
pid_t getpid(void) { look(); return 5; }
END
gcc -O1 -w -shared -fPIC -o fake.so fake.c || fail "fake.c"
cat >works.c <<'END'
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long x;
static long spent(void) { struct rusage u; getrusage(RUSAGE_SELF, &u); return u.ru_utime.tv_sec * 1000 + u.ru_utime.tv_usec / 1000; }
int main(void)
{
	struct timespec now, first, moment = {0, 100000000};
	time_t real = time(NULL);
	clock_gettime(CLOCK_REALTIME, &first);
	while (spent() < 300)
		for (int i = 0; i < 100000; i++)
			x += i;
	nanosleep(&moment, NULL);
	clock_gettime(CLOCK_REALTIME, &now);
	printf("%d %d\n", now.tv_sec - real < -86400, now.tv_sec - first.tv_sec < 3600);
	return getpid() == 5 ? 6 : 7;
}
END
gcc -O1 -w -o works works.c || fail "works.c"
measured_right() { # RUN
	weights_agree "$1"
	same "$1: the run" complete "$(info "$1" state)"
	same "$1: children that were not measured" 0 "$(info "$1" children_unmonitored)"
	check "$1: it took an hour" calc "$(info "$1" end_ns) < 3600e9"
	check "$1: got $(sample_count "$1") samples" [ "$(sample_count "$1")" -ge 5 ]
}
code "bare" 6 env LD_PRELOAD="$work/fake.so" ./works
same "bare: its time" "1 1" "$(cat out)"
code "a library of the program's" 6 record inside -- env LD_PRELOAD="$work/fake.so" ./works
same "a library of the program's: its time" "1 1" "$(cat out)"
same "a library of the program's: stderr" "" "$(cat err)"
measured_right inside
code "a library of ours, too" 6 env LD_PRELOAD="$work/fake.so" hpct-record -o around.hpct -- ./works
same "a library of ours, too: stderr" "" "$(cat err)"
measured_right around
check "a library of ours, too: the collector is said to be process 5" [ "$(info around collector_pid)" != 5 ]
code "a library of ours, too: it alone" 6 env LD_PRELOAD="$work/fake.so" hpct-record --no-children -o alone.hpct -- ./works
measured_right alone
if command -v faketime >/dev/null; then
	code "faketime" 7 record faketime -- faketime -f '-10d' ./works
	same "faketime: stderr" "" "$(cat err)"
	measured_right faketime
	code "faketime around, ten times as fast" 7 faketime -f '+0 x10' hpct-record -o faster.hpct -- ./works
	same "faketime around: stderr" "" "$(cat err)"
	measured_right faster
else
	echo "faketime is not installed"
fi

# A time namespace, around a program of ours or around us: samples and switches are told by one clock.
if unshare -T --monotonic 100000 --fork true 2>/dev/null; then
	code "a time namespace" 7 record space -- unshare -T --monotonic 100000 --fork ./works
	measured_right space
	code "in a time namespace" 7 unshare -T --monotonic 100000 --fork hpct-record -o within.hpct -- ./works
	measured_right within
	for run in space within; do
		hpct-slice "$run.hpct" --format tsv | tsv '$c["track"] == "samples" && $c["path"] ~ /main/ && !seen[$c["begin_ns"]]++ { n++ }
			END { print n + 0 }' >moments
		check "$run: its samples are of $(cat moments) moments" [ "$(cat moments)" -ge 5 ]
		[ "$(info "$run" switches_refused)" != 0 ] || check "$run: it slept" [ "$(hpct-slice "$run.hpct" --op blocked --format tsv |
			tsv '$c["op"] == "blocked" && $c["end_ns"] - $c["begin_ns"] >= 99e6 { n++ } END { print n + 0 }')" -ge 1 ]
	done
else
	echo "no time namespace can be made here"
fi
