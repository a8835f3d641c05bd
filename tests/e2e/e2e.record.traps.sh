#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Faster than the tick, samples are SIGTRAPs: a program's own SIGTRAPs, its execs and its threads that libc does not
# know go on as without a recorder.
. "$(dirname -- "$0")/expect.sh"
tests=$HPCT_BIN/../tests
ulimit -c 0

# alike MODE ARGUMENT : same output and end bare, at a rate of the CPU timer, far above it, and where each wait traps
alike() {
	local bare=0 events rate got
	(exec "$tests/traps" "$@") >bare.out 2>/dev/null || bare=$?
	for events in CPUTIME@f200 BLOCKTIME CPUTIME@f10000; do
		got=0 rate=${events#*@}
		(exec timeout 300 hpct-record -o "$1-$rate.hpct" --summary summary -e "$events" -- \
			"$tests/traps" "$@") >got.out 2>/dev/null || got=$?
		same "$* at $rate: exit code" "$bare" "$got"
		same_file "$* at $rate: stdout" bare.out got.out
	done
}

alike raise 20
[ "$(info raise-f10000 sampler)" = trap ] || skip "no trap here: $(grep asked summary)"
for mode in handler often int3 ignored ignored-int3 blocked-int3; do
	alike "$mode" 20
	check "$mode: was sampled" calc "$(sample_count "$mode-f10000") > 50"
done
alike small-stacks 60
alike execs 200
same "every exec'd program was measured" 201 "$(info execs-f10000 processes)"
same "also where each wait traps" 201 "$(info execs-BLOCKTIME processes)"
alike syscall-execs 100
same "also by syscall()" 101 "$(info syscall-execs-f10000 processes)"
alike thread-execs 60
same "also when a thread of its own calls exec" 61 "$(info thread-execs-f10000 processes)"
alike foreign 100
check "threads without our storage are left alone" calc "$(info foreign-f10000 signals_foreign) > 0"
weights_agree foreign-f10000
