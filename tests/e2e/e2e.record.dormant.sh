#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-record --dormant, --start, --stop and --status: nothing is armed until the start, weights and shares of what was
# on agree, waits are not interrupted; children, an attached process, a flight recording that keeps what was there.
. "$(dirname -- "$0")/expect.sh"
need gcc
gcc -O1 -g -fomit-frame-pointer -o attached "$HPCT_SOURCE/tests/e2e/attached.c" -pthread || skip "attached.c is not built"
unchanged='interrupted 0, foreign signals 0, at work 1'

begin() { # RUN OPTION... : ./attached, in the background; $recorder, $pid
	local run=$1
	shift
	hpct-record -o "$run.hpct" "$@" ./attached >program.out 2>"$run.err" &
	recorder=$!
	await is_at_work || fail "$run: the program does not start: $(cat "$run.err")"
}
is_at_work() {
	pid=$(pgrep -P "$recorder" -x attached) && [ "$(ls "/proc/$pid/task" | wc -l)" -eq 2 ]
}
state() { # RUN : its word of --status
	hpct-record --status "$1.hpct" | tsv '{ print $c["state"] }'
}
ends() { # RUN : as it would alone
	local code=0
	kill -USR1 "$pid"
	wait "$recorder" || code=$?
	same "$1: exit code" 7 "$code"
	same "$1: output" "$unchanged" "$(cat program.out)"
	same "$1: --check" sound "$(hpct-info "$1.hpct" --check --format tsv | tsv '$c["key"] == "check" { print $c["value"] }')"
}
events() { grep -c perf_event "/proc/$pid/maps"; }
stretches() { # RUN : unmonitored stretches of each thread
	hpct-slice "$1.hpct" --format tsv | tsv '$c["op"] == "unmonitored" { sub(/.*\//, "", $c["stream"]); n[$c["stream"]]++ }
		END { print n[0] + 0, n[1] + 0 }'
}

# Never started: no perf event, no signal, no sample that counts.
begin never --dormant
same "never: state" dormant "$(state never)"
same "never: perf events in the program" 0 "$(events)"
same "never: commands of --status" 1 "$(hpct-record --status | grep -c "^dormant.*/never.hpct.*attached$")"
ends never
same "never: signals" 0 "$(info never signals)"
same "never: weights" 0 "$(weight_sum never)"
same "never: stretches that are unmonitored" "1 1" "$(stretches never)"

# Twice on, once off in between.
begin dormant --dormant -e CPUTIME@f500
code "--start" 0 hpct-record --start dormant.hpct
same "--start says nothing" "" "$(cat out err)"
same "after --start" measuring "$(state dormant)"
await sampled dormant 300
code "--stop" 0 hpct-record --stop dormant
same "after --stop" stopped "$(state dormant)"
is_quiet() { # no sample comes any more
	local count
	count=$(sample_count dormant)
	sleep 1.2
	[ "$count" = "$(sample_count dormant)" ]
}
check "after --stop no samples come" await is_quiet
code "--start again" 0 hpct-record --start "$PWD/dormant.hpct"
await sampled dormant 600
code "--start of what is on" 0 hpct-record --start dormant
ends dormant
weights_agree dormant all
same "stretches that are unmonitored" "2 2" "$(stretches dormant)"
limit=$(share_limit dormant)
total=$(weight_sum dormant)
for part in 'burn_first 60' 'burn_second 30' 'burn_third 10'; do
	got=$(hpct-slice dormant.hpct --streams thread=0 --format tsv | tsv '$c["track"] == "samples" { all += $c["weight"]
		if (index($c["path"] ";", ";'"${part% *}"';")) n += $c["weight"] } END { print all ? 100 * n / all : 0 }')
	near "share of ${part% *}, of $total ns" "${part#* }" "$got" "$limit"
done
same "both threads' switches are recorded" 0 "$(hpct-slice dormant.hpct --format tsv | tsv '$c["op"] == "monitored" && $c["attributes"] !~ /switches=1/ { n++ } END { print n + 0 }')"
check "the second thread's sleeps are blocked time" [ -n "$(hpct-slice dormant.hpct --op blocked --streams thread=1 --format tsv | tail -n +2)" ]

