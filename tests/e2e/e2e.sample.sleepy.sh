#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that sleeps: no sleep is cut short, work is found, and what is not work is not called work.
. "$(dirname -- "$0")/expect.sh"
record sleepy -- "$samples/sleepy" 60 20 2 >reading || fail "sleepy does not end well"
same "interrupted sleeps" 0 "$(awk '$1 == "interrupted" { print $2 }' reading)"
cpu=$(awk '$1 == "cpu" { print $2 }' reading) wall=$(awk '$1 == "wall" { print $2 }' reading)
near "weights against the program's own CPU clock" "$cpu" "$(weight_sum sleepy)" 20e6 # it was there before the agent
weights_agree sleepy
hpct-stats sleepy.hpct --by function --format tsv >stats
tsv '{ all += $c["time_ns"] } $c["key"] ~ /^(unknown|blocked|runnable)$/ { state += $c["time_ns"] }
	END { printf "%.0f %.0f\n", all, state }' <stats >sums
read -r all state <sums
calc "$all >= 0.98 * $wall" || fail "the rows of hpct-stats sum to $all ns, the program ran $wall ns"
calc "$state >= 0.3 * $wall" || fail "of $wall ns, nearly all asleep, only $state ns are not called work"
