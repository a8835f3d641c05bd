#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Children that libc's fork() knows nothing of do what they do without a recorder, and are counted.
. "$(dirname -- "$0")/expect.sh"
[ "$(uname -m)" = x86_64 ] || skip "other processors have no call that is named fork"
ulimit -c 0
for options in '-e CPUTIME@f200' '-e CPUTIME@f1000 --sampler timer' '-e CPUTIME@f10000'; do
	timeout 100 "$HPCT_BIN/../tests/born" >bare.out || fail "born does not end well"
	# shellcheck disable=SC2086
	code "$options" 0 timeout 300 hpct-record -o born.hpct --overwrite $options -- "$HPCT_BIN/../tests/born"
	same_file "$options" bare.out out
	same "$options: children that were not measured" 35 "$(info born children_unmonitored)"
	same "$options: processes that were: it, what children ran, and 10 of theirs" 21 "$(info born processes)"
done
