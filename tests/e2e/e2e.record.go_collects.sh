#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A Go program that collects garbage nearly always is measured from outside: what Go's runtime does for a goroutine on the
# thread's own stack has the goroutine's path, each path is one that the program takes, and all but a few are whole.
. "$(dirname -- "$0")/expect.sh"
need go
[ "$(uname -m)" = x86_64 ] || skip "the kernel follows frame pointers to other stacks on x86-64 only"
export HOME=$work GOCACHE=$work/.cache GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=0
go build -o collects "$HPCT_SOURCE/tests/e2e/collects.go" >build.log 2>&1 || skip "no Go program can be built: $(tail -n 1 build.log)"
./collects >program.out &
pid=$!
is_at_work() { grep -q 'at work' program.out; }
await is_at_work
hpct-record -p "$pid" -o run.hpct -e CPUTIME@f500 2>err &
recorder=$!
await sampled run 1500 || { grep -q 'forbidden\|refused' err && skip "$(cat err)"; }
kill -INT "$recorder"
wait "$recorder" || fail "hpct-record: $(cat err)"
code=0
kill -USR1 "$pid"
wait "$pid" || code=$?
same "its exit code" 7 "$code"
grep -q 'looked at' err && skip "perf events are refused here: $(cat err)"
taken=$(sample_count run) partial=$(info run partial_stacks)
check "$partial of $taken stacks are partial" calc "$partial <= 0.01 * $taken + 2"

hpct-export run.hpct --to folded -o folded 2>export.err || fail "$(cat export.err)"
# The program's own frames, in whole paths, are one of its chains from the outermost on; a function that waits for a larger stack
# is not in the path.
awk '!/<partial>/ {
	sub(/ [0-9]+$/, "")
	n = split($0, frame, ";")
	own = ""
	for (i = 1; i <= n; i++)
		if (frame[i] ~ /^main\./ && frame[i] != "main.main" && frame[i] !~ /func/)
			own = own " " substr(frame[i], 6)
	if (own !~ /^( plantTop( plantMid( tree)*)?)?$/ && own !~ /^( nameTop( nameMid)?)?$/ && own !~ /^( growTop( growDeep)*)?$/)
		print own ": " $0
}' folded >wrong
same "paths that the program does not take: $(head -n 3 wrong)" 0 "$(wc -l <wrong)"
for path in 'main.plantTop;main.plantMid;main.tree.*;runtime.mallocgc;runtime.*systemstack;' \
	'runtime.gcBgMarkWorker;runtime.systemstack;runtime.gcBgMarkWorker.func2;'; do
	check "no whole path goes by $path" grep -qE "^[^<]*(<thread root>;)?([^<]*;)?$path" folded
done
