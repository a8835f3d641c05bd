#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that profilers have broken, or been broken by: each checks itself, then the run is read.
. "$(dirname -- "$0")/expect.sh"
awkward=$HPCT_BIN/../tests/awkward

for way in storm deep names own_profiler waits unload c11 cancel forks; do
	both "$way" "$awkward" "$way"
	same "$way: exit code" 0 "$measured"
	same "$way: lost" 0 "$(info "$way" lost)"
	weights_agree "$way"
done
event=CPUTIME@200
for way in nested counterless resets; do
	both "$way" timeout 300 "$HPCT_BIN/../tests/nests" "$way"
	same "$way: exit code" 0 "$measured"
	weights_agree "$way"
done
unset event
check "storm: 601 streams, got $(info storm streams)" [ "$(info storm streams)" -eq 601 ]
# Threads and processes cost some themselves, more on a busy machine; no thread has more than its clock, see above.
check "storm: weights" calc "$(weight_sum storm) > 0.45e9 && $(weight_sum storm) < 1.5e9"
record kept -r -- "$awkward" deep >/dev/null || fail "deep, every level kept"
deepest=$(hpct-slice kept.hpct --format tsv | tsv '
	$c["track"] == "samples" { n = gsub(/;recurse/, "", $c["path"]); if (n > most) most = n } END { print most + 0 }')
same "deep: frames of recurse in the deepest path" 3001 "$deepest"
same "deep: partial stacks" 0 "$(info deep partial_stacks)"
check "names: raw control bytes in a table" [ "$(hpct-info names.hpct --streams --format tsv |
	LC_ALL=C tr -d '\n\t\040-\176\200-\377' | wc -c)" -eq 0 ]
for reader in 'hpct-info --streams' hpct-profile hpct-stats hpct-slice hpct-stacks 'hpct-view --print 120x36'; do
	# shellcheck disable=SC2086
	$reader names.hpct >out || fail "names: $reader"
	check "names: a raw escape in the output of $reader" [ "$(LC_ALL=C tr -d '\n\040-\176\200-\377' <out | wc -c)" -eq 0 ]
done
near "c11: share of its work" 100 "$(share c11 c11_work)" 15
check "cancel: work of the cancelled thread is there" [ "$(share cancel until_cancelled)" != 0.000 ]
both narrow "$awkward" narrow
both starts "$awkward" starts
agent=$HPCT_BIN/../lib/hpct/hpct-agent.so
check "starts, loaded and nobody measures" env LD_PRELOAD="$agent" "$awkward" starts
check "starts, loaded and nobody listens" \
	env HPCT_SOCKET="$PWD/none" HPCT_AGENT="$agent" LD_PRELOAD="$agent" "$awkward" starts
both posts "$awkward" posts
same "posts: exit code" 0 "$measured"
both calls "$awkward" calls
same "calls: exit code" 0 "$measured"
check "calls, loaded and nobody measures" env LD_PRELOAD="$agent" "$awkward" calls
both vforks "$awkward" vforks
check "vforks: whole stacks, $(info vforks partial_stacks) of $(sample_count vforks) are not" \
	calc "$(info vforks partial_stacks) * 10 <= $(sample_count vforks)"
check "vforks: its caller is there: $(share vforks vfork) %" calc "$(share vforks vfork) > 1"
check "forks: weights of ten children and two threads" calc "$(weight_sum forks) > 0.44e9 && $(weight_sum forks) < 1e9"

# Ten thousand threads that end at once: more than the 4096 rings, so a collector that gets no turn misses some, and
# says how many; with a turn, as it has in one of five runs, it gives rings to others.
for _ in 1 2 3 4 5; do
	record many --overwrite -- "$HPCT_BIN/../tests/agent_probe" short 10000 0 >out || fail "many: exit code $?"
	streams=$(info many streams)
	same "many: threads, measured or counted" 10002 $((streams + $(info many threads_unmonitored)))
	check "many: as many as there are rings are measured: $streams" [ "$streams" -ge 4096 ]
	same "many: lost" 0 "$(info many lost)"
	[ "$streams" -eq 4096 ] || break
done
check "many: a ring is used again" [ "$streams" -gt 4096 ]

# Who leaves handlers on an alternate stack by a jump is sampled on; who has none to spare is not harmed.
for rate in 5000 200; do
	event=CPUTIME@$rate both leaves "$HPCT_BIN/../tests/leaves"
	weights_agree leaves all
	rm -rf leaves.hpct
	for way in plain saved unsaved unseen context sets unblocks polls; do
		event=CPUTIME@$rate both "jumps_$way" "$HPCT_BIN/../tests/jumps" $way
		same "jumps $way: exit code" 0 "$measured"
		weights_agree "jumps_$way" all
		rm -rf "jumps_$way.hpct"
	done
done

# Threads that live on to the end of their process, on a path that no sample was ever on, have all their CPU time.
record idlers -e CPUTIME@40000 -- "$awkward" idlers
same "idlers: exit code" 0 "$?"
clocks idlers >idlers.clocks
same "idlers: threads whose weights are their CPU clock" 3 \
	"$(awk -F '\t' '$1 !~ /\/0$/ && $2 >= 10e6 && $2 == $3' idlers.clocks | wc -l)"

# So have those that end by system calls of their own, and one of libc's is not taken for another.
both ends "$HPCT_BIN/../tests/ends"
same "ends: exit code" 5 "$measured"
weights_agree ends all
same "ends: threads that have their clock" 9 "$(awk -F '\t' '$3 >= 23e6' ends.clocks | wc -l)"
check "ends: main's: $(head -n 1 ends.clocks)" awk -F '\t' '$1 ~ /\/0$/ && $3 >= 63e6 { n++ } END { exit !n }' ends.clocks
# Who ends in a handler that came in the middle of another record has all its CPU time, too.
both marks "$HPCT_BIN/../tests/ends" 60
clocks marks >marks.clocks
same "marks: lost" 0 "$(info marks lost)"
same "marks: threads whose weights are their CPU clock" 61 "$(awk -F '\t' '$3 > 0 && $2 == $3' marks.clocks | wc -l)"

# A daemon outlives its parent; the run is whole once it has ended.
record away -- "$awkward" away >out
same "away: exit code" 0 "$?"
has_ended() { [ "$(info away state)" = complete ]; }
check "away: the run ends" await has_ended
near "away: weights of a daemon" 0.3e9 "$(weight_sum away)" 40e6
same "away: the run's own sum has the daemon's" "$(weight_sum away)" "$(info away sampled_cpu_ns)"
check "away: so have its signals" calc "$(info away signals) > 0 && $(info away rate_got) > 0"

# Odd places: spaces, colons and quotes in the paths of the program and of the run.
mkdir "odd: a 'b'" && cp "$samples/exits" "odd: a 'b'/prog ram"
code "odd paths" 7 hpct-record -o "odd: a 'b'/ru n.hpct" -- "odd: a 'b'/prog ram" return 7 0.4
near "odd paths: names" 100 "$(share "odd: a 'b'/ru n" spend)" 12
