#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# However the program ends, hpct-record ends alike, and the time before the end is in the run.
. "$(dirname -- "$0")/expect.sh"
ends() { # CODE HOW NUMBER
	local run="$2$3" got=0
	hpct-record -o "$run.hpct" -- "$samples/exits" "$2" "$3" 0.3 >out 2>err || got=$?
	same "exits $2 $3: exit code" "$1" "$got"
	check "exits $2 $3: something on stdout: $(head -n 1 out)" [ ! -s out ]
	# A sample that came late has all that lay before it: 12 %, or on a busy machine as much of 0.3e9.
	near "exits $2 $3: share of spend" 100 "$(share "$run" spend)" "$(edge "$run" 36e6) / 3e6"
	sum=$(weight_sum "$run")
	check "exits $2 $3: weights of what was spent, 0.3e9: $sum" calc "$sum >= 0.3e9 - $(edge "$run" "${4:-5e6}")"
	[ -n "${4-}" ] || weights_agree "$run"
}
ends 0 return 0
ends 7 return 7
ends 255 exit 255
ends 8 _exit 8
ends 9 quick 9
ends 11 last 11
# What died by a signal, or by another thread's exit, cannot be asked for the time since its last sample.
ends 10 thread 10 40e6
ends 143 signal 15 40e6
ends 137 signal 9 40e6
ends 129 signal 1 40e6
ends 130 signal 2 40e6
# Ours, if nobody sent it: of a program that has set its signals past libc.
ends 189 signal 61 40e6
check "signal 61: that hpct samples with it is not said: $(cat err)" grep -q 'died of signal 61, which hpct' err

# Death by signal is death by signal, not an exit code that looks like it.
if [ -x /usr/bin/python3 ]; then
	ended=$(/usr/bin/python3 -c '
import subprocess, sys
print(subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL).returncode)' \
		hpct-record -o died.hpct -- "$samples/exits" signal 15)
	same "the wait status of a program that died by SIGTERM" -15 "$ended"
fi
(ulimit -c 0 && record abort -- "$samples/exits" abort) >out 2>err
same "exits abort" 134 "$?"
near "exits abort: weights" 0.05e9 "$(weight_sum abort)" "$(edge abort 40e6)"

# A signal sent to hpct-record's program by a terminal or a batch system reaches it.
hpct-record -o term.hpct -- "$samples/exits" return 0 30 &
launcher=$!
check "a run that is recorded has samples" await sampled term
kill -TERM "$launcher"
wait "$launcher"
same "SIGTERM to hpct-record ends the program by it" 143 "$?"
check "a stopped run is readable" hpct-info term.hpct >/dev/null
