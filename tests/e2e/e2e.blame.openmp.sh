#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# OpenMP's runtimes as distributions have them, without names inside: who waits at a barrier waits, the thread that the
# others wait for is named, and tasks that the runtime runs in a barrier are work.
. "$(dirname -- "$0")/expect.sh"
tried=0

# Thread 1 comes late to five barriers, by 90 ms of its CPU time; arrivals are known to a sample.
is_late() { # RUNTIME
	record "$1_barriers" --overwrite -- "./$1" barriers >out 2>err || { fail "$1 barriers: does not end well" && cat err; }
	hpct-blame "$1_barriers.hpct" --late --format tsv >late
	awk -F '\t' '$1 ~ /^cpu:.*\/1$/ && $2 >= 20e6 && $7 ~ /slow/ { found = 1 } END { exit !found }' late
}

examine() { # RUNTIME : ./RUNTIME is the program
	local runtime=$1 sums attempt
	tried=$((tried + 1))
	record "${runtime}_tasks" -- "./$runtime" tasks >out 2>err || { fail "$runtime tasks: does not end well" && cat err; return; }
	hpct-blame "${runtime}_tasks.hpct" --of waiting --by path --format tsv >waits
	sums=$(hpct-profile "${runtime}_tasks.hpct" --view flat --format tsv |
		tsv '$c["name"] == "piece" { print $c["CPUTIME:incl"]; exit }')
	check "$runtime: tasks were sampled: $sums" [ "${sums:-0}" -ge 100000000 ]
	check "$runtime: tasks that run in a barrier are taken as waiting: $(grep ';piece' waits | head -n 1)" \
		awk -F '\t' -v work="${sums:-0}" '$1 ~ /;piece/ { n += $2 } END { exit !(n < work / 2) }' waits
	# With one processor for both GNU's runtime sleeps all the same.
	if [ "$runtime" = by_gcc ] && [ "$(nproc)" -eq 1 ]; then
		echo "$runtime: one processor: the late thread is not tried"
		return
	fi
	# On a busy machine a thread may have no core, and no sample, all the while that it waits for the other.
	for attempt in 1 2 3 4 5; do
		is_late "$runtime" && return
	done
	fail "$runtime: the late thread, $attempt times: $(sed -n 2,3p late)"
}

# A wait is known by what was called, or by a sample: LLVM's runtime sleeps in pthread_cond_wait, GNU's in a system call
# of its own, of which the path is known only if it lasts (e2e.record.untold); so it is to stay awake.
for compiler in gcc clang; do
	[ $compiler = gcc ] && export OMP_WAIT_POLICY=active || export OMP_WAIT_POLICY=passive
	command -v $compiler >/dev/null &&
		$compiler -O2 -g -fopenmp -o "by_$compiler" "$HPCT_SOURCE/tests/e2e/openmp_tasks.c" 2>log && examine "by_$compiler"
done
[ "$tried" -gt 0 ] || skip "no compiler has OpenMP here"
echo "tried $tried runtimes"
