#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls that wait behave under their wrappers as without: cancellation, interruption, jumps, forks, locks. What waited
# is known by its call path.
. "$(dirname -- "$0")/expect.sh"
waiting=$HPCT_BIN/../tests/waiting

# waited RUN PATH... : blocked milliseconds, by the path's part from the first function to the second, of all streams
waited() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["op"] == "blocked" { sum[$c["path"]] += $c["end_ns"] - $c["begin_ns"] }
		END { for (path in sum) printf "%.1f\t%s\n", sum[path] / 1e6, path }' | sort -rn
}

for case in cancels interrupts jumps forks locks meets lines; do
	both $case timeout 300 "$waiting" $case
	waited $case >$case.paths
	same "$case: lost" 0 "$(info $case lost)"
done

while read -r case least path; do
	awk -F '\t' -v least="$least" -v path="$path" '$2 ~ "(^|;)" path "$" { n += $1 } END { exit n < least }' \
		$case.paths || { fail "$case: fewer than $least ms in $path:" && head $case.paths; }
done <<'END'
cancels 20 main;cancels;in_thread;pthread_join
interrupts 40 main;interrupts;read
interrupts 20 main;interrupts;nanosleep
interrupts 20 main;interrupts;usleep
jumps 20 main;jumps;usleep
forks 20 main;forks;sleep
forks 20 on_fork;usleep
locks 20 lock_it;pthread_mutex_lock
locks 20 main;locks;pthread_mutex_timedlock
meets 20 barrier_wait;pthread_barrier_wait
meets 20 main;meets;cnd_wait
meets 20 main;meets;syscall
lines 40 main;lines;fgets
lines 40 main;lines;getline(;(__)?getdelim)?
END

# What wrappers do for themselves is nobody's call path.
record polls -- "$waiting" polls || fail "polls"
check "the agent's clock shows in paths: $(hpct-slice polls.hpct | grep clock_gettime | head -n 1)" \
	[ "$(hpct-slice polls.hpct | grep -cE '(__vdso_|;)clock_gettime')" -eq 0 ]
check "polls were sampled: $(sample_count polls)" [ "$(sample_count polls)" -ge 10 ]

hpct-blame meets.hpct --late --format tsv | tsv 'NR == 2 { print $c["key"], $c["occasions"], $c["blame_ns"] }' >late
check "the thread that is late at the barrier: $(cat late)" awk '{ exit !($1 ~ /^cpu:.*\/1$/ && $(NF - 1) == 1 &&
	$NF >= 20e6) }' late

# Without switch records the calls are known all the same.
"$waiting" interrupts >bare.out
record plain --no-switches -- "$waiting" interrupts >plain.out || fail "interrupts without switch records"
same_file "interrupts without switch records" bare.out plain.out
waited plain >plain.paths
check "no switch records: $(head -n 1 plain.paths)" grep -q 'main;interrupts;usleep$' plain.paths
