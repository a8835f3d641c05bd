#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A Go program that runs already is measured from outside: whole stacks, shares as it spends its time, and names also where
# all symbols are stripped, by the runtime's own table.
. "$(dirname -- "$0")/expect.sh"
need go
export HOME=$work GOCACHE=$work/.cache GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=0
cat >main.go <<'END'
package main

import (
	"fmt"
	"math/rand"
	"os"
	"os/signal"
	"syscall"
)

var sink int

//go:noinline
func turn(rounds int) {
	for i := 0; i < rounds; i++ {
		sink += i
	}
}

type worker struct{ rounds int }

//go:noinline
func (w *worker) first() { turn(w.rounds * 7) }

//go:noinline
func (w *worker) second() { turn(w.rounds * 3) }

//go:noinline
func (w *worker) work(done chan bool) {
	// Turns of many samples, and never as long: samples and turns must not keep step.
	for most := w.rounds; ; w.rounds = most/2 + rand.Intn(most) {
		select {
		case <-done:
			done <- true
			return
		default:
		}
		w.first()
		w.second()
	}
}

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGUSR1)
	done := make(chan bool)
	go (&worker{1000000}).work(done)
	fmt.Println("at work")
	<-stop
	done <- true
	<-done
	os.Exit(7)
}
END
built() { go build -o "$1" "${@:2}" main.go >build.log 2>&1; }
built plain || skip "no Go program can be built: $(tail -n 1 build.log)"
built stripped -ldflags='-s -w' || fail "a stripped program is not built"
built pie -buildmode=pie -ldflags='-s -w' && kinds=(plain stripped pie) || kinds=(plain stripped)
for kind in "${kinds[@]}"; do
	"./$kind" >"$kind.out" &
	pid=$!
	is_at_work() { grep -q 'at work' "$kind.out"; }
	await is_at_work
	hpct-record -p "$pid" -o "$kind.hpct" -e CPUTIME@f500 2>err &
	recorder=$!
	await sampled "$kind" 800 || { grep -q forbidden err && skip "$(cat err)"; }
	kill -INT "$recorder"
	wait "$recorder" || fail "$kind: $(cat err)"
	code=0
	kill -USR1 "$pid"
	wait "$pid" || code=$?
	same "$kind: its exit code" 7 "$code"
	taken=$(sample_count "$kind") partial=$(info "$kind" partial_stacks)
	check "$kind: $partial of $taken stacks are partial" calc "$partial <= 0.01 * $taken + 2"
	# 3.5 standard errors: the rounds of its work are no longer than the time between two samples.
	limit=$(awk -v n="$taken" 'BEGIN { print 350 * sqrt(0.7 * 0.3 / (n > 1 ? n : 1)) }')
	near "$kind: share of first" 70 "$(share "$kind" 'main.(*worker).first')" "$limit"
	near "$kind: share of second" 30 "$(share "$kind" 'main.(*worker).second')" "$limit"
	check "$kind: both are below the goroutine's function" [ -n "$(hpct-slice "$kind.hpct" --format tsv | grep -F 'main.(*worker).work;main.(*worker).first;main.turn')" ]
done
