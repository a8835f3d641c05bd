#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-view -p: records what runs already while somebody looks; dropped at the end, or kept by :write; the process goes on.
. "$(dirname -- "$0")/expect.sh"
need gcc
gcc -O1 -g -fomit-frame-pointer -o attached "$HPCT_SOURCE/tests/e2e/attached.c" -pthread || skip "attached.c is not built"
./attached >program.out &
pid=$!
has_both() { [ "$(ls "/proc/$pid/task" | wc -l)" -eq 2 ]; }
await has_both
mkdir tmp
export TMPDIR=$work/tmp
view() { hpct-view -p "$pid" --print 100x16 "$@" >screen 2>err || { grep -q forbidden err && skip "$(cat err)"; return 1; }; }

shows() { view && grep -q 'LIVE' screen && grep -q 'main' screen; }
check "a picture of what runs now: $(cat screen err)" await shows
same "nothing is left behind" "" "$(ls tmp)"
view --keys ':write kept<Enter>' || fail "a look that is kept: $(cat err)"
check "it says where: $(cat screen)" grep -q "the run will be $work/kept.hpct" screen
same "nothing is left behind of what was kept" "" "$(ls tmp)"
same "the kept run is complete" complete "$(info kept state)"
same "the kept run is sound" sound "$(hpct-info kept.hpct --check --format tsv | tsv '$c["key"] == "check" { print $c["value"] }')"
view --keys ':write kept<Enter>'
check "it does not replace another: $(cat screen)" grep -q "kept.hpct exists" screen
hpct-view kept.hpct --print 100x16 --keys ':write other<Enter>' >screen
check "a run that is no look is kept anyway: $(cat screen)" grep -q "this run is kept anyway" screen
same "no recorder is left" "" "$(hpct-record --status | grep -F "$work/")"

code "no such process" 4 hpct-view -p 4194304 --print 100x16
sentence "no such process"
code "no number" 2 hpct-view -p x --print 100x16
sentence "no number"
code "a run beside" 2 hpct-view -p "$pid" kept.hpct --print 100x16
sentence "a run beside"
same "nothing is left behind at the end" "" "$(ls tmp)"
kill -USR1 "$pid"
code=0
wait "$pid" || code=$?
same "the program ends as it would" 7 "$code"
same "nothing disturbed it" 'interrupted 0, foreign signals 0, at work 1' "$(cat program.out)"
