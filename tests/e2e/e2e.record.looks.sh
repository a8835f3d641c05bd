#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-record -p PID where perf events are refused, as by a container's seccomp filter: threads are looked at by ptrace; the
# program, which checks itself, notices nothing; shares, weights, waits, threads that begin later; one sentence says what lifts it.
# Where ptrace is refused, too, the weights are there; where the process cannot be read at all, the refusal is that of perf.
. "$(dirname -- "$0")/expect.sh"
need gcc
[ "$(uname -m)" = x86_64 ] || skip "looks by ptrace are for x86-64"
gcc -O1 -g -fomit-frame-pointer -o injected "$HPCT_SOURCE/tests/e2e/injected.c" -pthread -ldl || skip "injected.c is not built"
refuse=$HPCT_BIN/../tests/refuse
"$refuse" 1 true || skip "no seccomp filter here"
./injected >program.out 2>&1 &
pid=$!
is_started() { [ "$(tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | head -n 1)" = ./injected ] && [ "$(ls "/proc/$pid/task" | wc -l)" -ge 6 ]; }
await is_started
look() { # RUN COMMAND... : until main's line has samples; $recorder
	local run=$1
	shift
	stolen_before=$(stolen_ns)
	"$@" hpct-record -p "$pid" -o "$run.hpct" 2>"$run.err" &
	recorder=$!
	await main_sampled "$run" || fail "$run: no samples: $(cat "$run.err")"
	local code=0
	kill -INT "$recorder"
	wait "$recorder" || code=$?
	same "$run: exit code" 0 "$code"
}
main_sampled() { [ "$(hpct-slice "$1.hpct" --format tsv --streams thread=0 2>/dev/null | tsv '$c["track"] == "samples" { n++ } END { print n + 0 }')" -ge 100 ]; }

look seen "$refuse" 1
check "the sentence: $(cat seen.err)" grep -q 'perf events are refused here (Operation not permitted): threads were looked at 50 times a second by ptrace.*perf_event_paranoid' seen.err
same "state" complete "$(info seen state)"
weights_agree seen all
hpct-slice seen.hpct -o main.hpct --streams thread=0
# Each look is a sample of its own: 3.5 standard errors of as many as there were.
near "share of burn_first" 60 "$(share main burn_first)" "$(awk -v n="$(sample_count main)" 'BEGIN { print 175 / sqrt(n > 1 ? n : 1) }')"
check "a thread that began later has its path" calc "$(hpct-slice seen.hpct --format tsv | tsv '$c["path"] ~ /is_born;turn;burn_/ { n++ } END { print n + 0 }') > 0"
check "waits are blocked time" [ -n "$(hpct-slice seen.hpct --op blocked --format tsv | tail -n +2)" ]
same "--check" sound "$(hpct-info seen.hpct --check --format tsv | tsv '$c["key"] == "check" { print $c["value"] }')"

look blind "$refuse" 1 "$refuse" 1=101
check "the sentence: $(cat blind.err)" grep -q 'in /proc alone, as ptrace is refused, too: no call paths' blind.err
weights_agree blind all

code "neither perf nor its memory" 125 "$refuse" 1 "$refuse" 1=310 hpct-record -p "$pid" -o none.hpct --for 1s
check "the sentence: $(cat err)" grep -q 'perf_event_open is forbidden here' err
[ ! -e none.hpct ] || fail "it leaves a run behind"

"$refuse" 1 hpct-doctor -p "$pid" >out 2>err
check "hpct-doctor says it beforehand: $(grep 'from outside' out)" grep -q 'samples from outside.*looked at 50 times a second' out

code=0
kill -USR1 "$pid"
wait "$pid" || code=$?
same "exit code of the program" 7 "$code"
same "what it counted" 'interrupted 0, foreign signals 0, wrong 0, idle 0' "$(cat program.out)"
