#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a process writes over its command line names it: read while it runs, after it ended and after it was killed. A
# word overwritten behind the first (a password) is no title.
. "$(dirname -- "$0")/expect.sh"
hpct-record -o titled.hpct -- "$HPCT_BIN/../tests/titled" a-word-that-makes-room-for-longer-titles >pids &
await test -s pids
read -r reader writer plain <pids
title_of() { # PID
	hpct-info titled.hpct --processes --format tsv | tsv 'index($c["process"], "/'"$1"'.") { print $c["title"] }'
}
is_told() { [ "$(title_of "$writer")" = "titled: writer" ]; }
await is_told
touch go
wait $! || fail "the program's exit code"
same "of one that ended" "titled: reader" "$(title_of "$reader")"
same "of one that was killed" "titled: writer" "$(title_of "$writer")"
same "of one that wrote over another word" "" "$(title_of "$plain")"
check "rows are called by it" grep -q "titled: writer" <(hpct-view titled.hpct --print 200x50)
check "and keys" grep -q "titled: reader $reader" <(hpct-stats titled.hpct --by process)
check "the table shows it in place of the command" grep -q "titled: writer$" <(hpct-info titled.hpct --processes)
