#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# xz -T2: blocks all signals in its threads.
. "$(dirname -- "$0")/expect.sh"
event=CPUTIME@2000 # as often as the kernel's tick lets it
need xz
seq 1 9500000 >in
both xz xz -T2 --block-size=8MiB -6 -c
weights_agree xz
check "xz: two working threads at least" \
	awk -F '\t' '$2 > 1e9 { n++ } END { exit !(n >= 2) }' xz.clocks
pool xz
