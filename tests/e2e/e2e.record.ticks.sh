#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A thread that gives way before each of the kernel's ticks, from which CPU timers are looked at, has its CPU time all the
# same: where it waits, in a call that the agent knows, or yields, it takes a sample itself. What the timer tells of late,
# if ever, is counted once. Where it does neither, what the timer would tell at the next tick is told as it ends.
. "$(dirname -- "$0")/expect.sh"
program=$HPCT_BIN/../tests/gives_way

for how in ticks unmet lives never late yields; do
	for rate in 200 1000; do
		run=$how$rate
		code "$run" 0 hpct-record -o "$run.hpct" --sampler timer -e "CPUTIME@f$rate" -- "$program" $how 200
		weights_agree "$run" all
		same "$run: lost" 0 "$(info "$run" lost)"
		in_it=$(hpct-slice "$run.hpct" --format tsv | tsv '$c["track"] == "samples" && $c["path"] ~ /^<thread root>/ {
			all += $c["weight"]; if ($c["path"] ~ /;gives_way/) n += $c["weight"] } END { print 100 * n / all }')
		check "$run: $in_it % of the thread's time where it works" calc "$in_it > 95"
	done
	hpct-slice "$run.hpct" --format tsv | tsv '$c["track"] == "samples" && $c["weight"] { n++ } END { print n + 0 }' >count
	[ "$how" != unmet ] && [ "$how" != lives ] || continue
	# At 1000 Hz: one where two periods and a tick have gone by, as it gives way.
	least=$(awk 'NR == 1 { limit = 2e6 + $1; next } { ns += $1 } ns >= limit { n++; ns = 0 } END { printf "%d", n * 0.6 }' out)
	check "$how: $(cat count) samples, $least at least" [ "$(cat count)" -ge "$least" ]
done
