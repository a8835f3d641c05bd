#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Threads that sleep where no wrapper stands, as GNU OpenMP's do in system calls of its own, if it is linked in as an
# archive: the collector looks where that is while they sleep, long before a second is over. What the thread did last is
# not what waits.
. "$(dirname -- "$0")/expect.sh"
need gcc
gcc -O2 -g -fopenmp -c -o uneven.o "$HPCT_SOURCE/tests/e2e/openmp_tasks.c" 2>log || skip "gcc has no OpenMP here"
gcc -o uneven uneven.o "$(gcc -print-file-name=libgomp.a)" -lpthread -ldl 2>log || skip "no libgomp.a here"
export OMP_WAIT_POLICY=passive

# Thread 0 waits at six barriers for a thread that sleeps 400 ms ahead of each. Not every wait need be seen: the
# collector looks once or twice in each, if it has a core. One that has a path has the right one.
is_seen() {
	record uneven --overwrite -- ./uneven sleeps >out 2>err || { fail "does not end well" && cat err; }
	hpct-slice uneven.hpct --op blocked --format tsv >blocked
	seen=$(tsv '$c["stream"] ~ /\/0$/ && $c["end_ns"] - $c["begin_ns"] > 100e6 {
			waits++
			seen += $c["path"] ~ /^main;.*;(libgomp\.so[^;]*|(gomp|GOMP)_[^;]*)$/
			wrong += $c["path"] ~ /;quick/
		}
		END { print waits + 0, seen + 0, wrong + 0; exit !seen && !wrong }' <blocked) || return
	return 0
}
for attempt in 1 2 3 4 5; do
	is_seen && break
	refused=$(info uneven stacks_refused)
	[ -z "$refused" ] || skip "stacks of others cannot be read here: $refused"
	[ "$(info uneven switches_refused)" = 0 ] || skip "no switch records here"
done
read -r _ right wrong <<<"$seen"
check "waits at a barrier have their path: $seen" [ "$right" -ge 1 ]
same "waits with the path of what was done last" 0 "$wrong"
# The sleep was told by its wrapper, for as long as it lasted.
tsv '$c["stream"] ~ /\/1$/ && $c["path"] ~ /;sleepy;.*nanosleep$/ { n += $c["end_ns"] - $c["begin_ns"] }
	END { exit n < 2.3e9 }' <blocked || fail "the sleep is not known by its call"
echo "waits, seen, wrong: $seen"

# With the runtime as a library its regions are told, and so is who comes last.
gcc -o shared uneven.o -lgomp -lpthread && record shared -- ./shared sleeps >out || fail "with libgomp.so it does not end well"
late=$(hpct-blame shared.hpct --late --format tsv | tsv '{ print $c["key"]; exit }')
check "who comes last is named: $late" test "${late##*/}" = 1
