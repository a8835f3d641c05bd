#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the program loses nothing: weights against the CPU time that /proc tells before the kill.
. "$(dirname -- "$0")/expect.sh"
record killed -- "$samples/threads8" 100 &
launcher=$!
sleep 4
program=$(pgrep -P "$launcher" | head -n 1)
check "the program runs below hpct-record" [ -n "$program" ]
kill -STOP "$program"
sleep 0.1
for task in /proc/"$program"/task/*; do
	printf '%s\t%s\n' "${task##*/}" "$(cut -d' ' -f1 "$task/schedstat")"
done >proc
kill -KILL "$program"
wait "$launcher" 2>/dev/null
same "hpct-record dies as the program died" 137 "$?"
same "threads seen in /proc" 9 "$(wc -l <proc)"
hpct-slice killed.hpct --format tsv >rows || fail "the run is not readable"
hpct-info killed.hpct --streams --format tsv | tsv '{ print $c["stream"] "\t" $c["tid"] }' >tids
tsv '$c["track"] == "samples" { n[$c["stream"]] += $c["weight"] } END { for (s in n) printf "%s\t%.0f\n", s, n[s] }' \
	<rows >weights
# A thread's last period, and the tick at which the kernel looks, may be under way at any instant.
awk -F '\t' '
	FILENAME == "proc" { clock[$1] = $2 }
	FILENAME == "tids" { tid[$1] = $2 }
	FILENAME == "weights" {
		c = clock[tid[$1]]; d = $2 - c; if (d < 0) d = -d
		all += $2; want += c
		limit = c / 100 > 10e6 ? c / 100 : 10e6
		if (d > limit) { printf "thread %s: weights %.0f, /proc says %.0f\n", tid[$1], $2, c; bad = 1 }
	}
	END {
		printf "all threads: weights %.0f, /proc says %.0f, %.2f %%\n", all, want, 100 * all / want
		exit bad || want < 2e9 || all < want - 9 * 5e6 - want / 100 || all > want * 1.01
	}' proc tids weights || fail "CPU time is missing from a killed program's run"
same "lost records" 0 "$(info killed lost)"
