#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reading while recording: a run opens at once, grows, and what was complete reads the same at the end.
. "$(dirname -- "$0")/expect.sh"
hpct-record -o live.hpct -- "$samples/threads8" 1000 >/dev/null & # as long as it takes
launcher=$!
opens() { hpct-info live.hpct >out 2>err; }
check "the run opens while the program runs: $(head -n 1 err)" await opens
check "samples are read while recording" await sampled live 50
first=$(sample_count live)
# Complete until its end, but for handlers that are preempted between the clock and what they write: half of it.
complete=$(($(info live end_ns) / 2))ns
hpct-slice live.hpct --time "..$complete" --format tsv >early || fail "slice of a run that is being recorded"
hpct-profile live.hpct --format tsv >out || fail "profile of a run that is being recorded"
hpct-view live.hpct --print 120x36 >out || fail "view of a run that is being recorded"
check "samples grow while recording, from $first on" await sampled live $((first + 50))
kill -TERM "$launcher"
wait "$launcher"
same "the program ends as it was told, under readers" 143 $?
hpct-slice live.hpct --time "..$complete" --format tsv >late
numbers() { # rows without what names add later
	tsv '$c["track"] == "samples" { print $c["stream"], $c["begin_ns"], $c["weight"], $c["metric"] }' | sort
}
numbers <early >early.numbers
numbers <late >late.numbers
check "there were samples in the window until $complete: $(wc -l <early.numbers)" [ "$(wc -l <early.numbers)" -ge 10 ]
same_file "a complete window, read during and after the recording" late.numbers early.numbers