# An ordinary recording, stopped and started.
begin ordinary -e CPUTIME@f500
await sampled ordinary 100
code "--stop of an ordinary recording" 0 hpct-record --stop ordinary
same "ordinary: state" stopped "$(state ordinary)"
code "--start of an ordinary recording" 0 hpct-record --start ordinary
await sampled ordinary 300
ends ordinary
weights_agree ordinary all
same "ordinary: stretches" "1 1" "$(stretches ordinary)"

# A process that is measured from outside.
./attached >program.out &
pid=$! recorder=$!
stolen_before=$(stolen_ns)
hpct-record -p "$pid" -o outside.hpct -e CPUTIME@f500 2>outside.err &
outside=$!
if await sampled outside 200; then
	code "--stop of an attached one" 0 hpct-record --stop outside
	code "--start of it" 0 hpct-record --start outside
	await sampled outside 400
	kill -INT "$outside"
	wait "$outside"
	weights_agree outside all
	same "outside: stretches" "1 1" "$(stretches outside)"
	ends outside
else
	fail "outside: $(cat outside.err)"
fi

# No wait of the program is ended: it obeys when it next begins one.
cat >waits.c <<'END'
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	int broken = 0;

	for (int i = 0; access("over", F_OK); i++)
		broken += poll(NULL, 0, 3000) < 0;
	return broken;
}
END
gcc -O1 -o waits waits.c
hpct-record --dormant -o waits.hpct ./waits &
recorder=$!
is_dormant() { [ "$(state waits)" = dormant ] && [ "$(hpct-record --status waits | tsv '{ print $c["processes"] }')" = 1 ]; }
await is_dormant || fail "waits: it does not begin"
code "--start of what waits" 0 hpct-record --start waits
begun() { [ "$(hpct-slice waits.hpct --format tsv 2>/dev/null | tsv '$c["op"] == "unmonitored" && $c["end_ns"] != "" { n++ } END { print n + 0 }')" = 1 ]; }
check "it obeys after its wait" await begun
touch over
code=0
wait "$recorder" || code=$?
same "no poll was broken" 0 "$code"

# What a dormant program starts is dormant, and measured after --start.
cat >children.sh <<'END'
while ! [ -e stop ]; do ./once; done
END
echo 'int main(void) { for (volatile long i = 0; i < 200000000; i++) ; }' >once.c
gcc -O0 -o once once.c
hpct-record --dormant -o children.hpct -- sh ./children.sh &
recorder=$!
has_child() { [ -n "$(pgrep -P "$(pgrep -P "$recorder" -x sh)" -x once)" ]; }
await has_child
code "--start of children" 0 hpct-record --start children
child_sampled() { [ "$(hpct-info children.hpct --streams --format tsv 2>/dev/null | tsv '$c["name"] == "once" && $c["samples"] > 10' | wc -l)" -ge 2 ]; }
check "children are measured" await child_sampled
touch stop
wait "$recorder"

# A flight recording that was stopped keeps what there was, and so does one whose program stops itself.
left() { hpct-slice "$1.hpct" --format tsv | tsv '$c["track"] == "samples" && $c["weight"] > 0 { n++ } END { print n + 0 }'; }
begin flight --keep 1s -e CPUTIME@f500
await sampled flight 1000
code "--stop of a flight recording" 0 hpct-record --stop flight
sleep 4
ends flight
check "what was there when it was stopped is there: $(left flight) samples" [ "$(left flight)" -ge 20 ]

for bad in '--start nowhere' '--stop dormant' '--status dormant.hpct' '--start a --stop b' '--start a true' '--dormant -p 1' \
	'--dormant -ds true' '--dormant -e page-faults true' '--dormant -e MEMLEAK true'; do
	# shellcheck disable=SC2086 # words
	code "$bad" 125 hpct-record $bad
	sentence "$bad"
done
