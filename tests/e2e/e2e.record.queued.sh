#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that uses the agent's own signal gets each that is its own, and none of the agent's.
. "$(dirname -- "$0")/expect.sh"
queued=$HPCT_BIN/../tests/queued
ulimit -c 0
for options in '-e CPUTIME@f200' '-e CPUTIME@f1000 --sampler timer' '-e CPUTIME@f10000'; do
	for mode in '' default; do
		bare=0 got=0
		# shellcheck disable=SC2086
		(exec "$queued" $mode) >bare.out 2>/dev/null || bare=$?
		# shellcheck disable=SC2086
		(exec timeout 300 hpct-record -o queued.hpct --overwrite $options -- "$queued" $mode) >got.out 2>/dev/null || got=$?
		same "$options $mode: exit code" "$bare" "$got"
		same_file "$options $mode: stdout" bare.out got.out
		check "$options $mode: was sampled" sampled queued 3
	done
done
check "it dies of the signal" calc "$bare > 128"
