#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-record -p attached and detached again and again, from outside and by --inject, some ends by kill -9, to a program of
# many threads that checks itself: nothing goes wrong in it, and nothing is left. HPCT_CYCLES of each (`./build.sh stress
# --cycles 1000`), a few by default.
. "$(dirname -- "$0")/expect.sh"
need gcc
cycles=${HPCT_CYCLES:-3}
gcc -O1 -g -fomit-frame-pointer -o injected "$HPCT_SOURCE/tests/e2e/injected.c" -pthread -ldl || skip "injected.c is not built"
./injected >program.out 2>&1 &
pid=$!
is_started() { [ "$(tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | head -n 1)" = ./injected ] && [ "$(ls "/proc/$pid/task" | wc -l)" -ge 6 ]; }
await is_started
hpct-record -p "$pid" -o probe.hpct --for 100ms 2>err || { grep -q forbidden err && skip "$(cat err)"; }
ways=('')
if [ "$(uname -m)" = x86_64 ]; then
	ways+=(--inject)
	hpct-record -p "$pid" --inject -o probe2.hpct --for 100ms 2>err || skip "$(cat err)"
fi
rm -rf probe*.hpct

has_none() { ! grep -qx hpct-agent "/proc/$pid"/task/*/comm 2>/dev/null; }
state() { # what a cycle must leave as it was; memory that the program allocates comes and goes
	ls -l "/proc/$pid/fd" | awk '{ print $9, $10, $11 }'
	awk '$6 ~ /^\// { print $1, $2, $6 }' "/proc/$pid/maps" | grep -v /libm
	grep -E '^(Sig[BIC]|Tracer|Seccomp)' "/proc/$pid/status"
	cat "/proc/$pid/timers"
}
cycle() { # NUMBER WAY : attaches, and detaches by Ctrl-C or kill -9
	rm -rf cycle.hpct
	# shellcheck disable=SC2086 # none or one word
	hpct-record -p "$pid" $2 -o cycle.hpct 2>cycle.err &
	recorder=$!
	begun() { [ "$(hpct-info cycle.hpct --streams --format tsv 2>/dev/null | wc -l)" -gt 5 ] || ! kill -0 "$recorder" 2>/dev/null; }
	await begun
	code=0
	if [ "$(($1 % 5))" -eq 4 ]; then
		kill -KILL "$recorder"
		wait "$recorder" 2>/dev/null
	else
		kill -INT "$recorder"
		wait "$recorder" || code=$?
	fi
	same "cycle $1 ${2:-from outside}: exit code, $(head -n 1 cycle.err)" 0 "$code"
	await has_none || fail "cycle $1 $2: the agent's thread stays"
	await whole || fail "cycle $1 $2: the run is not completed"
}
# and its collector has gone, which closes the store last
whole() { [ "$(info cycle state)" = complete ] && [ ! -e "/proc/$(info cycle collector_pid)" ]; }
state >before
for ((i = 0; i < cycles; i++)); do
	for way in "${ways[@]}"; do
		cycle "$i" "$way"
		kill -0 "$pid" || fail "cycle $i $way: the program has ended"
		[ "$failed" -eq 0 ] || break 2
	done
done
# The program itself opens files now and then.
is_as_before() {
	state >after 2>/dev/null
	cmp -s before after
}
await is_as_before
same_file "descriptors, mapped files, signals, timers of the program" before after
code=0
kill -USR1 "$pid"
wait "$pid" || code=$?
same "exit code of the program" 7 "$code"
same "what it counted" 'interrupted 0, foreign signals 0, wrong 0, idle 0' "$(cat program.out)"
