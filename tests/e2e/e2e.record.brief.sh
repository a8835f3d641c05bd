#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Children that have ended, or become another program, before the recorder could look at them, as a shell's and make's do:
# what the kernel told of their mappings and their files stand in for their memory. The recorder stands still meanwhile.
. "$(dirname -- "$0")/expect.sh"
need gcc

# brief RUN : attaches to ./brief, and has its children come and go while the recorder stands still
brief() {
	local code=0
	./brief >program.out &
	pid=$!
	await said 1
	hpct-record -p "$pid" -o "$1.hpct" -e CPUTIME@f200 --stack-bytes 8192 2>err &
	recorder=$!
	await is_attached || { grep -q forbidden err && skip "$(cat err)"; }
	is_attached || fail "$1: hpct-record does not attach: $(cat err)"
	kill -STOP "$recorder"
	kill -USR1 "$pid"
	await said 2 || fail "$1: the children do not end"
	kill -CONT "$recorder"
	kill -USR2 "$pid"
	wait "$recorder" || fail "$1: hpct-record: $(cat err)"
	wait "$pid" || code=$?
	same "$1: exit code of the program" 7 "$code"
}
said() { [ "$(wc -l <program.out)" -ge "$1" ]; }
is_attached() { [ "$(find "/proc/$recorder/fd" -lname '*perf_event*' 2>/dev/null | wc -l)" -ge "$((2 * $(nproc --all)))" ]; }
holds() { # RUN FUNCTION : it has samples, and those are whole
	rm -f folded
	hpct-export "$1.hpct" --to folded -o folded 2>export.err || fail "$1: $(cat export.err)"
	check "$1: no whole path leads to $2" grep -qE "^main;(.*;)?$2|;main;(.*;)?$2" folded
	! grep -E "partial.*$2" folded || fail "$1: paths to $2 are partial"
}

for kind in '' -static '-static -fno-asynchronous-unwind-tables -fomit-frame-pointer'; do
	run=brief${kind//[- ]/}
	# shellcheck disable=SC2086 # none or several words
	gcc -O1 -g $kind -o brief "$HPCT_SOURCE/tests/e2e/brief.c" 2>gcc.err || {
		echo "left out: gcc $kind: $(head -n 1 gcc.err)"
		continue
	}
	brief "$run"
	holds "$run" burn_forked
	holds "$run" burn_executed
	check "$run: code that nobody can name" calc "$(grep -c 'anonymous code' folded) == 0"
	hpct-info "$run.hpct" --streams --format tsv | tsv '$c["kind"] == "cpu" { print $c["name"] }' | sort -u >names
	check "$run: a thread has no name: $(paste -sd ' ' names)" calc "$(grep -cx '' names) == 0"
	check "$run: --check" hpct-info "$run.hpct" --check >/dev/null
done
