#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Waits for io_uring are ended by the program's signals alone: those that samples take wake them, too.
. "$(dirname -- "$0")/expect.sh"
rings=$HPCT_BIN/../tests/rings
[ -x "$rings" ] || skip "written for x86-64"
timeout 100 "$rings" 100 >bare.out
[ $? -ne 77 ] || skip "no io_uring here"
same "bare" "waits 100 ended 0 otherwise 0" "$(cat bare.out)"
for options in '-e CPUTIME@f200' '-e CPUTIME@f1000' '-e CPUTIME@f10000'; do
	# shellcheck disable=SC2086
	code "$options" 0 timeout 300 hpct-record -o rings.hpct --overwrite $options -- "$rings" 10000
	same "$options" "waits 10000 ended 0 otherwise 0" "$(cat out)"
done
# An alarm's handler ends the wait, also when a sample comes while it returns, as every tenth does.
code "alarms" 0 timeout 100 hpct-record -o alarms.hpct -e CPUTIME@f10000 -- "$rings" 60 alarms
same "alarms" "alarms 60" "$(cat out)"
