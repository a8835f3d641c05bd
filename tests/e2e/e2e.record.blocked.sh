#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Blocked time from the kernel's switch records: never less than the program asked to wait, never more than it says it
# waited. A thread that wants a core and has none is runnable, not blocked. Nothing is ever interrupted.
. "$(dirname -- "$0")/expect.sh"

# spans_sum RUN OP NAME : ns of the spans of that kind, of the stream whose monitored span carries that name ("": all)
spans_sum() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["track"] == "spans" && $c["op"] == "'"$2"'" { sum[$c["stream"]] += $c["end_ns"] - $c["begin_ns"] }
		$c["op"] == "monitored" && index("," $c["attributes"] ",", ",name='"$3"'" ) { wanted[$c["stream"]] = 1 }
		END { for (s in wanted) n += sum[s]; printf "%.0f\n", n }'
}

# longest RUN NAME : the longest wait for a core of that stream, ns
longest() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["op"] == "runnable" { n = $c["end_ns"] - $c["begin_ns"]; if (n > most[$c["stream"]]) most[$c["stream"]] = n }
		$c["op"] == "monitored" && index("," $c["attributes"] ",", ",name='"$2"'" ) { s = $c["stream"] }
		END { printf "%.0f\n", most[s] }'
}

record probe -- true || fail "true does not end well"
[ "$(info probe switches_refused)" = 0 ] || skip "the kernel allows no switch records here: $(info probe switches_refused)"

declare -A call=([sleep]=nanosleep [poll]=poll [condition]=pthread_cond_timedwait [mutex]=pthread_mutex_lock [pipe]=read)
for way in sleep poll condition mutex pipe; do
	record $way -- "$samples/waits" $way >reading || fail "waits $way does not end well"
	same "$way: interrupted calls" 0 "$(awk '$1 == "interrupted" { print $2 }' reading)"
	nominal=$(awk '$1 == "waits" { print $2 }' reading) elapsed=$(awk '$1 == "waits" { print $3 }' reading)
	# Before and after its waits the loader reads files, and a join waits for a thread that ends: how long, who knows.
	hpct-slice $way.hpct --streams 'thread=0' --format tsv | tsv '
		{ n = $c["end_ns"] - $c["begin_ns"] }
		$c["op"] == "runnable" { runnable += n }
		$c["op"] == "blocked" && $c["path"] ~ /^main;waits;by_'"$way"'(;|$)/ { there += n }
		$c["op"] == "blocked" && $c["path"] ~ /^main;waits;by_'"$way"';(.*;)?'"${call[$way]}"'$/ { in_call += n }
		END { printf "%.0f %.0f %.0f\n", there, in_call, runnable }' >sum
	read -r blocked in_call runnable <sum
	echo "$way: nominal $nominal, blocked $blocked, $in_call in ${call[$way]}, runnable $runnable, elapsed $elapsed"
	same "$way: lost" 0 "$(info $way lost)"
	check "$way: blocked $blocked ns; it waited $elapsed" calc "$blocked <= $elapsed"
	case $way in
	# Put off the core behind the timer's start it is runnable for a part of the time.
	sleep | poll) least="$nominal - $runnable" ;;
	# Until a moment or an unlock, of which a thread without a core misses a part, or until another thread wrote.
	condition | mutex) least="$nominal - $runnable - ($blocked - $in_call)" ;;
	pipe) continue ;;
	esac
	check "$way: only $in_call ns are in ${call[$way]}, not $least" calc "$in_call > 0 && $in_call >= $least"
