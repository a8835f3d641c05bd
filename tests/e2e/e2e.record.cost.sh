#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where recording cost more than 5 % of the program's CPU time, the summary names what most of it was; else it does not.
. "$(dirname -- "$0")/expect.sh"
told() { # SUMMARY : the share in per cent; then how many lines name a cause
	sed -n 's/^overhead about \([0-9.]*\) %.*/\1/p' "$1" | head -n 1
	grep -c '^most of it: ' "$1"
}
agrees() { # SENTENCE SUMMARY
	local percent causes
	{ read -r percent; read -r causes; } < <(told "$2")
	check "$1 has a share: $(cat "$2")" [ -n "$percent" ]
	check "$1: $causes causes of $percent %" calc "(${percent:-0} > 5) == ${causes:-0}"
}
record many --summary many.txt -- sh -c 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done'
agrees "300 short processes" many.txt
check "their cause is the run that is stored: $(grep '^most' many.txt)" grep -q 'most of it: .*301 processes' many.txt
record few --summary few.txt -- "$samples/phases" 0.5 >/dev/null
agrees "one program that works" few.txt
