#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Eight threads on few cores: the weights of each against the clock that the thread itself read.
. "$(dirname -- "$0")/expect.sh"
record threads -- "$samples/threads8" 0.15 >reading || fail "threads8 does not end well"
weights_agree threads
while IFS=$'\t' read -r name ns; do
	[ "$name" != main ] || name=threads8
	weight=$(awk -F '\t' -v n="$name" '$5 == n { print $2 }' threads.clocks)
	near "weights of '$name' against its own reading" "$ns" "${weight:-0}" \
		"$(awk -v ns="$ns" 'BEGIN { l = ns / 100; print (l > 5e6 ? l : 5e6) }')"
done <reading
same "streams" 9 "$(info threads streams)"
