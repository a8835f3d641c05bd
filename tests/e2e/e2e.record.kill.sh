#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the program loses nothing: weights against the CPU time that /proc tells before the kill.
. "$(dirname -- "$0")/expect.sh"

is_stopped() { # PID : all its threads
	! grep -hqv ') [Tt] ' "/proc/$1/task/"*/stat
}

# kill_at SAMPLES RUN PROGRAM ARGUMENT : records it and kills it half a second after so many samples were committed;
# what /proc said is in RUN.proc: tid, nanoseconds
kill_at() {
	local count=$1 run=$2 launcher program task
	shift 2
	hpct-record -o "$run.hpct" -- "$samples/$1" "$2" &
	launcher=$!
	await sampled "$run" "$count"
	sleep 0.5
	program=$(pgrep -P "$launcher" -x "$1")
	[ -n "$program" ] || { fail "$1 does not run below hpct-record" && exit; }
	stopped=$(date +%s%N)
	kill -STOP "$program"
	check "$run: it does not stop" await is_stopped "$program"
	for task in /proc/"$program"/task/*; do
		printf '%s\t%s\n' "${task##*/}" "$(cut -d' ' -f1 "$task/schedstat")"
	done >"$run.proc"
	kill -KILL "$program"
	wait "$launcher" 2>/dev/null
	same "$run: hpct-record dies as the program died" 137 "$?"
	same "$run: lost records" 0 "$(info "$run" lost)"
	# Of each thread one signal may have come that was no sample yet.
	hpct-info "$run.hpct" --format tsv | tsv '{ n[$c["key"]] = $c["value"] }
		END { printf "%d signals, %d samples, %d threads\n", n["signals"] + n["samples_shared"], n["samples"], n["threads"]
			exit !(n["signals"] && n["samples"] >= n["signals"] + n["samples_shared"] - n["threads"]) }' >balance ||
		fail "$run: not each signal became a sample: $(cat balance)"
	hpct-info "$run.hpct" --streams --format tsv | tsv '{ print $c["stream"] "\t" $c["tid"] }' >tids
	# What the thread used before the agent came is known, and no sample's.
	hpct-slice "$run.hpct" --format tsv | tsv '
		$c["track"] == "samples" { n[$c["stream"]] += $c["weight"] }
		$c["op"] == "monitored" && match($c["attributes"], /cpu_begin_ns=[0-9]+/) {
			n[$c["stream"]] += substr($c["attributes"], RSTART + 13, RLENGTH - 13)
		}
		END { for (s in n) printf "%s\t%.0f\n", s, n[s] }' >weights
	awk -F '\t' 'FILENAME == "tids" { tid[$1] = $2; next } { printf "%s\t%s\n", tid[$1], $2 }' \
		tids weights >"$run.weights"
}

# compare RUN LIMIT_NS : each thread within 1 %, LIMIT_NS or, on a busy machine, twice the most that lay between two of
# its samples, of what /proc said
compare() {
	hpct-slice "$1.hpct" --format tsv | tsv '$c["track"] == "samples" && $c["weight"] > most { most = $c["weight"] }
		END { printf "%.0f\n", 2 * most }' >most
	awk -F '\t' -v limit="$2" -v most="$(cat most)" '
		BEGIN { if (most > limit) limit = most }
		FILENAME ~ /proc$/ { clock[$1] = $2; want += $2; next }
		{
			c = clock[$1]; d = c - $2; if (d < 0) d = -d
			all += $2; delete clock[$1]
			if (d > limit && d > c / 100) {
				printf "thread %s: weights %.0f, /proc says %.0f\n", $1, $2, c
				bad = 1
			}
		}
		END {
			for (t in clock) { printf "thread %s: no samples, /proc says %.0f\n", t, clock[t]; bad = 1 }
			printf "%d threads: weights %.0f, /proc says %.0f, %.2f %%\n", FNR, all, want, 100 * all / want
			exit bad
		}' "$1.proc" "$1.weights" || fail "$1: CPU time is missing from a killed program's run"
}

# What may be missing is what no signal has told yet: one period, and the wait for the kernel's tick.
kill_at 200 one deep 1000
compare one 10e6

