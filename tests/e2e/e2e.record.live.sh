#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reading while recording: a run opens at once, grows, and what was complete reads the same at the end.
. "$(dirname -- "$0")/expect.sh"
hpct-record -o live.hpct -- "$samples/phases" 2.5 >reading &
launcher=$!
for _ in $(seq 100); do
	[ -d live.hpct ] && hpct-info live.hpct >out 2>err && break
	sleep 0.05
done
check "the run opens while the program runs: $(head -n 1 err)" hpct-info live.hpct >out
sleep 1.8
first=$(sample_count live)
hpct-slice live.hpct --time 0s..1s --format tsv >early || fail "slice of a run that is being recorded"
hpct-profile live.hpct --format tsv >out || fail "profile of a run that is being recorded"
hpct-view live.hpct --print 120x36 >out || fail "view of a run that is being recorded"
sleep 1.3
second=$(sample_count live)
check "the program still ran at the second look" kill -0 "$launcher"
check "samples grow while recording: $first, then $second" [ "$second" -gt "$first" ]
wait "$launcher" || fail "phases does not end well under readers"
hpct-slice live.hpct --time 0s..1s --format tsv >late
numbers() { # rows without what names add later
	tsv '$c["track"] == "samples" { print $c["stream"], $c["begin_ns"], $c["weight"], $c["metric"] }' | sort
}
numbers <early >early.numbers
numbers <late >late.numbers
check "there were samples in the window" [ "$(wc -l <early.numbers)" -ge 10 ]
same_file "a complete window, read during and after the recording" late.numbers early.numbers
