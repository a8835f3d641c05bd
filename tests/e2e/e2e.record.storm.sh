#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A storm of context switches while the collector gets no processor (it is stopped): what the kernel could not keep is
# counted to the last record, also where it never found room to say so, and the time is lost time in the run.
. "$(dirname -- "$0")/expect.sh"
program=$HPCT_BIN/../tests/storm

has_lines() { # FILE LINES
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# storm RUN ROUNDS STOPPED [yield]: STOPPED, "storm" or "end": how long the collector is; "never"
storm() {
	local collector=
	rm -f told && mkfifo told
	hpct-record -o "$1.hpct" -- "$program" "$2" "${@:4}" <told >out &
	exec 3>told
	touch out && await has_lines out 1
	until [ "$collector" ]; do
		sleep 0.05
		collector=$(info "$1" collector_pid 2>/dev/null)
	done
	[ "$3" = never ] || kill -STOP "$collector"
	echo go >&3
	await has_lines out 2
	[ "$3" != storm ] || { kill -CONT "$collector" && sleep 0.3; }
	echo go >&3
	await has_lines out 3
	[ "$3" != end ] || { sleep 0.2 && kill -CONT "$collector"; }
	exec 3>&-
	wait "$!" || fail "$1: exit code $?"
}

# Whoever is switched out comes back, but for the last time; some happen before the agent is there.
balanced() { # RUN
	local raised=$((2 * $(sed -n 3p out))) before=$((2 * $(sed -n 1p out))) read lost
	read=$(info "$1" switches_read) lost=$(info "$1" switches_lost)
	echo "$1: raised $raised, $before of them by its start, read $read, lost $lost"
	check "$1: what was raised ($raised) was read ($read) or is counted as lost ($lost)" \
		calc "$read + $lost >= $raised - $before - 200 && $read + $lost <= $raised + 200"
}

storm calm 500 never
if [ "$(info calm switches_refused)" != 0 ] || [ "$(info calm switches_read)" -eq 0 ]; then
	skip "the kernel gives no switch records here"
fi
balanced calm
same "calm: lost" 0 "$(info calm switches_lost)"

# What found no room until the end is counted by the event alone, from Linux 6.0 on.
cases=(storm end)
if [ "$(uname -r | cut -d . -f 1)" -lt 6 ]; then
	echo "skipped: the end of a storm: before Linux 6.0 ($(uname -r)) the kernel does not tell what it dropped last"
	cases=(storm)
fi

# One processor's ring is a MiB at most: 44000 records. The collector is ahead when it is stopped.
for stopped in "${cases[@]}"; do
	storm $stopped 100000 $stopped
	balanced $stopped
	check "$stopped: records were lost" [ "$(info $stopped switches_lost)" -gt 50000 ]
	done_ns=$(($(sed -n 2p out | cut -d ' ' -f 2) - $(date -d "$(info $stopped origin_time)" +%s%N)))
	hpct-slice $stopped.hpct --op lost --format tsv | tsv '{ print $c["stream"], $c["begin_ns"], $c["end_ns"] }' >lost
	check "$stopped: both threads have lost time: $(head -n 5 lost)" [ "$(cut -d ' ' -f 1 lost | sort -u | wc -l)" -ge 2 ]
	check "$stopped: nothing is known of the storm's end, at $done_ns: $(tail -n 5 lost)" \
		awk -v at=$((done_ns - 1000000)) '$2 <= at && $3 >= at { n++ } END { exit !n }' lost
done
hpct-stats storm.hpct --by op --format tsv >stats
check "readers say so: $(cat stats)" grep -qE '^lost.[1-9]' stats
hpct-info storm.hpct --check >checked 2>&1 || fail "the run is not sound: $(head -n 3 checked)"

# Who never waits has no next wait either: nobody goes through all records to look for one.
storm yields 150000 never yield
read=$(info yields switches_read) cpu=$(info yields collector_cpu_ns)
echo "yields: $read records, $cpu ns of the collector"
check "yields: they were switched" [ "$read" -gt 100000 ]
check "yields: the collector took a few microseconds for each at most" calc "0 < $cpu && $cpu < 5000 * $read"