# Threads that share a core are seldom on it when the tick comes, and may be reported late; but all are there, and
# samples go on until the very end: what a lost commit would take is the last second.
kill_at 200 many threads8 100
same "threads seen in /proc" 9 "$(wc -l <many.proc)"
same "streams" 9 "$(info many streams)"
origin=$(date -d "$(info many origin_time)" +%s%N)
apart=$(python3 -c 'import time; print(time.time_ns() - time.monotonic_ns())')
near "wall clock to CLOCK_MONOTONIC at the origin" "$apart" "$((origin - $(info many origin_monotonic_ns)))" 0.1e9
read -r last most < <(hpct-slice many.hpct --format tsv | tsv '
	$c["track"] == "samples" { if (last && $c["begin_ns"] - last > most) most = $c["begin_ns"] - last; last = $c["begin_ns"] }
	END { printf "%.0f %.0f\n", last, 3 * most }')
near "time from the last sample to the kill" 0 "$((stopped - origin - last))" "$((most > 300000000 ? most : 300000000))"

# hpct-record is killed, and the program with it: what there was is named and summed up all the same.
hpct-record -o above.hpct -- "$samples/deep" 1000 &
launcher=$!
await sampled above 50
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null
has_ended() { [ "$(info above state)" = complete ]; }
check "above: the run ends" await has_ended
same "above: processes" 1 "$(info above processes)"
check "above: signals became samples" calc "$(info above signals) > 0 && $(info above samples) >= $(info above signals) - 1"

# The collector is killed: the program runs on, and where they met nothing is left.
mkdir -m 700 place
XDG_RUNTIME_DIR=$PWD/place hpct-record -o below.hpct -- "$samples/deep" 1000 2>err &
launcher=$!
await sampled below 20
program=$(pgrep -P "$launcher" -x deep)
kill -KILL "$(info below collector_pid)"
check "below: the program runs on" kill -TERM "$program"
wait "$launcher" 2>/dev/null
same "below: exit code" 143 "$?"
sentence "below"
check "below: $(cat err)" grep -q 'the collector ended unexpectedly' err
same "below: what is left where they met" "" "$(find place/hpct -mindepth 1 -type d)"

# Collector and hpct-record are both killed: nobody is left to clear the place where they met. The next recording does,
# and leaves one alone whose collector lives.
export XDG_RUNTIME_DIR=$PWD/place
places() { find place/hpct -mindepth 1 -type d | wc -l; }
hpct-record -o alive.hpct -- "$samples/deep" 1000 2>/dev/null &
alive=$!
hpct-record -o gone.hpct -- "$samples/deep" 1000 2>/dev/null &
launcher=$!
await sampled gone 5
await sampled alive 5
program=$(pgrep -P "$launcher" -x deep)
kill -KILL "$(info gone collector_pid)" "$launcher"
wait "$launcher" 2>/dev/null
same "gone: places that are left" 2 "$(places)"
kill -KILL "$program"
code "another recording" 0 hpct-record -o next.hpct true
is_cleared() { [ "$(places)" -eq 1 ]; }
check "gone: its place is left: $(places)" await is_cleared
before=$(sample_count alive)
check "alive: it is recorded on" await sampled alive $((before + 5))
kill -TERM "$(pgrep -P "$alive" -x deep)"
wait "$alive" 2>/dev/null
same "alive: exit code" 143 "$?"
same "alive: state" complete "$(info alive state)"
same "places at the end" 0 "$(places)"
unset XDG_RUNTIME_DIR

# A collector that is killed at once: its store says from the first commit on who writes it, so it is known as cut short.
for round in 1 2 3 4; do
	hpct-record -o "early$round.hpct" -- sleep 1000 2>early.err &
	launcher=$!
	opened() { hpct-info "early$round.hpct" --format tsv >first 2>early.not; }
	await opened
	collector=$(tsv '$c["key"] == "collector_pid" { print $c["value"] }' <first)
	check "round $round: nobody records" [ "${collector:-0}" -gt 0 ]
	same "round $round: command" "sleep 1000" "$(tsv '$c["key"] == "command" { print $c["value"] }' <first)"
	kill -KILL "$collector"
	dead() { [ "$(info "early$round" state)" != recording ]; } # a busy machine takes its time to end it
	await dead
	same "round $round: state" "cut short" "$(info "early$round" state)"
	code "round $round: --check" 0 hpct-info --check "early$round.hpct"
	await pkill -KILL -P "$launcher" -x sleep
	wait "$launcher" 2>early.not || true
done
