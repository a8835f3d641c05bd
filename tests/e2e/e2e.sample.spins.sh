#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Spin-waiting is told from work: samples/spins.c prints what CPU time each of its threads took in which way.
. "$(dirname -- "$0")/expect.sh"
hpct-names "$samples/loops" "$(nm "$samples/loops" | awk '$3 == "work" { print $1 }')" 2>&1 | grep -q capstone && skip "hpct was built without capstone: no loops"
record spins -- "$samples/spins" 500 >truth || fail "spins does not end well"
hpct-stats spins.hpct --by path --format tsv >paths || fail "--by path"

# of the time in paths that match one glob of awk, that in paths that match the other too, in percent
share() { # PATHS AND
	tsv 'index($c["key"], "<thread root>;run;") == 1 && $c["key"] ~ /'"$1"'/ { all += $c["time_ns"]; if ($c["key"] ~ /'"$2"'/) n += $c["time_ns"] }
		END { print all ? 100 * n / all : -1 }' <paths
}
near "wait_pause spins" 100 "$(share 'run;wait_pause' ';<spin>$')" 4
near "wait_backoff spins" 100 "$(share 'run;wait_backoff' ';<spin>$')" 4
near "poll_work works" 0 "$(share 'run;poll_work' ';<spin>$')" 4
near "work works" 0 "$(share 'run;(worked;)?work' ';<spin>$')" 0

# What threads wait in: by the table of functions that only wait, less a line of the user's.
spin() { # OPTION... : ns
	hpct-blame spins.hpct --of waiting --summary --format tsv "$@" | awk -F '\t' '$1 == "spin_ns" { print $2 }'
}
told=$(tsv '$c["key"] ~ /<spin>$|sched_yield|nanosleep|join/ { n += $c["time_ns"] } END { printf "%.0f\n", n }' <paths)
same "blame counts as spinning what is in <spin> and in calls that wait" "$told" "$(spin)"
wait_ns=$(awk -F '\t' '$1 ~ /^wait_/ { n += $2 } END { print n }' truth) all_ns=$(awk -F '\t' '{ n += $2 } END { print n }' truth)
calc "$told >= 0.5 * $wait_ns && $told <= 1.05 * $wait_ns" || fail "spinning $told ns of $wait_ns, of $all_ns in all"
yield=$(tsv '$c["key"] ~ /sched_yield|nanosleep|join/ { n += $c["time_ns"] } END { printf "%.0f\n", n }' <paths)
echo '!<spin>' >own
same "--waits takes <spin> out" "$yield" "$(spin --waits own)"
mkdir -p config/hpct && cp own config/hpct/waits
same "so does the user's own file" "$yield" "$(XDG_CONFIG_HOME=$PWD/config spin)"
printf '!<spin>\nwork\n' >config/hpct/waits
calc "$(XDG_CONFIG_HOME=$PWD/config spin) > $yield" || fail "a function that the user's file adds is not waiting"
code "a file that cannot be read" 2 hpct-blame spins.hpct --of waiting --waits "$PWD/config"
