#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Eight threads on few cores: the weights of each against the clock that the thread itself read.
. "$(dirname -- "$0")/expect.sh"
record threads -- "$samples/threads8" 0.15 >reading || fail "threads8 does not end well"
weights_agree threads
while IFS=$'\t' read -r name ns; do
	least=5e6
	[ "$name" != main ] || { name=threads8 least=20e6; } # it was there before the agent
	weight=$(awk -F '\t' -v n="$name" '$5 == n { print $2 }' threads.clocks)
	near "weights of '$name' against its own reading" "$ns" "${weight:-0}" \
		"$(awk -v ns="$ns" -v least="$least" 'BEGIN { l = ns / 100; print (l > least ? l : least) }')"
done <reading
same "streams" 9 "$(info threads streams)"
