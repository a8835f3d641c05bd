#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reading while recording: a run opens at once, grows, and what was complete reads the same at the end.
. "$(dirname -- "$0")/expect.sh"
hpct-record -o live.hpct -- "$samples/threads8" 1000 >/dev/null & # as long as it takes
launcher=$!
opens() { hpct-info live.hpct >out 2>err; }
check "the run opens while the program runs: $(head -n 1 err)" await opens
numbers() { # rows without what names add later
	tsv '$c["track"] == "samples" { print $c["stream"], $c["begin_ns"], $c["weight"], $c["metric"] }' | sort
}
# Complete until its end, but for handlers that are preempted between the clock and what they write: half of it.
# How long a program takes to begin is the machine's affair.
half_sampled() {
	complete=$(($(info live end_ns) / 2))ns
	hpct-slice live.hpct --time "..$complete" --format tsv >early 2>err || return 1
	numbers <early >early.numbers
	[ "$(wc -l <early.numbers)" -ge 50 ]
}
check "samples are read while recording" await sampled live
check "a slice of a run that is being recorded has samples: $(head -n 1 err)" await half_sampled
behind=$(info live behind_ns)
check "what is complete lies behind the present: ${behind:-nothing}" [ "${behind:-0}" -gt 0 ]
first=$(sample_count live)
hpct-profile live.hpct --format tsv >out || fail "profile of a run that is being recorded"
hpct-view live.hpct --print 120x36 >out || fail "view of a run that is being recorded"
check "samples grow while recording, from $first on" await sampled live $((first + 50))
kill -TERM "$launcher"
wait "$launcher"
same "the program ends as it was told, under readers" 143 $?
hpct-slice live.hpct --time "..$complete" --format tsv >late
numbers <late >late.numbers
same_file "a complete window, read during and after the recording" late.numbers early.numbers
same "a run that is over is behind nothing" "" "$(info live behind_ns)"
