#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sort on a large file, two threads: installs handlers of its own, and merges through temporary files.
. "$(dirname -- "$0")/expect.sh"
event=CPUTIME@2000 # as often as the kernel's tick lets it
awk 'BEGIN { x = 42; for (i = 0; i < 9000000; i++) { x = (x * 16807) % 2147483647; print x } }' >big
both sort sort --parallel=2 -S 40M -T . -n big
weights_agree sort
pool sort
# Its two threads take turns on the processors, and share the kernel's event where they do.
[ "$(info sort sampler)" != trap ] ||
	check "sort: weights are ahead of the clock by half a period at most" \
		awk -F '\t' '$3 != "-" && $2 - $3 > 0.55 * $4 { bad = 1; print } END { exit bad }' sort.clocks
