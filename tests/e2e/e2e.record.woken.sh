#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls that wait are ended by the program's signals, each by its own, whatever signals samples take.
. "$(dirname -- "$0")/expect.sh"
woken=$HPCT_BIN/../tests/woken
for options in '-e CPUTIME@f200' '-e CPUTIME@f1000 --sampler timer' '-e CPUTIME@f10000' \
	'-e CPUTIME@f10000 --sampler overflow'; do
	timeout 100 "$woken" 200 >bare.out || fail "woken does not end well"
	# shellcheck disable=SC2086
	code "$options" 0 timeout 300 hpct-record -o woken.hpct --overwrite $options -- "$woken" 200
	same_file "$options" bare.out out
	check "$options: was sampled" sampled woken 20
done
same "all end as they should" "" "$(grep -v 'missed 0, woken for nothing 0, otherwise 0' bare.out)"
