#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Wall, blocked and runnable time by call path, without a signal that interrupts a sleep: -e REALTIME, as hpcrun has it.
. "$(dirname -- "$0")/expect.sh"

# metric RUN METRIC NAME OPTION... : ns of METRIC, inclusive, of the function of that name (the root: '<program root>')
metric() {
	local run=$1 metric=$2 name=$3
	shift 3
	hpct-profile "$run.hpct" --metric "$metric" "$@" --format tsv | tsv '
		$c["name"] == "'"$name"'" && ($c["kind"] != "root" || !$c["depth"]) { n += $c["'"$metric"':incl"] }
		END { printf "%.0f\n", n }'
}

record probe -e REALTIME -- true || fail "-e REALTIME"
[ "$(info probe switches_refused)" = 0 ] || skip "the kernel allows no switch records here: $(info probe switches_refused)"

record nap -e REALTIME@1000 -- "$samples/sleepy" 5 200 5 >reading || fail "sleepy does not end well"
same "interrupted sleeps" 0 "$(awk '$1 == "interrupted" { print $2 }' reading)"
wall=$(awk '$1 == "wall" { print $2 }' reading)
blocked=$(metric nap BLOCKED nap) real=$(metric nap REALTIME '<program root>')
echo "wall $wall, real $real, blocked in nap $blocked"
check "BLOCKED in main;nap is the second that it sleeps" calc "$blocked >= 1e9 && $blocked <= $wall"
same "BLOCKED where it works" 0 "$(metric nap BLOCKED work)"
hpct-slice nap.hpct --op monitored --format tsv | tsv '{ n += $c["end_ns"] - $c["begin_ns"] } END { printf "%.0f\n", n }' >monitored
check "REALTIME is the program's wall time, and no more than was monitored ($(cat monitored))" \
	calc "$real >= $wall && $real <= $(cat monitored)"
check "CPUTIME stands beside it" grep -q 'CPUTIME:incl' <(hpct-profile nap.hpct --metric BLOCKED,CPUTIME --format tsv)

# Parts and whole: windows, states, both readers, with rollups and without.
whole=$(metric nap REALTIME '<program root>' --time 0s..)
half=$(metric nap REALTIME '<program root>' --time ..500ms) rest=$(metric nap REALTIME '<program root>' --time 500ms..)
same "two windows" "$whole" $((half + rest))
same "work + blocked + runnable + sync" "$real" "$(hpct-stats nap.hpct --by op --metric REALTIME --format tsv | tsv '
	{ n += $c["time_ns"] } END { printf "%.0f\n", n }')"
same "--no-rollups" "$real" "$(metric nap REALTIME '<program root>' --no-rollups)"
hpct-stats nap.hpct --metric BLOCKED --by path --format tsv | tsv '
	$c["key"] ~ /^main;nap;/ { n += $c["time_ns"] } END { printf "%.0f\n", n }' >sum
same "hpct-stats counts the same" "$blocked" "$(cat sum)"
hpct-export --to folded --metric BLOCKED nap.hpct | awk '/^main;nap;/ { n += $NF } END { printf "%.0f\n", n }' >sum
same "folded stacks hold the same" "$blocked" "$(cat sum)"

# Four threads on one core: what they wait for it hangs where they work.
core=$(taskset -cp $$ | sed 's/.*: //; s/^\([0-9]*\)[-,].*/\1/')
record busy -e REALTIME -- taskset -c "$core" "$samples/waits" busy >reading || fail "waits busy does not end well"
elapsed=$(awk -F'\t' '/^busy/ { n += $3 - $4 } END { printf "%.0f\n", n }' reading)
runnable=$(metric busy RUNNABLE busy)
echo "waited for the core $elapsed, RUNNABLE in busy $runnable"
check "RUNNABLE has the path of the work" calc "$runnable >= 0.8 * $elapsed - 20e6"