done
pipes=$(hpct-slice pipe.hpct --streams 'thread=0' --format tsv | tsv '
	$c["op"] ~ /^(blocked|runnable)$/ { n++ } END { print n + 0 }')
calc "$pipes >= 1" || fail "pipe: no switch of the first thread among 2000 turns"

# Four threads on at most two cores: what is not CPU time is runnable.
two=$(taskset -cp $$ | sed 's/.*: //; s/^\([0-9]*\)[-,].*/\1/')
stolen_ns() { # so far, by the hypervisor: neither CPU time nor runnable
	awk -v cpu="cpu$two" -v hz="$(getconf CLK_TCK)" '$1 == cpu { printf "%.0f\n", $9 / hz * 1e9 }' /proc/stat
}
stolen=$(stolen_ns)
record busy -- taskset -c "$two" "$samples/waits" busy >reading || fail "waits busy does not end well"
stolen=$(($(stolen_ns) - stolen))
# A thread waits for its core before its first look at a clock and behind its last, too: once each.
grep '^busy' reading | while IFS=$'\t' read -r name nominal elapsed cpu; do
	blocked=$(spans_sum busy blocked "$name") runnable=$(spans_sum busy runnable "$name")
	echo "$name: elapsed $elapsed, CPU $cpu, runnable $runnable, blocked $blocked"
	calc "$blocked <= 0.02 * $elapsed + 5e6" || echo "$name: blocked $blocked ns, though it never waited"
	calc "$runnable >= 0.95 * ($elapsed - $cpu) - 5e6 - $stolen && $runnable <= $elapsed - 0.95 * $cpu + 5e6 + 2 * $(longest busy "$name")" ||
		echo "WRONG $name: runnable $runnable of $elapsed ns, CPU $cpu"
	calc "$runnable >= 0.3 * $elapsed" || echo "WRONG $name: four threads on one core waited only $runnable of $elapsed ns"
done >verdict
cat verdict
check "busy threads" [ "$(grep -c '^busy' verdict)" -ge 4 -a "$(grep -c 'WRONG\|never waited' verdict)" -eq 0 ]

# Children and successors have records of their own.
record family -- sh -c 'sleep 0.1; (sleep 0.1); exec sleep 0.1' || fail "a shell with children does not end well"
hpct-slice family.hpct --format tsv | tsv '
	$c["op"] == "blocked" { n[$c["stream"]] += $c["end_ns"] - $c["begin_ns"] } END { for (s in n) print n[s], s }' |
	sort -rn >streams
check "family: four programs waited $(cat streams)" [ "$(awk '$1 >= 50e6' streams | wc -l)" -ge 4 ]
same "family: lost" 0 "$(info family lost)"

# The states of hpct-stats and the view.
hpct-stats sleep.hpct --by function --format tsv | tsv '$c["key"] == "blocked" { print $c["time_ns"] }' >row
check "hpct-stats: blocked $(cat row)" calc "$(cat row) >= 200e6"
check "the view draws it" grep -q -- '----' <(hpct-view sleep.hpct --print 120x20)
record plain --no-switches -- "$samples/waits" sleep >reading || fail "--no-switches"
slept=$(spans_sum plain blocked '') elapsed=$(awk '$1 == "waits" { print $3 }' reading)
check "--no-switches: the calls that waited are known all the same: $slept of $elapsed ns" \
	calc "$slept >= 200e6 && $slept <= $elapsed + 30e6"
same "--no-switches: runnable" 0 "$(spans_sum plain runnable '')"

# A program that a signal has stopped waits in no call: its line says that it was stopped.
stopped_at() { # RUN : so many spans of its line end in <stopped>
	hpct-slice "$1.hpct" --format tsv 2>/dev/null | tsv '$c["op"] == "blocked" && $c["path"] ~ /;<stopped>$/ { n++ } END { exit !n }'
}
hpct-record -o stop.hpct -- "$samples/phases" 1000 >/dev/null 2>&1 &
launcher=$!
await sampled stop 20
program=$(pgrep -P "$launcher" -x phases)
kill -STOP "$program"
check "a stopped program reads as <stopped>" await stopped_at stop
kill -CONT "$program"
kill -KILL "$program"
wait "$launcher" 2>/dev/null

# A stop amid a wait cuts it: the time before it is the wait's, not the stop's.
hpct-record -o cut.hpct -- sleep 600 >/dev/null 2>&1 &
launcher=$!
waits_in() { # RUN GLOB : the last span of its line that waits in GLOB
	hpct-slice "$1.hpct" --op blocked --format tsv 2>/dev/null | tsv '{ path = $c["path"] } END { print path }' | grep -q "$2"
}
check "it sleeps" await waits_in cut sleep
program=$(pgrep -P "$launcher" -x sleep)
kill -STOP "$program"
check "the stop is told" await waits_in cut '<stopped>'
same "but not of the sleep before it" 0 "$(hpct-slice cut.hpct --op blocked --format tsv | tsv 'NR == 2 { print $c["path"] ~ /<stopped>/ }')"
kill -CONT "$program"
kill -KILL "$program"
wait "$launcher" 2>/dev/null

# What a child used that nobody has waited for is the program's, too.
record unwaited -- sh -c '("$0" 0.5 >/dev/null &) ; sleep 0.1' "$samples/phases"
check "CPU time of a child that nobody waits for" calc "$(info unwaited program_cpu_ns) >= 0.9 * $(info unwaited sampled_cpu_ns)"
